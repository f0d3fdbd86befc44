package io.fibry;

import java.util.concurrent.Executor;

/**
 * How an actor gets a thread. Write your own by implementing {@code activate}: {@code activation ->
 * Thread.ofPlatform().start(activation)} is one. Must be thread-safe.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="strategy"}
 *
 * <p>On {@link #FIBER}, {@link #THREAD} and {@link #RESIDENT_FIBER} a handler may block, which
 * delays only its own actor and the callers that wait for that actor. Computing holds a carrier
 * thread (use {@link #THREAD}); so does, before Java 24, blocking inside {@code synchronized}.
 * Their threads are daemons, inherit nothing from the sender's (no inheritable thread-locals; the
 * system's class loader), and bear the name of a named actor at work.
 */
@FunctionalInterface
public interface Strategy {

  /**
   * A virtual thread, only while there is work. The virtual thread may then run an actor that its
   * handler has woken, which costs far less than a new thread. So a handler must remove what it
   * sets in a {@code ThreadLocal}, as on any pool, or another actor may see it; where it cannot,
   * use {@link #RESIDENT_FIBER}.
   */
  Strategy FIBER = Strategies.FIBER;

  /**
   * A platform thread of its own, parked when idle: for handlers that compute or need one thread.
   */
  Strategy THREAD = Strategies.THREAD;

  /**
   * The sender's thread, for unit tests and deterministic runs: messages are handled before
   * {@code sendMessage} returns, unless the actor is busy on another thread. Handlers nest at most
   * 64 deep; deeper messages wait for the outermost, or until this thread waits for an answer. The
   * system clock's timers send on a virtual thread.
   */
  Strategy CALLER = Strategies.CALLER;

  /** A virtual thread of its own, parked when idle: for handlers that keep thread-local state. */
  Strategy RESIDENT_FIBER = Strategies.RESIDENT_FIBER;

  /**
   * {@return a strategy that submits a task to an executor whenever there is work} After 256
   * messages or a millisecond the rest is a new task, so no actor starves another. For handlers
   * that do not block, on a pool, event loop or UI thread. Threads are neither renamed nor
   * interrupted.
   *
   * <p>An {@code ExecutorService} that is shut down ends actors that need it with
   * {@link ExitReason.Failed}. One that silently drops accepted tasks breaks its actors' promises.
   * Handlers that wait for each other can take all threads, until an {@code ask} reaches its limit.
   * A ForkJoinPool adds threads meanwhile, as far as it may, but on Java 21 sometimes forgets to
   * wake one.
   *
   * @param executor runs the activations
   */
  static Strategy of(Executor executor) {
    return new Strategies.OnExecutor(executor);
  }

  /**
   * Called when an actor without a thread has work. Run the activation soon, on any thread that
   * sees what came before this call; only the first run counts. If this throws, it is called again
   * later. It must return soon, because senders, kills and closes call it. A resident strategy is
   * called once per new actor, and {@code newActor} throws what it throws.
   *
   * @param activation works through the mailbox
   */
  void activate(Runnable activation);

  /**
   * {@return whether an activation lasts as long as its actor, parked when idle, instead of ending
   * with the work; false by default}
   */
  default boolean isResident() {
    return false;
  }

  /**
   * {@return whether it will never run an activation again; false by default} If true, actors
   * without a thread end with {@link ExitReason.Failed}. If false, a failed {@code activate} is
   * tried again.
   */
  default boolean isShutDown() {
    return false;
  }
}
