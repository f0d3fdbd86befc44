package io.fibry.micrometer;

import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** What a scope tells, at most a second old: it visits all actors, and meters are read together. */
final class CachedSample<T> {
  private static final long CACHE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Supplier<T> source;
  // both guarded by the monitor
  private T sample;
  private long sampledAt;

  CachedSample(Supplier<T> source) {
    this.source = source;
    this.sample = source.get();
    this.sampledAt = System.nanoTime() - CACHE_NANOS;
  }

  synchronized T sample() {
    long now = System.nanoTime();
    if (now - sampledAt >= CACHE_NANOS) {
      sample = source.get();
      sampledAt = now;
    }
    return sample;
  }
}
