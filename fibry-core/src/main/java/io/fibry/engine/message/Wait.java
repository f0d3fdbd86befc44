package io.fibry.engine.message;

import io.fibry.ActorStoppedException;
import io.fibry.Outcome;
import io.fibry.engine.jvm.CallerThreadRunner;
import io.fibry.engine.jvm.HandOver;
import io.fibry.engine.queue.PoolBlockers;
import io.fibry.engine.queue.QueueEntry;
import java.lang.invoke.VarHandle;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;

/**
 * A handler's wait for an actor's answer, end, or room, published before the thread parks, so that
 * {@link WaitCycle} can follow it. Each wait is an object of its own, and once over stays over:
 * found twice, it existed in between.
 */
public final class Wait implements AutoCloseable {
  public static final String END = "its end";
  public static final String CLOSE = "its end, to close its scope";

  /** An actor, as seen by a thread that waits for it. */
  public interface WaitTarget extends DescribedActor {
    boolean isCurrent();

    boolean isPool();

    boolean hasOtherWorkers();

    /**
     * Returns the handler that must continue before the wait can end. Returns null if there is
     * none, or several.
     */
    WaitingHandler blocker();

    /**
     * Returns the workers of a pool on which a wait depends. Returns null if there are none, or
     * they are not known.
     */
    PoolBlockers<Object> blockers(Wait wait);

    /** Takes up a stranded right to run. Returns false if neither stack nor memory permit it. */
    boolean isRescued();

    boolean isStranded();

    boolean isEnding();

    /** Whether it will be cut off. */
    boolean isBeingKilled();

    ActorStoppedException stopped(Object message, Outcome outcome);
  }

  /** A thread that runs a handler, and writes these fields. */
  public abstract static class WaitingHandler {
    private static final ThreadLocal<WaitingHandler> CURRENT = new ThreadLocal<>();

    // written before this is published, or before a resident thread looks for work; read by threads
    // that interrupt or wake it
    public Thread thread;
    public Object message; // the message that is being handled, or null
    public WaitingHandler outer; // the handler that called this one on the same thread, or null
    volatile Wait currentWait; // of the innermost handler; read by threads that look for rings
    private RefusedWait refused; // the last refused request, or null
    protected boolean mayHoldHandOver; // an actor that it woke may lie in the slot of its thread

    /** A wait that would have closed a ring, and what was thrown instead. */
    private record RefusedWait(Throwable thrown, Awaitable awaited) {}

    /** Called before this handler waits or takes another message. */
    protected final void startHandedOver() {
      mayHoldHandOver = false;
      HandOver.startHandedOver();
    }

    final void rememberRefused(Throwable thrown, Awaitable awaited) {
      refused = new RefusedWait(thrown, awaited);
    }

    /**
     * Withdraws the request, because the handler failed with this exception and will not use the
     * answer.
     */
    public final void withdrawRefused(Throwable thrown) {
      var last = refused;
      if (last == null || last.thrown != thrown) return;
      refused = null;
      if (last.awaited != null) last.awaited.cancelUnlessBegun();
    }

    /** Returns null if this thread runs no handler. */
    public static WaitingHandler current() {
      return CURRENT.get();
    }

    protected static void makeCurrent(WaitingHandler waiter) {
      CURRENT.set(waiter);
    }

    public abstract WaitTarget party();

    /** Whether the library may name and interrupt its thread. */
    public abstract boolean ownsThread();

    /** When its answer must be there. Returns null if there is no deadline, or no thread waits. */
    public abstract Deadline answerDeadline();

    protected abstract boolean handles(Awaitable request);

    public final Wait currentWait() {
      return currentWait;
    }
  }

  public interface Awaitable {
    /** Once true, always true. */
    boolean isOver();

    default boolean isEnd() {
      return false;
    }

    default QueueEntry<Object> entry() {
      return null;
    }

    /** If it has not begun. */
    default void cancelUnlessBegun() {}

    /** Tells the thread that the actor ends. Returns false if the wait is not for an answer. */
    default boolean failStopped(Object message) {
      return false;
    }
  }

  private record MailboxRoom(QueueEntry<Object> entry) implements Awaitable {
    @Override
    public boolean isOver() {
      return !entry.isBlocked();
    }
  }

  final WaitTarget target;
  final Object message; // null: its handler knows it
  final WaitingHandler waiter;
  private final Awaitable awaited; // null: it runs on the same thread
  private final boolean ignoresInterrupts; // an interrupt does not end it

