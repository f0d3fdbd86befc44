package io.fibry.engine.cell;

import io.fibry.ExitReason;
import io.fibry.RequestException;
import io.fibry.engine.actor.ActorCell;
import io.fibry.engine.actor.TimedMessage;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.RequestFuture;
import io.fibry.engine.message.Wait;
import io.fibry.engine.scope.Scope;
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
public final class Extras {
  public final String label; // null: none
  public final Class<?> type; // null: no protocol
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
  private Map<Object, TimedMessage> timers = Map.of();
  private Map<RequestFuture<?>, Object> promised = Map.of(); // and what was asked
  private Watches watches; // null: never needed
  private RestartBudget restarts; // null: never needed
  public Suspension rest; // and with it the right to run; null: none is held here
  // envelopes put aside; changed by who has the right to run, read by a killer
  public final Queue<Object> aside = new ConcurrentLinkedQueue<>();
  public volatile Activation leaver; // runs the hooks; written by its thread, read by who is about to wait
  private volatile boolean back; // it ended, and was not cut off
  // nanoseconds to wait before the next restart; written by who asks for it, the handler's thread
  // or another
  public volatile long pause;
  // how many so far; written by who has the right to run, read by who looks at the tree
  public volatile long handled;
  public volatile long failed; // as `handled`

  public Extras(ActorCell cell, String label, Class<?> type) {
    this.cell = cell;
    this.label = label;
    this.type = type;
  }

  public CompletableFuture<ExitReason> exit() {
    return exit;
  }

  /** Gives the reason of an end to come, unless there is one. */
  public synchronized void because(ExitReason why) {
    if (reason == null || why instanceof ExitReason.Killed && !announced) reason = why;
  }

  public synchronized ExitReason reason() {
    return reason == null ? new ExitReason.Finished() : reason;
  }

  /** Closes it at the end; false if that has come. */
  public synchronized boolean closeAtEnd(List<AutoCloseable> resources) {
    if (over) return false;
    if (closeables.isEmpty()) closeables = new ArrayList<>();
    return closeables.addAll(resources);
  }

  public synchronized boolean isOver() {
    return over;
  }

  /**
   * Keeps a timer that was started, until it has run; replaces the one that has this key, unless it
   * is a later one: this one may have run already, and its message have set that. False if the end
   * has come.
   */
  public boolean keep(Object key, TimedMessage alarm) {
    var before = (TimedMessage) null;
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

  public synchronized void drop(Object key, Scheduler.Timer timer) {
    if (!over && !timers.isEmpty()) timers.remove(key, timer);
  }

  /** Keeps a request whose answer was promised; false if the end has come. */
  public synchronized boolean promise(RequestFuture<?> asked, Object message) {
    if (over) return false;
    if (promised.isEmpty()) promised = new IdentityHashMap<>();
    promised.put(asked, message);
    return true;
  }

  public synchronized void forget(RequestFuture<?> asked) {
    if (!over && !promised.isEmpty()) promised.remove(asked);
  }

  /** Whether a timer is due now. */
  public synchronized boolean isDue(long now) {
    return timers.values().stream().anyMatch(alarm -> alarm.isDue(now));
  }

  /** Whether it was cut off, and its handler may still run. */
  public boolean isAway() {
    return cell.phase == ActorCell.ENDED && !back;
  }

  public synchronized Watches watches() {
    if (watches == null) watches = new Watches(cell, over, announced ? reason : null);
    return watches;
  }

  public synchronized RestartBudget restarts() {
    if (restarts == null) restarts = new RestartBudget();
    return restarts;
  }

  // ---- a rest: the right to run lies here, and whoever takes it out has it

  public synchronized void layDown(Suspension here) {
    rest = here;
  }

  /**
   * Null: nobody rests here, or another was first. Only assigns: what is taken out here is nowhere
   * else.
   */
  public synchronized Suspension takeUp() {
    var taken = rest;
    rest = null;
    return taken;
  }

  /** From where on it will go on; null: nobody rests here. */
  public synchronized Object resting() {
    return rest == null ? null : rest.node;
  }

  /** Arms the timer that ends a killer's patience, unless it is armed or the end was announced. */
  public void grace(Supplier<Scheduler.Timer> starting) {
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
  public boolean isCondemned() {
    return condemned;
  }

  /** The hooks begin on this thread; a killer may have come since the last handler returned. */
  public synchronized void leavingOn(Activation last) {
    leaver = last;
    if (leaverKilled && last.own) last.thread.interrupt();
  }

  public synchronized void interruptLeaver() {
    leaverKilled = true;
    if (leaver != null) leaver.thread.interrupt();
  }

  /**
   * Ends what hangs on the actor, and announces the end; only the first call does. Runs on the
   * actor's last thread, or on the killer's.
   */
  public void end() {
    List<AutoCloseable> toClose;
    Map<Object, TimedMessage> toCancel;
    Watches watching;
    Map<RequestFuture<?>, Object> unanswered;
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
  public void announce() {
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
  public boolean awaitExit(Duration limit) {
    try (var wait = Wait.begin(cell, Wait.END, exit)) {
      if (wait != null) wait.refuseRing();
      if (limit == null) exit.get();
      else exit.get(Deadline.nanos(limit), TimeUnit.NANOSECONDS);
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

  public void close(AutoCloseable resource) {
    try {
      resource.close();
    } catch (Throwable failure) {
      Scope.LOG.error("actor '{}' could not close {}", cell.name(), RequestException.shown(resource), failure);
    }
  }

  /** The end as a future: the same for all, so nobody may complete it but the actor. */
  private static final class Exit extends CompletableFuture<ExitReason> {
    public void end(ExitReason reason) {
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
