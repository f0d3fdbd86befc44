package io.fibry.carriers;

/**
 * Decides when work that waits for a carrier is worth another carrier. Waking a thread costs 5 to
 * 50 µs of system calls and lost caches. So a carrier wakes another one only if its waiting entries
 * will take longer than that.
 *
 * <p>Waking, searching and stealing are one decision with three numbers, which were tuned together.
 * A lower limit for waking helps if a few actors compute, and hurts if actors exchange messages. A
 * long search lets a carrier that is awake help without being woken. The limit for stealing keeps
 * such a carrier from pulling a conversation of two actors apart. In a conversation, no entry waits
 * for 8 µs, so an {@link OldestEntry} that does is stolen although the estimate is lower. A queue
 * that has only near entries is excepted from all this ({@link CarrierPool}).
 *
 * <p>The estimate is the number of waiting entries, times the running mean of an entry's time. An
 * entry is measured around its run, and only one in {@link #SAMPLE} is measured. A mean of the time
 * between two entries would contain sleep, and would stay wrong. A wrong estimate costs little: the
 * {@link CarrierWatch} wakes a carrier for an entry that waits too long.
 */
final class WakePolicy {
  /** How much waiting work is worth waking a carrier, in nanoseconds. */
  static final long WAKE_BACKLOG = 15_000;
  /** How often a carrier searches for work before it sleeps: some 60 µs. */
  static final int SEARCH_TRIES = 1_000;
  /**
   * How much waiting work is worth being stolen, in nanoseconds. An entry that is not near and has
   * waited for so long is worth it, too.
   */
  static final long STEAL_BACKLOG = 8_000;

  /** One of this many entries is measured. */
  static final int SAMPLE = 16;
  private static final int FIRST_MEAN = 1_000; // ns
  private static final long MAX_SAMPLE = 1_000_000; // ns; a longer entry has blocked its carrier, or computes for long

  private volatile int mean = FIRST_MEAN; // ns per entry; written by the owner, read by all carriers

  /** Adds a sample: these entries took this time together. Called by the owner of this policy. */
  void addSample(long nanos, int entries) {
    long sample = Math.clamp(nanos / Math.max(1, entries), 0, MAX_SAMPLE);
    mean = (int) ((mean * 7L + sample) / 8);
  }

  boolean isWorthWaking(int waitingEntries) {
    return (long) waitingEntries * mean > WAKE_BACKLOG;
  }

  boolean isWorthStealing(int waitingEntries) {
    return (long) waitingEntries * mean >= STEAL_BACKLOG && waitingEntries > 0;
  }
}
