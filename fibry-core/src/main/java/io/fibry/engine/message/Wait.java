package io.fibry.engine.message;

import io.fibry.AskCycleException;
import io.fibry.RequestException;
import io.fibry.engine.actor.ActorCell;
import io.fibry.engine.actor.PoolCell;
import io.fibry.engine.cell.Activation;
import io.fibry.engine.cell.Dispatch;
import io.fibry.engine.jvm.CallerRuns;
import io.fibry.engine.queue.Entry;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;

/**
 * A handler waits: for an answer, for an end, or for room. It says so in its activation, and in all
 * that are below it on its thread; then it walks from its own wait to who must go on for that to
 * end, to what that one waits for, and so on. Who comes back to its own thread has closed a ring,
 * which would never end. Of those who close one together, the last to publish sees all the others:
 * so publish first, then walk.
 *
 * <p>A wait is an edge only while what it waits for is not over; that never comes back, and each
 * wait is an object of its own. So a ring that is read twice, the very same, was whole in between.
 * Where a pool is part of it, a {@link Ring} may fork.
 */
public final class Wait implements AutoCloseable {
  public static final String END = "its end";
  public static final String CLOSE = "its end, to close its scope";

  public final ActorCell on;
  private final Object what; // the message; null: only its handler may know
  // an Asked, the future of an end, or a Entry; null: who is waited for runs on the same thread
  private final Object thing;
  private final Activation by;
  private final boolean deaf; // an interrupt does not end it
  private List<Wait> closed; // the ring that was found; its thread's

  private Wait(ActorCell on, Object what, Object thing, Activation by, boolean deaf) {
    this.on = on;
    this.what = what;
    this.thing = thing;
    this.by = by;
    this.deaf = deaf;
  }

  // ---- before something is sent

  /** Called by who is about to wait for this actor: on its own thread that could never end. */
  public static void prepare(ActorCell on, Object what) {
    if (on.isCurrent() && (what == END || !(on instanceof PoolCell pool && pool.hasOthers())))
      throw toOneself(on, what);
    CallerRuns.beforeWait();
    // the one who sent was at the edge of its stack, and may be the one who waits
    if (on.stranded != null) rescue(on);
  }

  private static AskCycleException toOneself(ActorCell on, Object what) {
    var wait = new Wait(on, what, null, Activation.CURRENT.get(), false);
    var ring = new ArrayList<>(List.of(wait));
    nested(wait.worker(), wait.by, ring);
    return cycle(ring);
  }

  private static void rescue(ActorCell on) {
    Dispatch.rescue(on);
    if (on.stranded != null) throw new StackOverflowError(
        "there is no stack left to give actor '" + on.name() + "' a thread, so waiting for it would have no end");
  }

  // ---- publish, walk, take back

  /**
   * Publishes that the handler on this thread waits, for something that was begun already. Null
   * where this is no handler's thread. Who calls this must {@link #close} it, whatever comes.
   */
  public static Wait begin(ActorCell on, Object what, Object thing) {
    return begin(on, what, thing, Activation.CURRENT.get(), false);
  }

  /** The same for one who knows his activation; null: he has none. */
  public static Wait begin(ActorCell on, Object what, Object thing, Activation by, boolean deaf) {
    if (by == null) return null;
    var wait = new Wait(on, what, thing, by, deaf);
    for (var below = by; below != null; below = below.outer) below.waits = wait;
    // published, now for the others: the cells' pointers are read by less than a volatile read
    VarHandle.fullFence();
    return wait;
  }

  /** It ended, one way or the other. */
  @Override
  public void close() {
    for (var below = by; below != null; below = below.outer) below.waits = null;
  }

  /** The ring that this wait closes, this one first; null: none. Throws nothing. */
  public List<Wait> ring() {
    if (!leadsOn()) return null; // as most
    var before = Ring.home(this);
    var way = before == null ? null : Ring.home(this);
    while (way != null && !way.isWithin(before)) { // others have come in between
      before = way;
      way = Ring.home(this);
    }
    return way == null ? null : ring(way);
  }

  private boolean leadsOn() {
    if (on instanceof PoolCell) return true;
    var worker = worker();
    return worker != null && (worker.waits != null || worker.thread == Thread.currentThread());
  }

  /** Of all that a way may have, one round. */
  private List<Wait> ring(Ring way) {
    var ring = new ArrayList<Wait>();
    for (var wait = this; wait != null;) {
      var step = way.step(wait);
      ring.add(wait.told(step.by()));
      nested(step.by(), (step.next() == null ? this : step.next()).by, ring);
      wait = step.next();
    }
    return ring;
  }

