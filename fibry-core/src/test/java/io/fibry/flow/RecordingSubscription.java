package io.fibry.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;

/** Refuses concurrent calls. */
final class RecordingSubscription implements Flow.Subscription {
  final List<Object> told = new CopyOnWriteArrayList<>();
  private final AtomicInteger inside = new AtomicInteger();

  @Override
  public void request(long n) {
    tell(n);
  }

  @Override
  public void cancel() {
    tell("cancel");
  }

  private void tell(Object what) {
    assertEquals(1, inside.incrementAndGet(), "calls on a subscription come one after the other");
    told.add(what);
    inside.decrementAndGet();
  }

  long requested() {
    return told.stream().filter(Long.class::isInstance).mapToLong(n -> (long) n).sum();
  }
}
