package io.fibry.engine.message;

import io.fibry.ActorStoppedException;
import io.fibry.engine.jvm.CallerRuns;
import io.fibry.engine.jvm.Log;
import io.fibry.engine.queue.Blockers;
import io.fibry.engine.queue.Entry;
import java.lang.invoke.VarHandle;
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
  public interface Party {
    String name();

    boolean isCurrent();

    boolean isPool();

    boolean hasOtherWorkers();

    /** The handler that must go on for a wait to end. Null: none, or several. */
    Waiter blocker();

    /** Of a pool. Null: none, or not known. */
    Blockers<Object> blockers(Wait wait);

    /** Takes up a stranded right to run, if the stack allows. */
    void rescue();

    boolean isStranded();

    boolean isEnding();

    /** Whether it will be cut off. */
    boolean isCondemned();

    ActorStoppedException stopped(Object message);
  }

  /** A thread that runs a handler, and writes these fields. */
  public abstract static class Waiter {
    private static final ThreadLocal<Waiter> CURRENT = new ThreadLocal<>();

    // written before this is published, or before a resident thread looks for work; read by threads
    // that interrupt or wake it
    public Thread thread;
    public Object message; // being handled; null: none
    public Waiter outer; // this one runs in its handler; null: none
    volatile Wait waits; // of the innermost handler; read by threads that look for rings

    /** Null: this thread runs no handler. */
    public static Waiter current() {
      return CURRENT.get();
    }

    protected static void makeCurrent(Waiter waiter) {
      CURRENT.set(waiter);
    }

    public abstract Party party();

    /** Whether the library may name and interrupt its thread. */
    public abstract boolean ownsThread();

    /** When its answer must be there. Null: never, or no thread waits. */
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

    /** Tells the thread that the actor ends. False: it waits for no answer. */
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
    if (!on.isStranded()) return;
    on.rescue(); // its last sender, perhaps this thread, was at the edge of its stack
    if (on.isStranded()) throw new StackOverflowError(
        "there is no stack or memory left to give actor '" + on.name()
            + "' a thread, so waiting for it would have no end");
  }

  /** Publishes that this thread's handler waits, until {@link #close}. Null: no handler. */
  public static Wait begin(Party on, Object message, Awaited awaited) {
    return begin(on, message, awaited, Waiter.current(), false);
  }

  public static Wait forRoom(Party on, Object message, Entry<Object> entry) {
    return begin(on, message, new Room(entry));
  }

  static Wait begin(Party on, Object message, Awaited awaited, Waiter by, boolean deaf) {
    if (by == null) return null;
    var wait = new Wait(on, message, awaited, by, deaf);
    for (var below = by; below != null; below = below.outer) below.waits = wait;
    // publishes it before plain reads look for others
    VarHandle.fullFence();
    return wait;
  }

  @Override
  public void close() {
    for (var below = by; below != null; below = below.outer) below.waits = null;
  }

  public boolean isForEnd() {
    return awaited.isEnd();
  }

  public Entry<Object> entry() {
    return awaited.entry();
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
    String what = message == null ? "" : Log.shown(Control.given(message));
    if (awaited instanceof Room) what = "room for " + what;
    return "'" + on.name() + "'" + (what.isEmpty() ? "" : " (" + what + ")");
  }

  @Override
  public String toString() {
    return "'" + from().name() + "' waits for " + goal();
  }
}
