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
 * Sends a request and suspends until it is answered, at most for the limit of the actor's scope. A
 * virtual thread asks, so the call holds no thread of the dispatcher, even while the mailbox is
 * full.
 *
 * Cancelling the coroutine cancels the request: if it still waits, it leaves the mailbox at once.
 *
 * Throws the handler's own exception object, or a `RequestException` that says why there is no
 * answer. A `CancellationException` of the handler is wrapped in an [ExecutionException], since it
 * would end this coroutine silently.
 */
public suspend fun <M : Any, Q : M, R : Any> Actor<M>.await(request: Request<Q, R>): R = onFiber { ask(request) }

/**
 * Waits for at most [limit], then throws `AskTimeoutException`, which says what the actor was doing
 * and does not cancel the coroutine.
 */
public suspend fun <M : Any, Q : M, R : Any> Actor<M>.await(request: Request<Q, R>, limit: Duration): R =
  onFiber { ask(request, limit.toJavaDuration()) }

/** Sends a message and suspends until it is answered, as for a [Request]. */
public suspend fun <M : Any, R : Any> ActorWithReturn<M, R>.await(message: M): R = onFiber { ask(message) }

/** Waits for at most [limit]. */
public suspend fun <M : Any, R : Any> ActorWithReturn<M, R>.await(message: M, limit: Duration): R =
  onFiber { ask(message, limit.toJavaDuration()) }

/** Runs the code on the sink's object, and suspends until it has a result, as for a [Request]. */
public suspend fun <S : Any, R : Any> Sink<S>.await(code: (S) -> R): R =
  onFiber { ask(Handler.Returning<S, R> { state -> code(state) }) }

/** Waits for at most [limit]. */
public suspend fun <S : Any, R : Any> Sink<S>.await(limit: Duration, code: (S) -> R): R =
  onFiber { ask(Handler.Returning<S, R> { state -> code(state) }, limit.toJavaDuration()) }

/** Suspends until the actor has ended; returns why. */
public suspend fun Exitable.awaitExit(): ExitReason = onFiber {
  waitForExit()
  onExit().join()
}

/**
 * Sends a message; suspends while a full mailbox with `BLOCK` makes senders wait. Cancelling takes
 * the message back. For other mailboxes `sendMessage` is cheaper.
 *
 * @return false if the message was refused, and is a dead letter
 */
public suspend fun <M : Any> Actor<M>.send(message: M): Boolean = onFiber { sendMessage(message) }

/**
 * Runs a blocking call on a fiber, which a cancelled coroutine interrupts. The outcome crosses over
 * as a value, since coroutines copy exceptions when assertions are enabled.
 */
internal suspend fun <T> onFiber(call: () -> T): T {
  val outcome = runInterruptible(Dispatchers.FIBER) { runCatching(call) }
  currentCoroutineContext().ensureActive()
  return outcome.getOrElse { failure ->
    if (failure !is CancellationException) throw failure
    throw ExecutionException("the call failed with a cancellation that is not this coroutine's", failure)
  }
}
