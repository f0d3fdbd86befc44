package io.fibry.micrometer;

import io.micrometer.core.instrument.Clock;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Keeps a sample of a scope, server, store or node for at most one second by the clock of a
 * registry. A sample may visit all actors, and a registry reads all meters at nearly the same time.
 */
final class CachedSample<T> {
  private static final long CACHE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Supplier<T> source;
  private final Clock clock;
  // both guarded by the monitor
  private T sample;
  private long sampledNanos;

  CachedSample(Supplier<T> source, Clock clock) {
    this.source = source;
    this.clock = clock;
    this.sample = source.get();
    this.sampledNanos = clock.monotonicTime() - CACHE_NANOS;
  }

  synchronized T sample() {
    long now = clock.monotonicTime();
    if (now - sampledNanos >= CACHE_NANOS) {
      sample = source.get();
      sampledNanos = now;
    }
    return sample;
  }
}
