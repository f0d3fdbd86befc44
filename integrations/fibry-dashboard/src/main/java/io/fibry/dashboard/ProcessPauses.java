package io.fibry.dashboard;

import io.fibry.ActorStats;
import io.fibry.dashboard.ProcessStats.QueuedThreads;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Finds pauses of the whole process, such as a stop, the migration of its machine or a long
 * collection of garbage. In such a time, no handler is slow because of its own work, so the
 * problems of actors and routes leave it out. A platform thread of its own beats once a second, so
 * neither handlers that hold all carriers are a pause, nor a user's task that blocks the thread of
 * the system's clock. Only a pause of the process, or of its machine, delays a beat by seconds.
 *
 * <p>Records the times in which the JDK's scheduler of virtual threads is saturated. In such a
 * time, a handler whose sleep is over waits for a carrier, and is not slow because of its own work.
 * The beats need no carrier, so they see it. Thread-safe.
 */
final class ProcessPauses {
  private static final Duration PERIOD = Duration.ofSeconds(1); // between two beats
  static final long MIN_NANOS = Duration.ofSeconds(2).toNanos(); // a busy machine delays a beat by less
  private static final int MAX_PAUSES = 64; // the last ones
  static final long MIN_SATURATED_NANOS = Duration.ofSeconds(5).toNanos(); // a burst of messages is over sooner
  /** The most of a handler's time that is left out, so that no stuck actor is hidden. */
  private static final long MAX_SATURATED_NANOS = Duration.ofMinutes(1).toNanos();
  private static final String VIRTUAL_THREAD = "java.lang.VirtualThread"; // its methods park a thread

  /** The process was paused from {@code start} to {@code end}, or for up to a beat longer. */
  private record Pause(long start, long end) {
    /** Returns whether a saturation is so short that it may be a burst of messages. */
    boolean isShort() {
      return end - start < MIN_SATURATED_NANOS;
    }
  }

  /**
   * The pauses of the process until now, and the times in which the scheduler was saturated. These
   * overlap no pause.
   *
   * @param now the time by the clock of the dashboard
   * @param pauses the last pauses, oldest first
   * @param saturations the last times of saturation, oldest first, each of at least five seconds;
   * only a present saturation may be shorter, so that no handler is stuck until it is long enough
   * @param queued how many virtual threads wait for a carrier if the scheduler is saturated now;
   * otherwise 0
   */
  record PauseHistory(long now, List<Pause> pauses, List<Pause> saturations, long queued) {
    static final PauseHistory NONE = new PauseHistory(0, List.of(), List.of(), 0);

    /** Returns for how long the process was paused within the given time until now. */
    long pausedNanos(long nanos) {
      return overlap(pauses, nanos);
    }

    private long overlap(List<Pause> times, long nanos) {
      long sum = 0;
      for (var time : times) {
        long overlap = Math.min(nanos, now - time.start) - Math.max(0, now - time.end);
        if (overlap > 0) sum += overlap;
      }
      return sum;
    }

    /**
     * Returns for how long the handler of an actor has been busy, without the pauses of the
     * process. If its thread is parked, or its stack is not known, the thread may only wait for a
     * carrier. Up to a minute of the time in which the scheduler was saturated is then left out. A
     * handler that holds a carrier is a cause of the saturation, and all of its time counts.
     */
    Duration activeTime(ActorStats stats) {
      var time = withoutPauses(stats.busyFor());
      boolean mayWaitForCarrier = stats.stack().isEmpty()
          || stats.stack().getFirst().getClassName().equals(VIRTUAL_THREAD);
      return saturations.isEmpty() || !mayWaitForCarrier ? time
          : time.minusNanos(Math.min(MAX_SATURATED_NANOS, overlap(saturations, stats.busyFor().toNanos())));
    }

    /** Returns the present saturation as a JSON object; empty if the scheduler is not saturated. */
    Optional<Object> saturation() {
      return queued == 0 ? Optional.empty() : Optional.of(JsonText.object("queued", queued, "millis",
          (now - saturations.getLast().start) / 1_000_000));
    }

