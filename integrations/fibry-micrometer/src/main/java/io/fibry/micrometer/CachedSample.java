package io.fibry.micrometer;

import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** What a scope tells, at most a second old: it visits all actors, and meters are read together. */
final class CachedSample<T> {
  private static final long FRESH = TimeUnit.SECONDS.toNanos(1);

  private final Supplier<T> source;
  // both guarded by the monitor
  private T last;
  private long at;

  CachedSample(Supplier<T> source) {
    this.source = source;
    this.last = source.get();
    this.at = System.nanoTime() - FRESH;
  }

  synchronized T now() {
    long now = System.nanoTime();
    if (now - at >= FRESH) {
      last = source.get();
      at = now;
    }
    return last;
  }
}
