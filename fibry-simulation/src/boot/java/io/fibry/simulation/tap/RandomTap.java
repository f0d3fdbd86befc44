package io.fibry.simulation.tap;

import java.lang.invoke.VarHandle;
import java.security.SecureRandom;
import java.util.Collections;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

/** Random numbers. */
public final class RandomTap {
  private static final VarHandle SEED = JdkInternals.field(Thread.class, "threadLocalRandomSeed", long.class);
  private static final VarHandle PROBE = JdkInternals.field(Thread.class, "threadLocalRandomProbe", int.class);
  private static final VarHandle SHUFFLES = JdkInternals.shared(Collections.class, "r", Random.class);
  private static final AtomicLong RANDOMS =
      (AtomicLong) JdkInternals.shared(Random.class, "seedUniquifier", AtomicLong.class).get();
  private static final AtomicLong SPLITS =
      (AtomicLong) JdkInternals.shared(SplittableRandom.class, "defaultGen", AtomicLong.class).get();

  private RandomTap() {}

  /** Before each run: seeds the generators that the JDK keeps for all threads. */
  public static void reset(long seed) {
    RANDOMS.set(seed);
    SPLITS.set(seed);
    SHUFFLES.setVolatile((Random) null);
  }

  /** For {@link Math#random}. */
  public static double random() {
    var machine = MachineLookup.machine();
    return machine == null ? Math.random() : (machine.random() >>> 11) * 0x1.0p-53;
  }

  /** For {@link UUID#randomUUID}. */
  public static UUID randomUUID() {
    var machine = MachineLookup.machine();
    if (machine == null) return UUID.randomUUID();
    long high = machine.random() & ~0xF000L | 0x4000L; // version 4
    long low = machine.random() & ~(3L << 62) | 1L << 63; // the IETF's variant
    return new UUID(high, low);
  }

  /** For {@link ThreadLocalRandom#current}: a simulated thread's own is seeded at its first use. */
  public static ThreadLocalRandom current() {
    var thread = Thread.currentThread();
    var machine = thread.isVirtual() ? MachineLookup.machine(thread) : null;
    if (machine != null && (int) PROBE.get(thread) == 0) {
      PROBE.set(thread, (int) machine.random() | 1);
      SEED.set(thread, machine.random());
    }
    return ThreadLocalRandom.current();
  }

  /** For {@link SecureRandom#nextLong()}. */
  public static long nextLong(SecureRandom random) {
    var machine = MachineLookup.machine();
    return machine == null ? random.nextLong() : machine.random();
  }

  /** For {@link SecureRandom#nextInt()}. */
  public static int nextInt(SecureRandom random) {
    var machine = MachineLookup.machine();
    return machine == null ? random.nextInt() : (int) machine.random();
  }

  /** For {@link SecureRandom#nextInt(int)}. */
  public static int nextInt(SecureRandom random, int bound) {
    var machine = MachineLookup.machine();
    return machine == null ? random.nextInt(bound) : new Random(machine.random()).nextInt(bound);
  }

  /** For {@link SecureRandom#nextBytes(byte[])}. */
  public static void nextBytes(SecureRandom random, byte[] into) {
    var machine = MachineLookup.machine();
    if (machine == null) random.nextBytes(into);
    else new Random(machine.random()).nextBytes(into);
  }
}
