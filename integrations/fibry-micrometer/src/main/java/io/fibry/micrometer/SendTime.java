package io.fibry.micrometer;

import io.fibry.spi.MultiStepMessage;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The time at which a message was sent, and the timers that record its wait and its handling. */
final class SendTime {
  private final List<MessageMeters.MessageTimers> timers;
  private final long sentNanos;
  // read and written by handlers' threads, without a lock: two workers of a pool may both record
  // the wait
  private boolean isWaitRecorded;

  SendTime(List<MessageMeters.MessageTimers> timers, long sentNanos) {
    this.timers = timers;
    this.sentNanos = sentNanos;
  }

  AutoCloseable begin() {
    long startNanos = System.nanoTime();
    recordWait(startNanos);
    return () -> recordHandling(System.nanoTime() - startNanos);
  }

  /** Begins a message whose steps are timed, but not the message itself. */
  AutoCloseable beginSteps(MultiStepMessage steps) {
    recordWait(System.nanoTime());
    return steps.onStepEnd(duration -> recordHandling(duration.toNanos()));
  }

  private void recordWait(long startNanos) {
    if (!isWaitRecorded) for (var pair : timers) pair.waiting().record(startNanos - sentNanos, TimeUnit.NANOSECONDS);
    isWaitRecorded = true;
  }

  private void recordHandling(long handlingNanos) {
    for (var pair : timers) pair.handling().record(handlingNanos, TimeUnit.NANOSECONDS);
  }
}