  Wait(WaitTarget target, Object message, Awaitable awaited, WaitingHandler waiter, boolean ignoresInterrupts) {
    this.target = target;
    this.message = message;
    this.awaited = awaited;
    this.waiter = waiter;
    this.ignoresInterrupts = ignoresInterrupts;
  }

  /** For a thread about to send what it will wait for. */
  public static void prepare(WaitTarget target, Object message) {
    if (target.isCurrent() && (message == END || !target.hasOtherWorkers())) throw WaitCycle.selfCycle(target, message);
    CallerThreadRunner.beforeWait();
    // its last sender, perhaps this thread, was at the edge of its stack
    if (target.isStranded() && !target.isRescued()) throw new StackOverflowError(
        "there is no stack or memory left to give actor '" + target.name()
            + "' a thread, so waiting for it would have no end");
  }

  /**
   * Publishes that this thread's handler waits, until {@link #close}. Returns null if this thread
   * runs no handler.
   */
  public static Wait begin(WaitTarget target, Object message, Awaitable awaited) {
    return begin(target, message, awaited, WaitingHandler.current(), false);
  }

  public static Wait forRoom(WaitTarget target, Object message, QueueEntry<Object> entry) {
    return begin(target, message, new MailboxRoom(entry));
  }

  public static Wait begin(WaitTarget target, Object message, Awaitable awaited, WaitingHandler waiter,
      boolean ignoresInterrupts) {
    if (waiter == null) return null;
    var wait = new Wait(target, message, awaited, waiter, ignoresInterrupts);
    for (var below = waiter; below != null; below = below.outer) {
      if (below.mayHoldHandOver) below.startHandedOver(); // first: at the edge of a stack it throws
      // a thread of a ForkJoinPool may run a task while it waits, and the task may wait, too. The
      // handler still needs the first wait to end: if that were hidden, the last member of a ring
      // could miss it, and nobody would look again
      var first = below.currentWait;
      if (first == null || first.isOver()) below.currentWait = wait;
    }
    // publishes it before plain reads look for others
    VarHandle.fullFence();
    return wait;
  }

  @Override
  public void close() {
    for (var below = waiter; below != null; below = below.outer)
      if (below.currentWait == this) below.currentWait = null;
  }

  void onRefused(Throwable thrown) {
    waiter.rememberRefused(thrown, awaited);
  }

  public boolean isForEnd() {
    return awaited.isEnd();
  }

  public QueueEntry<Object> entry() {
    return awaited.entry();
  }

  /**
   * Returns whether an answer is missing that one of these parties must give, or that they have
   * promised. The thread sets the timer of its limit before it parks.
   */
  public boolean isForAnswerOf(Set<? extends WaitTarget> others) {
    var sleeper = waiter.thread;
    if (sleeper == null || sleeper.isInterrupted() || !others.contains(target)) return false;
    var state = sleeper.getState();
    return (state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING)
        && awaited instanceof Future<?> answer && !answer.isDone();
  }

  boolean failStopped() {
    return awaited != null && awaited.failStopped(message);
  }

  /** Whether it has ended, or will by itself. Stays true, but for interrupts. */
  boolean isOver() {
    var sleeper = waiter.thread;
    if (sleeper == null || !ignoresInterrupts && sleeper.isInterrupted()) return true;
    if (target.isEnding() && target.isBeingKilled()) return true;
    return awaited.isOver();
  }

  void recheckRoom() {
    if (awaited instanceof MailboxRoom && !awaited.isOver()) LockSupport.unpark(waiter.thread);
  }

  /** With the handler's message. */
  Wait withMessage(WaitingHandler worker) {
    return message != null || !worker.handles(awaited) ? this
        : new Wait(target, worker.message, awaited, waiter, ignoresInterrupts);
  }

  Object request() {
    return message == null ? "the answer" : EngineMessage.unwrap(message);
  }

  WaitTarget waitingActor() {
    return waiter == null ? target : waiter.party();
  }

  public String describe() {
    String what = message == null ? "" : message == END || message == CLOSE ? (String) message
        : target.describe(EngineMessage.unwrap(message));
    if (awaited instanceof MailboxRoom) what = "room for " + what;
    return "'" + target.name() + "'" + (what.isEmpty() ? "" : " (" + what + ")");
  }

  @Override
  public String toString() {
    return "'" + waitingActor().name() + "' waits for " + describe();
  }
}
