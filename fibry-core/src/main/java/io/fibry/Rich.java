package io.fibry;

import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * What most actors never have, made at first need: name, end, timers, promises, watches, what was
 * put aside, a rest. Guarded by itself where not said otherwise; nothing that can wait runs under
 * its monitor.
 */
final class Rich {
  final String label; // null: none
  final Class<?> type; // null: no protocol
  private final ActorCell cell;
  private final Exit exit = new Exit();
  private ExitReason reason; // the first one given; a kill overrules it
  private boolean over; // what hangs on the actor is being ended
  private boolean announced; // who waits for the end has been told
  private boolean leaverKilled; // a killer came when the hooks were all that was left
  // a killer's patience will end it; false -> true, by the first
  private volatile boolean condemned;
  private volatile Scheduler.Timer grace; // and when; written by him, read by who announces the end
  private List<AutoCloseable> closeables = List.of(); // these three: made at first need
  private Map<Object, Alarm> timers = Map.of();
  private Map<Asked<?>, Object> promised = Map.of(); // and what was asked
  private Watches watches; // null: never needed
  private Restarts restarts; // null: never needed
  Rest rest; // and with it the right to run; null: none is held here
  // envelopes put aside; changed by who has the right to run, read by a killer
  final Queue<Object> aside = new ConcurrentLinkedQueue<>();
  volatile Activation leaver; // runs the hooks; written by its thread, read by who is about to wait
  private volatile boolean back; // it ended, and was not cut off
  // nanoseconds to wait before the next restart; written by who asks for it, the handler's thread
  // or another
  volatile long pause;
  // how many so far; written by who has the right to run, read by who looks at the tree
  volatile long handled;
  volatile long failed; // as `handled`

  Rich(ActorCell cell, String label, Class<?> type) {
    this.cell = cell;
    this.label = label;
    this.type = type;
  }

  CompletableFuture<ExitReason> exit() {
    return exit;
  }

  /** Gives the reason of an end to come, unless there is one. */
  synchronized void because(ExitReason why) {
    if (reason == null || why instanceof ExitReason.Killed && !announced) reason = why;
  }

  synchronized ExitReason reason() {
    return reason == null ? new ExitReason.Finished() : reason;
  }

  /** Closes it at the end; false if that has come. */
  synchronized boolean closeAtEnd(List<AutoCloseable> resources) {
    if (over) return false;
    if (closeables.isEmpty()) closeables = new ArrayList<>();
    return closeables.addAll(resources);
  }

  synchronized boolean isOver() {
    return over;
  }

  /**
   * Keeps a timer that was started, until it has run; replaces the one that has this key, unless it
   * is a later one: this one may have run already, and its message have set that. False if the end
   * has come.
   */
  boolean keep(Object key, Alarm alarm) {
    var before = (Alarm) null;
    synchronized (this) {
      if (over) return false;
      if (timers.isEmpty()) timers = new HashMap<>();
      var there = timers.get(key);
      before =
          there != null && there.isAfter(alarm) ? alarm : alarm.hasRun() ? timers.remove(key) : timers.put(key, alarm);
    }
    if (before != null) before.cancel();
    return true;
  }

  synchronized void drop(Object key, Scheduler.Timer timer) {
    if (!over && !timers.isEmpty()) timers.remove(key, timer);
  }

  /** Keeps a request whose answer was promised; false if the end has come. */
  synchronized boolean promise(Asked<?> asked, Object message) {
    if (over) return false;
    if (promised.isEmpty()) promised = new IdentityHashMap<>();
    promised.put(asked, message);
    return true;
  }

  synchronized void forget(Asked<?> asked) {
    if (!over && !promised.isEmpty()) promised.remove(asked);
  }

  /** Whether a timer is due now. */
  synchronized boolean isDue(long now) {
    return timers.values().stream().anyMatch(alarm -> alarm.isDue(now));
  }

  /** Whether it was cut off, and its handler may still run. */
  boolean isAway() {
    return cell.phase == ActorCell.ENDED && !back;
  }

  synchronized Watches watches() {
    if (watches == null) watches = new Watches(cell, over, announced ? reason : null);
    return watches;
  }

  synchronized Restarts restarts() {
    if (restarts == null) restarts = new Restarts();
    return restarts;
  }

  // ---- a rest: the right to run lies here, and whoever takes it out has it

  synchronized void layDown(Rest here) {
    rest = here;
  }

  /**
   * Null: nobody rests here, or another was first. Only assigns: what is taken out here is nowhere
   * else.
   */
  synchronized Rest takeUp() {
    var taken = rest;
    rest = null;
    return taken;
  }

