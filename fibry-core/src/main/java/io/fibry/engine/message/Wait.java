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
    boolean isCondemned();

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
    volatile Wait waits; // of the innermost handler; read by threads that look for rings
    private RefusedWait refused; // the last refused request, or null
    protected boolean lays; // an actor that it woke may lie in the slot of its thread

    /** A wait that would have closed a ring, and what was thrown instead. */
    private record RefusedWait(Throwable told, Awaitable awaited) {}

    /** Called before this handler waits or takes another message. */
    protected final void startLaid() {
      lays = false;
      HandOver.startLaid();
    }

    final void refuse(Throwable told, Awaitable awaited) {
      refused = new RefusedWait(told, awaited);
    }

    /**
     * Withdraws the request, because the handler failed with this exception and will not use the
     * answer.
     */
    public final void takeBack(Throwable told) {
      var last = refused;
      if (last == null || last.told != told) return;
      refused = null;
      if (last.awaited != null) last.awaited.takeBack();
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
    public abstract Deadline due();

    protected abstract boolean handles(Awaitable request);

    public final Wait waits() {
      return waits;
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
    default void takeBack() {}

    /** Tells the thread that the actor ends. Returns false if the wait is not for an answer. */
    default boolean stop(Object message) {
      return false;
    }
  }

  private record MailboxRoom(QueueEntry<Object> entry) implements Awaitable {
    @Override
    public boolean isOver() {
      return !entry.isBlocked();
    }
  }

  final WaitTarget on;
  final Object message; // null: its handler knows it
  final WaitingHandler by;
  private final Awaitable awaited; // null: it runs on the same thread
  private final boolean deaf; // an interrupt does not end it

  Wait(WaitTarget on, Object message, Awaitable awaited, WaitingHandler by, boolean deaf) {
    this.on = on;
    this.message = message;
    this.awaited = awaited;
    this.by = by;
    this.deaf = deaf;
  }

  /** For a thread about to send what it will wait for. */
  public static void prepare(WaitTarget on, Object message) {
    if (on.isCurrent() && (message == END || !on.hasOtherWorkers())) throw WaitCycle.onOneThread(on, message);
    CallerThreadRunner.beforeWait();
    // its last sender, perhaps this thread, was at the edge of its stack
    if (on.isStranded() && !on.isRescued()) throw new StackOverflowError(
        "there is no stack or memory left to give actor '" + on.name()
            + "' a thread, so waiting for it would have no end");
  }

  /**
   * Publishes that this thread's handler waits, until {@link #close}. Returns null if this thread
   * runs no handler.
   */
  public static Wait begin(WaitTarget on, Object message, Awaitable awaited) {
    return begin(on, message, awaited, WaitingHandler.current(), false);
  }

  public static Wait forRoom(WaitTarget on, Object message, QueueEntry<Object> entry) {
    return begin(on, message, new MailboxRoom(entry));
  }

  public static Wait begin(WaitTarget on, Object message, Awaitable awaited, WaitingHandler by, boolean deaf) {
    if (by == null) return null;
    var wait = new Wait(on, message, awaited, by, deaf);
    for (var below = by; below != null; below = below.outer) {
      if (below.lays) below.startLaid(); // first: at the edge of a stack it throws
      // a thread of a ForkJoinPool may run a task while it waits, and the task may wait, too. The
      // handler still needs the first wait to end: if that were hidden, the last member of a ring
      // could miss it, and nobody would look again
      var first = below.waits;
      if (first == null || first.isOver()) below.waits = wait;
    }
    // publishes it before plain reads look for others
    VarHandle.fullFence();
    return wait;
  }

  @Override
  public void close() {
    for (var below = by; below != null; below = below.outer) if (below.waits == this) below.waits = null;
  }

  void refused(Throwable told) {
    by.refuse(told, awaited);
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
    var sleeper = by.thread;
    if (sleeper == null || sleeper.isInterrupted() || !others.contains(on)) return false;
    var state = sleeper.getState();
    return (state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING)
        && awaited instanceof Future<?> answer && !answer.isDone();
  }

  boolean stop() {
    return awaited != null && awaited.stop(message);
  }

  /** Whether it has ended, or will by itself. Stays true, but for interrupts. */
  boolean isOver() {
    var sleeper = by.thread;
    if (sleeper == null || !deaf && sleeper.isInterrupted()) return true;
    if (on.isEnding() && on.isCondemned()) return true;
    return awaited.isOver();
  }

  void lookAgain() {
    if (awaited instanceof MailboxRoom && !awaited.isOver()) LockSupport.unpark(by.thread);
  }

  /** With the handler's message. */
  Wait explained(WaitingHandler worker) {
    return message != null || !worker.handles(awaited) ? this : new Wait(on, worker.message, awaited, by, deaf);
  }

  Object request() {
    return message == null ? "the answer" : EngineMessage.given(message);
  }

  WaitTarget from() {
    return by == null ? on : by.party();
  }

  public String goal() {
    String what = message == null ? "" : message == END || message == CLOSE ? (String) message
        : on.shown(EngineMessage.given(message));
    if (awaited instanceof MailboxRoom) what = "room for " + what;
    return "'" + on.name() + "'" + (what.isEmpty() ? "" : " (" + what + ")");
  }

  @Override
  public String toString() {
    return "'" + from().name() + "' waits for " + goal();
  }
}
