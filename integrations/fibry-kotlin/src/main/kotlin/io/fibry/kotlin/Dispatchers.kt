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
 * [Strategy.FIBER] as a dispatcher, for code that blocks: a virtual thread for each piece of a
 * coroutine between two suspensions. It inherits nothing from the resuming thread.
 * `limitedParallelism` adds a limit.
 */
public val Dispatchers.FIBER: CoroutineDispatcher
  get() = fiber

/**
 * A dispatcher on the threads of this strategy. A resident one (`THREAD`, `RESIDENT_FIBER`) is one
 * thread, which runs one piece of a coroutine at a time, until it is closed and has run the waiting
 * pieces. Others are activated for each piece; closing has no effect.
 *
 * If the strategy throws (its executor was shut down), or the dispatcher was closed, the coroutine
 * is cancelled and cleans up on [Dispatchers.IO]. If an executor accepts a piece and then discards
 * it (`shutdownNow`), the coroutine never resumes.
 *
 * On `CALLER`, for tests, a coroutine continues on the resuming thread, which after a `delay` is
 * the one thread of all delays.
 */
public fun Strategy.asCoroutineDispatcher(): ExecutorCoroutineDispatcher {
  if (!isResident) return StrategyDispatcher(toString(), this::activate) {}
  val own = ActorSystem.anonymous().strategy(this).mailbox(Mailbox.unbounded()).newSink()
  return StrategyDispatcher(toString(), PendingPieces(toString(), own, own)::take, own::sendPoisonPill)
}

/**
 * A dispatcher that runs the pieces of a coroutine in turn with the messages of the actor or sink,
 * so their shared state needs no lock. Always the same for an actor. Prefer an unbounded mailbox: a
 * full one delays or refuses the resuming thread.
 *
 * If the actor refuses a piece, or ends before it ran, the coroutine is cancelled and cleans up on
 * [Dispatchers.IO]. With coroutines' own `asCoroutineDispatcher()` of an executor it would hang.
 */
public fun <A> A.inTurn(): CoroutineDispatcher where A : Exitable, A : Executor =
  synchronized(dispatchers) {
    val name = "actor '${name()}'"
    dispatchers[this]?.get()
      ?: StrategyDispatcher(name, PendingPieces(name, this, this)::take) {}
        .also { dispatchers[this] = WeakReference(it) }
  }

/**
 * The dispatchers of `inTurn`, guarded by this map. Each adds a callback to its actor, so a second
 * call must not make another. They are garbage with their actor.
 */
private val dispatchers = WeakHashMap<Exitable, WeakReference<CoroutineDispatcher>>()

private class StrategyDispatcher(
  private val name: String,
  private val activate: (Piece) -> Unit,
  private val end: () -> Unit,
) : ExecutorCoroutineDispatcher() {
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

/**
 * A piece of a coroutine between two suspensions. A strategy may run it twice, or run it and throw.
 * `false -> true`: the thread that sets it runs the piece, or hands it to IO.
 */
private class Piece(private val context: CoroutineContext, private val block: Runnable) : AtomicBoolean(), Runnable {
  override fun run() {
    if (compareAndSet(false, true)) block.run()
  }

  fun cancel(where: String, why: Throwable) {
    if (!compareAndSet(false, true)) return
    val text = "$where gave this coroutine no thread: it is cancelled, and cleans up on Dispatchers.IO"
    context.cancel(CancellationException(text, why))
    Dispatchers.IO.dispatch(context, block)
  }
}

/**
 * The pieces that wait at an actor, which does not report the tasks it drops when it ends. Its exit
 * cancels the pieces known here; [take] adds a piece before it checks for the exit.
 */
private class PendingPieces(private val name: String, private val actor: Exitable, private val executor: Executor) {
  // added by dispatching threads, removed by the actor's thread or by the thread that ends the
  // actor
  private val waiting = ConcurrentHashMap.newKeySet<Piece>()

  init {
    actor.onExit().thenRun { waiting.forEach(::cancel) }
  }

  fun take(piece: Piece) {
    waiting += piece
    try {
      executor.execute {
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
