package io.fibry.engine.message;

import io.fibry.ActorStoppedException;
import io.fibry.Outcome;
import io.fibry.engine.jvm.CallerRuns;
import io.fibry.engine.jvm.HandOver;
import io.fibry.engine.queue.Blockers;
import io.fibry.engine.queue.Entry;
import java.lang.invoke.VarHandle;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;

/**
 * A handler's wait for an actor's answer, end, or room, published before the thread parks, so that
 * {@link Ring} can follow it. Each wait is an object of its own, and once over stays over: found
 * twice, it existed in between.
 */
public final class Wait implements AutoCloseable {
  public static final String END = "its end";
  public static final String CLOSE = "its end, to close its scope";

  /** An actor, as seen by a thread that waits for it. */
  public interface Party extends Named {
    boolean isCurrent();

    boolean isPool();

    boolean hasOtherWorkers();

    /**
     * Returns the handler that must continue before the wait can end. Returns null if there is
     * none, or several.
     */
    Waiter blocker();

    /**
     * Returns the workers of a pool on which a wait depends. Returns null if there are none, or
     * they are not known.
     */
    Blockers<Object> blockers(Wait wait);

    /** Takes up a stranded right to run. Returns false if neither stack nor memory permit it. */
    boolean isRescued();

    boolean isStranded();

    boolean isEnding();

    /** Whether it will be cut off. */
    boolean isCondemned();

    ActorStoppedException stopped(Object message, Outcome outcome);
  }

  /** A thread that runs a handler, and writes these fields. */
  public abstract static class Waiter {
    private static final ThreadLocal<Waiter> CURRENT = new ThreadLocal<>();

    // written before this is published, or before a resident thread looks for work; read by threads
    // that interrupt or wake it
    public Thread thread;
    public Object message; // the message that is being handled, or null
    public Waiter outer; // the handler that called this one on the same thread, or null
    volatile Wait waits; // of the innermost handler; read by threads that look for rings
    private Refused refused; // the last refused request, or null
    protected boolean lays; // an actor that it woke may lie in the slot of its thread

    /** A wait that would have closed a ring, and what was thrown instead. */
    private record Refused(Throwable told, Awaited awaited) {}

    /** Called before this handler waits or takes another message. */
    protected final void startLaid() {
      lays = false;
      HandOver.startLaid();
    }

    final void refuse(Throwable told, Awaited awaited) {
      refused = new Refused(told, awaited);
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
    public static Waiter current() {
      return CURRENT.get();
    }

    protected static void makeCurrent(Waiter waiter) {
      CURRENT.set(waiter);
    }

    public abstract Party party();

    /** Whether the library may name and interrupt its thread. */
    public abstract boolean ownsThread();

    /** When its answer must be there. Returns null if there is no deadline, or no thread waits. */
    public abstract Deadline due();

    protected abstract boolean handles(Awaited request);

    public final Wait waits() {
      return waits;
    }
  }

  public interface Awaited {
    /** Once true, always true. */
    boolean isOver();

    default boolean isEnd() {
      return false;
    }

    default Entry<Object> entry() {
      return null;
    }

    /** If it has not begun. */
    default void takeBack() {}

    /** Tells the thread that the actor ends. Returns false if the wait is not for an answer. */
    default boolean stop(Object message) {
      return false;
    }
  }

  private record Room(Entry<Object> entry) implements Awaited {
    @Override
    public boolean isOver() {
      return !entry.isBlocked();
    }
  }

  final Party on;
  final Object message; // null: its handler knows it
  final Waiter by;
  private final Awaited awaited; // null: it runs on the same thread
  private final boolean deaf; // an interrupt does not end it

  Wait(Party on, Object message, Awaited awaited, Waiter by, boolean deaf) {
    this.on = on;
    this.message = message;
    this.awaited = awaited;
    this.by = by;
    this.deaf = deaf;
  }

  /** For a thread about to send what it will wait for. */
  public static void prepare(Party on, Object message) {
    if (on.isCurrent() && (message == END || !on.hasOtherWorkers())) throw Ring.onOneThread(on, message);
    CallerRuns.beforeWait();
    // its last sender, perhaps this thread, was at the edge of its stack
    if (on.isStranded() && !on.isRescued()) throw new StackOverflowError(
        "there is no stack or memory left to give actor '" + on.name()
            + "' a thread, so waiting for it would have no end");
  }

  /**
   * Publishes that this thread's handler waits, until {@link #close}. Returns null if this thread
   * runs no handler.
   */
  public static Wait begin(Party on, Object message, Awaited awaited) {
    return begin(on, message, awaited, Waiter.current(), false);
  }

  public static Wait forRoom(Party on, Object message, Entry<Object> entry) {
    return begin(on, message, new Room(entry));
  }

  public static Wait begin(Party on, Object message, Awaited awaited, Waiter by, boolean deaf) {
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

  public Entry<Object> entry() {
    return awaited.entry();
  }

  /**
   * Returns whether an answer is missing that one of these parties must give, or that they have
   * promised. The thread sets the timer of its limit before it parks.
   */
  public boolean isForAnswerOf(Set<? extends Party> others) {
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
    if (awaited instanceof Room && !awaited.isOver()) LockSupport.unpark(by.thread);
  }

  /** With the handler's message. */
  Wait explained(Waiter worker) {
    return message != null || !worker.handles(awaited) ? this : new Wait(on, worker.message, awaited, by, deaf);
  }

  Object request() {
    return message == null ? "the answer" : Control.given(message);
  }

  Party from() {
    return by == null ? on : by.party();
  }

  public String goal() {
    String what = message == null ? "" : message == END || message == CLOSE ? (String) message
        : on.shown(Control.given(message));
    if (awaited instanceof Room) what = "room for " + what;
    return "'" + on.name() + "'" + (what.isEmpty() ? "" : " (" + what + ")");
  }

  @Override
  public String toString() {
    return "'" + from().name() + "' waits for " + goal();
  }
}
