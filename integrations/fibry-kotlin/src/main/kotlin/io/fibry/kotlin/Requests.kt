package io.fibry.kotlin

import io.fibry.Actor
import io.fibry.ActorWithReturn
import io.fibry.ExitReason
import io.fibry.Exitable
import io.fibry.Handler
import io.fibry.Request
import io.fibry.Sink
import java.util.concurrent.ExecutionException
import kotlin.time.Duration
import kotlin.time.toJavaDuration
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.runInterruptible

/**
 * Sends a request and suspends until the actor replies, at most for the ask limit of its scope. A
 * virtual thread makes the blocking call, so no thread of the dispatcher is blocked, even while the
 * mailbox is full.
 *
 * Cancelling the coroutine cancels the request; if the handler has not begun with it, the request
 * leaves the mailbox at once.
 *
 * Throws the exception object that the handler threw, or a `RequestException` with the reason why
 * no reply arrived. A `CancellationException` of the handler is wrapped in an [ExecutionException],
 * because it would otherwise end this coroutine silently.
 */
public suspend fun <M : Any, Q : M, R : Any> Actor<M>.await(request: Request<Q, R>): R = onFiber { ask(request) }

/**
 * Sends a request and suspends until the actor replies, for at most [limit]. If the reply is late,
 * the call throws `AskTimeoutException`, which describes the activity of the actor and does not
 * cancel the coroutine.
 */
public suspend fun <M : Any, Q : M, R : Any> Actor<M>.await(request: Request<Q, R>, limit: Duration): R =
  onFiber { ask(request, limit.toJavaDuration()) }

/** Sends a message and suspends until the actor replies, like `await` of a [Request]. */
public suspend fun <M : Any, R : Any> ActorWithReturn<M, R>.await(message: M): R = onFiber { ask(message) }

/** Sends a message and suspends until the actor replies, for at most [limit]. */
public suspend fun <M : Any, R : Any> ActorWithReturn<M, R>.await(message: M, limit: Duration): R =
  onFiber { ask(message, limit.toJavaDuration()) }

/** Runs code with the sink's state, and suspends until its result, like `await` of a [Request]. */
public suspend fun <S : Any, R : Any> Sink<S>.await(code: (S) -> R): R =
  onFiber { ask(Handler.Returning<S, R> { state -> code(state) }) }

/** Runs code with the sink's state, and suspends until its result, for at most [limit]. */
public suspend fun <S : Any, R : Any> Sink<S>.await(limit: Duration, code: (S) -> R): R =
  onFiber { ask(Handler.Returning<S, R> { state -> code(state) }, limit.toJavaDuration()) }

/** Suspends until the actor has ended, and returns the reason of its end. */
public suspend fun Exitable.awaitExit(): ExitReason = onFiber {
  waitForExit()
  onExit().join()
}

/**
 * Sends a message; suspends while a mailbox with `Overflow.BLOCK` is full. Cancelling the coroutine
 * withdraws a message that still waits for capacity. For other mailboxes, `sendMessage` is cheaper.
 *
 * @return whether the mailbox accepted the message; a refused message is a dead letter
 */
public suspend fun <M : Any> Actor<M>.send(message: M): Boolean = onFiber { sendMessage(message) }

/**
 * Runs a blocking call on a fiber. Cancelling the coroutine interrupts the fiber. The outcome is
 * passed to the coroutine as a value, because coroutines copy thrown exceptions if assertions are
 * enabled.
 */
internal suspend fun <T> onFiber(call: () -> T): T {
  val outcome = runInterruptible(Dispatchers.FIBER) { runCatching(call) }
  currentCoroutineContext().ensureActive()
  return outcome.getOrElse { failure ->
    if (failure !is CancellationException) throw failure
    throw ExecutionException("the call failed with a cancellation that is not this coroutine's", failure)
  }
}
