package io.fibry.engine.message;

import io.fibry.text.Durations;
import io.fibry.time.Scheduler;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** The time at which a wait ends at the latest, by the clock of a scope. */
public final class Deadline extends LongWaitSweep.SweepEntry implements BooleanSupplier {
  public static final Deadline NONE = new Deadline(Scheduler.system(), null);
  public static final Deadline NO_WAIT = new Deadline(Scheduler.system(), Duration.ZERO);
  private static final VarHandle AWAITED_RESULT = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(),
      "awaitedResult", VarHandle.class, Deadline.class, AwaitedResult.class);

  interface AwaitedResult<R> {
    boolean isDone();

    R park() throws InterruptedException, ExecutionException;

    R park(long nanos) throws InterruptedException, ExecutionException, TimeoutException;

    void expire();

    void rememberStart();
  }

  static {
    new DeadlineExpiry(null, null); // loads both classes while there is memory
    new Unpark(null);
  }

  private final Scheduler clock;
  final Duration limit; // null: no limit
  private final long expiresAt; // nanoseconds by the clock; 0 in NONE and NO_WAIT
  private final boolean isInherited; // whether the limit comes from the request that the asker is handling
  // null while no answer is awaited. Written by the waiting thread, or by `startExpiry` and
  // `cancelExpiry`, and read by the sweep
  private volatile AwaitedResult<?> awaitedResult;
  private volatile Scheduler.Timer timer; // set by `startTimer`, cancelled when the wait ends; null before

  private Deadline(Scheduler clock, Duration limit) {
    this(clock, limit, limit == null || limit.isZero() ? 0 : clock.nanoTime() + nanos(limit), false);
  }

  private Deadline(Scheduler clock, Duration limit, long expiresAt, boolean isInherited) {
    this.clock = clock;
    this.limit = limit;
    this.expiresAt = expiresAt;
    this.isInherited = isInherited;
  }

  /** Returns whether this deadline is later than another of the same clock. */
  public boolean isAfter(Deadline other) {
    return expiresAt - other.expiresAt > 0;
  }

  /**
   * Returns the deadline after {@code limit}, but not later than {@code askerDeadline} if that is
   * not null. If the two deadlines have different clocks, their remaining times are compared.
   */
  public static Deadline ofAsk(Scheduler clock, Duration limit, Deadline askerDeadline) {
    var deadline = of(clock, limit);
    if (askerDeadline == null) return deadline;
    long now = deadline.expiresAt - nanos(limit);
    long remaining =
        Math.max(0, askerDeadline.clock == clock ? askerDeadline.expiresAt - now
            : askerDeadline.remainingNanos());
    return remaining < nanos(limit) ? new Deadline(clock, Duration.ofNanos(remaining), now + remaining, true)
        : deadline;
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
    return Durations.requireNotNegative(limit, "limit", "a limit");
  }

  /**
   * Returns the nanoseconds of the duration, but at most half of the greatest long, so that a time
   * plus the result does not overflow.
   */
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
    return Durations.text(limit) + (isInherited ? ", the rest of the limit of the request that is being handled" : "");
  }

  String advice() {
    return "; give " + (isInherited ? "the first ask of the chain" : "ask")
        + " a longer limit if the request may take that long";
  }

  /** Returns whether the deadline has passed. */
  @Override
  public boolean getAsBoolean() {
    return limit != null && (isZero() || remainingNanos() <= 0);
  }

  private long remainingNanos() {
    return expiresAt - clock.nanoTime();
  }

  /** Returns the remaining time, or an empty value if there is no limit. */
  public Optional<Duration> remaining() {
    return limit == null ? Optional.empty()
        : Optional.of(Duration.ofNanos(isZero() ? 0 : Math.max(0, remainingNanos())));
  }

  private Scheduler.Timer scheduleAtDeadline(Runnable task) {
    return limit == null ? null : clock.scheduleAt(expiresAt, task);
  }

  /** Starts a timer that unparks this thread at the deadline. Returns null if there is no limit. */
  public Scheduler.Timer startWakeUpTimer() {
    var sleeper = Thread.currentThread();
    return scheduleAtDeadline(new Unpark(sleeper));
  }

  /**
   * Waits until the future is done, also by a failure or cancellation. Returns false if the
   * deadline came first.
   */
  public boolean await(CompletableFuture<?> future) throws InterruptedException {
    try {
      if (limit == null) future.get();
      else if (!future.isDone() && !getAsBoolean()) {
        if (clock == Scheduler.system()) future.get(remainingNanos(), TimeUnit.NANOSECONDS);
        else awaitByClock(future);
      }
      return future.isDone();
    } catch (TimeoutException timeout) {
      return false;
    } catch (ExecutionException | CancellationException failure) {
      return true;
    }
  }

  private void awaitByClock(CompletableFuture<?> future) throws InterruptedException, ExecutionException {
    var futureOrTimeout = future.handle((value, failure) -> value);
    var timeoutTimer = scheduleAtDeadline(() -> futureOrTimeout.complete(null));
    try {
      futureOrTimeout.get();
    } finally {
      timeoutTimer.cancel();
    }
  }

  /**
   * Waits for an answer. A timed park costs as much as all other work of a request. So a wait with
   * a long limit parks without a timeout. If the wait still lasts at the next
   * {@link LongWaitSweep}, the sweep starts a timer for it.
   */
  <R> R get(AwaitedResult<R> answer) throws InterruptedException, ExecutionException {
    if (limit == null || answer.isDone()) return answer.park();
    if (clock == Scheduler.system() && limit.compareTo(LongWaitSweep.MIN_LIMIT) < 0) return getWithTimedPark(answer);
    beginWait(answer);
    try {
      return answer.park();
    } finally {
      endWait();
    }
  }

  void beginWait(AwaitedResult<?> answer) {
    AWAITED_RESULT.setRelease(this, answer); // published by the compare-and-set that adds this deadline to the sweep
    if (LongWaitSweep.isUsedFor(clock)) LongWaitSweep.add(this);
    else startTimer();
  }

  /**
   * Ends the wait. If the deadline is still in its slot, the sweep has not taken it, and there is
   * no timer. Otherwise this thread clears {@code awaitedResult} and then reads {@code timer}; the
   * sweep writes {@code timer} and then reads {@code awaitedResult}. So at least one of the two
   * threads cancels the timer.
   */
  void endWait() {
    AWAITED_RESULT.setRelease(this, null);
    if (LongWaitSweep.remove(this)) return;
    VarHandle.fullFence(); // `awaitedResult` is written, `timer` not yet read
    cancelTimer();
  }

  private void cancelTimer() {
    var startedTimer = timer;
    if (startedTimer != null) startedTimer.cancel();
  }

  /**
   * Lets an answer expire at the deadline, unless {@link #cancelExpiry} is called before. Called if
   * no thread waits for the answer.
   */
  void startExpiry(AwaitedResult<?> answer) {
    awaitedResult = answer;
    if (LongWaitSweep.isUsedFor(clock, limit)) LongWaitSweep.add(this);
    else startTimer();
  }

  /** Called when the answer is not awaited any more, for example because it has arrived. */
  void cancelExpiry() {
    if (awaitedResult == null) return;
    awaitedResult = null;
    cancelTimer();
  }

  private <R> R getWithTimedPark(AwaitedResult<R> answer) throws InterruptedException, ExecutionException {
    try {
      return answer.park(remainingNanos());
    } catch (TimeoutException timeout) {
      answer.expire();
      return answer.park();
    }
  }

  @Override
  void startTimer() {
    var result = awaitedResult;
    if (result == null || result.isDone()) return;
    result.rememberStart();
    var newTimer = scheduleAtDeadline(new DeadlineExpiry(this, result));
    timer = newTimer;
    if (awaitedResult == null) newTimer.cancel(); // the wait ended before the timer was stored
  }

  /**
   * A record (like Unpark), not a lambda: if memory runs out while the JVM links a lambda for the
   * first time, that lambda may fail forever.
   */
  private record DeadlineExpiry(Deadline deadline, AwaitedResult<?> result) implements Runnable {
    @Override
    public void run() {
      deadline.expire(result);
    }
  }

  private record Unpark(Thread sleeper) implements Runnable {
    @Override
    public void run() {
      LockSupport.unpark(sleeper);
    }
  }

  private void expire(AwaitedResult<?> result) {
    try {
      result.expire();
    } catch (Throwable noMemory) { // `expire` has undone its change: the next sweep tries again
      LongWaitSweep.addQuietly(this);
    }
  }
}
