package io.fibry.micrometer;

import java.util.List;
import java.util.concurrent.TimeUnit;

/** When a message was sent, and where its times are recorded. */
final class SendTime {
  private final List<MessageMeters.MessageTimers> timers;
  private final long sentNanos;
  // by handlers' threads; two workers of a pool may both see false
  private boolean recorded;

  SendTime(List<MessageMeters.MessageTimers> timers, long sentNanos) {
    this.timers = timers;
    this.sentNanos = sentNanos;
  }

  AutoCloseable begin() {
    long began = System.nanoTime();
    if (!recorded) for (var each : timers) each.waiting().record(began - sentNanos, TimeUnit.NANOSECONDS);
    recorded = true;
    return () -> end(System.nanoTime() - began);
  }

  private void end(long handling) {
    for (var each : timers) each.handling().record(handling, TimeUnit.NANOSECONDS);
  }
}