  /** From where on it will go on; null: nobody rests here. */
  synchronized Object resting() {
    return rest == null ? null : rest.node;
  }

  /** Arms the timer that ends a killer's patience, unless it is armed or the end was announced. */
  void grace(Supplier<Scheduler.Timer> starting) {
    synchronized (this) {
      if (announced || condemned) return;
      condemned = true;
    }
    try {
      grace = starting.get();
    } catch (Throwable noTimer) {
      condemned = false; // without a call: it cannot fail
      throw noTimer;
    }
    // the end was announced meanwhile, by one who may have looked before
    if (exit.isDone()) close(grace::cancel);
  }

  /** Whether a killer's patience will end it, if nothing else does. */
  boolean isCondemned() {
    return condemned;
  }

  /** The hooks begin on this thread; a killer may have come since the last handler returned. */
  synchronized void leavingOn(Activation last) {
    leaver = last;
    if (leaverKilled && last.own) last.thread.interrupt();
  }

  synchronized void interruptLeaver() {
    leaverKilled = true;
    if (leaver != null) leaver.thread.interrupt();
  }

  /**
   * Ends what hangs on the actor, and announces the end; only the first call does. Runs on the
   * actor's last thread, or on the killer's.
   */
  void end() {
    List<AutoCloseable> toClose;
    Map<Object, Alarm> toCancel;
    Watches watching;
    Map<Asked<?>, Object> unanswered;
    synchronized (this) {
      if (over) return;
      over = true;
      toClose = closeables.reversed();
      toCancel = timers;
      watching = watches;
      unanswered = promised;
      closeables = List.of();
      timers = Map.of();
      promised = Map.of();
    }
    try {
      toCancel.values().forEach(timer -> close(timer::cancel));
      if (watching != null) watching.end();
      unanswered.forEach((asked, message) -> asked.fail(cell.stopped(message)));
      toClose.forEach(this::close);
    } finally {
      announce();
    }
  }

  /**
   * Tells who waits for the end; only the first call does. After what was to be closed, unless a
   * killer's patience is over.
   */
  void announce() {
    ExitReason why;
    Watches watched;
    synchronized (this) {
      if (announced) return;
      announced = true;
      why = reason = reason();
      watched = watches;
    }
    // else its thread is still to come back
    back = leaver != null && leaver.thread == Thread.currentThread();
    cell.ended();
    exit.end(why);
    if (watched != null) watched.announce(why);
    if (grace != null) close(grace::cancel); // the user's, perhaps: so when all are told
  }

  /** Waits for the end; null: as long as it takes. */
  boolean awaitExit(Duration limit) {
    try (var wait = Wait.begin(cell, Wait.END, exit)) {
      if (wait != null) wait.refuseRing();
      if (limit == null) exit.get();
      else exit.get(Limit.nanos(limit), TimeUnit.NANOSECONDS);
      return true;
    } catch (TimeoutException over) {
      return false;
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted while waiting for the end of actor '" + cell.name() + "'");
    } catch (ExecutionException impossible) {
      throw new AssertionError(impossible);
    }
  }

  void close(AutoCloseable resource) {
    try {
      resource.close();
    } catch (Throwable failure) {
      Scope.LOG.error("actor '{}' could not close {}", cell.name(), RequestException.shown(resource), failure);
    }
  }

  /** The end as a future: the same for all, so nobody may complete it but the actor. */
  private static final class Exit extends CompletableFuture<ExitReason> {
    void end(ExitReason reason) {
      super.complete(reason);
    }

    @Override
    public boolean complete(ExitReason reason) {
      throw readOnly();
    }

    @Override
    public boolean completeExceptionally(Throwable failure) {
      throw readOnly();
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
      throw readOnly();
    }

    @Override
    public CompletableFuture<ExitReason> completeAsync(Supplier<? extends ExitReason> supplier, Executor executor) {
      throw readOnly();
    }

    @Override
    public CompletableFuture<ExitReason> orTimeout(long timeout, TimeUnit unit) {
      throw readOnly();
    }

    @Override
    public CompletableFuture<ExitReason> completeOnTimeout(ExitReason reason, long timeout, TimeUnit unit) {
      throw readOnly();
    }

    @Override
    public void obtrudeValue(ExitReason reason) {
      throw readOnly();
    }

    @Override
    public void obtrudeException(Throwable failure) {
      throw readOnly();
    }

    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
      return new CompletableFuture<>();
    }

    private static UnsupportedOperationException readOnly() {
      return new UnsupportedOperationException(
          "an actor's end can only be waited for; to end it, call askExit, sendPoisonPill or kill; for a future "
              + "of your own, take onExit().copy()");
    }
  }
}
