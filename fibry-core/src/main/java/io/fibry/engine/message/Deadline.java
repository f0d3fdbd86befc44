package io.fibry.engine.message;

import io.fibry.engine.actor.ActorCell;
import io.fibry.engine.cell.Activation;
import io.fibry.engine.cell.Snapshot;
import io.fibry.engine.jvm.Threads;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** How long one wait may last, by the clock of a scope. One thread waits by it. */
public final class Deadline implements BooleanSupplier {
  public static final Deadline NONE = new Deadline(Scheduler.system(), null);
  public static final Deadline NO_WAIT = new Deadline(Scheduler.system(), Duration.ZERO);
  private static final Duration SHORT = Duration.ofNanos(10 * Sweep.EVERY.toNanos());

  private final Scheduler clock;
  private final Duration limit; // null: for ever
  private final long end;
  private final boolean inherited; // from the request being handled
  public Deadline next; // in a list of the sweep
  public int slot; // of the sweep, where this may stand; written by the waiter
  // it was over before the answer came; written by who expired the request, before that is settled,
  // read by the waiter
  public Diagnosis why;
  // what is waited for; written by the waiter, read by the sweep; null again once answered
  private volatile RequestFuture<?> asked;
  // what will end the wait; written by the sweep, cancelled by the waiter
  private volatile Scheduler.Timer timer;

  private Deadline(Scheduler clock, Duration limit) {
    this(clock, limit, limit == null || limit.isZero() ? 0 : clock.nanoTime() + nanos(limit), false);
  }

  private Deadline(Scheduler clock, Duration limit, long end, boolean inherited) {
    this.clock = clock;
    this.limit = limit;
    this.end = end;
    this.inherited = inherited;
  }

  /** Of an ask: so long, but not longer than who asks is waited for. */
  public static Deadline ofAsk(ActorCell cell, Duration limit, Activation asker) {
    var own = of(cell.scope().options().scheduler, limit);
    var due = asker == null ? null : asker.due();
    return due == null ? own : own.cutBy(due);
  }

  /**
   * The sooner of the two: clocks tell of different times, so between two of them only what is left
   * can be compared.
   */
  private Deadline cutBy(Deadline due) {
    long now = end - nanos(limit);
    long left = Math.max(0, due.clock == clock ? due.end - now : due.left());
    return left < nanos(limit) ? new Deadline(clock, Duration.ofNanos(left), now + left, true) : this;
  }

  public static Deadline of(Scheduler clock, Duration limit) {
    if (!limit.isPositive())
      throw new IllegalArgumentException("a limit of " + limit + " leaves no time to wait; give more than zero");
    return new Deadline(clock, limit);
  }

  /** The same, where zero is a limit too. */
  public static Deadline within(Scheduler clock, Duration limit) {
    return limit.isZero() ? NO_WAIT : new Deadline(clock, limit);
  }

  /** Refuses what lies in the past, by its name; zero is a time too. */
  public static Duration notNegative(Duration time, String name) {
    if (Objects.requireNonNull(time, name).isNegative())
      throw new IllegalArgumentException("a " + name + " of " + time + " lies in the past; give zero or more");
    return time;
  }

  public static long nanos(Duration limit) {
    return limit.compareTo(Duration.ofNanos(Long.MAX_VALUE / 2)) < 0 ? limit.toNanos() : Long.MAX_VALUE / 2;
  }

  public Duration duration() {
    return limit;
  }

  /** Whether there never was any time. */
  public boolean isZero() {
    return limit != null && limit.isZero();
  }

  /** Whether it ends anything. */
  public boolean isBounded() {
    return limit != null;
  }

  @Override
  public String toString() {
    return inherited ? limit + ", which was left of the limit of the request being handled" : "" + limit;
  }

  /** How to have a longer one. */
  public String advice() {
    return "; give " + (inherited ? "the first ask of the chain" : "ask") + " a longer limit if it may take so long";
  }

  /** Whether it is over. */
  @Override
  public boolean getAsBoolean() {
    return limit != null && (isZero() || left() <= 0);
  }

  private long left() {
    return end - clock.nanoTime();
  }

  /** Runs it when this is over; null where it never is. */
  public Scheduler.Timer atEnd(Runnable task) {
    return limit == null ? null : clock.after(Duration.ofNanos(Math.max(0, left())), task);
  }

  /** Wakes this thread when it is over; null where it never is. */
  public Scheduler.Timer waking() {
    var sleeper = Thread.currentThread();
    return atEnd(() -> LockSupport.unpark(sleeper));
  }

  /** Waits until it is done, or this is over; answers whether it is done. */
  public boolean await(CompletableFuture<?> done) throws InterruptedException {
    try {
      if (limit == null) done.get();
      else if (!done.isDone() && !getAsBoolean()) {
        if (clock == Scheduler.system()) done.get(left(), TimeUnit.NANOSECONDS);
        else awaitByClock(done);
      }
      return done.isDone();
    } catch (TimeoutException over) {
      return false;
    } catch (ExecutionException failed) {
      return true;
    }
  }

  private void awaitByClock(CompletableFuture<?> done) throws InterruptedException, ExecutionException {
    var either = done.handle((value, failure) -> value);
    var waking = atEnd(() -> either.complete(null));
    try {
      either.get();
    } finally {
      waking.cancel();
    }
  }

  /**
   * The value of a request, which expires when this is over. A timed park costs as much as the rest
   * of a request; so a wait that may be long parks untimed, and the {@link Sweep} sees to its end:
   * most are answered before it comes round.
   */
  public <R> R get(RequestFuture<R> asked) throws InterruptedException, ExecutionException {
    if (limit == null || asked.isDone()) return asked.value();
    if (clock == Scheduler.system() && limit.compareTo(SHORT) < 0) return getSoon(asked);
    this.asked = asked;
    if (clock == Scheduler.system()) Sweep.add(this);
    else arm();
    try {
      return asked.value();
    } finally {
      this.asked = null;
      Sweep.remove(this);
      var armed = timer;
      if (armed != null) armed.cancel();
    }
  }

  private <R> R getSoon(RequestFuture<R> asked) throws InterruptedException, ExecutionException {
    try {
      return asked.value(left());
    } catch (TimeoutException over) {
      asked.expire();
      return asked.value();
    }
  }

  /** Sets the timer that ends the wait, unless it has ended. */
  public void arm() {
    var waited = asked;
    if (waited == null || waited.isDone()) return;
    var worker = waited.cell.workerOn(waited);
    if (worker != null) Snapshot.note(worker);
    // taking it out of its mailbox may ask the user's comparator
    var armed = atEnd(() -> Threads.FIBER.activate(waited::expire));
    timer = armed;
    if (asked == null) armed.cancel(); // it ended between the look and the timer
  }
}
