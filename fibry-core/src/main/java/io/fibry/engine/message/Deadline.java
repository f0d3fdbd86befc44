package io.fibry.engine.message;

import io.fibry.engine.world.Environment;
import io.fibry.text.Durations;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** When one wait ends at the latest, by the clock of a scope. */
public final class Deadline extends TimeoutSweep.SweepEntry implements BooleanSupplier {
  public static final Deadline NONE = new Deadline(Scheduler.system(), null);
  public static final Deadline NO_WAIT = new Deadline(Scheduler.system(), Duration.ZERO);
  private static final Duration SHORT = Duration.ofNanos(10 * TimeoutSweep.PERIOD.toNanos());

  interface AwaitedResult<R> {
    boolean isDone();

    R park() throws InterruptedException, ExecutionException;

    R park(long nanos) throws InterruptedException, ExecutionException, TimeoutException;

    void expire();

    void noteStart();
  }

  static {
    new DeadlineExpiry(null, null); // loads both classes while there is memory
    new Unpark(null);
  }

  private final Scheduler clock;
  final Duration limit; // null: none
  private final long end;
  private final boolean inherited; // from the request that the asker is handling
  // Null while no thread waits; written by the waiting thread, read by the sweep
  private volatile AwaitedResult<?> pending;
  private volatile Scheduler.Timer timer; // set by the sweep, cancelled by the waiting thread

  private Deadline(Scheduler clock, Duration limit) {
    this(clock, limit, limit == null || limit.isZero() ? 0 : clock.nanoTime() + nanos(limit), false);
  }

  private Deadline(Scheduler clock, Duration limit, long end, boolean inherited) {
    this.clock = clock;
    this.limit = limit;
    this.end = end;
    this.inherited = inherited;
  }

  /**
   * After {@code limit}, but no later than {@code due}, if not null. If their clocks differ, the
   * time left is compared.
   */
  public static Deadline ofAsk(Scheduler clock, Duration limit, Deadline due) {
    var own = of(clock, limit);
    if (due == null) return own;
    long now = own.end - nanos(limit);
    long left = Math.max(0, due.clock == clock ? due.end - now : due.remainingNanos());
    return left < nanos(limit) ? new Deadline(clock, Duration.ofNanos(left), now + left, true) : own;
  }

  public static Deadline of(Scheduler clock, Duration limit) {
    if (!Objects.requireNonNull(limit, "limit").isPositive())
      throw new IllegalArgumentException(
          "a limit of " + Durations.text(limit) + " leaves no time to wait; give more than zero");
    return new Deadline(clock, limit);
  }

  public static Deadline ofOrNoWait(Scheduler clock, Duration limit) {
    return limit.isZero() ? NO_WAIT : new Deadline(clock, limit);
  }

  public static Duration notNegative(Duration limit) {
    if (Objects.requireNonNull(limit, "limit").isNegative())
      throw new IllegalArgumentException(
          "a limit of " + Durations.text(limit) + " lies in the past; give zero or more");
    return limit;
  }

  /** Small enough to be added to a time. */
  public static long nanos(Duration duration) {
    return Math.min(TimeUnit.NANOSECONDS.convert(duration), Long.MAX_VALUE / 2);
  }

  public boolean isZero() {
    return limit != null && limit.isZero();
  }

  public boolean isBounded() {
    return limit != null;
  }

  @Override
  public String toString() {
    if (limit == null) return "no limit";
    return Durations.text(limit) + (inherited ? ", which was left of the limit of the request being handled" : "");
  }

  String advice() {
    return "; give " + (inherited ? "the first ask of the chain" : "ask") + " a longer limit if it may take so long";
  }

  @Override
  public boolean getAsBoolean() {
    return limit != null && (isZero() || remainingNanos() <= 0);
  }

  private long remainingNanos() {
    return end - clock.nanoTime();
  }

  /** Returns an empty value if there is no limit. */
  public Optional<Duration> remaining() {
    return limit == null ? Optional.empty()
        : Optional.of(Duration.ofNanos(isZero() ? 0 : Math.max(0, remainingNanos())));
  }

  private Scheduler.Timer atEnd(Runnable task) {
    return limit == null ? null : clock.scheduleAt(end, task);
  }

  /** Unparks this thread. Returns null if there is no deadline. */
  public Scheduler.Timer startWakeUpTimer() {
    var sleeper = Thread.currentThread();
    return atEnd(new Unpark(sleeper));
  }

  /** Returns false if the deadline came first. */
  public boolean await(CompletableFuture<?> done) throws InterruptedException {
    try {
      if (limit == null) done.get();
      else if (!done.isDone() && !getAsBoolean()) {
        if (clock == Scheduler.system()) done.get(remainingNanos(), TimeUnit.NANOSECONDS);
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
   * Waits for an answer. A timed park costs as much as the rest of a request, so a long wait parks
   * untimed, and the {@link TimeoutSweep} ends it.
   */
  <R> R get(AwaitedResult<R> answer) throws InterruptedException, ExecutionException {
    if (limit == null || answer.isDone()) return answer.park();
    if (clock == Scheduler.system() && limit.compareTo(SHORT) < 0) return getSoon(answer);
    pending = answer;
    if (isSweepable()) TimeoutSweep.add(this);
    else arm();
    try {
      return answer.park();
    } finally {
      pending = null;
      TimeoutSweep.remove(this);
      var armed = timer;
      if (armed != null) armed.cancel();
    }
  }

  /** No simulation may leave a wait in the sweep, which is one for the process. */
  private boolean isSweepable() {
    return clock == Scheduler.system() && Environment.simulated == null;
  }

  /** For an answer that no thread waits for: it expires, unless {@link #cancelExpiry} comes first. */
  void startExpiry(AwaitedResult<?> answer) {
    pending = answer;
    if (isSweepable() && limit.compareTo(SHORT) >= 0) TimeoutSweep.add(this);
    else arm();
  }

  /** Called when the answer has arrived. */
  void cancelExpiry() {
    if (pending == null) return;
    pending = null;
    var armed = timer;
    if (armed != null) armed.cancel();
  }

  private <R> R getSoon(AwaitedResult<R> answer) throws InterruptedException, ExecutionException {
    try {
      return answer.park(remainingNanos());
    } catch (TimeoutException over) {
      answer.expire();
      return answer.park();
    }
  }

  @Override
  void arm() {
    var waited = pending;
    if (waited == null || waited.isDone()) return;
    waited.noteStart();
    var armed = atEnd(new DeadlineExpiry(this, waited));
    timer = armed;
    if (pending == null) armed.cancel(); // the wait ended between the look and the timer
  }

  /** No lambda, nor is the other one: first linked without memory, it may fail for ever. */
  private record DeadlineExpiry(Deadline deadline, AwaitedResult<?> waited) implements Runnable {
    @Override
    public void run() {
      deadline.expire(waited);
    }
  }

  private record Unpark(Thread sleeper) implements Runnable {
    @Override
    public void run() {
      LockSupport.unpark(sleeper);
    }
  }

  private void expire(AwaitedResult<?> waited) {
    try {
      waited.expire();
    } catch (Throwable noMemory) { // it is undone
      TimeoutSweep.addQuietly(this);
    }
  }
}
