package io.fibry.engine.message;

import io.fibry.ActorStoppedException;
import io.fibry.engine.jvm.CallerRuns;
import io.fibry.engine.jvm.Log;
import io.fibry.engine.queue.Blockers;
import io.fibry.engine.queue.Entry;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * A handler waits for an actor: for an answer, for its end, or for room in its mailbox. The wait is
 * published before the thread parks, so that {@link Ring} can follow it.
 *
 * <p>A wait counts until what it waits for is over, which never changes back; and each wait is an
 * object of its own. So waits that are found twice, unchanged, existed all the time in between.
 */
public final class Wait implements AutoCloseable {
  public static final String END = "its end";
  public static final String CLOSE = "its end, to close its scope";

  /** An actor, as seen by a thread that waits for it. */
  public interface Party {
    String name();

    /** Whether this thread works for it now. */
    boolean isCurrent();

    boolean isPool();

    /** Whether another worker can do what one of its workers waits for. */
    boolean hasOtherWorkers();

    /** The thread that must go on for a wait to end. Null: none, or one of several. */
    Waiter blocker();

    /** Of a pool: the workers that must go on for a wait to end. Null: none, or not known. */
    Blockers<Object> blockers(Wait wait);

    /** Takes up a right to run that lies stranded; where the stack is too short, it still does. */
    void rescue();

    boolean isStranded();

    boolean isEnding();

    /** Whether it will be cut off, if nothing else ends it. */
    boolean isCondemned();

    ActorStoppedException stopped(Object message);
  }

  /** A thread that runs a handler. Its own thread writes all fields, unless said otherwise. */
  public abstract static class Waiter {
    private static final ThreadLocal<Waiter> CURRENT = new ThreadLocal<>();

    // written before other threads can find this object, or, by a resident thread, before it looks
    // for work; read by threads that want to interrupt or wake it
    public Thread thread;
    public Object message; // being handled; null: none
    protected Waiter outer; // this one runs inside the handler of that one; null: none
    volatile Wait waits; // of the innermost handler on the thread; read by threads that look for rings

    /** The innermost handler on this thread. Null: none. */
    public static Waiter current() {
      return CURRENT.get();
    }

    protected static void makeCurrent(Waiter waiter) {
      CURRENT.set(waiter);
    }

    public abstract Party party();

    /** Whether the library made its thread, and so may name and interrupt it. */
    public abstract boolean ownsThread();

    /** When the answer to the message being handled must be there. Null: never, or no thread waits. */
    public abstract Deadline due();

    /** Whether it handles this request now. */
    protected abstract boolean handles(Awaited request);

    public final Waiter outer() {
      return outer;
    }

    /** Null: its handler does not wait. */
    public final Wait waits() {
      return waits;
    }
  }

  /** What ends a wait. */
  public interface Awaited {
    /** Once true, always true. */
    boolean isOver();

    default boolean isEnd() {
      return false;
    }

    /** Where it stands in a guarded queue. Null: nowhere. */
    default Entry<Object> entry() {
      return null;
    }

    /** Tells the waiting thread that the actor ends. False: that is not possible. */
    default boolean stop(Object message) {
      return false;
    }
  }

  /** Room in a mailbox. */
  private record Room(Entry<Object> entry) implements Awaited {
    @Override
    public boolean isOver() {
      return !entry.isBlocked();
    }
  }

  final Party on;
  final Object message; // null: only its handler knows it
  final Waiter by;
  private final Awaited awaited; // null: what is waited for runs on the same thread
  private final boolean deaf; // an interrupt does not end it

  Wait(Party on, Object message, Awaited awaited, Waiter by, boolean deaf) {
    this.on = on;
    this.message = message;
    this.awaited = awaited;
    this.by = by;
    this.deaf = deaf;
  }

  /** Called before a thread sends what it will wait for. */
  public static void prepare(Party on, Object message) {
    if (on.isCurrent() && (message == END || !on.hasOtherWorkers())) throw Ring.onOneThread(on, message);
    CallerRuns.beforeWait();
    if (on.isStranded()) rescue(on); // its last sender, perhaps this thread, was at the edge of its stack
  }

  private static void rescue(Party on) {
    on.rescue();
    if (on.isStranded()) throw new StackOverflowError(
        "there is no stack left to give actor '" + on.name() + "' a thread, so waiting for it would have no end");
  }

  /**
   * Publishes that the handler on this thread waits. Null: this thread runs no handler. The caller
   * must {@link #close} it.
   */
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
    // this wait is published; now for those of others, of which less than a volatile read is made
    VarHandle.fullFence();
    return wait;
  }

  /** The wait has ended. */
  @Override
  public void close() {
    for (var below = by; below != null; below = below.outer) below.waits = null;
  }

  public Party on() {
    return on;
  }

  public boolean isForEnd() {
    return awaited.isEnd();
  }

  /** Where what is waited for stands in a guarded queue. Null: nowhere. */
  public Entry<Object> entry() {
    return awaited.entry();
  }

  /** Tells the waiting thread that the actor ends. False: it does not wait for an answer. */
  public boolean stop() {
    return awaited != null && awaited.stop(message);
  }

  /** Whether it has ended, or will end by itself. Once true, always true, except for interrupts. */
  boolean isOver() {
    var sleeper = by.thread;
    if (sleeper == null || !deaf && sleeper.isInterrupted()) return true;
    if (on.isEnding() && on.isCondemned()) return true;
    return awaited.isOver();
  }

  /** Makes a sender that waits for room look for a ring again. */
  void lookAgain() {
    if (awaited instanceof Room && !awaited.isOver()) LockSupport.unpark(by.thread);
  }

  /** This wait, with the message that only its handler knows. */
  Wait explained(Waiter worker) {
    return message != null || !worker.handles(awaited) ? this : new Wait(on, worker.message, awaited, by, deaf);
  }

  Object request() {
    return message == null ? "the answer" : Control.given(message);
  }

  Party from() {
    return by == null ? on : by.party();
  }

  /** What it waits for, as text. */
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
