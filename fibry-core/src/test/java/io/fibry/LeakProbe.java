package io.fibry;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Patience;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.lang.ref.WeakReference;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/** Finds out what the garbage collector leaves. */
public final class LeakProbe {
  private LeakProbe() {}

  /** What a collection leaves of the heap: the least of several, since others hold things, too. */
  public static long used() {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 4; i++) {
      least = Math.min(least, usedNow());
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
    }
    return least;
  }

  /** What one collection leaves, with what others hold just now. */
  public static long usedNow() {
    System.gc();
    return left();
  }

  /** As the collection counted it: a thread that allocates later makes a whole region look used. */
  private static long left() {
    return ManagementFactory.getMemoryPoolMXBeans().stream().filter(pool -> pool.getType() == MemoryType.HEAP)
        .map(MemoryPoolMXBean::getCollectionUsage).filter(Objects::nonNull).mapToLong(MemoryUsage::getUsed).sum();
  }

  /** Waits, since fibers that announce ends are not done when the ends are. */
  public static void assertGrownByLessThan(long most, long before) {
    assertGrownByLessThan(most, before, LeakProbe::usedNow);
  }

  public static void assertGrownByLessThan(long most, long before, LongSupplier used) {
    assertTrue(eventually(() -> used.getAsLong() - before < most), () -> used.getAsLong() - before + " bytes are left");
  }

  public static boolean collected(WeakReference<?> reference) {
    return collected(List.of(reference));
  }

  public static boolean collected(List<? extends WeakReference<?>> references) {
    return eventually(() -> references.stream().allMatch(reference -> reference.refersTo(null)));
  }

  /**
   * Returns whether the fact comes true: it is checked after each of many collections. If it does
   * not, the wait takes the whole of {@link Patience#LONG}, since threads that end need time, too.
   */
  public static boolean eventually(BooleanSupplier fact) {
    return Patience.comesTrue(() -> {
      if (fact.getAsBoolean()) return true;
      System.gc();
      if (fact.getAsBoolean()) return true;
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2)); // for reference handlers, and for ends
      return false;
    });
  }
}
