package io.fibry.kotlin

import io.fibry.Actor
import io.fibry.ActorScope
import io.fibry.ActorSystem
import io.fibry.FailurePolicy
import io.fibry.Handler
import io.fibry.Strategy
import io.fibry.mailbox.Mailbox
import io.fibry.mailbox.Overflow
import java.lang.ref.WeakReference
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicInteger
import kotlin.random.Random
import kotlin.time.Duration.Companion.seconds
import kotlin.time.toJavaDuration
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.async
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.withContext
import kotlinx.coroutines.yield
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource

/**
 * Tests coroutines whose continuations wait in the mailbox of an actor. If the actor ends before a
 * continuation has run, the continuation is not lost.
 */
class InTurnTest {
  private val scope: ActorScope = ActorSystem.openScope("in turn")
  private val gate = Gate()

  @AfterEach
  fun close() {
    gate.open()
    scope.close()
  }

  private fun actor(mailbox: Mailbox<Any> = Mailbox.unbounded()): Actor<Int> =
    scope.anonymous().mailbox(mailbox).newActor(Handler<Int> { gate.pass() })

  /**
   * Starts a coroutine that is dispatched to [dispatcher], and notes the thread on which it
   * continues.
   */
  private fun CoroutineScope.startOn(dispatcher: CoroutineDispatcher, threadNames: ConcurrentLinkedQueue<String>): Job =
    launch(dispatcher, CoroutineStart.UNDISPATCHED) {
      try {
        yield()
      } finally {
        threadNames += Thread.currentThread().name
      }
    }

  private fun assertCancelledOnIO(job: Job, threadNames: Collection<String>) {
    assertTrue(job.isCancelled)
    assertTrue(threadNames.single().startsWith("DefaultDispatcher-worker"), threadNames.toString())
  }

  @Test
  fun actorKeepsInTurnDispatcherAfterGarbageCollection() {
    val actor = actor()
    val dispatcher = WeakReference(actor.inTurn())

    repeat(3) { System.gc() }

    assertNotNull(dispatcher.get())
    assertSame(dispatcher.get(), actor.inTurn())
  }

  @Test
  fun coroutinesAndMessagesOfActorRunOneAtATime() = coroutineTest {
    var together = 0 // no lock
    val counter = scope.anonymous().newActor(Handler<Int> { n -> together += n })

    val coroutines = List(10) {
      launch(counter.inTurn()) {
        repeat(100) {
          together++
          yield()
        }
      }
    }
    repeat(1_000) { counter.sendMessage(1) }
    coroutines.joinAll()
    counter.close()

    assertEquals(2_000, together)
  }

  @Test
  fun inTurnReturnsSameDispatcherForActor() {
    val actor = actor()

    assertSame(actor.inTurn(), actor.inTurn())
  }

  @Test
  fun sinkRunsCoroutineOnVirtualThread() = coroutineTest {
    val names = scope.anonymous().initialState { sortedSetOf("Bob") }.newSink()

    val thread = withContext(names.inTurn()) { Thread.currentThread() }

    assertTrue(thread.isVirtual)
  }

  @ParameterizedTest
  @ValueSource(strings = ["pill", "ask", "kill", "close"])
  fun pendingCoroutineIsCancelledAndCleansUpOnIoWhenActorEnds(end: String) = coroutineTest {
    val threadNames = ConcurrentLinkedQueue<String>()
    val actor = actor()
    actor.sendMessage(1)
    eventually { gate.isEntered }
    if (end == "pill") actor.sendPoisonPill() // the actor accepts messages until it reaches the pill
    val job = startOn(actor.inTurn(), threadNames)
    val closing = async(Dispatchers.FIBER) {
      when (end) {
        "ask" -> actor.askExit()
        "kill" -> actor.kill()
        "close" -> scope.closeWithin(0.seconds.toJavaDuration())
      }
      gate.open()
    }
    job.join()
    closing.await()

    assertCancelledOnIO(job, threadNames)
  }

