package io.fibry.engine.cell;

import io.fibry.ExitReason;
import io.fibry.engine.message.RequestFuture;
import io.fibry.engine.message.Wait;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The parts of an actor that most actors never need. Guarded by its own monitor, except where a
 * field says otherwise. No code that can wait runs under that monitor.
 */
public final class ColdState {
  /**
   * Everything that ends together with the actor. All keep the order in which things came, so that
   * runs repeat.
   */
  static final class AttachedParts {
    final ActorTimers timers = new ActorTimers();
    // fixed until needed
    List<AutoCloseable> resources = List.of();
    Map<RequestFuture<?>, PromisedRequest> promised = Map.of();
    List<Runnable> endCallbacks = List.of(); // to tell a listener

    private boolean isEmpty() {
      return resources.isEmpty() && timers.isEmpty() && promised.isEmpty() && endCallbacks.isEmpty();
    }
  }

  /**
   * The state of an actor that failed, or that is restarted because of another actor's failure.
   */
  private static final class RecoveryState {
    RestartBudget restarts; // null -> one, when first needed
    Suspension suspension; // holds the right to run during a suspension; null otherwise
    long pause; // ns of the next suspension; drain only
    volatile long restartPause; // ns; set by the actor whose failure asks for a restart
  }

  /** A request that will be answered. */
  record PromisedRequest(Object message, Runnable onAbandoned) {}

  public static final Runnable NO_CALLBACK = () -> {};

  private static final Queue<Object> EMPTY_STASH = new ConcurrentLinkedQueue<>(); // always empty

  final String label;
  public final Class<?> type;
  private ExitReason reason; // the first one given; a kill overrules it
  private boolean over; // whether the attached parts are being ended
  private boolean announced; // a thread tells the end
  private boolean notified; // to all that wait
  private boolean hooksKilled; // a kill came when only the hooks were left
  volatile boolean beingKilled; // false -> true, by the first kill
  volatile Scheduler.Timer killTimer; // set by the killer, read by the thread that announces the end
  // these four: null -> one, when first needed
  private ExitSignal exit;
  private AttachedParts attached; // -> null at the end
  private Watches watches;
  private volatile RecoveryState recovery;
  volatile Queue<Object> stash = EMPTY_STASH; // nodes; changed by the drain, read by killers
  volatile Wait.WaitingHandler hooks; // set by the thread that runs them, read by threads about to wait
  volatile boolean endedNormally; // not cut off
  volatile long handled; // set by the drain, read by observers
  // When the last failure was logged; a field, because the handler may have failed for lack of
  // memory
  volatile long failed;

  ColdState(String label, Class<?> type) {
    this.label = label;
    this.type = type;
  }

  /** Stashes a node; called by the drain. */
  void addToStash(Object node) {
    if (stash == EMPTY_STASH) stash = new ConcurrentLinkedQueue<>();
    stash.add(node);
  }

  int stashed() {
    return (int) stash.stream().filter(PlainQueue::holdsMessage).count();
  }

  public synchronized void setReason(ExitReason why) {
    if (reason == null || why instanceof ExitReason.Killed && !announced) reason = why;
  }

  public synchronized ExitReason reason() {
    return reason == null ? new ExitReason.Finished() : reason;
  }

  public synchronized ExitSignal exit() {
    if (exit == null) {
      exit = new ExitSignal();
      if (notified) exit.complete(reason);
    }
    return exit;
  }

  public synchronized boolean isNotified() {
    return notified;
  }

  /** Tells all that wait for the end. */
  void notifyWaiters() {
    ExitSignal waited;
    synchronized (this) {
      notified = true;
      waited = exit;
    }
    if (waited != null) waited.end(reason);
  }

  private AttachedParts attached() {
    if (attached == null) attached = new AttachedParts();
    return attached;
  }

  /** Returns false if the end has come. */
  public synchronized boolean closeAtEnd(List<AutoCloseable> more) {
    if (over) return false;
    var mine = attached();
    if (mine.resources.isEmpty()) mine.resources = new ArrayList<>();
    return mine.resources.addAll(more);
  }

  /** Returns false if the end has come. */
  synchronized boolean runAtEnd(Runnable letter) {
    if (over) return false;
    var mine = attached();
    if (mine.endCallbacks.isEmpty()) mine.endCallbacks = new ArrayList<>();
    return mine.endCallbacks.add(letter);
  }

  public synchronized boolean isOver() {
    return over;
  }

