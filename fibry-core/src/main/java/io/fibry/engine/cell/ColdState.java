package io.fibry.engine.cell;

import io.fibry.ExitReason;
import io.fibry.engine.jvm.NoAction;
import io.fibry.engine.message.RequestFuture;
import io.fibry.engine.message.Wait;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The extras: the parts of an actor that most actors never need. Guarded by its own monitor, except
 * where a field says otherwise. No code that can wait runs under that monitor.
 */
public final class ColdState {
  /**
   * Everything that ends together with the actor. All collections have an order that depends only
   * on the order of insertion, so that simulated runs repeat.
   */
  static final class AttachedParts {
    private AttachedTimer newestTimer; // null before the end, and if there are no timers
    private PromisedRequests promisedRequests; // null until needed
    // the next two are empty and immutable until needed
    List<AutoCloseable> resources = List.of();
    List<Runnable> endCallbacks = List.of(); // calls of the dead-letter listener

    private boolean isEmpty() {
      return resources.isEmpty() && (promisedRequests == null || promisedRequests.first() == null)
          && endCallbacks.isEmpty();
    }

    /**
     * Unlinks and returns the newest timer, or returns null if no timer is left. A user's reference
     * to one timer must not keep other timers in memory.
     */
    AttachedTimer pollTimer() {
      var timer = newestTimer;
      if (timer == null) return null;
      newestTimer = timer.older;
      timer.older = null;
      timer.setNewer(null);
      return timer;
    }

    /**
     * Removes and returns the first promise, or returns null if none is left. A user's reference to
     * one failed request must not keep other requests in memory.
     */
    PromisedRequests.Promise pollPromise() {
      return promisedRequests == null ? null : promisedRequests.poll();
    }
  }

  public static final Runnable NO_CALLBACK = new NoAction();

  private static final Queue<Object> EMPTY_STASH = new ConcurrentLinkedQueue<>(); // always empty

  private ExitReason reason; // the first reason that was set, or the reason of a kill
  // a thread has begun to end the attached parts; written under the monitor, read also without it
  private volatile boolean endBegun;
  private boolean announced; // a thread has begun to announce the end
  private boolean waitersNotified; // the exit signal is complete, or will be complete as soon as it is made
  private boolean hooksKilled; // whether the actor was killed when only its hooks remained
  volatile boolean beingKilled; // false -> true, by the first kill
  volatile Scheduler.Timer killTimer; // set by the killer, read by the thread that announces the end
  // The next five are null until first needed
  private ExitSignal exit;
  private AttachedParts attached; // null again once `beginEnd` has taken the parts
  private Watches watches;
  private volatile ActorTimers timers; // written once, under the monitor
  private volatile Recovery recovery;
  volatile Queue<Object> stash = EMPTY_STASH; // nodes; changed by the drain, read by killers
  volatile Wait.WaitingHandler hooksDrain; // the drain of the hooks, which sets it; read by threads about to wait
  volatile boolean endedNormally; // whether the end was announced without a cut-off
  private volatile long expired; // requests that expired unhandled; written under the monitor by askers

  ColdState() {}

  /** Stashes a node; called by the drain. */
  void addToStash(Object node) {
    if (stash == EMPTY_STASH) stash = new ConcurrentLinkedQueue<>();
    stash.add(node);
  }

  /** Counts a request that expired unhandled. Called by its asker. */
  public synchronized void countExpired() {
    expired++;
  }

  long expired() {
    return expired;
  }

  public synchronized void setReason(ExitReason newReason) {
    if (reason == null || newReason instanceof ExitReason.Killed && !announced) reason = newReason;
  }

  public synchronized ExitReason reason() {
    return reason == null ? new ExitReason.Finished() : reason;
  }

  public synchronized ExitSignal exit() {
    if (exit == null) {
      exit = new ExitSignal();
      if (waitersNotified) exit.complete(reason);
    }
    return exit;
  }

  public synchronized boolean isNotified() {
    return waitersNotified;
  }

  /** Completes the exit signal, and so wakes all threads that wait for the end. */
  void notifyWaiters() {
    ExitSignal signal;
    synchronized (this) {
      waitersNotified = true;
      signal = exit;
    }
    if (signal != null) signal.end(reason);
  }

  private AttachedParts attached() {
    if (attached == null) attached = new AttachedParts();
    return attached;
  }

  /** Adds resources that the end closes. Returns false if the end has begun. */
  public synchronized boolean addResources(List<AutoCloseable> resources) {
    if (endBegun) return false;
    var parts = attached();
    if (parts.resources.isEmpty()) parts.resources = new ArrayList<>(resources.size());
    return parts.resources.addAll(resources);
  }

  /** Adds code that the end runs. Returns false if the end has begun. */
  synchronized boolean addEndCallback(Runnable callback) {
    if (endBegun) return false;
    var parts = attached();
    if (parts.endCallbacks.isEmpty()) parts.endCallbacks = new ArrayList<>();
    return parts.endCallbacks.add(callback);
  }