  @Test
  fun coroutineIsCancelledAndCleansUpOnIoWhenMailboxRefusesIt() = coroutineTest {
    val threadNames = ConcurrentLinkedQueue<String>()
    val full = actor(Mailbox.bounded(1, Overflow.REJECT))
    full.sendMessage(1)
    eventually { gate.isEntered }
    full.sendMessage(2)

    val job = startOn(full.inTurn(), threadNames)
    job.join()

    assertCancelledOnIO(job, threadNames)
  }

  @Test
  fun droppingMailboxDropsNoCoroutine() = coroutineTest {
    val dropping = actor(Mailbox.bounded(1, Overflow.DROP_OLDEST))
    dropping.sendMessage(1)
    eventually { gate.isEntered }
    val job = startOn(dropping.inTurn(), ConcurrentLinkedQueue())

    for (n in 2..10) dropping.sendMessage(n)
    gate.open()
    job.join()

    assertFalse(job.isCancelled)
  }

  @Test
  fun coroutineIsCancelledAndCleansUpOnIoWhenDispatcherCloses() = coroutineTest {
    val threadNames = ConcurrentLinkedQueue<String>()
    val dispatcher = Strategy.THREAD.asCoroutineDispatcher()
    val before = async(dispatcher) {
      gate.pass()
      "ran"
    }
    eventually { gate.isEntered }
    dispatcher.close()

    val behind = startOn(dispatcher, threadNames) // accepted, because the thread has not reached the pill that ends it
    gate.open()
    behind.join()

    assertEquals("ran", before.await())
    assertCancelledOnIO(behind, threadNames)
    threadNames.clear()
    val after = startOn(dispatcher, threadNames)
    after.join()
    assertCancelledOnIO(after, threadNames)
  }

  @Test
  fun coroutineIsCancelledAndCleansUpOnIoWhenTaskEndsActor() = coroutineTest {
    val threadNames = ConcurrentLinkedQueue<String>()
    val stopping = scope.anonymous().onFailure(FailurePolicy.stop().withoutLog()).newActor(Handler<Int> { gate.pass() })
    stopping.sendMessage(1)
    eventually { gate.isEntered }
    stopping.execute { throw StackOverflowError("not a real one") }
    val job = startOn(stopping.inTurn(), threadNames)

    gate.open()
    job.join()

    assertCancelledOnIO(job, threadNames)
  }

  /** The actor ends at a random moment. Every coroutine ends, and cleans up once. */
  @Test
  fun coroutineOnInTurnDispatcherEndsOnceHoweverActorEnds() {
    val seed = System.getProperty("fibry.seed")?.toLong() ?: System.nanoTime()
    println("coroutines in turn: -Dfibry.seed=$seed")
    val random = Random(seed)

    repeat(100) { round ->
      coroutineTest {
        val ended = AtomicInteger()
        val resident = Strategy.RESIDENT_FIBER.asCoroutineDispatcher()
        val actor = scope.anonymous().newActor(Handler<Int> { })
        val dispatcher: CoroutineDispatcher = if (round % 2 == 0) resident else actor.inTurn()
        val turns = random.nextInt(1, 50)
        val met = CompletableDeferred<Unit>()
        val jobs = List(20) {
          launch(dispatcher, CoroutineStart.UNDISPATCHED) {
            try {
              repeat(turns) { yield() }
              met.complete(Unit)
              while (true) yield()
            } finally {
              ended.incrementAndGet()
            }
          }
        }
        met.await()
        resident.close()
        when (random.nextInt(3)) {
          0 -> actor.sendPoisonPill()
          1 -> actor.askExit()
          else -> actor.kill()
        }
        jobs.joinAll()

        assertTrue(jobs.all { it.isCancelled })
        assertEquals(20, ended.get())
      }
    }
  }
}
