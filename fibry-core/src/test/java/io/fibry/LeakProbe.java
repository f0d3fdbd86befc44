package io.fibry;

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

/** Measures how much of the heap the garbage collector leaves. */
public final class LeakProbe {
  private static final int ROUNDS = 4;
  private static final int LOOKS = 10; // at the heap after a round

  private LeakProbe() {}

  /** Fails if the work leaves more bytes in the heap in every one of several rounds. */
  public static void assertLeavesAtMost(long bytes, Runnable work) {
    assertLeavesAtMost(bytes, work, () -> {});
  }

  /** With code that runs before each look at the heap. */
  public static void assertLeavesAtMost(long bytes, Runnable work, Runnable beforeLook) {
    long left = growth(bytes, () -> {
      work.run();
      return "";
    }, beforeLook);
    assertTrue(left <= bytes, () -> "each round left more than " + bytes + " bytes, one of them " + left);
  }

  /**
   * Returns by how many bytes the work and its result grow the heap. The work runs in rounds, until
   * the heap has grown by no more than {@code enough} in one round. If it never does, the answer is
   * the least growth of all rounds. The JVM and other tests also add to the heap now and then, for
   * example when a class is loaded. The work adds to it in every round.
   */
  public static long growth(long enough, Supplier<?> work) {
    return growth(enough, work, () -> {});
  }

  private static long growth(long enough, Supplier<?> work, Runnable beforeLook) {
    long least = Long.MAX_VALUE;
    for (int round = 0; round < ROUNDS && least > enough; round++) {
      beforeLook.run();
      long before = used();
      var result = work.get();
      for (int look = 0; look < LOOKS && least > enough; look++) {
        beforeLook.run();
        least = Math.min(least, usedNow() - before);
        if (least > enough) LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20)); // ends take time
      }
      Reference.reachabilityFence(result);
    }
    return least;
  }

  /** What a collection leaves of the heap: the least of several, since others hold things, too. */
  public static long used() {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 4; i++) {
      least = Math.min(least, usedNow());
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
    }
    return least;
  }

  /** The collection counts, since a thread that allocates later makes a whole region look used. */
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
