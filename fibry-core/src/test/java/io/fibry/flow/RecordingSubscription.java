package io.fibry.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;

/** Records the calls of a subscriber, and fails if two calls are concurrent. */
final class RecordingSubscription implements Flow.Subscription {
  final List<Object> calls = new CopyOnWriteArrayList<>();
  private final AtomicInteger activeCount = new AtomicInteger();

  @Override
  public void request(long n) {
    record(n);
  }

  @Override
  public void cancel() {
    record("cancel");
  }

  private void record(Object call) {
    assertEquals(1, activeCount.incrementAndGet(), "concurrent calls of a subscription");
    calls.add(call);
    activeCount.decrementAndGet();
  }

  long requestedCount() {
    return calls.stream().filter(Long.class::isInstance).mapToLong(n -> (long) n).sum();
  }
}
