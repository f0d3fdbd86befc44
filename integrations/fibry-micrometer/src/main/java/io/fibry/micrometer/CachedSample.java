package io.fibry.micrometer;

import io.micrometer.core.instrument.Clock;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Keeps a sample of a scope, server, topic, store or node, by the clock of a registry. A registry
 * reads all meters in one go, so all of them get the same sample, and their values agree. A sample
 * is kept for a second, because it may visit all actors. It is kept for longer while a registry
 * reads meters without a pause, so that no scrape gets two samples.
 */
final class CachedSample<T> {
  private static final long CACHE_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100); // longer than between two meters

  private final Supplier<T> source;
  private final Clock clock;
  // all guarded by the monitor
  private T sample;
  private long sampledNanos;
  private long readNanos; // the last read

  CachedSample(Supplier<T> source, Clock clock) {
    this.source = source;
    this.clock = clock;
    this.sample = source.get();
    this.sampledNanos = clock.monotonicTime() - CACHE_NANOS;
    this.readNanos = sampledNanos;
  }

  synchronized T sample() {
    long now = clock.monotonicTime();
    long age = now - sampledNanos;
    if (age >= CACHE_NANOS && (now - readNanos >= PAUSE_NANOS || age >= MAX_NANOS)) {
      sample = source.get();
      sampledNanos = now;
    }
    readNanos = clock.monotonicTime(); // read again, because a sample may take long
    return sample;
  }
}
