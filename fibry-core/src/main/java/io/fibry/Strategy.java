package io.fibry;

import java.util.concurrent.Executor;

/**
 * Gives an actor a thread when it has work. A strategy of your own implements {@code activate}; for
 * example, {@code activation -> Thread.ofPlatform().start(activation)} is a strategy. A strategy
 * must be thread-safe.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="strategy"}
 *
 * <p>On {@link #FIBER}, {@link #THREAD} and {@link #RESIDENT_FIBER} a handler may block, which
 * delays only its own actor and the callers that wait for that actor. On {@link #FIBER} and
 * {@link #RESIDENT_FIBER}, a handler that computes for long holds a carrier thread; use
 * {@link #THREAD} for it. Before Java 24, a handler that blocks inside {@code synchronized} also
 * holds a carrier thread.
 *
 * <p>The threads of these three strategies are daemons. They inherit nothing from the thread of the
 * sender: they have no inheritable thread-locals, and their context class loader is the system
 * class loader. While such a thread handles messages of a named actor, it has the name of the
 * actor.
 */
@FunctionalInterface
public interface Strategy {

  /**
   * Runs the actor on a virtual thread, which the actor has only while it has work. After the work,
   * the same thread may run another actor that the handler has woken, because this costs far less
   * than a new thread. A handler must therefore remove the values that it sets in a
   * {@code ThreadLocal}, as on any pool: otherwise another actor may see them. If a handler cannot
   * do so, use {@link #RESIDENT_FIBER}.
   */
  Strategy FIBER = Strategies.FIBER;

  /**
   * Runs the actor on a platform thread of its own, which is parked while the actor is idle. Use it
   * for handlers that compute, or that must always run on the same thread.
   */
  Strategy THREAD = Strategies.THREAD;

  /**
   * Runs the actor on the thread of the sender; for unit tests and deterministic runs. A message is
   * handled before {@code sendMessage} returns, unless the actor is busy on another thread.
   * Handlers nest at most 64 deep. A message sent by a deeper handler is handled when the outermost
   * handler has returned, or when the thread waits for an answer. Timers of the system clock send
   * their messages on a virtual thread.
   */
  Strategy CALLER = Strategies.CALLER;

  /**
   * Runs the actor on a virtual thread of its own, which is parked while the actor is idle. Use it
   * for handlers that keep thread-local state.
   */
  Strategy RESIDENT_FIBER = Strategies.RESIDENT_FIBER;

  /**
   * {@return a strategy that submits a task to an executor when an actor has work} After 256
   * messages or a millisecond, the actor submits a new task for its remaining messages, so that it
   * does not starve other actors. Use this strategy to run handlers that do not block on a pool, an
   * event loop or a UI thread. The threads of the executor are neither renamed nor interrupted.
   *
   * <p>If an {@code ExecutorService} is shut down, an actor that needs one of its threads ends with
   * {@link ExitReason.Failed}. An executor that silently drops accepted tasks breaks the promises
   * of its actors. Handlers that wait for each other can occupy all threads, until an {@code ask}
   * reaches its limit. A ForkJoinPool adds threads in this case, up to its maximum, but on Java 21
   * it sometimes does not wake a thread for a task.
   *
   * @param executor runs the activations
   */
  static Strategy of(Executor executor) {
    return new Strategies.OnExecutor(executor);
  }

  /**
   * Called when an actor without a thread has work. An implementation runs the activation soon, on
   * any thread that sees all writes made before this call. This method must return soon, because
   * senders, kills and closes call it. If the activation is run twice, the second run does nothing.
   * If this method throws, it is called again later.
   *
   * <p>A resident strategy is called once for each new actor, and {@code newActor} throws its
   * exceptions.
   *
   * @param activation handles the messages in the mailbox
   */
  void activate(Runnable activation);

  /**
   * {@return whether the strategy is resident; false by default} The activation of a resident
   * strategy lasts as long as the actor, and parks its thread while the actor is idle. Any other
   * activation ends when the mailbox is empty.
   */
  default boolean isResident() {
    return false;
  }

  /**
   * {@return whether this strategy will never run an activation again; false by default} If true,
   * actors without a thread end with {@link ExitReason.Failed}. If false, a call of
   * {@code activate} that threw is repeated.
   */
  default boolean isShutDown() {
    return false;
  }
}
