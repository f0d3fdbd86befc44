package io.fibry.engine.message;

import io.fibry.ActorStoppedException;
import io.fibry.RequestOutcome;
import io.fibry.engine.jvm.CallerThreadRunner;
import io.fibry.engine.jvm.HandOver;
import io.fibry.engine.queue.PoolBlockers;
import io.fibry.engine.queue.QueueEntry;
import io.fibry.time.Scheduler;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;

/**
 * A handler's wait for an actor's answer or end, or for space in its mailbox. A wait is published
 * before its thread parks, so that {@link WaitCycle} can follow the wait. Each wait is a new
 * object, and a wait that is over stays over. So if a search finds the same object twice, the wait
 * lasted from the first find to the second.
 */
public final class Wait implements AutoCloseable {
  /** The {@code message} of a wait for the end of an actor. */
  public static final String END = "its end";
  /** The {@code message} of a wait for the end of an actor by a thread that closes its scope. */
  public static final String CLOSE = "its end, to close its scope";

  /** An actor, as seen by a thread that waits for it. */
  public interface WaitTarget extends DescribedActor {
    /** Returns whether a handler or hook of this actor runs on this thread. */
    boolean isCurrent();

    boolean isPool();

    boolean hasOtherWorkers();

    /**
     * Returns the handler that must continue before a wait for this actor can end. Returns null if
     * there is no such handler, or there are several.
     */
    WaitingHandler blocker();

    /**
     * Returns the workers of this pool on which the wait depends. Returns null if no such worker is
     * known.
     */
    PoolBlockers<Object> blockers(Wait wait);

    /**
     * Starts a thread for a stranded right to run. Returns false if stack or memory does not
     * suffice.
     */
    boolean tryRescue();

    boolean isStranded();

    boolean isEnding();

    /** Returns whether the actor is being killed, so that its handler will be cut off. */
    boolean isBeingKilled();

    ActorStoppedException stopped(Object message, RequestOutcome outcome);
  }

  /** A running handler, which may wait. The handler's thread writes the fields. */
  public abstract static class WaitingHandler {
    private static final ThreadLocal<WaitingHandler> CURRENT = new ThreadLocal<>();
    private static final VarHandle CURRENT_WAIT = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(),
        "currentWait", VarHandle.class, WaitingHandler.class, Wait.class);

    // written before this object is published; a resident thread, which serves only this actor,
    // writes it before it looks for work. Read by other threads that interrupt or wake this thread
    public Thread thread;
    public Object message; // the message that is being handled, or null
    public WaitingHandler outer; // the handler that called this handler on the same thread, or null
    // the wait of this handler, or of a handler that this handler called on the same thread, or
    // null. Written by `publish` and `unpublish`, read by threads that search for cycles
    volatile Wait currentWait;
    private RefusedWait lastRefused; // the last refused wait, or null
    protected boolean mayHoldHandOver; // whether the thread's slot may have a drain that this handler woke

    /** A wait that would have closed a cycle, and the exception that was thrown instead. */
    private record RefusedWait(Throwable exception, Awaitable awaitable) {}

    /**
     * Starts a new fiber for the drain in the slot of this thread. Called before this handler waits
     * or takes another message.
     */
    protected final void startHandedOver() {
      mayHoldHandOver = false;
      HandOver.startHandedOver();
    }

    /** Publishes the wait, unless an earlier wait lasts. The caller adds a full fence. */
    private void publish(Wait wait) {
      // a ForkJoinPool thread that waits may run another task, and that task may wait, too. The
      // first wait stays published, because the handler needs it to end. If the new wait replaced
      // the first, the handler that closes a cycle would not find the first wait, and no other
      // handler would search again
      var publishedWait = currentWait;
      if (publishedWait == null || publishedWait.isOver()) CURRENT_WAIT.setRelease(this, wait);
    }

    /**
     * Clears the wait, which has ended, by a release write. A search that still sees the wait finds
     * it over, or as if it had ended a moment later.
     */
    private void unpublish(Wait wait) {
      if (currentWait == wait) CURRENT_WAIT.setRelease(this, null);
    }

