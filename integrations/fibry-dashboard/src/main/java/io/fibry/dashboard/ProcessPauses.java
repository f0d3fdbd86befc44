package io.fibry.dashboard;

import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Finds pauses of the whole process, such as a stop, the migration of its machine or a long
 * collection of garbage. In such a time, no handler is slow because of its own work, so the
 * problems of actors and routes leave it out. A platform thread of its own beats once a second, so
 * neither handlers that hold all carriers are a pause, nor a user's task that blocks the thread of
 * the system's clock. Only a pause of the process, or of its machine, delays a beat by seconds.
 * Thread-safe.
 */
final class ProcessPauses {
  private static final Duration PERIOD = Duration.ofSeconds(1); // between two beats
  static final long MIN_NANOS = Duration.ofSeconds(2).toNanos(); // a busy machine delays a beat by less
  private static final int MAX_PAUSES = 64; // the last ones

  /** The process was paused from {@code start} to {@code end}, or for up to a beat longer. */
  private record Pause(long start, long end) {}

  /**
   * The pauses of the process until now.
   *
   * @param now the time by the clock of the dashboard
   * @param pauses the last pauses, oldest first
   */
  record PauseHistory(long now, List<Pause> pauses) {
    static final PauseHistory NONE = new PauseHistory(0, List.of());

    /** Returns for how long the process was paused within the given time until now. */
    long pausedNanos(long nanos) {
      long paused = 0;
      for (var pause : pauses) {
        long overlap = Math.min(nanos, now - pause.start) - Math.max(0, now - pause.end);
        if (overlap > 0) paused += overlap;
      }
      return paused;
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
  private final Deque<Pause> pauses = new ArrayDeque<>(); // oldest first; guarded by the monitor, as the next one
  private long lastSeen; // when a beat or reader has seen the process run

  ProcessPauses(Scheduler clock) {
    this.clock = clock;
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
    if (now - start >= MIN_NANOS) {
      pauses.add(new Pause(start, now));
      if (pauses.size() > MAX_PAUSES) pauses.removeFirst();
    }
    lastSeen = now;
    return pauses.isEmpty() ? new PauseHistory(now, List.of()) : new PauseHistory(now, List.copyOf(pauses));
  }
}
