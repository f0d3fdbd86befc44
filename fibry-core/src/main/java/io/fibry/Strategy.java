package io.fibry;

import java.util.concurrent.Executor;

/**
 * How an actor gets a thread. Write your own by implementing {@code activate}:
 * {@code activation -> Thread.ofPlatform().start(activation)} is one. Implementations must be
 * thread-safe.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="strategy"}
 *
 * <p>On {@link #FIBER}, {@link #THREAD} and {@link #residentFiber} a handler may block as long as
 * it likes; it delays its own actor and those who wait for it. Computing is not blocking: it holds
 * a carrier ({@link #THREAD} is for that), and so does, before Java 24, blocking inside
 * {@code synchronized}. Their threads are daemons, inherit nothing of the thread that happened to
 * send first (no inheritable thread-locals; the system's class loader), and bear the name of a
 * named actor while it works.
 */
@FunctionalInterface
public interface Strategy {

  /** A virtual thread, only while there is work: an idle actor has none. */
  Strategy FIBER = Strategies.FIBER;

  /**
   * A platform thread of its own, parked when idle: for handlers that compute, or that need one
   * thread.
   */
  Strategy THREAD = Strategies.THREAD;

  /**
   * The sender's own thread, for unit tests and deterministic runs: the message is handled at once,
   * before {@code sendMessage} returns, unless the actor is busy on another thread. Nested at most
   * 64 deep; deeper ones run after the outermost, or when somebody on this thread waits for an
   * answer. What a timer of the system's clock sends is handled on a virtual thread.
   */
  Strategy CALLER = Strategies.CALLER;

  /**
   * A virtual thread of its own, parked when idle: for thread-local state.
   *
   * @return always the same one
   */
  static Strategy residentFiber() {
    return Strategies.RESIDENT_FIBER;
  }

  /**
   * A task of this executor, only while there is work; after 256 messages or a millisecond the rest
   * is a new task, so that no actor starves another. For handlers that do not block, on a pool, an
   * event loop, a UI thread. Its threads are neither renamed nor interrupted.
   *
   * <p>An {@code ExecutorService} that is shut down ends the actors that need it with
   * {@link ExitReason.Failed}. One that silently drops what it accepted breaks the promises of its
   * actors. Handlers that wait for one another can take all threads of the executor: only the limit
   * of an {@code ask} ends that. A ForkJoinPool makes more meanwhile, as far as it may; but on Java
   * 21 it now and then forgets to wake one.
   *
   * @param executor where activations run
   * @return a strategy
   */
  static Strategy on(Executor executor) {
    return new Strategies.OnExecutor(executor);
  }

  /**
   * Called when an actor without a thread has work: run this soon, on a thread of your choice; what
   * came before this call must be visible to it. It runs once however often you run it. May throw:
   * it is called again later. A resident strategy is called once for each actor, at its creation,
   * and what it throws there is thrown by {@code newActor}.
   *
   * @param activation works through the mailbox
   */
  void activate(Runnable activation);

  /**
   * Whether an activation lasts as long as its actor, parked when idle, instead of ending with the
   * work.
   *
   * @return false unless overridden
   */
  default boolean resident() {
    return false;
  }

  /**
   * Whether it will never run an activation again. Actors that it gives no thread then end with
   * {@link ExitReason.Failed}; otherwise what {@code activate} throws is tried again.
   *
   * @return false unless overridden
   */
  default boolean isShutDown() {
    return false;
  }
}
