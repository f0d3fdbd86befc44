package io.fibry.engine.cell;

import io.fibry.ExitReason;
import io.fibry.engine.message.RequestFuture;
import io.fibry.engine.message.Wait;
import io.fibry.time.Scheduler;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Supplier;

/**
 * What most actors never need. Guarded by itself unless said otherwise; nothing that can wait runs
 * under its monitor.
 */
public final class Extras {
  public interface KeyedTimer extends Scheduler.Timer {
    boolean isAfter(KeyedTimer other);

    boolean hasRun();

    boolean isDue(long now);

    /** Cancels it. Answers the message that is now never sent, unless it is nobody's loss. */
    Optional<Object> end();
  }

  record Attached(List<AutoCloseable> resources, Map<Object, KeyedTimer> timers, Map<RequestFuture<?>, Object> promised,
      Watches watches, List<Runnable> letters) {}

  private static final Queue<Object> NONE = new ConcurrentLinkedQueue<>(); // always empty

  final String label;
  public final Class<?> type;
  public final Exit exit = new Exit();
  private ExitReason reason; // the first one given; a kill overrules it
  private boolean over; // what is attached is being ended
  private boolean announced; // the end was told to all that wait
  private boolean hooksKilled; // a kill came when only the hooks were left
  volatile boolean condemned; // false -> true, by the first kill
  volatile Scheduler.Timer grace; // set by the killer, read by the thread that announces the end
  // these four: replaced when needed; they keep the order in which things came, so that runs repeat
  private List<AutoCloseable> resources = List.of();
  private Map<Object, KeyedTimer> timers = Map.of();
  private Map<RequestFuture<?>, Object> promised = Map.of();
  private List<Runnable> letters = List.of(); // to tell a listener
  private Watches watches;
  private RestartBudget restarts;
  Suspension suspension; // holds the right to run; null: not here
  volatile Queue<Object> stash = NONE; // nodes; changed by the drain, read by killers
  volatile Wait.Waiter hooks; // set by the thread that runs them, read by threads about to wait
  volatile boolean ended; // not cut off
  long pause; // ns of the next suspension; drain only
  volatile long restartPause; // ns; set by the actor whose failure asks for a restart
  volatile long handled; // set by the drain, read by observers
  volatile long failed; // likewise

  Extras(String label, Class<?> type) {
    this.label = label;
    this.type = type;
  }

  /** By the drain. */
  void putAside(Object node) {
    if (stash == NONE) stash = new ConcurrentLinkedQueue<>();
    stash.add(node);
  }

  public synchronized void because(ExitReason why) {
    if (reason == null || why instanceof ExitReason.Killed && !announced) reason = why;
  }

  public synchronized ExitReason reason() {
    return reason == null ? new ExitReason.Finished() : reason;
  }

  /** False: the end has come. */
  public synchronized boolean closeAtEnd(List<AutoCloseable> more) {
    if (over) return false;
    if (resources.isEmpty()) resources = new ArrayList<>();
    return resources.addAll(more);
  }

  /** False: the end has come. */
  synchronized boolean tellAtEnd(Runnable letter) {
    if (over) return false;
    if (letters.isEmpty()) letters = new ArrayList<>();
    return letters.add(letter);
  }

  public synchronized boolean isOver() {
    return over;
  }

  /**
   * Keeps a started timer in place of the one with this key. A later one stays: this one may have
   * run already, and its message may have started that one. False: the end has come.
   */
  public boolean keep(Object key, KeyedTimer timer) {
    KeyedTimer replaced;
    synchronized (this) {
      if (over) return false;
      if (timers.isEmpty()) timers = new LinkedHashMap<>();
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

  synchronized boolean promise(RequestFuture<?> request, Object message) {
    if (over) return false;
    if (promised.isEmpty()) promised = new LinkedHashMap<>();
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

  synchronized boolean givesAgain(Object node) {
    return restarts != null && restarts.givesAgain(node);
  }

  synchronized void suspend(Suspension here) {
    suspension = here;
  }

  /**
   * Gives the right to run to its first caller, null to others. Only assigns: the right is nowhere
   * else.
   */
  synchronized Suspension resume() {
    var taken = suspension;
    suspension = null;
    return taken;
  }

  synchronized Object suspendedAt() {
    return suspension == null ? null : suspension.node;
  }

  /** It is suspended, and the timer that ends this is set. */
  synchronized boolean rests() {
    return suspension != null && suspension.timer != null;
  }

  /** Once, and before the end. */
  void startGrace(Supplier<Scheduler.Timer> start) {
    synchronized (this) {
      if (announced || condemned) return;
      condemned = true;
    }
    try {
      grace = start.get();
    } catch (Throwable noTimer) {
      condemned = false; // an assignment cannot fail
      throw noTimer;
    }
  }

  /** A kill may have come since the last handler returned. */
  synchronized void beginHooks(Wait.Waiter last) {
    hooks = last;
    if (hooksKilled && last.ownsThread()) last.thread.interrupt();
  }

  synchronized void interruptHooks() {
    hooksKilled = true;
    var thread = hooks == null ? null : hooks.thread; // it may have gone on since
    if (thread != null) thread.interrupt();
  }

  /** Null: another thread ends it. */
  synchronized Attached end() {
    if (over) return null;
    over = true;
    var attached = new Attached(resources.reversed(), timers, promised, watches, letters);
    resources = List.of();
    timers = Map.of();
    promised = Map.of();
    letters = List.of();
    return attached;
  }

  /** Null: another thread announces it. */
  synchronized ExitReason announce() {
    if (announced) return null;
    announced = true;
    return reason = reason();
  }

  synchronized Watches watchesOrNull() {
    return watches;
  }
}
