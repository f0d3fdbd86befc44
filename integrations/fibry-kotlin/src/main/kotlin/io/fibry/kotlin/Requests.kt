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
 * The suspending form of `ask`: sends a request and suspends until it is answered, at most as long as the scope of the actor says. No thread of the coroutine's dispatcher is held, also where a full mailbox makes the asker
 * wait; meanwhile a virtual thread asks.
 *
 * Cancelling the coroutine cancels the request: if it still waits it is never handled, and its place in a bounded mailbox is free at once.
 *
 * Throws what the handler threw, the very same object, or a `RequestException` that says why there is no answer. Only a `CancellationException` of the handler comes inside an [ExecutionException]: as itself it would end
 * this coroutine without a trace.
 */
public suspend fun <M : Any, Q : M, R : Any> Actor<M>.await(request: Request<Q, R>): R = onFiber { ask(request) }

/** The same, at most so long: then `AskTimeoutException`, which is no cancellation of the coroutine and says what the actor was doing. */
public suspend fun <M : Any, Q : M, R : Any> Actor<M>.await(request: Request<Q, R>, limit: Duration): R = onFiber { ask(request, limit.toJavaDuration()) }

/** The suspending form of `ask`: sends a message and suspends until it is answered. Otherwise as for a [Request]. */
public suspend fun <M : Any, R : Any> ActorWithReturn<M, R>.await(message: M): R = onFiber { ask(message) }

/** The same, at most so long. */
public suspend fun <M : Any, R : Any> ActorWithReturn<M, R>.await(message: M, limit: Duration): R = onFiber { ask(message, limit.toJavaDuration()) }

/** The suspending form of `ask`: runs the code on the object, in turn with all other code, and suspends until it has its value. Otherwise as for a [Request]. */
public suspend fun <S : Any, R : Any> Sink<S>.await(code: (S) -> R): R = onFiber { ask(Handler.Returning<S, R> { state -> code(state) }) }

/** The same, at most so long. */
public suspend fun <S : Any, R : Any> Sink<S>.await(limit: Duration, code: (S) -> R): R = onFiber { ask(Handler.Returning<S, R> { state -> code(state) }, limit.toJavaDuration()) }

/** The suspending form of `waitForExit`: suspends until it ended, and answers why. */
public suspend fun Exitable.awaitExit(): ExitReason = onFiber {
  waitForExit()
  onExit().join()
}

/**
 * The suspending form of `sendMessage`: where a full mailbox makes senders wait, the coroutine suspends and holds no thread. Cancelled there, it takes its message back. Into a mailbox that makes nobody wait,
 * `sendMessage` itself is right, and cheaper.
 *
 * @return false if the message was refused (full, or ended): it is a dead letter then
 */
public suspend fun <M : Any> Actor<M>.send(message: M): Boolean = onFiber { sendMessage(message) }

/** Waiting calls of the library are answered by an interrupt, which is what a cancelled coroutine does to the fiber. An outcome crosses over as a value: an exception would be copied on its way where assertions are on. */
internal suspend fun <T> onFiber(call: () -> T): T {
  val outcome = runInterruptible(Dispatchers.FIBER) { runCatching(call) }
  currentCoroutineContext().ensureActive()
  return outcome.getOrElse { failure ->
    throw if (failure is CancellationException) ExecutionException("it failed with a cancellation that is not this coroutine's", failure) else failure
  }
}