  public boolean hasEndBegun() {
    return endBegun;
  }

  /** Adds a timer that the end cancels. Returns false if the end has begun. */
  public boolean addTimer(AttachedTimer timer) {
    var list = timers;
    if (list == null || timer.key() != null) return addTimerUnderMonitor(timer);
    return list.add(timer);
  }

  private boolean addTimerUnderMonitor(AttachedTimer timer) {
    AttachedTimer replaced = null;
    synchronized (this) {
      if (endBegun) return false;
      if (timers == null) timers = new ActorTimers();
      if (timer.key() == null) timers.add(timer);
      else replaced = timers.put(timer);
    }
    if (replaced != null) replaced.cancel();
    return true;
  }

  public void removeTimer(AttachedTimer timer) {
    boolean mayHaveKey = timer.key() != null && !timer.isRemoved();
    timer.markRemoved(); // also if the timer has run before it is added
    var list = timers;
    if (list == null) return;
    list.remove(timer);
    if (mayHaveKey) removeKey(list, timer);
  }

  private synchronized void removeKey(ActorTimers list, AttachedTimer timer) {
    list.removeKey(timer);
  }

  boolean hasDueTimer(long now) {
    var list = timers;
    return list != null && list.hasDue(now);
  }

  /** Adds a request that the end fails. Returns false if the end has begun. */
  synchronized boolean addPromised(RequestFuture<?> request, Object message, Runnable onAbandoned) {
    if (endBegun) return false;
    var parts = attached();
    if (parts.promisedRequests == null) parts.promisedRequests = new PromisedRequests();
    parts.promisedRequests.add(request, message, onAbandoned);
    return true;
  }

  /** Removes a promised request, and returns the code to run if its asker has stopped waiting. */
  public synchronized Runnable removePromised(RequestFuture<?> request) {
    var promise = attached == null || attached.promisedRequests == null ? null
        : attached.promisedRequests.remove(request);
    return promise == null ? NO_CALLBACK : promise.onAbandoned;
  }

  synchronized Watches watches(Watches.Watcher actor) {
    if (watches == null) watches = new Watches(actor, endBegun, announced ? reason : null);
    return watches;
  }

  Recovery recoveryOrNull() {
    return recovery;
  }

  Recovery recovery() {
    var state = recovery;
    if (state != null) return state;
    synchronized (this) {
      if (recovery == null) recovery = new Recovery();
      return recovery;
    }
  }

  /**
   * Starts the timer of the kill grace. Does nothing if another kill has started it, or the end was
   * announced.
   */
  void startKillTimer(Scheduler clock, Duration grace, Runnable cutOffTask) {
    synchronized (this) {
      if (announced || beingKilled) return;
      beingKilled = true;
    }
    try {
      killTimer = clock.schedule(grace, cutOffTask);
    } catch (Throwable noTimer) {
      beingKilled = false; // an assignment cannot fail
      throw noTimer;
    }
  }

  /**
   * Publishes the activation that runs the hooks. Interrupts its thread if a kill came after the
   * last handler returned.
   */
  synchronized void beginHooks(Wait.WaitingHandler runner) {
    hooksDrain = runner;
    if (hooksKilled && runner.ownsThread()) runner.thread.interrupt();
  }

  /** Interrupts the thread that runs the hooks, now or as soon as they begin. */
  synchronized void interruptHooks() {
    hooksKilled = true;
    var runner = hooksDrain; // read once: it is cleared without the monitor
    var thread = runner == null ? null : runner.thread; // null if the drain has left its thread
    if (thread != null) thread.interrupt();
  }

  /**
   * Returns whether the end has not begun, and would have no timer to cancel, resource to close,
   * promised request to fail or stashed message to dispose of.
   */
  synchronized boolean hasNoEndWork() {
    return !endBegun && (attached == null || attached.isEmpty()) && (timers == null || timers.isEmpty())
        && stash.isEmpty();
  }

  /** Begins the end if it has no work, and returns whether this call has begun it. */
  synchronized boolean endWithoutWork() {
    return hasNoEndWork() && (timers == null || timers.endIfEmpty()) && (endBegun = true);
  }

  /**
   * Begins the end, and returns the parts to end. Returns null if another thread ends the actor.
   */
  synchronized AttachedParts beginEnd() {
    if (endBegun) return null;
    var parts = attached();
    endBegun = true;
    attached = null;
    if (timers != null) parts.newestTimer = timers.end();
    return parts;
  }

  /** Returns the reason to announce. Returns null if another thread announces the end. */
  synchronized ExitReason beginAnnouncement() {
    if (announced) return null;
    announced = true;
    return reason = reason();
  }

  synchronized Watches watchesOrNull() {
    return watches;
  }
}
