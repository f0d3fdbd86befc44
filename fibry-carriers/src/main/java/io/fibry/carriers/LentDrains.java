package io.fibry.carriers;

import io.fibry.engine.carrier.CarriedDrain;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Drains that the carriers lend to the scheduler of their askers. If a virtual thread of the JDK's
 * scheduler asks an idle actor and parks, a carrier would have to be woken for the request, and a
 * thread of the JDK's scheduler for the answer. Each costs a system call. So a new virtual thread
 * of the asker's scheduler runs the drain, as without the carriers.
 *
 * <p>The asker's scheduler may be busy with other threads for long, or lose the new thread for lack
 * of memory. Meanwhile the actor would handle no message of other senders. So the {@link
 * CarrierWatch} lets the carriers run a drain that has waited for more than a millisecond. After
 * that, {@link #SKIPS} drains are not lent, because the scheduler may still be busy. A drain that
 * has begun stays where it is.
 *
 * <p><b>Lists.</b> A drain that waits is in one of a few lists, which the thread id of its asker
 * selects. The newest entry is the first. An asker prepends its entry by a compare-and-set, and
 * drops the begun entries with which the old list began. The watch drops all begun entries.
 * Otherwise a list in which an entry always waits would grow for ever. A begun entry refers to no
 * drain, so it keeps no actor in memory.
 *
 * <p><b>Why safe.</b> The asker adds the entry before it starts the thread, and the watch finds all
 * entries. Two threads may run the same drain, but the drain begins once. The asker adds its entry
 * and then reads whether the watch is asleep. The watch sets this flag and then looks for waiting
 * entries. An asker that walks a list while the watch changes {@code next} reads the old or the new
 * value, which differ by begun entries only. All entries that it finds were added before the head
 * that it has read.
 */
final class LentDrains {
  private static final int LISTS = Integer.highestOneBit(Runtime.getRuntime().availableProcessors()) * 4;
  private static final int STRIDE = 16; // so that two heads are in different cache lines
  /** How many drains are not lent after a drain was late. */
  static final int SKIPS = 100;

  private final AtomicReferenceArray<@Nullable LentDrain> heads = new AtomicReferenceArray<>(LISTS * STRIDE);
  private int remainingSkips; // set by the watch, lowered by askers; lost updates are harmless

  /** A drain in a list, and the code of the thread that was started for it. */
  static final class LentDrain implements Runnable {
    // null once a thread has begun to run the drain; written by this thread, or by the watch
    private volatile @Nullable CarriedDrain drain;
    @Nullable
    LentDrain next; // the older entries; written before this entry is added, later by the watch
    private boolean isOld; // whether an earlier call of `takeBackOld` has seen this entry; used by the watch

    private LentDrain(CarriedDrain drain) {
      this.drain = drain;
    }

    private boolean isWaiting() {
      return drain != null;
    }

    @Override
    public void run() {
      var taken = drain;
      if (taken == null) return;
      drain = null;
      taken.run();
    }
  }

  /** Adds an entry for the drain of an asker, which then starts a thread for it. */
  LentDrain add(CarriedDrain drain, long askerId) {
    var entry = new LentDrain(drain);
    int list = ((int) askerId & LISTS - 1) * STRIDE;
    LentDrain head;
    do {
      head = heads.get(list);
      entry.next = firstWaiting(head);
    } while (!heads.compareAndSet(list, head, entry));
    return entry;
  }

  private static @Nullable LentDrain firstWaiting(@Nullable LentDrain head) {
    var entry = head;
    while (entry != null && !entry.isWaiting()) entry = entry.next;
    return entry;
  }

  /**
   * Returns whether the caller may lend a drain. Returns false for the next drains after a drain
   * was late.
   */
  boolean maySucceed() {
    int skips = remainingSkips;
    if (skips == 0) return true;
    remainingSkips = skips - 1;
    return false;
  }

  /** Returns whether an entry waits. Drops the begun entries with which the lists begin. */
  boolean hasWaiting() {
    boolean isFound = false;
    for (int i = 0; i < LISTS; i++) {
      var head = heads.get(i * STRIDE);
      var first = firstWaiting(head);
      if (first != head) heads.compareAndSet(i * STRIDE, head, first);
      isFound |= first != null;
    }
    return isFound;
  }

  /**
   * Passes each drain to the consumer that has waited since the last call, and drops the begun
   * entries. Called by the watch, in the interval after which a drain is late. If the consumer
   * throws for lack of memory, the next call passes the drain again.
   */
  void takeBackOld(Consumer<CarriedDrain> carriers) {
    for (int i = 0; i < LISTS; i++)
      for (var entry = firstWaiting(heads.get(i * STRIDE)); entry != null; entry = entry.next) {
        var drain = entry.drain;
        if (entry.isOld && drain != null) {
          carriers.accept(drain);
          entry.drain = null; // the thread of the asker's scheduler may run the drain, too, but the drain begins once
          remainingSkips = SKIPS;
        }
        entry.isOld = true;
        entry.next = firstWaiting(entry.next);
      }
  }
}
