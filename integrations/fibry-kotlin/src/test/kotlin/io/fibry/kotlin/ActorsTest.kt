package io.fibry.kotlin

import io.fibry.ActorSystem
import io.fibry.FailurePolicy
import io.fibry.NoReplyException
import io.fibry.Request
import java.util.concurrent.ConcurrentLinkedQueue
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Test

class ActorsTest {
  private sealed interface Account

  private data class Deposit(val cents: Long) : Account

  private class Balance : Account, Request<Balance, Long>

  private class Break : Account, Request<Break, String>

  private val seen = ConcurrentLinkedQueue<Any>()

  private fun account(policy: FailurePolicy = FailurePolicy.resume()) =
    actor<Account>(ActorSystem.anonymous().onFailure(policy)) {
      var cents = 0L
      seen += "opened"
      onStop { seen += "closed at $cents" }
      onStop { seen += "closing" }
      handle { message ->
        when (message) {
          is Deposit -> cents += message.cents
          is Balance -> reply(message, cents)
          is Break -> check(cents == 0L) { "broken" }
        }
      }
    }

  @Test
  fun actorHandlesMessagesAndRequestsOfItsProtocol() = coroutineTest {
    account().use { account ->
      account.sendMessage(Deposit(500))
      account.send(Deposit(200))

      val balance: Long = account.await(Balance())

      assertEquals(700, balance)
    }
    assertEquals(listOf<Any>("opened", "closing", "closed at 700"), seen.toList())
  }

  @Test
  fun restartedActorHasFreshVariables() = coroutineTest {
    val account = account(FailurePolicy.restart().withoutLog())
    account.sendMessage(Deposit(500))

    val failure = runCatching { account.await(Break()) }.exceptionOrNull()
    val balance = account.await(Balance())

    assertInstanceOf(IllegalStateException::class.java, failure)
    assertEquals(0L, balance)
    assertEquals(listOf<Any>("opened", "closing", "closed at 500", "opened"), seen.toList())
  }

  @Test
  fun awaitFailsWhenHandlerGivesNoAnswer() = coroutineTest {
    assertInstanceOf(NoReplyException::class.java, runCatching { account().await(Break()) }.exceptionOrNull())
  }

  @Test
  fun namedKotlinActorIsFoundInRootScope() {
    val named = actor<Int>(ActorSystem.named("kotlin's")) { handle { n -> seen += n } }

    assertEquals(named, ActorSystem.root().find<Int>("kotlin's"))
    named.close()
  }

  @Test
  fun handlerCanWatchActorThroughItsContext() = coroutineTest {
    val other = actor<String> { handle { } }
    val watcher = actor<String> {
      handle { message ->
        if (message == "begin") watch(other) { reason -> "it ended: $reason" } else seen += message
      }
    }

    watcher.sendMessage("begin")
    other.close()

    eventually { seen.toList() == listOf<Any>("it ended: Finished") }
  }

  @Test
  fun builderPicksHandlerKindByParameterCount() = coroutineTest {
    val plain = ActorSystem.anonymous().newActor { message: String -> seen += message }
    val inContext = ActorSystem.anonymous().newActor { message: String, context ->
      context.self().also { seen += message }
    }
    val answering = ActorSystem.anonymous().newActorWithReturn { n: Int -> n * n }

    plain.sendMessage("plain")
    plain.close()
    inContext.sendMessage("in context")
    inContext.close()

    assertEquals(listOf<Any>("plain", "in context"), seen.toList())
    assertEquals(9, answering.await(3))
  }
}
