package io.fibry.engine.queue;

import io.fibry.Schedules;
import io.fibry.engine.queue.GuardedQueue.EnterResult;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Soak;
import java.util.ArrayList;
import java.util.List;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The queue of bounded mailboxes by itself. It never holds more than its bound, one thread has the
 * right to run, and every element is either taken, removed, dropped or refused. Every second
 * element of a sender is a task, which is never dropped; the others are message entries where the
 * queue takes them.
 */
@Tag("lincheck")
class GuardedQueueTest {
  @Test
  void refusesWhatIsTooMuch() {
    Schedules.modelCheck(Rejecting.class, 3, 1, 5, 50);
  }

  @Test
  void dropsTheOldestForTheNew() {
    Schedules.modelCheck(Dropping.class, 3, 1, 5, 50);
  }

  @Soak(counterpart = "GuardedQueueTest.dropsTheOldestForTheNew")
  @Test
  void realThreadsDropOldestForNew() {
    Schedules.stress(Dropping.class, 10, 150);
  }

  public static class Rejecting extends Offering {
    public Rejecting() {
      super(Overflow.REJECT);
    }
  }

  public static class Dropping extends Offering {
    public Dropping() {
      super(Overflow.DROP_OLDEST);
    }
  }

  @Param(name = "sender", gen = ThreadIdGen.class)
  public abstract static class Offering {
    private static final int BOUND = 1;
    private static final int EACH = 16;
    private final boolean tasksApart;
    private final GuardedQueue<Integer> queue;
    private final int[] outcomes = new int[6 * EACH]; // how many each element had
    private final int[] sent = new int[6]; // by sender
    private final int[] newest = new int[6]; // that was taken, by sender
    private final List<List<QueueEntry<Integer>>> entries = new ArrayList<>(); // by sender
    private boolean held; // the right to run
    private String wrong;

    Offering(Overflow overflow) {
      tasksApart = overflow == Overflow.DROP_OLDEST;
      queue = new GuardedQueue<>(Mailbox.bounded(BOUND, overflow), System::nanoTime,
          (element, nothing) -> (Integer) element);
      for (int i = 0; i < 6; i++) entries.add(new ArrayList<>());
    }

    @Operation
    public void offer(@Param(name = "sender") int sender) {
      int element = sender * EACH + ++sent[sender];
      var entry = entry(element);
      entries.get(sender).add(entry);
      var answer = queue.enter(entry, true);
      if (answer == null) answer = queue.offer(entry, true);
      for (int dropped : entry.takeDropped()) {
        outcomes[dropped]++;
        if (isTask(dropped)) fault(dropped + " is a task, and was dropped");
      }
      if (answer == EnterResult.FULL || answer == EnterResult.SHUT) outcomes[element]++;
      else if (answer == EnterResult.RUN) drain();
      if (answer == EnterResult.BLOCKED) fault("it was to wait");
    }

    private QueueEntry<Integer> entry(int element) {
      if (queue.takesMessageEntries()) return isTask(element) ? QueueEntry.of(element) : MessageEntry.of(element, null);
      return isTask(element) ? RankedEntry.unranked(element) : RankedEntry.of(element, element);
    }

    private static boolean isTask(int element) {
      return element % 2 == 0;
    }

    private void drain() {
      if (held) fault("two have the right to run");
      held = true;
      do {
        for (var element = queue.poll(); element != null; element = queue.poll()) take(element);
        held = false;
      } while (!queue.release() && (held = true));
    }

    private void take(int element) {
      outcomes[element]++;
      int sender = element / EACH;
      if (element % EACH <= newest[sender]) fault(element + " was taken after " + newest[sender]);
      newest[sender] = element % EACH;
    }

    @Operation
    public void removeTheFirst(@Param(name = "sender") int sender) {
      if (sent[sender] > 0 && queue.remove(entries.get(sender).getFirst())) outcomes[sender * EACH + 1]++;
    }

    @Operation
    public void size() {
      int size = queue.size();
      int most = tasksApart ? 2 * BOUND : BOUND; // as many tasks as messages
      if (size < 0 || size > most) fault("it held " + size);
    }

    @Operation
    public void shutDoor() {
      queue.stopAccepting();
    }

    private void fault(String what) {
      if (wrong == null) wrong = what;
    }

    @Validate
    public void check() {
      for (int sender = 0; sender < 6; sender++)
        for (int n = 1; n <= sent[sender]; n++)
          if (outcomes[sender * EACH + n] != 1)
            fault(sender * EACH + n + " had " + outcomes[sender * EACH + n] + " outcomes");
      if (queue.size() != 0 || queue.poll() != null) fault("something waits, and no thread has the right to run");
      if (wrong != null) throw new AssertionError(wrong);
    }
  }
}