    /** Returns the time until now without the pauses of the process. */
    Duration withoutPauses(Duration time) {
      return pauses.isEmpty() ? time : time.minusNanos(pausedNanos(time.toNanos()));
    }

    /** Returns whether a pause ended within the given time until now. */
    boolean hasEndedWithin(long nanos) {
      return !pauses.isEmpty() && now - pauses.getLast().end < nanos;
    }

    /** Returns the last pause as a JSON object; empty if none ended within the last minute. */
    Optional<Object> recent() {
      if (!hasEndedWithin(ActorProblem.RECENT_NANOS)) return Optional.empty();
      return Optional.of(asMap(pauses.getLast()));
    }

    /** Returns a JSON object for each pause that ended within the given time, the oldest first. */
    List<Object> within(long nanos) {
      return pauses.stream().filter(pause -> now - pause.end < nanos).<Object>map(this::asMap).toList();
    }

    private Map<String, Object> asMap(Pause pause) {
      return JsonText.object("millis", (pause.end - pause.start) / 1_000_000, "millisAgo",
          Math.max(0, now - pause.end) / 1_000_000);
    }
  }

  private final Scheduler clock;
  private final Supplier<QueuedThreads> threads;
  private final Deque<Pause> pauses = new ArrayDeque<>(); // oldest first; guarded by the monitor, as the next ones
  private final Deque<Pause> saturations = new ArrayDeque<>(); // oldest first
  private long lastSeen; // when a beat or reader has seen the process run
  private boolean isSaturated; // in the last beat; the last element of `saturations` then continues

  ProcessPauses(Scheduler clock) {
    this(clock, ProcessStats::queuedThreads);
  }

  ProcessPauses(Scheduler clock, Supplier<QueuedThreads> threads) {
    this.clock = clock;
    this.threads = threads;
    this.lastSeen = clock.nanoTime();
  }

  /** Returns the timer that finds the pauses. */
  Scheduler.Timer start() {
    return startBeats(clock, PERIOD, this::observe);
  }

  /** Runs a task in each period, on a thread of its own if the clock is the system's. */
  static Scheduler.Timer startBeats(Scheduler clock, Duration period, Runnable task) {
    if (clock != Scheduler.system()) return clock.scheduleAtFixedRate(period, period, task); // a manual clock
    var thread = Thread.ofPlatform().name("fibry-dashboard-beats").daemon().inheritInheritableThreadLocals(false)
        .start(() -> beat(period, task));
    return () -> {
      boolean isAlive = thread.isAlive();
      thread.interrupt();
      return isAlive;
    };
  }

  private static void beat(Duration period, Runnable task) {
    while (true) try {
      Thread.sleep(period);
      task.run();
    } catch (InterruptedException cancelled) {
      return;
    } catch (Throwable lackOfMemory) {
      // the beats must continue, because without them all times between two readers would be pauses
    }
  }

  /** Returns the pauses until now. The last one may have ended so recently that no beat saw it. */
  synchronized PauseHistory observe() {
    long now = clock.nanoTime();
    long start = lastSeen + PERIOD.toNanos();
    boolean isPaused = now - start >= MIN_NANOS;
    if (isPaused) add(pauses, new Pause(start, now));
    lastSeen = now;
    long queued = observeThreads(now, isPaused);
    return new PauseHistory(now, List.copyOf(pauses), List.copyOf(saturations), queued);
  }

  /** Returns how many threads wait for a carrier if the scheduler is saturated; otherwise 0. */
  private long observeThreads(long now, boolean isPaused) {
    var found = threads.get();
    if (isSaturated && found.isSaturated() && !isPaused) {
      saturations.add(new Pause(saturations.removeLast().start, now));
    } else {
      if (isSaturated && saturations.getLast().isShort()) saturations.removeLast();
      if (found.isSaturated()) add(saturations, new Pause(now, now));
    }
    isSaturated = found.isSaturated();
    return isSaturated && !saturations.getLast().isShort() ? found.queued() : 0;
  }

  private static void add(Deque<Pause> times, Pause time) {
    times.add(time);
    if (times.size() > MAX_PAUSES) times.removeFirst();
  }
}
