package io.fibry.kotlin

import io.fibry.Actor
import io.fibry.ActorScope
import io.fibry.ActorSystem
import io.fibry.DeadLetter
import io.fibry.ExitReason
import io.fibry.Handler
import io.fibry.mailbox.Mailbox
import io.fibry.mailbox.Overflow
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.atomic.AtomicInteger
import kotlin.random.Random
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.channels.ClosedSendChannelException
import kotlinx.coroutines.flow.asFlow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.flowOf
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.yield
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Sends to actors whose mailbox holds one message, and whose handler waits at a gate. */
class ChannelsTest {
  private val scope: ActorScope = ActorSystem.openScope("channels")
  private val gate = Gate()
  private val handled = ConcurrentLinkedQueue<Int>()

  @AfterEach
  fun close() {
    gate.open()
    scope.close()
  }

  private fun narrow(overflow: Overflow): Actor<Int> =
    scope.anonymous().mailbox(Mailbox.bounded(1, overflow)).newActor(Handler<Int> { n ->
      gate.pass()
      handled += n
    })

  /** Returns an actor that handles one message while another message fills its mailbox. */
  private suspend fun full(overflow: Overflow): Actor<Int> {
    val actor = narrow(overflow)
    actor.sendMessage(1)
    eventually { gate.isEntered }
    actor.sendMessage(2)
    return actor
  }

  /** If send blocked, this thread would never open the gate. */
  @Test
  fun sendSuspendsWhenSendMessageWouldBlock() = coroutineTest {
    val actor = full(Overflow.BLOCK)

    val sending = async(start = CoroutineStart.UNDISPATCHED) { actor.send(3) }
    assertTrue(sending.isActive)
    gate.open()

    assertTrue(sending.await())
    actor.close()
    assertEquals(listOf(1, 2, 3), handled.toList())
  }

  @Test
  fun cancelledSendWithdrawsItsMessage() = coroutineTest {
    val actor = full(Overflow.BLOCK)

    repeat(300) { turns ->
      val sending = launch { actor.send(3) }
      repeat(turns) { yield() }
      sending.cancelAndJoin()
    }
    gate.open()
    actor.close()

    assertEquals(listOf(1, 2), handled.toList())
  }

  @Test
  fun sendReturnsFalseWhenMailboxRefuses() = coroutineTest {
    val actor = full(Overflow.REJECT)

    assertFalse(actor.send(3))
    assertEquals(listOf(3 to DeadLetter.Reason.REJECTED), scope.deadLetters().map { it.message() to it.reason() })
  }

  @Test
  fun flowCollectorSendsEachValueToActorWithoutEndingIt() = coroutineTest {
    gate.open()
    val actor = narrow(Overflow.BLOCK)

    (1..100).asFlow().collect(actor.asCollector())
    flowOf(101).collect(actor.asCollector())
    actor.close()

    assertEquals((1..101).toList(), handled.toList())
  }

  @Test
  fun fullMailboxSuspendsFlow() = coroutineTest {
    val actor = full(Overflow.BLOCK)
    val made = AtomicInteger()

    val numbers = flow { repeat(10) { emit(made.incrementAndGet()) } }
    val collecting = launch(start = CoroutineStart.UNDISPATCHED) { numbers.collect(actor.asCollector()) }
    repeat(100) { yield() }
    assertEquals(1, made.get())
    gate.open()
    collecting.join()
    actor.close()

    assertEquals(listOf(1, 2) + (1..10), handled.toList())
  }

  @Test
  fun collectingIntoEndedActorFails() = coroutineTest {
    val ended = narrow(Overflow.BLOCK).apply { close() }

    val failure = runCatching { flowOf(1).collect(ended.asCollector()) }.exceptionOrNull()

    assertInstanceOf(RejectedExecutionException::class.java, failure)
  }

  @Test
  fun closeOfChannelEndsActorAfterSentMessages() = coroutineTest {
    val actor = full(Overflow.BLOCK)
    val channel = actor.asSendChannel()
    val sending = launch { for (n in 3..10) channel.send(n) }
    gate.open()
    sending.join()

    channel.close(IllegalStateException("enough"))

    assertEquals(ExitReason.Finished(), actor.awaitExit())
    assertEquals((1..10).toList(), handled.toList())
    assertEquals("enough", runCatching { channel.send(11) }.exceptionOrNull()?.message)
  }

  @Test
  fun closedChannelRefusesMessages() = coroutineTest {
    val channel = narrow(Overflow.BLOCK).asSendChannel()

    channel.close()

    assertInstanceOf(ClosedSendChannelException::class.java, runCatching { channel.send(1) }.exceptionOrNull())
  }

  @Test
  fun selectSendsToChannelThatHasCapacity() = coroutineTest {
    val busy = full(Overflow.BLOCK).asSendChannel()
    busy.send(3) // the channel accepts the message, and waits for capacity in the mailbox
    val other = ConcurrentLinkedQueue<Int>()
    val free = scope.anonymous().newActor(Handler<Int> { n -> other += n })

    assertFalse(busy.trySend(4).isSuccess)
    val chosen = select<String> {
      busy.onSend(4) { "busy" }
      free.asSendChannel().onSend(4) { "free" }
    }
    eventually { other.toList() == listOf(4) }

    assertEquals("free", chosen)
  }

  @Test
  fun channelOfEndedActorClosesAndMessageIsDeadLetter() = coroutineTest {
    val ended = narrow(Overflow.BLOCK).apply { close() }
    val channel = ended.asSendChannel()

    channel.send(1)
    var failure: Throwable? = null
    while (failure == null) failure = runCatching { channel.send(2) }.exceptionOrNull()

    assertInstanceOf(RejectedExecutionException::class.java, failure)
    assertTrue(scope.deadLetters().all { it.reason() == DeadLetter.Reason.UNDELIVERED })
    assertTrue(scope.deadLetters().any { it.message() == 1 })
  }

  /**
   * An actor ends while many coroutines send to it. Each sent message is handled or becomes a dead
   * letter. A message whose send failed is not counted as sent.
   */
  @Test
  fun eachSentMessageHasOneOutcomeHoweverTheActorEnds() {
    val seed = System.getProperty("fibry.seed")?.toLong() ?: System.nanoTime()
    println("channels that end: -Dfibry.seed=$seed")
    val random = Random(seed)
    repeat(100) { round(random) }
  }

  private fun round(random: Random) = coroutineTest {
    ActorSystem.openScope("channels that end").use { own ->
      val sent = AtomicInteger()
      val mailbox = Mailbox.bounded(random.nextInt(1, 10), Overflow.BLOCK)
      val actor = own.anonymous().mailbox(mailbox).newActor(Handler<Int> { Thread.yield() })
      val channel = actor.asSendChannel()
      val senders = List(5) {
        launch(Dispatchers.Default) {
          while (runCatching { channel.send(1) }.isSuccess) sent.incrementAndGet()
        }
      }
      val enough = random.nextInt(100)
      eventually { sent.get() > enough }

      when (random.nextInt(3)) {
        0 -> channel.close()
        1 -> actor.askExit()
        else -> actor.kill()
      }
      senders.joinAll()
      actor.awaitExit()
      // the last message may not have been handled yet
      eventually { own.report().run { handled() + unhandled().values.sum() >= sent.get() } }

      assertEquals(sent.get().toLong(), own.report().sent(), own.report().toString())
      assertEquals(0, own.report().queued())
    }
  }
}
