package io.fibry;

import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Finds out what the garbage collector leaves. */
public final class LeakProbe {
  private LeakProbe() {}

  /** The heap in use after a collection: the least of several, since other threads allocate too. */
  public static long used() {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 4; i++) {
      System.gc();
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
      least = Math.min(least, ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
    }
    return least;
  }

  public static boolean collected(WeakReference<?> reference) {
    return collected(List.of(reference));
  }

  public static boolean collected(List<? extends WeakReference<?>> references) {
    return eventually(() -> {
      System.gc();
      return references.stream().allMatch(reference -> reference.refersTo(null));
    });
  }

  /** Whether the condition holds within ten seconds. */
  public static boolean eventually(BooleanSupplier fact) {
    for (long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10); System.nanoTime() < deadline;
        LockSupport.parkNanos(2_000_000))
      if (fact.getAsBoolean()) return true;
    return fact.getAsBoolean();
  }
}
