package io.fibry.simulation.tap;

import java.lang.invoke.VarHandle;
import java.security.SecureRandom;
import java.util.Collections;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

/** Redirected calls that draw random numbers. */
public final class RandomTap {
  private static final VarHandle SEED = JdkInternals.field(Thread.class, "threadLocalRandomSeed", long.class);
  private static final VarHandle PROBE = JdkInternals.field(Thread.class, "threadLocalRandomProbe", int.class);
  private static final VarHandle SHUFFLE_RANDOM = JdkInternals.staticField(Collections.class, "r", Random.class);
  private static final AtomicLong RANDOM_SEEDS =
      (AtomicLong) JdkInternals.staticField(Random.class, "seedUniquifier", AtomicLong.class).get();
  private static final AtomicLong SPLITTABLE_SEEDS =
      (AtomicLong) JdkInternals.staticField(SplittableRandom.class, "defaultGen", AtomicLong.class).get();

  private RandomTap() {}

  /** Called before each run: seeds the generators that all threads share in the JDK. */
  public static void reset(long seed) {
    RANDOM_SEEDS.set(seed);
    SPLITTABLE_SEEDS.set(seed);
    SHUFFLE_RANDOM.setVolatile((Random) null);
  }

  /** Replaces {@link Math#random}. */
  public static double random() {
    var machine = MachineLookup.machine();
    return machine == null ? Math.random() : (machine.random() >>> 11) * 0x1.0p-53;
  }

  /** Replaces {@link UUID#randomUUID}. */
  public static UUID randomUUID() {
    var machine = MachineLookup.machine();
    if (machine == null) return UUID.randomUUID();
    long high = machine.random() & ~0xF000L | 0x4000L; // UUID version 4
    long low = machine.random() & ~(3L << 62) | 1L << 63; // the variant of RFC 4122
    return new UUID(high, low);
  }

  /**
   * Replaces {@link ThreadLocalRandom#current}, and seeds a thread's generator at its first use.
   */
  public static ThreadLocalRandom current() {
    var thread = Thread.currentThread();
    var machine = thread.isVirtual() ? MachineLookup.machine(thread) : null;
    if (machine != null && (int) PROBE.get(thread) == 0) {
      PROBE.set(thread, (int) machine.random() | 1);
      SEED.set(thread, machine.random());
    }
    return ThreadLocalRandom.current();
  }

  /** Replaces {@link SecureRandom#nextLong()}. */
  public static long nextLong(SecureRandom random) {
    var machine = MachineLookup.machine();
    return machine == null ? random.nextLong() : machine.random();
  }

  /** Replaces {@link SecureRandom#nextInt()}. */
  public static int nextInt(SecureRandom random) {
    var machine = MachineLookup.machine();
    return machine == null ? random.nextInt() : (int) machine.random();
  }

  /** Replaces {@link SecureRandom#nextInt(int)}. */
  public static int nextInt(SecureRandom random, int bound) {
    var machine = MachineLookup.machine();
    return machine == null ? random.nextInt(bound) : new Random(machine.random()).nextInt(bound);
  }

  /** Replaces {@link SecureRandom#nextBytes(byte[])}. */
  public static void nextBytes(SecureRandom random, byte[] target) {
    var machine = MachineLookup.machine();
    if (machine == null) random.nextBytes(target);
    else new Random(machine.random()).nextBytes(target);
  }
}
