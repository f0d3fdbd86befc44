package io.fibry.kotlin

import io.fibry.ActorSystem
import io.fibry.DeadLetter.Reason
import io.fibry.Handler
import io.fibry.mailbox.Mailbox
import io.fibry.mailbox.Overflow
import java.util.concurrent.atomic.AtomicInteger
import kotlin.random.Random
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * Cancels coroutines that await answers, at any moment: before they ask, while they wait for
 * capacity, and while their request is in the mailbox, is handled or is answered.
 */
class CancelStressTest {
  private val seed = System.getProperty("fibry.seed")?.toLong() ?: System.nanoTime()
  private val random = Random(seed)
  private val mailboxes =
    listOf(Mailbox.unbounded(), Mailbox.bounded(1, Overflow.BLOCK), Mailbox.bounded(8, Overflow.BLOCK))
  private val dispatchers = listOf(Dispatchers.Default, Dispatchers.FIBER, Dispatchers.FIBER.limitedParallelism(2))

  @Test
  fun everyRequestHasOneOutcomeWheneverItIsCancelled() {
    println("cancelled requests: -Dfibry.seed=$seed")

    repeat(100) { round() }
  }

  private fun round() = runBlocking {
    val scope = ActorSystem.openScope("cancelled")
    val handled = AtomicInteger()
    val answered = AtomicInteger()
    val wrong = AtomicInteger()
    val actor = scope.anonymous().mailbox(mailboxes.random(random))
      .newActorWithReturn(Handler.Returning<Int, Int> { n ->
        handled.incrementAndGet()
        Thread.yield()
        n + 1
      })
    val dispatcher = dispatchers.random(random)

    val jobs = List(100) { n ->
      launch(dispatcher) {
        if (actor.await(n) == n + 1) answered.incrementAndGet() else wrong.incrementAndGet()
      }
    }
    val victims = jobs.shuffled(random).take(50)
    victims.forEach { victim ->
      repeat(random.nextInt(20)) { yield() }
      victim.cancel()
    }
    jobs.joinAll()
    scope.close()

    val report = scope.report()
    assertEquals(0, wrong.get())
    assertEquals(0, report.queued())
    assertEquals(handled.get().toLong(), report.handled())
    assertTrue(answered.get() >= jobs.size - victims.size && handled.get() >= answered.get(), "$answered of $handled")
    assertTrue(handled.get() + report.unhandled().getOrDefault(Reason.CANCELLED, 0L) <= jobs.size, report.toString())
    assertTrue(report.unhandled().filterKeys { it != Reason.CANCELLED }.values.all { it == 0L }, report.toString())
  }
}
