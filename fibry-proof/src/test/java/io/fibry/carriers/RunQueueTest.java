package io.fibry.carriers;

import io.fibry.Schedules;
import java.util.ArrayList;
import java.util.List;
import org.jetbrains.kotlinx.lincheck.strategy.IncorrectResultsFailure;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests a run queue whose owner adds, takes and cleans, while two other carriers steal. Each entry
 * must be taken once. The test must also find three planted faults.
 */
@Tag("lincheck")
class RunQueueTest {
  private static final int SCHEDULES = 1_000;
  private static final int FAULT_SCHEDULES = 10_000; // ends at the first failure

  /** The operations of a run queue. */
  private interface Operations {
    boolean add(Runnable entry);

    Runnable takeOwn();

    Runnable steal();

    void clean();
  }

  /** An entry that counts how often it was taken. */
  private static final class Counted implements Runnable {
    int takes; // guarded by the list of entries

    @Override
    public void run() {}
  }

  private static final class Real implements Operations {
    private final RunQueue queue = new RunQueue();

    @Override
    public boolean add(Runnable entry) {
      return queue.add(entry);
    }

    @Override
    public Runnable takeOwn() {
      return queue.takeOwn();
    }

    @Override
    public Runnable steal() {
      return queue.steal();
    }

    @Override
    public void clean() {
      queue.clean();
    }
  }

  /** A correct queue with one slot. Each subclass plants a fault in it. */
  private static class OneSlot implements Operations {
    protected volatile Runnable slot;
    protected volatile int head;
    protected volatile int tail;

    @Override
    public boolean add(Runnable entry) {
      if (tail - head == 1) return false;
      slot = entry;
      tail = tail + 1;
      return true;
    }

    @Override
    public Runnable takeOwn() {
      return steal();
    }

    @Override
    public Runnable steal() {
      int index = head;
      if (index == tail) return null;
      var entry = slot;
      return advance(index) ? entry : null;
    }

    protected synchronized boolean advance(int index) {
      if (head != index) return false;
      head = index + 1;
      return true;
    }

    @Override
    public void clean() {}
  }

  /** The head is not advanced by a compare-and-set. */
  private static final class PlainHead extends OneSlot {
    @Override
    protected boolean advance(int index) {
      if (head != index) return false;
      head = index + 1;
      return true;
    }
  }

  /** A thief clears the slot, which may have a newer entry. */
  private static final class ClearingThief extends OneSlot {
    @Override
    public Runnable steal() {
      var entry = super.steal();
      if (entry != null) slot = null;
      return entry;
    }
  }

  /** The tail is written before the slot. */
  private static final class EarlyTail extends OneSlot {
    @Override
    public boolean add(Runnable entry) {
      if (tail - head == 1) return false;
      tail = tail + 1;
      slot = entry;
      return true;
    }
  }

  /** The queues to check; all but the first two have a fault. */
  private enum Kind {
    REAL, ONE_SLOT, PLAIN_HEAD, CLEARING_THIEF, EARLY_TAIL
  }

  /**
   * Creates a queue by `new`, because the model checker sees only objects that instrumented code
   * creates.
   */
  private static Operations make(Kind kind) {
    return switch (kind) {
      case REAL -> new Real();
      case ONE_SLOT -> new OneSlot();
      case PLAIN_HEAD -> new PlainHead();
      case CLEARING_THIEF -> new ClearingThief();
      case EARLY_TAIL -> new EarlyTail();
    };
  }

  private static void check(Kind kind, int schedules) {
    Schedules.modelCheck(schedules, () -> {
      var queue = make(kind);
      var entries = new ArrayList<Counted>();
      for (int i = 0; i < 4; i++) entries.add(new Counted());
      Schedules.join(Schedules.start(() -> own(queue, entries)), Schedules.start(() -> count(entries, queue.steal())),
          Schedules.start(() -> count(entries, queue.steal())));
      for (var entry = queue.takeOwn(); entry != null; entry = queue.takeOwn()) count(entries, entry);
      for (var entry : entries) if (entry.takes != 1) throw new AssertionError("taken " + entry.takes + " times");
    });
  }

  private static void own(Operations queue, List<Counted> entries) {
    for (var entry : entries) {
      if (!queue.add(entry)) count(entries, entry); // full: counts as taken from the shared queue
      if (entry == entries.get(1)) count(entries, queue.takeOwn());
      if (entry == entries.get(2)) queue.clean();
    }
  }

  private static void count(List<Counted> entries, Runnable entry) {
    if (entry != null) synchronized (entries) {
      ((Counted) entry).takes++;
    }
  }

  @Test
  void eachEntryIsTakenOnce() {
    check(Kind.REAL, SCHEDULES);
  }

  @Test
  void oneSlotQueueWithoutFaultPassesModelCheck() {
    check(Kind.ONE_SLOT, SCHEDULES);
  }

  private static void assertFound(Kind kind) {
    Schedules.assertFinds(IncorrectResultsFailure.class, () -> check(kind, FAULT_SCHEDULES));
  }

  @Test
  void modelCheckFindsHeadWrittenWithoutCompareAndSet() {
    assertFound(Kind.PLAIN_HEAD);
  }

  @Test
  void modelCheckFindsThiefThatClearsNewerEntry() {
    assertFound(Kind.CLEARING_THIEF);
  }

  @Test
  void modelCheckFindsTailWrittenBeforeSlot() {
    assertFound(Kind.EARLY_TAIL);
  }
}
