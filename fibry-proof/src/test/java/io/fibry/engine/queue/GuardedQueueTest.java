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
 * Tests the queue of bounded mailboxes by itself. It never holds more elements than its bound, and
 * at most one thread has the right to run. Every element is either taken, removed, dropped or
 * refused. Every second element of a sender is a task, which is never dropped. The other elements
 * are message entries if the queue supports these.
 */
@Tag("lincheck")
class GuardedQueueTest {
  @Test
  void rejectingQueueRefusesElementsWhenFull() {
    Schedules.modelCheck(RejectingQueue.class, 3, 1, 5, 50);
  }

  @Test
  void fullQueueDropsOldestElementForNewElement() {
    Schedules.modelCheck(DroppingQueue.class, 3, 1, 5, 50);
  }

  @Soak(counterpart = "GuardedQueueTest.fullQueueDropsOldestElementForNewElement")
  @Test
  void fullQueueOnRealThreadsDropsOldestForNewElement() {
    Schedules.stress(DroppingQueue.class, 10, 150);
  }

  public static class RejectingQueue extends OfferingSenders {
    public RejectingQueue() {
      super(Overflow.REJECT);
    }
  }

  public static class DroppingQueue extends OfferingSenders {
    public DroppingQueue() {
      super(Overflow.DROP_OLDEST);
    }
  }

  @Param(name = "sender", gen = ThreadIdGen.class)
  public abstract static class OfferingSenders {
    private static final int BOUND = 1;
    private static final int ELEMENTS_PER_SENDER = 16;
    private final boolean countsTasksSeparately;
    private final GuardedQueue<Integer> queue;
    private final int[] outcomes = new int[6 * ELEMENTS_PER_SENDER]; // number of outcomes of each element
    private final int[] sent = new int[6]; // by sender
    private final int[] lastTaken = new int[6]; // number of the last taken element, by sender
    private final List<List<QueueEntry<Integer>>> entries = new ArrayList<>(); // by sender
    private boolean isRunning; // whether a thread has the right to run
    private String firstFault;

    OfferingSenders(Overflow overflow) {
      countsTasksSeparately = overflow == Overflow.DROP_OLDEST;
      queue = new GuardedQueue<>(Mailbox.bounded(BOUND, overflow), System::nanoTime,
          (element, nothing) -> (Integer) element);
      for (int i = 0; i < 6; i++) entries.add(new ArrayList<>());
    }

    @Operation
    public void offer(@Param(name = "sender") int sender) {
      int element = sender * ELEMENTS_PER_SENDER + ++sent[sender];
      var entry = entry(element);
      entries.get(sender).add(entry);
      var result = queue.enter(entry, true);
      if (result == null) result = queue.offer(entry, true);
      for (int dropped : entry.takeDropped()) {
        outcomes[dropped]++;
        if (isTask(dropped)) fault(dropped + " is a task, but was dropped");
      }
      if (result == EnterResult.FULL || result == EnterResult.SHUT) outcomes[element]++;
      else if (result == EnterResult.RUN) drain();
      if (result == EnterResult.BLOCKED) fault("the sender was asked to wait");
    }

    private QueueEntry<Integer> entry(int element) {
      if (queue.takesMessageEntries()) return isTask(element) ? QueueEntry.of(element) : MessageEntry.of(element, null);
      return isTask(element) ? RankedEntry.unranked(element) : RankedEntry.of(element, element);
    }

    private static boolean isTask(int element) {
      return element % 2 == 0;
    }

    private void drain() {
      if (isRunning) fault("two threads have the right to run");
      isRunning = true;
      do {
        for (var element = queue.poll(); element != null; element = queue.poll()) take(element);
        isRunning = false;
      } while (!queue.release() && (isRunning = true));
    }

    private void take(int element) {
      outcomes[element]++;
      int sender = element / ELEMENTS_PER_SENDER;
      if (element % ELEMENTS_PER_SENDER <= lastTaken[sender])
        fault(element + " was taken after number " + lastTaken[sender] + " of its sender");
      lastTaken[sender] = element % ELEMENTS_PER_SENDER;
    }

    @Operation
    public void removeFirst(@Param(name = "sender") int sender) {
      if (sent[sender] > 0 && queue.remove(entries.get(sender).getFirst()))
        outcomes[sender * ELEMENTS_PER_SENDER + 1]++;
    }

    @Operation
    public void size() {
      int size = queue.size();
      int maxSize = countsTasksSeparately ? 2 * BOUND : BOUND; // as many tasks as messages
      if (size < 0 || size > maxSize) fault("the queue had " + size + " elements");
    }

    @Operation
    public void stopAccepting() {
      queue.stopAccepting();
    }

    private void fault(String text) {
      if (firstFault == null) firstFault = text;
    }

    @Validate
    public void check() {
      for (int sender = 0; sender < 6; sender++)
        for (int n = 1; n <= sent[sender]; n++)
          if (outcomes[sender * ELEMENTS_PER_SENDER + n] != 1)
            fault(sender * ELEMENTS_PER_SENDER + n + " had " + outcomes[sender * ELEMENTS_PER_SENDER + n]
                + " outcomes");
      if (queue.size() != 0 || queue.poll() != null) fault("an element waits, but no thread has the right to run");
      if (firstFault != null) throw new AssertionError(firstFault);
    }
  }
}
