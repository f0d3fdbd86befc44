package io.fibry.engine.cell;

import io.fibry.ExitReason;
import io.fibry.engine.message.RequestFuture;
import io.fibry.engine.message.Wait;
import io.fibry.time.Scheduler;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Supplier;

/**
 * What most actors never have, made when first needed: name, end, timers, promises, watches, stash,
 * suspension. Guarded by itself unless said otherwise; nothing that can wait runs under its monitor.
 */
public final class Extras {
  /** A timer of the actor; at most one has a given key. */
  public interface KeyedTimer extends Scheduler.Timer {
    /** Whether it was started after the other one. */
    boolean isAfter(KeyedTimer other);

    /** Whether it will not run again. */
    boolean hasRun();

    boolean isDue(long now);
  }

  /** What must be ended with the actor. */
  record Attached(List<AutoCloseable> resources, Map<Object, KeyedTimer> timers, Map<RequestFuture<?>, Object> promised,
      Watches watches) {}

  final String label; // null: no name
  public final Class<?> type; // null: no protocol
  public final ExitFuture exit = new ExitFuture();
  private ExitReason reason; // the first one given; a kill overrules it
  private boolean over; // what is attached to the actor is being ended
  private boolean announced; // threads that wait for the end have been told
  private boolean hooksKilled; // a kill came when only the hooks were left
  volatile boolean condemned; // a grace will end it; false -> true by the first kill
  volatile Scheduler.Timer grace; // set by the killer, read by the thread that announces the end
  private List<AutoCloseable> resources = List.of(); // this and the maps: replaced when first needed
  private Map<Object, KeyedTimer> timers = Map.of();
  private Map<RequestFuture<?>, Object> promised = Map.of(); // with their messages
  private Watches watches; // null: never needed
  private RestartBudget restarts; // null: never needed
  Suspension suspension; // and with it the right to run; null: it is not here
  final Queue<Object> stash = new ConcurrentLinkedQueue<>(); // nodes; changed by the drain, read by killers
  volatile Wait.Waiter hooks; // runs the hooks; written by its thread, read by threads about to wait
  volatile boolean ended; // by its own thread, not cut off
  volatile long restartPause; // ns, of a restart that another actor's failure asks for; written by its thread
  volatile long handled; // messages; written by the drain, read by observers
  volatile long failed; // likewise

  Extras(String label, Class<?> type) {
    this.label = label;
    this.type = type;
  }

  // ---- why it ends

  /** Gives the reason for an end to come, unless it has one. */
  public synchronized void because(ExitReason why) {
    if (reason == null || why instanceof ExitReason.Killed && !announced) reason = why;
  }

  public synchronized ExitReason reason() {
    return reason == null ? new ExitReason.Finished() : reason;
  }

  // ---- what is attached

  /** Closes the resources at the end. False: it has come. */
  public synchronized boolean closeAtEnd(List<AutoCloseable> more) {
    if (over) return false;
    if (resources.isEmpty()) resources = new ArrayList<>();
    return resources.addAll(more);
  }

  public synchronized boolean isOver() {
    return over;
  }

  /**
   * Keeps a started timer until it has run, in place of the one with this key; unless that one is
   * the later of the two: this one may have run already, and its message may have started that one.
   * False: the end has come.
   */
  public boolean keep(Object key, KeyedTimer timer) {
    KeyedTimer replaced;
    synchronized (this) {
      if (over) return false;
      if (timers.isEmpty()) timers = new HashMap<>();
      var present = timers.get(key);
      replaced = present != null && present.isAfter(timer) ? timer
          : timer.hasRun() ? timers.remove(key) : timers.put(key, timer);
    }
    if (replaced != null) replaced.cancel();
    return true;
  }

  public synchronized void drop(Object key, KeyedTimer timer) {
    if (!over && !timers.isEmpty()) timers.remove(key, timer);
  }

  synchronized boolean hasDueTimer(long now) {
    return timers.values().stream().anyMatch(timer -> timer.isDue(now));
  }

  /** Keeps a request whose answer was promised. False: the end has come. */
  synchronized boolean promise(RequestFuture<?> request, Object message) {
    if (over) return false;
    if (promised.isEmpty()) promised = new IdentityHashMap<>();
    promised.put(request, message);
    return true;
  }

  public synchronized void forget(RequestFuture<?> request) {
    if (!over && !promised.isEmpty()) promised.remove(request);
  }

  synchronized Watches watches(Watches.Watcher actor) {
    if (watches == null) watches = new Watches(actor, over, announced ? reason : null);
    return watches;
  }

  synchronized RestartBudget restarts() {
    if (restarts == null) restarts = new RestartBudget();
    return restarts;
  }

  // ---- the suspension: the right to run lies here, and the thread that takes it out has it

  synchronized void suspend(Suspension here) {
    suspension = here;
  }

  /** Null: there is none, or another thread was first. Only assigns: the right is in no other place. */
  synchronized Suspension resume() {
    var taken = suspension;
    suspension = null;
    return taken;
  }

  /** Where the suspended drain goes on. Null: it is not suspended. */
  synchronized Object suspendedAt() {
    return suspension == null ? null : suspension.node;
  }

  // ---- the end

  /** Starts the timer that cuts the actor off, unless it runs or the end was announced. */
  void startGrace(Supplier<Scheduler.Timer> start) {
    synchronized (this) {
      if (announced || condemned) return;
      condemned = true;
    }
    try {
      grace = start.get();
    } catch (Throwable noTimer) {
      condemned = false; // without a call: it cannot fail
      throw noTimer;
    }
  }

  /** The hooks begin. A kill may have come since the last handler returned. */
  synchronized void beginHooks(Wait.Waiter last) {
    hooks = last;
    if (hooksKilled && last.ownsThread()) last.thread.interrupt();
  }

  synchronized void interruptHooks() {
    hooksKilled = true;
    if (hooks != null) hooks.thread.interrupt();
  }

  /** Takes out, once, what must be ended with the actor. Null: another thread has. */
  synchronized Attached end() {
    if (over) return null;
    over = true;
    var attached = new Attached(resources.reversed(), timers, promised, watches);
    resources = List.of();
    timers = Map.of();
    promised = Map.of();
    return attached;
  }

  /** The reason to announce, once. Null: another thread announces it. */
  synchronized ExitReason announce() {
    if (announced) return null;
    announced = true;
    return reason = reason();
  }

  /** Null: never needed. */
  synchronized Watches watchesOrNull() {
    return watches;
  }
}
