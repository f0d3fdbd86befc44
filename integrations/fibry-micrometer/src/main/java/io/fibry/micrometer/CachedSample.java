package io.fibry.micrometer;

import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Keeps a sample of a scope, server, store or node for at most one second. A sample may visit all
 * actors, and a registry reads all meters at nearly the same time.
 */
final class CachedSample<T> {
  private static final long CACHE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Supplier<T> source;
  // both guarded by the monitor
  private T sample;
  private long sampledNanos;

  CachedSample(Supplier<T> source) {
    this.source = source;
    this.sample = source.get();
    this.sampledNanos = System.nanoTime() - CACHE_NANOS;
  }

  synchronized T sample() {
    long now = System.nanoTime();
    if (now - sampledNanos >= CACHE_NANOS) {
      sample = source.get();
      sampledNanos = now;
    }
    return sample;
  }
}