    final void rememberRefused(Throwable exception, Awaitable awaitable) {
      lastRefused = new RefusedWait(exception, awaitable);
    }

    /**
     * Cancels the request whose wait was refused with this exception. Called when the handler has
     * failed with this exception, and therefore will not use the answer.
     */
    public final void withdrawRefused(Throwable exception) {
      var refusedWait = lastRefused;
      if (refusedWait == null || refusedWait.exception != exception) return;
      lastRefused = null;
      if (refusedWait.awaitable != null) refusedWait.awaitable.cancelUnlessBegun();
    }

    /** Returns the innermost handler on this thread, or null if this thread runs no handler. */
    public static WaitingHandler current() {
      return CURRENT.get();
    }

    protected static void makeCurrent(WaitingHandler waiter) {
      CURRENT.set(waiter);
    }

    public abstract WaitTarget actor();

    /** Returns whether the library may name and interrupt the thread. */
    public abstract boolean ownsThread();

    /**
     * Returns the deadline of the answer that this handler must give. Returns null if there is no
     * deadline, or no thread waits for the answer.
     */
    public abstract Deadline answerDeadline();

    protected abstract boolean handles(Awaitable request);

    public final Wait currentWait() {
      return currentWait;
    }

    /** Returns whether the thread sleeps by this clock, or waits for one of these actors. */
    public final boolean isWaitingFor(Scheduler clock, Set<? extends WaitTarget> actors) {
      var handlerThread = thread; // read once: the drain may clear it
      return handlerThread != null && (clock.isAsleep(handlerThread) || isAwaitingAnswerOf(actors));
    }