  /** Whether this closes a ring; for {@link #refuseClosed}. */
  public boolean closesRing() {
    closed = ring();
    return closed != null;
  }

  public void refuseClosed() {
    if (closed != null) throw exception(closed);
  }

  /** It may be part of a ring, although it closed none when it began. */
  public void lookAgain() {
    if (thing instanceof Entry<?> place && place.isBlocked()) LockSupport.unpark(by.thread);
  }

  /** Throws, if this closes a ring. For waits that leave nothing behind. */
  public void refuseRing() {
    var ring = ring();
    if (ring != null) throw exception(ring);
  }

  /** Who must go on for this to end; null: nobody is at it, or one of many. */
  public Activation worker() {
    if (!(on instanceof PoolCell)) return worker(on);
    var extras = on.richOrNull();
    return extras == null ? null : extras.leaver;
  }

  /** Who works for it now, be it at its hooks. */
  public static Activation worker(ActorCell cell) {
    var extras = cell == null ? null : cell.richOrNull();
    var leaver = extras == null ? null : extras.leaver;
    return leaver != null || cell == null ? leaver : cell.run();
  }

  /**
   * Whether it is no edge: it ended, or will by itself. Once true, always true, but for the
   * interrupt.
   */
  public boolean over() {
    var sleeper = by.thread;
    if (sleeper == null || !deaf && sleeper.isInterrupted()) return true;
    if (on.phase > ActorCell.OPEN && on.rich().isCondemned()) return true; // its grace ends it
    if (thing instanceof RequestFuture<?> asked) return asked.inGoodHands();
    return thing instanceof Entry<?> place ? !place.isBlocked() : ((CompletableFuture<?>) thing).isDone();
  }

  public boolean isForEnd() {
    return !(thing instanceof RequestFuture<?>) && thing instanceof CompletableFuture<?>;
  }

  /**
   * Where that stands which it waits for; null: nowhere, or it was never in a queue that has
   * places.
   */
  @SuppressWarnings("unchecked") // of a guarded cell, whose queue holds objects
  public Entry<Object> place() {
    return thing instanceof RequestFuture<?> asked ? asked.place
        : thing instanceof Entry<?> place ? (Entry<Object>) place : null;
  }

  /** Tells who waits for an answer that the actor ends; false if it is none that is waited for. */
  public boolean stop() {
    if (!(thing instanceof RequestFuture<?> asked)) return false;
    asked.cutOff(what);
    return true;
  }

  // ---- telling

  /**
   * The activations above this one on its thread, up to another: each keeps the one below it from
   * going on.
   */
  private static void nested(Activation worker, Activation top, List<Wait> ring) {
    int at = ring.size();
    for (var above = top; above != worker && above != null && above.outer != null; above = above.outer)
      ring.add(at, new Wait(above.cell, above.message, null, above.outer, true));
  }

  private Wait told(Activation worker) {
    return what != null || worker.asked != thing ? this : new Wait(on, worker.message, thing, by, deaf);
  }

  /**
   * What to tell who closed the ring: that there is one; or, where the actor it waits for is ending
   * because it closes its own scope, just that.
   */
  public static RequestException exception(List<Wait> ring) {
    var first = ring.getFirst();
    boolean closing = first.on.phase > ActorCell.OPEN && ring.stream().anyMatch(wait -> wait.what == CLOSE);
    return closing ? first.on.stopped(first.what == null ? "the answer" : Envelope.given(first.what)) : cycle(ring);
  }

  private static AskCycleException cycle(List<Wait> ring) {
    var names = new ArrayList<String>();
    var links = new ArrayList<String>();
    for (var wait : ring) {
      if (names.isEmpty()) names.add(wait.from().name());
      names.add(wait.on.name());
      links.add(wait.toString());
    }
    var first = ring.getFirst();
    return new AskCycleException(first.on.name(), first.what == null ? "the answer" : Envelope.given(first.what), names,
        String.join(", ", links));
  }

  private ActorCell from() {
    return by == null ? on : by.cell;
  }

  /** What is waited for, and of whom. */
  public String goal() {
    String asked = what == null ? "" : RequestException.shown(Envelope.given(what));
    if (thing instanceof Entry<?>) asked = "room for " + asked;
    return "'" + on.name() + "'" + (asked.isEmpty() ? "" : " (" + asked + ")");
  }

  @Override
  public String toString() {
    return "'" + from().name() + "' waits for " + goal();
  }
}
