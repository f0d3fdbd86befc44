package io.fibry.durable;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.LoggerFactory;

/**
 * Tells the log what a store has refused: the first of its kind at once, and then one a minute,
 * with how many there were. A store that is full refuses thousands each second. Thread-safe.
 */
final class Refusals {
  private static final long PAUSE = TimeUnit.MINUTES.toNanos(1);

  /** When the log was told of a kind, and of how many it was not told since. */
  private record Told(long at, long silent) {}

  private final LongSupplier nanoTime;
  private final Map<Class<?>, Told> told = new HashMap<>(); // by the reason's class; under this object's monitor

  Refusals(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  void tell(String what, RuntimeException why) {
    long silent = silent(why.getClass());
    var log = LoggerFactory.getLogger(Durable.class);
    if (silent == 0) log.error(what, why);
    else if (silent > 0) log.error("{}; {} others were refused since the last such line", what, silent, why);
    else log.debug(what, why);
  }

  /** How many were not told since the last line; negative: nor is this one. */
  private synchronized long silent(Class<?> kind) {
    long now = nanoTime.getAsLong();
    var last = told.get(kind);
    boolean isDue = last == null || now - last.at >= PAUSE;
    told.put(kind, isDue ? new Told(now, 0) : new Told(last.at, last.silent + 1));
    return !isDue ? -1 : last == null ? 0 : last.silent;
  }
}
