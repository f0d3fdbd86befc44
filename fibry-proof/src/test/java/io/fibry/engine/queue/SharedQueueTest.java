package io.fibry.engine.queue;

import io.fibry.Schedules;
import io.fibry.engine.queue.GuardedQueue.EnterResult;
import io.fibry.mailbox.Mailbox;
import io.fibry.spi.PoolSpec;
import io.fibry.support.Soak;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests the queue of a pool by itself, with one or two workers. Every element is either taken by a
 * worker, removed, or a dead letter at the end. Two messages of one key are never handled at once,
 * and messages of one sender are handled in order. Workers never use more permits than exist. No
 * element waits while no thread serves the queue.
 *
 * <p>The tests were checked against deliberate bugs in {@link SharedQueue}. They fail if a worker
 * becomes idle without a check for messages, or checks for messages before it declares itself free.
 * They fail if a finished message does not free its key or its permits. They also fail if an offer
 * does not report an idle worker, or if the removal of an entry does not advance the next entry of
 * its key.
 */
@Tag("lincheck")
class SharedQueueTest {
  @Test
  void messagesOfOneKeyAreTakenInOrder() {
    Schedules.modelCheck(QueueByKey.class, 3, 1, 4, 24);
  }

  @Test
  void workersUseNoMorePermitsThanExist() {
    Schedules.modelCheck(WeightedQueue.class, 3, 1, 4, 24);
  }

  /** Checks offers that bypass the queue's monitor, as offers do while the only worker is busy. */
  @Test
  void noMessageIsLostWhenSendersRaceForSingleWorker() {
    Schedules.modelCheck(OneWorker.class, 2, 2, 1, 200);
  }

  @Soak(counterpart = "SharedQueueTest")
  @Test
  void sharedQueueOnRealThreadsKeepsOrderAndPermits() {
    Schedules.stress(QueueByKey.class, 5, 120);
    Schedules.stress(OneWorker.class, 5, 120);
    Schedules.stress(WeightedQueue.class, 5, 120);
  }

  public static class QueueByKey extends OfferingSenders {
    public QueueByKey() {
      super(PoolSpec.byKey(2, (Integer element) -> element & 1), true);
    }
  }

  public static class OneWorker {
    private final SharedQueue<Integer> queue =
        new SharedQueue<>(Mailbox.unbounded(), PoolSpec.scaling(1, 1), System::nanoTime);
    private final AtomicInteger offered = new AtomicInteger();
    private int handled; // written only by the thread that has the worker's slot

    @Operation
    public void offer() {
      int element = offered.incrementAndGet();
      if (queue.offer(queue.newEntry(element, element, true, "the queue"), true) != EnterResult.RUN) return;
      for (var slot = queue.assignNext(true); slot != null; slot = slot.isMoreReady() ? queue.assignNext(true) : null)
        for (var item = slot.item(); item != null; item = queue.next(slot, item)) handled++;
    }

    @Validate
    public void check() {
      if (handled != offered.get() || !queue.isIdle())
        throw new AssertionError(handled + " of " + offered + " were handled");
    }
  }

  public static class WeightedQueue extends OfferingSenders {
    public WeightedQueue() {
      super(PoolSpec.weighted(2, (Integer element) -> 1 + (element & 1)), false);
    }
  }

  @Param(name = "sender", gen = ThreadIdGen.class)
  public abstract static class OfferingSenders {
    private static final int ELEMENTS_PER_SENDER = 16;
    private final SharedQueue<Integer> queue;
    private final boolean hasKeys;
    private final int[] outcomes = new int[6 * ELEMENTS_PER_SENDER]; // number of outcomes of each element
    private final int[] sent = new int[6]; // by sender
    private final int[] lastTaken = new int[12]; // the last taken element, by sender and key
    private final List<List<QueueEntry<Integer>>> entries = new ArrayList<>(); // by sender
    private final boolean[] isHandling = new boolean[2]; // by key
    private int permits; // permits in use
    private boolean ended;
    private String firstFault;

    OfferingSenders(PoolSpec<Integer> spec, boolean hasKeys) {
      this.queue = new SharedQueue<>(Mailbox.unbounded(), spec, System::nanoTime);
      this.hasKeys = hasKeys;
      for (int i = 0; i < 6; i++) entries.add(new ArrayList<>());
    }

    /** Offers two elements, so that the second may have to wait for the first. */
    @Operation
    public void offer(@Param(name = "sender") int sender) {
      offerOne(sender);
      offerOne(sender);
    }

    private void offerOne(int sender) {
      int element = sender * ELEMENTS_PER_SENDER + ++sent[sender];
      var entry = queue.newEntry(element, element, true, "the queue");
      entries.get(sender).add(entry);
      var result = queue.offer(entry, true);
      if (result == EnterResult.SHUT || result == EnterResult.FULL) outcomes[element]++;
      if (result == EnterResult.RUN) serve();
    }

    /** Serves the queue; the serving thread is also the worker. */
    private void serve() {
      for (var slot = queue.assignNext(true); slot != null; slot = queue.assignNext(true)) work(slot);
      if (queue.isAtPill()) end();
    }

    private void work(WorkerSlot<Integer> slot) {
      for (var element = slot.item(); element != null; element = queue.next(slot, element)) handle(element);
    }

    private void handle(int element) {
      int key = element & 1;
      if (hasKeys && isHandling[key]) fault(element + " is handled beside another element of its key");
      isHandling[key] = true;
      permits += hasKeys ? 0 : 1 + key;
      if (permits > 2) fault(element + " needs too many permits");
      outcomes[element]++;
      int index = element / ELEMENTS_PER_SENDER * 2 + key;
      if (hasKeys && element % ELEMENTS_PER_SENDER <= lastTaken[index])
        fault(element + " was taken after number " + lastTaken[index] + " of its sender and key");
      lastTaken[index] = element % ELEMENTS_PER_SENDER;
      permits -= hasKeys ? 0 : 1 + key;
      isHandling[key] = false;
    }

    @Operation
    public void removeFirst(@Param(name = "sender") int sender) {
      if (sent[sender] > 0 && queue.remove(entries.get(sender).getFirst()))
        outcomes[sender * ELEMENTS_PER_SENDER + 1]++;
      if (queue.mayServe()) serve();
    }

    @Operation
    public void pill() {
      if (queue.admit(RankedEntry.ofPill(-1)) == EnterResult.RUN) serve();
    }

    private void end() {
      queue.stopAccepting();
      queue.beginEnd();
      ended = true;
      for (var element = queue.poll(); element != null; element = queue.poll()) if (element >= 0) outcomes[element]++;
    }

    private void fault(String text) {
      if (firstFault == null) firstFault = text;
    }

    @Validate
    public void check() {
      if (ended) end(); // a thread of a pool that reaches the queue after its end also drains it
      for (int sender = 0; sender < 6; sender++)
        for (int n = 1; n <= sent[sender]; n++)
          if (outcomes[sender * ELEMENTS_PER_SENDER + n] != 1)
            fault(sender * ELEMENTS_PER_SENDER + n + " had " + outcomes[sender * ELEMENTS_PER_SENDER + n]
                + " outcomes");
      if (!queue.isIdle() || queue.poll() != null)
        fault("an element waits or is not finished, but no thread serves the queue");
      if (firstFault != null) throw new AssertionError(firstFault);
    }
  }
}