  /** Returns false if the end has come. */
  public boolean addTimer(AttachedTimer timer) {
    AttachedTimer replaced;
    synchronized (this) {
      if (over) return false;
      replaced = attached().timers.put(timer);
    }
    if (replaced != null) replaced.cancel();
    return true;
  }

  public synchronized void removeTimer(AttachedTimer timer) {
    if (attached != null) attached.timers.remove(timer);
  }

  synchronized boolean hasDueTimer(long now) {
    return attached != null && attached.timers.anyMatch(timer -> timer.isDue(now));
  }

  synchronized boolean addPromised(RequestFuture<?> request, Object message, Runnable onAbandoned) {
    if (over) return false;
    var mine = attached();
    if (mine.promised.isEmpty()) mine.promised = new LinkedHashMap<>();
    mine.promised.put(request, new PromisedRequest(message, onAbandoned));
    return true;
  }

  /** {@return code to run once if the asker of the request gives up} */
  public synchronized Runnable removePromised(RequestFuture<?> request) {
    var promised = attached == null || attached.promised.isEmpty() ? null : attached.promised.remove(request);
    return promised == null ? NO_CALLBACK : promised.onAbandoned;
  }

  synchronized Watches watches(Watches.Watcher actor) {
    if (watches == null) watches = new Watches(actor, over, announced ? reason : null);
    return watches;
  }

  private RecoveryState recovery() {
    var present = recovery;
    if (present != null) return present;
    synchronized (this) {
      if (recovery == null) recovery = new RecoveryState();
      return recovery;
    }
  }

  synchronized RestartBudget restarts() {
    var present = recovery();
    if (present.restarts == null) present.restarts = new RestartBudget();
    return present.restarts;
  }

  synchronized boolean isRedelivery(Object node) {
    return recovery != null && recovery.restarts != null && recovery.restarts.isRedelivery(node);
  }

  /** Sets the length of the next suspension; called by the drain. */
  void pauseFor(long nanos) {
    recovery().pause = nanos;
  }

  long pause() {
    return recovery().pause;
  }

  /** Asks for a restart after a pause; called by the actor whose failure restarts this one. */
  void requestRestartAfter(long nanos) {
    recovery().restartPause = nanos;
  }

  long restartPause() {
    return recovery().restartPause;
  }

  synchronized void suspend(Suspension here) {
    recovery().suspension = here;
  }

  /**
   * Gives the right to run to its first caller, null to others. Only assigns: the right is nowhere
   * else.
   */
  synchronized Suspension resume() {
    var taken = suspension();
    if (taken != null) recovery.suspension = null;
    return taken;
  }

  private Suspension suspension() {
    return recovery == null ? null : recovery.suspension;
  }

  synchronized Object suspendedNode() {
    var here = suspension();
    return here == null ? null : here.node;
  }

  /** It is suspended, and the timer that ends this is set. */
  synchronized boolean isSuspended() {
    var here = suspension();
    return here != null && here.timer != null;
  }

  /** Once, and before the end. */
  void startKillTimer(Scheduler clock, Duration time, Runnable end) {
    synchronized (this) {
      if (announced || beingKilled) return;
      beingKilled = true;
    }
    try {
      killTimer = clock.schedule(time, end);
    } catch (Throwable noTimer) {
      beingKilled = false; // an assignment cannot fail
      throw noTimer;
    }
  }

  /** A kill may have come since the last handler returned. */
  synchronized void beginHooks(Wait.WaitingHandler last) {
    hooks = last;
    if (hooksKilled && last.ownsThread()) last.thread.interrupt();
  }

  synchronized void interruptHooks() {
    hooksKilled = true;
    var last = hooks; // they may be over at any moment: that needs no monitor
    var thread = last == null ? null : last.thread; // it may have begun another actor since
    if (thread != null) thread.interrupt();
  }

  /** Whether no code of a user runs at its end: closes, cancels, tells, handles. */
  synchronized boolean hasNoEndWork() {
    return !over && (attached == null || attached.isEmpty()) && stash.isEmpty();
  }

  /** Ends it, if it is bare. */
  synchronized boolean endWithoutWork() {
    return hasNoEndWork() && (over = true);
  }

  /** Returns null if another thread ends the actor. */
  synchronized AttachedParts end() {
    if (over) return null;
    var ended = attached();
    over = true;
    attached = null;
    return ended;
  }

  /** Returns null if another thread announces the end. */
  synchronized ExitReason announce() {
    if (announced) return null;
    announced = true;
    return reason = reason();
  }

  synchronized Watches watchesOrNull() {
    return watches;
  }
}
