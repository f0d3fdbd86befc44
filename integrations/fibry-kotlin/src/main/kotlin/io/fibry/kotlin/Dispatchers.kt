package io.fibry.kotlin

import io.fibry.ActorSystem
import io.fibry.Exitable
import io.fibry.Strategy
import io.fibry.mailbox.Mailbox
import java.lang.ref.WeakReference
import java.util.WeakHashMap
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.Executor
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.atomic.AtomicBoolean
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.ExecutorCoroutineDispatcher
import kotlinx.coroutines.cancel

private val fiber: CoroutineDispatcher = Strategy.FIBER.asCoroutineDispatcher()

/**
 * A virtual thread for each piece of a coroutine between two suspensions: [Strategy.FIBER] as a dispatcher. For code that blocks. Nothing of the thread that resumes the coroutine is inherited; what the coroutine's
 * context carries (an MDC, say) is set as everywhere. It has no limit of its own: `limitedParallelism` gives it one.
 */
public val Dispatchers.FIBER: CoroutineDispatcher
  get() = fiber

/**
 * A dispatcher that gets its threads as an actor would. One that is not resident (`FIBER`, `CALLER`, `on(executor)`, your own) is activated for each piece of a coroutine, and closing the dispatcher does nothing. A
 * resident one (`THREAD`, `residentFiber()`) is one thread made here, on which one piece runs at a time, until the dispatcher is closed: what waits then is run first.
 *
 * Where the strategy throws (its executor was shut down), or the dispatcher was closed, the coroutine is cancelled and cleans up on [Dispatchers.IO], as with the dispatchers of executors. An executor that took a piece
 * and discards it (`shutdownNow`) is beyond that: the coroutine does not go on.
 *
 * On `CALLER` a coroutine goes on wherever it is resumed, after a `delay` on the one thread that all delays share: for tests.
 */
public fun Strategy.asCoroutineDispatcher(): ExecutorCoroutineDispatcher {
  if (!resident()) return StrategyDispatcher(toString(), this::activate) {}
  val own = ActorSystem.anonymous().strategy(this).mailbox<Any>(Mailbox.unbounded()).newSink()
  return StrategyDispatcher(toString(), PendingPieces(toString(), own, own)::take, own::sendPoisonPill)
}

/**
 * A dispatcher that runs each piece of a coroutine in turn with what the actor (or sink) does: what only they touch needs no lock. Always the same one for an actor. Its mailbox had
 * better have no bound: into a full one, who resumes the coroutine waits for room, or is refused.
 *
 * Where the actor refuses a piece, or ends before it ran, the coroutine is cancelled and cleans up on [Dispatchers.IO]. An actor is an executor too, but the dispatcher that coroutines make of any executor,
 * `asCoroutineDispatcher()`, would never hear that an actor that ended has dropped what it took: such a coroutine would hang.
 */
public fun <A> A.inTurn(): CoroutineDispatcher where A : Exitable, A : Executor =
  synchronized(turns) {
    val name = "actor '${name()}'"
    turns[this]?.get() ?: StrategyDispatcher(name, PendingPieces(name, this, this)::take) {}.also { turns[this] = WeakReference(it) }
  }

/** Guarded by itself. Who calls `inTurn` again and again shall not leave something at the actor each time: this one hangs on it, and is garbage with it. */
private val turns = WeakHashMap<Exitable, WeakReference<CoroutineDispatcher>>()

private class StrategyDispatcher(private val name: String, private val activate: (Piece) -> Unit, private val end: () -> Unit) : ExecutorCoroutineDispatcher() {
  override val executor: Executor = Executor { task -> dispatch(EmptyCoroutineContext, task) }

  override fun dispatch(context: CoroutineContext, block: Runnable) {
    val piece = Piece(context, block)
    try {
      activate(piece)
    } catch (failure: Throwable) {
      piece.cancel(name, failure)
    }
  }

  override fun close() = end()

  override fun toString(): String = name
}

/** A strategy may run it twice, or run it and throw. `false -> true`: who does that runs it, here or on IO. */
private class Piece(private val context: CoroutineContext, private val block: Runnable) : AtomicBoolean(), Runnable {
  override fun run() {
    if (compareAndSet(false, true)) block.run()
  }

  fun cancel(where: String, why: Throwable) {
    if (!compareAndSet(false, true)) return
    context.cancel(CancellationException("$where gave this coroutine no thread: it is cancelled, and cleans up on Dispatchers.IO", why))
    Dispatchers.IO.dispatch(context, block)
  }
}

/** An actor that ends, by a pill behind which pieces wait or without one, tells nobody what it will not run. So the pieces that wait are known here, and whoever hands over one looks for the end afterwards. */
private class PendingPieces(private val name: String, private val actor: Exitable, private val turns: Executor) {
  private val waiting = ConcurrentHashMap.newKeySet<Piece>() // added to by who dispatches, removed from by the actor's thread; all that is left by who ends it

  init {
    actor.onExit().thenRun { waiting.forEach(::cancel) }
  }

  fun take(piece: Piece) {
    waiting += piece
    try {
      turns.execute {
        waiting -= piece
        piece.run()
      }
    } catch (refusal: Throwable) {
      waiting -= piece
      throw refusal
    }
    if (actor.onExit().isDone) cancel(piece)
  }

  private fun cancel(piece: Piece) {
    waiting -= piece
    piece.cancel(name, RejectedExecutionException("it ended before this could run: ${actor.onExit().getNow(null)}"))
  }
}
