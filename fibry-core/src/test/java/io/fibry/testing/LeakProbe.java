package io.fibry.testing;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Patience;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Measures how many bytes of the heap remain in use after a garbage collection. */
public final class LeakProbe {
  private static final int ROUNDS = 4;
  private static final int CHECKS = 10; // of the heap after each round

  private LeakProbe() {}

  /** Fails if the work leaves more bytes in the heap in every one of several rounds. */
  public static void assertLeavesAtMost(long bytes, Runnable work) {
    assertLeavesAtMost(bytes, work, () -> {});
  }

  /**
   * Fails if the work leaves more bytes in the heap in every one of several rounds. Runs
   * {@code beforeCheck} before each check of the heap.
   */
  public static void assertLeavesAtMost(long bytes, Runnable work, Runnable beforeCheck) {
    long minGrowth = growth(Long.MIN_VALUE, bytes, () -> {
      work.run();
      return "";
    }, beforeCheck);
    assertTrue(minGrowth <= bytes, () -> "each round left more than " + bytes + " bytes, one of them " + minGrowth);
  }

  /**
   * Returns by how many bytes the work and its result grow the heap. Runs the work in several
   * rounds, and returns the smallest growth. Stops after a round in which the heap grew by at most
   * {@code enough}. Several rounds are needed, because the JVM and other tests sometimes add to the
   * heap, for example when a class is loaded. A leak of the work adds to the heap in every round.
   */
  public static long growth(long enough, Supplier<?> work) {
    return growth(Long.MIN_VALUE, enough, work);
  }

  /**
   * Returns by how many bytes the work and its result grow the heap, as the other method does. A
   * round in which the heap grows by less than {@code least}, the size of the result, does not
   * count, because memory of earlier tests was freed during the round.
   */
  public static long growth(long least, long enough, Supplier<?> work) {
    return growth(least, enough, work, () -> {});
  }

  private static long growth(long least, long enough, Supplier<?> work, Runnable beforeCheck) {
    long min = Long.MAX_VALUE;
    long growth = min;
    for (int round = 0; round < ROUNDS && min > enough; round++) {
      beforeCheck.run();
      long before = used();
      var result = work.get();
      growth = Long.MAX_VALUE;
      for (int check = 0; check < CHECKS && growth > enough; check++) {
        beforeCheck.run();
        growth = Math.min(growth, usedNow() - before);
        if (growth > enough) LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20)); // threads need time to end
      }
      Reference.reachabilityFence(result);
      if (growth >= least) min = Math.min(min, growth);
    }
    return min == Long.MAX_VALUE ? growth : min;
  }

  /**
   * Returns the bytes in use after a collection. This is the minimum over several collections,
   * because other threads use memory, too.
   */
  public static long used() {
    long min = Long.MAX_VALUE;
    for (int i = 0; i < 4; i++) {
      min = Math.min(min, usedNow());
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
    }
    return min;
  }

  /**
   * Collects garbage, and returns the bytes that were in use at the end of the collection. The
   * present use would be too high, because a thread that allocates makes a whole region count as
   * used.
   */
  private static long usedNow() {
    System.gc();
    return ManagementFactory.getMemoryPoolMXBeans().stream().filter(pool -> pool.getType() == MemoryType.HEAP)
        .map(MemoryPoolMXBean::getCollectionUsage).filter(Objects::nonNull).mapToLong(MemoryUsage::getUsed).sum();
  }

  public static boolean collected(WeakReference<?> reference) {
    return collected(List.of(reference));
  }

  public static boolean collected(List<? extends WeakReference<?>> references) {
    return eventually(() -> references.stream().allMatch(reference -> reference.refersTo(null)));
  }

  /**
   * Returns whether the condition becomes true within {@link Patience#LONG}. Collects garbage again
   * and again, and checks the condition each time, because threads need time to end.
   */
  public static boolean eventually(BooleanSupplier condition) {
    return Patience.comesTrue(() -> {
      if (condition.getAsBoolean()) return true;
      System.gc();
      if (condition.getAsBoolean()) return true;
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2)); // lets reference handlers run, and threads end
      return false;
    });
  }
}
