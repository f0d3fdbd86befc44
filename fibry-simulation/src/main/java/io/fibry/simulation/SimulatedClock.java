package io.fibry.simulation;

import java.time.Duration;
import java.time.Instant;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

/**
 * The time of a run. It is stopped while a thread runs, and moves to the next timer when no thread
 * can run. Only loops that look at it, again and again, move it otherwise. Used by the carrier.
 */
final class SimulatedClock {
  private static final long WALL = Instant.parse("2026-01-01T00:00:00Z").toEpochMilli();
  private static final long MAX_NANOS = Long.MAX_VALUE / 4; // ns, 73 years: later is never
  private static final int FREE_LOOKS = 1_000; // in one step
  private static final long LOOK_NANOS = 1_000; // ns, after those
  private static final long SPIN_NANOS = 100; // ns
  private static final long MAX_ADVANCE_NANOS = 1_000_000_000; // ns, where threads wait for time to pass
  private static final long MIN_ADVANCE_NANOS = 1_000_000; // ns, where no timer is due either

  private final RunEvents events;
  private final TreeSet<ClockTimer> timers = new TreeSet<>();
  private long now;
  private long wallJumps; // ms
  private long timerCount; // timers
  private int readCount; // since another thread ran

  SimulatedClock(RunEvents events) {
    this.events = events;
  }

  /**
   * Something that is due. Of timers that are due together, the timer that was made first runs
   * first.
   */
  final class ClockTimer extends CompletableFuture<Void> implements Comparable<ClockTimer>, Runnable {
    private final long time;
    private final long number = ++timerCount;
    private final Runnable task;
    private final FailureDomain domain;

    ClockTimer(long time, Runnable task, FailureDomain domain) {
      this.time = time;
      this.task = task;
      this.domain = domain;
    }

    @Override
    public boolean cancel(boolean interrupt) {
      boolean cancelled = super.cancel(interrupt);
      if (cancelled) {
        timers.remove(this);
        events.add(RunEvents.RunEventKind.CANCEL, time);
      }
      return cancelled;
    }

    /** It may have been cancelled since it was due. */
    @Override
    public void run() {
      if (complete(null)) task.run();
    }

    @Override
    public int compareTo(ClockTimer other) {
      int byTime = Long.compare(time, other.time);
      return byTime != 0 ? byTime : Long.compare(number, other.number);
    }
  }

  Future<?> schedule(Runnable task, long nanos, FailureDomain domain) {
    var timer = new ClockTimer(now + Math.clamp(nanos, 0, MAX_NANOS), task, domain);
    timers.add(timer);
    events.add(RunEvents.RunEventKind.TIMER, timer.time);
    return timer;
  }

  static long nanos(Duration duration) {
    return duration.compareTo(Duration.ofNanos(MAX_NANOS)) < 0 ? duration.toNanos() : MAX_NANOS;
  }

  // ---- looks

  long now() {
    return now;
  }

  /**
   * Counts a reading of the clock by the program, so that a program that only reads the clock sees
   * time pass.
   */
  long read() {
    if (++readCount > FREE_LOOKS) now += LOOK_NANOS;
    events.add(RunEvents.RunEventKind.LOOK, readCount);
    return now;
  }

  long wallMillis() {
    return WALL + wallJumps + now / 1_000_000;
  }

  void onThreadSwitch() {
    readCount = 0;
  }

  // ---- moves

  void spin() {
    now += SPIN_NANOS;
    events.add(RunEvents.RunEventKind.SPIN, now);
  }

  /** All threads only give way to each other, so they wait for time to pass. */
  void advance() {
    now = timers.isEmpty() ? now + MIN_ADVANCE_NANOS : Math.clamp(timers.first().time, now, now + MAX_ADVANCE_NANOS);
  }

  /** A fault: moves the clock ahead, and the wall clock ahead or back. */
  void jump(long nanos, long wallMillis) {
    now += nanos;
    wallJumps += wallMillis;
  }

  /** {@return until something is due, at least zero; -1 if nothing is} */
  long nanosUntilNext() {
    return timers.isEmpty() ? -1 : Math.max(0, timers.first().time - now);
  }

  /** Runs what is due next, and moves to it if need be. */
  void runNext() {
    var first = timers.pollFirst();
    if (first == null || first.domain.crashed) return;
    now = Math.max(now, first.time);
    events.add(RunEvents.RunEventKind.TIME, now);
    if (first.domain.isPaused()) first.domain.hold(first);
    else first.run();
  }
}
