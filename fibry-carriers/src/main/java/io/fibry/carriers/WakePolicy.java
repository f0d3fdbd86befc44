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
 * <p><b>Quick entries.</b> The data of an entry that moves to another carrier is in the cache of
 * the first. For a drain the move costs about half a microsecond, and for a continuation, with its
 * stack, more than one. Many actors that talk to one actor then run slower on two carriers than on
 * one, because each request and each answer moves. So entries that take less time than their move
 * stay, unless their backlog is long, or the first has waited for 8 µs because the owner computes.
 * The limits are above the time that such entries take while two carriers share them. Otherwise
 * entries that are shared, and thus slow, would stay shared.
 *
 * <p>The estimate is the number of waiting entries, times the running mean of an entry's time. A
 * sample is the time of {@link #SAMPLE} entries of the carrier's loop in a row, without the
 * searches between them. A sample of one entry would be too rare and too different: one drain of a
 * full mailbox takes as long as fifty continuations. A wrong estimate costs little: the {@link
 * CarrierWatch} wakes a carrier for an entry that waits too long.
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

  /** How much waiting work of quick entries is worth another carrier, in nanoseconds. */
  static final long QUICK_BACKLOG = 200_000;
  /** The mean below which entries are quick if most of them are drains, in nanoseconds. */
  static final int QUICK_DRAIN = 800;
  /** The mean below which entries are quick if most of them are continuations, in nanoseconds. */
  static final int QUICK_CONTINUATION = 2_000;

  /** The entries of the carrier's loop in a sample. A runner may run more drains in one of them. */
  static final int SAMPLE = 16;
  private static final int FIRST_MEAN = 1_000; // ns
  // The max ratio of a sample and the mean. Otherwise one pause of the whole process, such as a
  // garbage collection, would count as slow entries
  private static final int MAX_GROWTH = 16;
  private static final int MIN_MEAN = 100; // ns, for this limit
  private static final long MAX_SAMPLE = 1_000_000; // ns; a longer entry has blocked its carrier, or computes for long

  // Written by the owner, read by all carriers
  private volatile int mean = FIRST_MEAN; // ns per entry
  private volatile boolean isQuick; // whether the entries take less time than their move to another carrier

  // Used by the owner only: when the current sample began, later by the time of the searches since;
  // and how many entries and continuations the owner had begun before
  private long sampleStart = System.nanoTime();
  private int firstEntry;
  private int firstContinuation;

  /**
   * Ends a sample, and begins the next one. Called by the owner, with the numbers of entries and of
   * continuations that it has begun.
   */
  void endSample(long now, int entries, int continuations) {
    addSample(now - sampleStart, entries - firstEntry, continuations - firstContinuation);
    sampleStart = now;
    firstEntry = entries;
    firstContinuation = continuations;
  }

  /** Called by the owner after it has searched or slept for this time. */
  void excludeFromSample(long nanos) {
    sampleStart += nanos;
  }

  /** Adds the total time of some entries, of which so many were continuations. */
  void addSample(long nanos, int entries, int continuations) {
    int oldMean = mean;
    long max = Math.min(MAX_SAMPLE, (long) MAX_GROWTH * Math.max(MIN_MEAN, oldMean));
    long sample = Math.clamp(nanos / Math.max(1, entries), 0, max);
    int newMean = (int) ((oldMean * 7L + sample) / 8);
    boolean willBeQuick = newMean < (2L * continuations > entries ? QUICK_CONTINUATION : QUICK_DRAIN);
    mean = newMean;
    if (isQuick != willBeQuick) isQuick = willBeQuick;
  }

  boolean isWorthWaking(int waitingEntries) {
    return (long) waitingEntries * mean > (isQuick ? QUICK_BACKLOG : WAKE_BACKLOG);
  }

  boolean isWorthStealing(int waitingEntries) {
    return (long) waitingEntries * mean >= (isQuick ? QUICK_BACKLOG : STEAL_BACKLOG) && waitingEntries > 0;
  }
}