    public final boolean isAwaitingAnswerOf(Set<? extends WaitTarget> actors) {
      var wait = currentWait; // read once: it is cleared when the wait ends
      return wait != null && wait.isForAnswerOf(actors);
    }
  }

  public interface Awaitable {
    /** Returns whether the wait has ended. Once the result is true, it stays true. */
    boolean isOver();

    /** Returns whether the wait is for the end of an actor. */
    default boolean isForEnd() {
      return false;
    }

    default QueueEntry<Object> entry() {
      return null;
    }

    /** Cancels the request, if the actor has not begun with it. */
    default void cancelUnlessBegun() {}

    /**
     * Fails the request, because the actor ends. Returns false if the wait is not for an answer.
     */
    default boolean failStopped(Object message) {
      return false;
    }
  }

  private record MailboxSpace(QueueEntry<Object> entry) implements Awaitable {
    @Override
    public boolean isOver() {
      return !entry.isBlocked();
    }
  }

  final WaitTarget target;
  final Object message; // null: only the handler of the request knows the message, see withMessage
  final WaitingHandler waiter;
  private final Awaitable awaitable; // null: the target runs on the thread of the waiter
  private final boolean ignoresInterrupts; // whether an interrupt does not end the wait

  Wait(WaitTarget target, Object message, Awaitable awaitable, WaitingHandler waiter, boolean ignoresInterrupts) {
    this.target = target;
    this.message = message;
    this.awaitable = awaitable;
    this.waiter = waiter;
    this.ignoresInterrupts = ignoresInterrupts;
  }

  /**
   * Checks that this thread may wait for the target. Called before the thread sends its request, or
   * begins to wait for the end of the target.
   */
  public static void checkMayWait(WaitTarget target, Object message) {
    if (target.isCurrent() && (message == END || !target.hasOtherWorkers())) throw WaitCycle.selfCycle(target, message);
    ensureStarted(target);
  }

  /**
   * Starts activations that were postponed until this thread waits, and a stranded right to run.
   * Called also after the thread has sent a request, because that send may have left either.
   */
  static void ensureStarted(WaitTarget target) {
    CallerThreadRunner.beforeWait();
    // the last sender, perhaps this thread, had too little stack to start the actor
    if (target.isStranded() && !target.tryRescue()) throw new StackOverflowError(
        "there is no stack or memory left to give actor '" + target.name()
            + "' a thread, so waiting for this actor would never end");
  }

  /**
   * Publishes that this thread's handler waits, until {@link #close}. Returns null if this thread
   * runs no handler.
   */
  public static Wait begin(WaitTarget target, Object message, Awaitable awaitable) {
    return begin(target, message, awaitable, WaitingHandler.current(), false);
  }

  public static Wait beginForSpace(WaitTarget target, Object message, QueueEntry<Object> entry) {
    return begin(target, message, new MailboxSpace(entry));
  }

  public static Wait begin(WaitTarget target, Object message, Awaitable awaitable, WaitingHandler waiter,
      boolean ignoresInterrupts) {
    if (waiter == null) return null;
    var wait = new Wait(target, message, awaitable, waiter, ignoresInterrupts);
    for (var handler = waiter; handler != null; handler = handler.outer) {
      // before the wait is published, because startHandedOver throws if the stack is exhausted
      if (handler.mayHoldHandOver) handler.startHandedOver();
      handler.publish(wait);
    }
    // publishes the wait before this thread reads the waits of others
    VarHandle.fullFence();
    return wait;
  }

  @Override
  public void close() {
    for (var handler = waiter; handler != null; handler = handler.outer) handler.unpublish(this);
  }

  void onRefused(Throwable exception) {
    waiter.rememberRefused(exception, awaitable);
  }

  public boolean isForEnd() {
    return awaitable.isForEnd();
  }

  public QueueEntry<Object> entry() {
    return awaitable.entry();
  }

  /**
   * Returns whether the thread is parked until one of these actors answers, or completes an answer
   * that it has promised. A parked thread has already set the timer of its limit, so a test may
   * move the clock.
   */
  boolean isForAnswerOf(Set<? extends WaitTarget> actors) {
    var sleeper = waiter.thread;
    if (sleeper == null || sleeper.isInterrupted() || !actors.contains(target)) return false;
    var state = sleeper.getState();
    return (state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING)
        && awaitable instanceof Future<?> answer && !answer.isDone();
  }

  boolean failStopped() {
    return awaitable != null && awaitable.failStopped(message);
  }

  /**
   * Returns whether the wait has ended, or will end without the target's handler. Once true, the
   * result stays true, unless an interrupt is cleared.
   */
  boolean isOver() {
    var sleeper = waiter.thread;
    if (sleeper == null || !ignoresInterrupts && sleeper.isInterrupted()) return true;
    if (target.isEnding() && target.isBeingKilled()) return true;
    return awaitable.isOver();
  }

  /** If the thread waits for space in a mailbox, wakes it, so that it searches for cycles again. */
  void wakeToSearchAgain() {
    if (awaitable instanceof MailboxSpace && !awaitable.isOver()) LockSupport.unpark(waiter.thread);
  }

  /**
   * If this wait does not know its message and the worker handles the request, returns a copy with
   * the worker's message. Otherwise returns this wait.
   */
  Wait withMessage(WaitingHandler worker) {
    return message != null || !worker.handles(awaitable) ? this
        : new Wait(target, worker.message, awaitable, waiter, ignoresInterrupts);
  }

  Object request() {
    return message == null ? "the answer" : EngineMessage.unwrap(message);
  }

  WaitTarget waitingActor() {
    return waiter == null ? target : waiter.actor();
  }

  /** Returns the actor for which the handler waits. */
  public WaitTarget target() {
    return target;
  }

  /** Returns the name of the actor for which the handler waits. */
  public String targetName() {
    return target.name();
  }

  public String describe() {
    String text = message == null ? "" : message == END || message == CLOSE ? (String) message
        : target.describe(EngineMessage.unwrap(message));
    if (awaitable instanceof MailboxSpace) text = "capacity for " + text;
    return "'" + target.name() + "'" + (text.isEmpty() ? "" : " (" + text + ")");
  }

  @Override
  public String toString() {
    return "'" + waitingActor().name() + "' waits for " + describe();
  }
}
