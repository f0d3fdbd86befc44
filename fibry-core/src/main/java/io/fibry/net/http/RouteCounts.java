package io.fibry.net.http;

import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts the exchanges of one route by their outcome. Thread-safe. A thread that reads
 * {@link #answered} before {@link #totalTime} gets a total that includes the times of these
 * exchanges.
 */
final class RouteCounts {
  private final LongAdder answered = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final LongAdder nanos = new LongAdder();
  private final LongAdder openWebSockets = new LongAdder();

  void add(int status, long durationNanos) {
    nanos.add(durationNanos);
    answered.increment();
    if (status >= 500) failed.increment();
  }

  /** Counts a WebSocket that was opened. */
  void webSocketOpened() {
    openWebSockets.increment();
  }

  /** Counts a WebSocket that was closed. */
  void webSocketClosed() {
    openWebSockets.decrement();
  }

  long answered() {
    return answered.sum();
  }

  long failed() {
    return failed.sum();
  }

  long openWebSockets() {
    return openWebSockets.sum();
  }

  Duration totalTime() {
    return Duration.ofNanos(nanos.sum());
  }
}
