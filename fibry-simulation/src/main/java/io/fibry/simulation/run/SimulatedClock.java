package io.fibry.simulation.run;

import java.time.Duration;
import java.time.Instant;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

/**
 * The clock of a run. It usually stops while a thread runs, and moves to the next timer when
 * no thread can run. Faults also move the clock. It moves, too, while threads spin, read the clock
 * again and again, or only yield to each other. Used by simulated threads and the carrier.
 */
public final class SimulatedClock {
  private static final long WALL_START_MILLIS = Instant.parse("2026-01-01T00:00:00Z").toEpochMilli();
  private static final long MAX_NANOS = Long.MAX_VALUE / 4; // ns, 73 years; the max delay of a timer
  private static final int FREE_READS = 1_000; // reads of the clock, while one thread runs, that do not move it
  private static final long READ_NANOS = 1_000; // ns by which each further read moves the clock
  private static final long SPIN_NANOS = 100; // ns by which a spin moves the clock
  private static final long MAX_ADVANCE_NANOS = 1_000_000_000; // the longest move of the clock by advance(), in ns
  private static final long TIMERLESS_ADVANCE_NANOS = 1_000_000; // ns by which advance() moves it without a timer

  private final RunEvents events;
  private final TreeSet<ClockTimer> timers = new TreeSet<>();
  private long now; // ns since the run began
  private long wallJumps; // ms by which faults have moved the wall clock alone
  private long timerCount; // timers made so far
  private int readCount; // reads by the program since the last thread switch

  SimulatedClock(RunEvents events) {
    this.events = events;
  }

  /**
   * A task that runs at a given time. If several timers are due at the same time, the timer that
   * was made first runs first.
   */
  final class ClockTimer extends CompletableFuture<Void> implements Comparable<ClockTimer>, Runnable {
    private final long time; // ns since the run began
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

    /**
     * Runs the task, unless the timer was cancelled. A timer that is due during a pause of its node
     * can be cancelled before the pause ends.
     */
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

  public Future<?> schedule(Runnable task, long nanos, FailureDomain domain) {
    var timer = new ClockTimer(now + Math.clamp(nanos, 0, MAX_NANOS), task, domain);
    timers.add(timer);
    events.add(RunEvents.RunEventKind.TIMER, timer.time);
    return timer;
  }

  public static long nanos(Duration duration) {
    return duration.compareTo(Duration.ofNanos(MAX_NANOS)) < 0 ? duration.toNanos() : MAX_NANOS;
  }

  // ---- reading the clock

  public long now() {
    return now;
  }

  /**
   * Returns the time to the program, and counts the read. After many reads, each read moves the
   * clock, so that a loop that waits for a time by reading the clock ends.
   */
  long readByProgram() {
    if (++readCount > FREE_READS) now += READ_NANOS;
    events.add(RunEvents.RunEventKind.CLOCK_READ, readCount);
    return now;
  }

  long wallMillis() {
    return WALL_START_MILLIS + wallJumps + now / 1_000_000;
  }

  void onThreadSwitch() {
    readCount = 0;
  }

  // ---- moving the clock

  void spin() {
    now += SPIN_NANOS;
    events.add(RunEvents.RunEventKind.SPIN, now);
  }

  /**
   * Called if all ready threads do nothing but give way to each other, because then they wait for
   * time to pass. Moves the clock to the next timer, but at most by one second; without a timer, by
   * 1 ms.
   */
  void advance() {
    now = timers.isEmpty() ? now + TIMERLESS_ADVANCE_NANOS
        : Math.clamp(timers.first().time, now, now + MAX_ADVANCE_NANOS);
  }

  /** Called for a fault: moves all clocks ahead, and then the wall clock alone, ahead or back. */
  void advanceByFault(long nanos, long wallMillis) {
    now += nanos;
    wallJumps += wallMillis;
  }

  /**
   * {@return the nanoseconds until the next timer is due, at least zero; -1 if there is no timer}
   */
  long nanosUntilNext() {
    return timers.isEmpty() ? -1 : Math.max(0, timers.first().time - now);
  }

  /**
   * Takes the next timer, moves the clock to its time, and runs it. If its node is paused, the
   * timer runs at the end of the pause. If its node has crashed, the timer is dropped, and the
   * clock does not move.
   */
  void runNext() {
    var nextTimer = timers.pollFirst();
    if (nextTimer == null || nextTimer.domain.isCrashed) return;
    now = Math.max(now, nextTimer.time);
    events.add(RunEvents.RunEventKind.TIME, now);
    if (nextTimer.domain.isPaused()) nextTimer.domain.hold(nextTimer);
    else nextTimer.run();
  }
}
