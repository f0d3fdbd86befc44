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
 * [Strategy.FIBER] as a dispatcher, for code that blocks. It starts a virtual thread for each piece
 * of a coroutine between two suspensions. The thread inherits nothing from the resuming thread.
 * `limitedParallelism` limits the number of concurrent pieces.
 */
public val Dispatchers.FIBER: CoroutineDispatcher
  get() = fiber

/**
 * Returns a dispatcher on the threads of this strategy. With a resident strategy (`THREAD`,
 * `RESIDENT_FIBER`), the dispatcher has a single thread, which runs one piece of a coroutine at a
 * time. After `close`, this thread runs the waiting pieces and ends. Other strategies are activated
 * for each piece, and `close` has no effect.
 *
 * If the strategy throws, for example because its executor was shut down, or if the dispatcher was
 * closed, the coroutine is cancelled and cleans up on [Dispatchers.IO]. If an executor accepts a
 * piece and then discards it, as after `shutdownNow`, the coroutine never resumes.
 *
 * With `CALLER`, which is for tests, a coroutine continues on the thread that resumes it. After a
 * `delay`, this is the thread that all delays share.
 */
public fun Strategy.asCoroutineDispatcher(): ExecutorCoroutineDispatcher {
  if (!isResident) return StrategyDispatcher(toString(), this::activate) {}
  val own = ActorSystem.anonymous().strategy(this).mailbox(Mailbox.unbounded()).newSink()
  return PendingPieces(toString(), own, own, own::sendPoisonPill).dispatcher
}

/**
 * Returns the dispatcher that runs the pieces of a coroutine in turn with the messages of the actor
 * or sink. State that both use needs no lock. Each call for an actor returns the same dispatcher.
 * Prefer an unbounded mailbox: a full mailbox blocks the resuming thread or refuses the piece.
 *
 * If the actor refuses a piece, or ends before the piece runs, the coroutine is cancelled and
 * cleans up on [Dispatchers.IO]. With the function `Executor.asCoroutineDispatcher()` of
 * kotlinx.coroutines, the coroutine would hang.
 */
public fun <A> A.inTurn(): CoroutineDispatcher where A : Exitable, A : Executor =
  synchronized(dispatchers) {
    dispatchers[this]?.get()
      ?: PendingPieces("actor '${name()}'", this, this) {}.dispatcher
        .also { dispatchers[this] = WeakReference(it) }
  }

/**
 * The dispatchers that `inTurn` has made; the map is its own lock. The exit callback of an actor
 * keeps the dispatcher in memory for as long as the actor. The map keeps neither of them, because a
 * dispatcher refers to its actor, which is the key.
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
 * A piece of a coroutine between two suspensions. A strategy may run it twice, or run it and then
 * throw. The thread that changes the boolean from false to true runs the piece, or passes it to
 * [Dispatchers.IO].
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
 * The pieces that wait in the mailbox of an actor. An actor that ends drops its tasks without
 * notice, so a callback at its exit cancels the waiting pieces. [take] adds a piece before it
 * checks whether the actor has ended, so no piece waits forever.
 */
private class PendingPieces(
  private val name: String,
  private val actor: Exitable,
  private val executor: Executor,
  end: () -> Unit,
) {
  val dispatcher: ExecutorCoroutineDispatcher = StrategyDispatcher(name, ::take, end)

  // pieces are added by dispatching threads, and removed by these, by the actor's thread, or by the
  // thread that ends the actor
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
    val reason = actor.onExit().getNow(null)
    piece.cancel(name, RejectedExecutionException("$name ended before the coroutine could continue: $reason"))
  }
}
