package io.fibry.kotlin

import io.fibry.ActorBuilder
import io.fibry.ActorStoppedException
import io.fibry.ActorSystem
import io.fibry.AskTimeoutException
import io.fibry.ExitReason
import io.fibry.FailurePolicy
import io.fibry.Handler
import io.fibry.mailbox.Mailbox
import io.fibry.mailbox.Overflow
import io.fibry.support.Patience
import java.io.IOException
import java.util.concurrent.CompletionException
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.ExecutionException
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.cancel
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.launch
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeoutOrNull
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.MethodSource

class RequestsTest {
  companion object {
    @JvmStatic
    fun failures() = listOf(
      IllegalStateException("mine"),
      IOException("checked"),
      CompletionException(IOException("wrapped")),
      InterruptedException("not ours"),
      StackOverflowError("an error"),
    )
  }

  private fun thrower(failure: Throwable) =
    ActorSystem.anonymous().onFailure(FailurePolicy.resume().withoutLog())
      .newActorWithReturn(Handler.Returning<Int, Int> { throw failure })

  private fun gated(gate: Gate, builder: ActorBuilder<Any> = ActorSystem.anonymous()) =
    builder.newActorWithReturn(Handler.Returning<Int, Int> { n ->
      gate.pass()
      n
    })

  private suspend fun outcome(call: suspend () -> Any) =
    try {
      call()
    } catch (failure: Throwable) {
      failure
    }

  @Test
  fun awaitReturnsAnswerOfActorAndSink() = coroutineTest {
    val square = ActorSystem.anonymous().newActorWithReturn(Handler.Returning<Int, Int> { n -> n * n })
    val names = ActorSystem.anonymous().initialState { sortedSetOf("Bob") }.newSink()

    assertEquals(9, square.await(3))
    assertEquals(16, square.await(4, LONG))
    assertEquals(true, names.await { it.add("Ada") })
    assertEquals("Ada", names.await(LONG) { it.first() })
  }

  @ParameterizedTest
  @MethodSource("failures")
  fun handlerExceptionReachesAskerUnchanged(failure: Throwable) = coroutineTest {
    val failing = thrower(failure)

    assertSame(failure, outcome { failing.await(1) })
    withContext(Dispatchers.FIBER) { assertSame(failure, outcome { failing.await(1) }) }
  }

  @Test
  fun cancellationThrownByHandlerFailsRequest() = coroutineTest {
    val handlers = CancellationException("the handler's own")

    val seen = outcome { thrower(handlers).await(1) }

    assertSame(handlers, assertInstanceOf(ExecutionException::class.java, seen).cause)
  }

  @Test
  fun requestToEndedActorFails() = coroutineTest {
    val ended = gated(Gate()).apply { close() }

    assertInstanceOf(ActorStoppedException::class.java, outcome { ended.await(1) })
  }

  /**
   * The kill grace is long, so that the interrupted handler answers its request before the grace
   * ends.
   */
  @Test
  fun handledAndWaitingRequestsOfKilledActorFail() = coroutineTest {
    ActorSystem.openScope("killed") { it.withKillGrace(Patience.LONG) }.use { scope ->
      val gate = Gate()
      val killed = gated(gate, scope.anonymous())
      val handled = async { outcome { killed.await(1) } }
      eventually { gate.isEntered }
      val waiting = async(start = CoroutineStart.UNDISPATCHED) { outcome { killed.await(2) } }

      killed.kill()

      assertInstanceOf(ActorStoppedException::class.java, waiting.await())
      assertInstanceOf(InterruptedException::class.java, handled.await())
    }
  }

  /** The interrupt that cancels the call must not reach the cleanup, which may block. */
  @Test
  fun cancelledAwaitLeavesNoInterruptFlag() = coroutineTest {
    val gate = Gate()
    val slow = gated(gate)
    var interrupted = true
    val job = launch(Dispatchers.FIBER) {
      try {
        slow.await(1)
      } finally {
        interrupted = Thread.currentThread().isInterrupted
      }
    }
    eventually { gate.isEntered }

    job.cancelAndJoin()
    gate.open()

    assertFalse(interrupted)
  }

  @Test
  fun askTimeoutFailsAwaitWithoutCancellation() = coroutineTest {
    val gate = Gate()
    val slow = gated(gate)

    assertInstanceOf(AskTimeoutException::class.java, outcome { slow.await(1, 10.milliseconds) })
    gate.open()
  }

  @Test
  fun withTimeoutOrNullEndsPendingAwait() = coroutineTest {
    val gate = Gate()
    val slow = gated(gate)

    assertNull(withTimeoutOrNull(10.milliseconds) { slow.await(1) })
    gate.open()
  }

  @Test
  fun awaitHoldsNoThreadOfItsDispatcher() = coroutineTest {
    val gate = Gate()
    val square = ActorSystem.anonymous().newActorWithReturn(Handler.Returning<Int, Int> { n -> n * n })

    val waiting = async { gated(gate).await(1) }
    eventually { gate.isEntered }

    assertEquals(4, square.await(2)) // on the same thread as the other coroutine
    assertFalse(waiting.isCompleted)
    gate.open()
    assertEquals(1, waiting.await())
  }

  @Test
  fun cancelledPendingRequestIsNotHandledAndFreesCapacity() = coroutineTest {
    val gate = Gate()
    val handled = ConcurrentLinkedQueue<Int>()
    ActorSystem.openScope("cancelled").use { scope ->
      val actor = scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.REJECT))
        .newActorWithReturn(Handler.Returning<Int, Int> { n ->
          gate.pass()
          handled += n
          n
        })
      actor.sendMessage(1)
      eventually { gate.isEntered }
      val waiting = launch { actor.await(2) }
      eventually { scope.report().queued() == 1L }

      waiting.cancelAndJoin()

      assertTrue(waiting.isCancelled)
      assertTrue(actor.sendMessage(3))
      gate.open()
      actor.close()
      assertEquals(listOf(1, 3), handled.toList())
    }
  }

  @Test
  fun cancelledCoroutineSendsNoRequest() = coroutineTest {
    val handled = ConcurrentLinkedQueue<Int>()
    val actor = ActorSystem.anonymous().newActorWithReturn(Handler.Returning<Int, Boolean> { n -> handled.add(n) })

    val job = launch(start = CoroutineStart.UNDISPATCHED) {
      coroutineContext.cancel()
      actor.await(1)
    }
    job.join()
    actor.close()

    assertTrue(handled.isEmpty())
  }

  @Test
  fun awaitExitSuspendsUntilActorEndsAndReturnsReason() = coroutineTest {
    val gate = Gate()
    val actor = gated(gate)
    actor.sendMessage(1)
    actor.sendPoisonPill()

    val waiting = async { actor.awaitExit() }
    eventually { gate.isEntered }
    assertFalse(waiting.isCompleted)
    gate.open()

    assertEquals(ExitReason.Finished(), waiting.await())
  }
}
