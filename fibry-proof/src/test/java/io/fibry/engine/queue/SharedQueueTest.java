package io.fibry.engine.queue;

import io.fibry.Schedules;
import io.fibry.engine.queue.GuardedQueue.EnterResult;
import io.fibry.mailbox.Mailbox;
import io.fibry.spi.PoolPolicy;
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
 * The queue of a pool by itself, with two workers. Every element is either taken by one of them,
 * removed, or buried at the end. Two messages of one key are never handled at once, messages of one
 * sender are handled in order, and no more permits are held than there are. The pill is next after
 * all that was there before it.
 *
 * <p>Catches faults that were tried by changing {@link SharedQueue}. A worker becomes idle without
 * looking for messages, or looks for arrivals before it declares itself free. A finished message
 * does not free its key or its permits. An offer does not report an idle worker. A removal leaves
 * the entries behind it where they are.
 */
@Tag("lincheck")
class SharedQueueTest {
  @Test
  void keysAreKeptInOrder() {
    Schedules.modelCheck(ByKey.class, 3, 1, 4, 24);
  }

  @Test
  void permitsAreNotOverdrawn() {
    Schedules.modelCheck(Weighted.class, 3, 1, 4, 24);
  }

  /** Senders enter without the monitor. */
  @Test
  void aWorkerThatGetsFreeSeesWhatCame() {
    Schedules.modelCheck(OneWorker.class, 2, 2, 1, 200);
  }

  @Soak(counterpart = "SharedQueueTest")
  @Test
  void sharedQueueWorksOnRealThreads() {
    Schedules.stress(ByKey.class, 5, 120);
    Schedules.stress(OneWorker.class, 5, 120);
    Schedules.stress(Weighted.class, 5, 120);
  }

  public static class ByKey extends Offering {
    public ByKey() {
      super(PoolPolicy.byKey(2, (Integer element) -> element & 1), true);
    }
  }

  public static class OneWorker {
    private final SharedQueue<Integer> queue =
        new SharedQueue<>(Mailbox.unbounded(), PoolPolicy.scaling(1, 1), System::nanoTime);
    private final AtomicInteger offered = new AtomicInteger();
    private int handled; // under the worker's right

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

  public static class Weighted extends Offering {
    public Weighted() {
      super(PoolPolicy.weighted(2, (Integer element) -> 1 + (element & 1)), false);
    }
  }

  @Param(name = "sender", gen = ThreadIdGen.class)
  public abstract static class Offering {
    private static final int EACH = 16;
    private final SharedQueue<Integer> queue;
    private final boolean keys;
    private final int[] outcomes = new int[6 * EACH]; // how many each element had
    private final int[] sent = new int[6]; // by sender
    private final int[] newest = new int[12]; // that was taken, by sender and key
    private final List<List<QueueEntry<Integer>>> entries = new ArrayList<>(); // by sender
    private final boolean[] inside = new boolean[2]; // by key
    private int permits; // in use
    private boolean ended;
    private String wrong;

    Offering(PoolPolicy<Integer> sharing, boolean keys) {
      this.queue = new SharedQueue<>(Mailbox.unbounded(), sharing, System::nanoTime);
      this.keys = keys;
      for (int i = 0; i < 6; i++) entries.add(new ArrayList<>());
    }

    /** Two elements, so that one may stand behind the other. */
    @Operation
    public void offer(@Param(name = "sender") int sender) {
      offerOne(sender);
      offerOne(sender);
    }

    private void offerOne(int sender) {
      int element = sender * EACH + ++sent[sender];
      var entry = queue.newEntry(element, element, true, "the queue");
      entries.get(sender).add(entry);
      var answer = queue.offer(entry, true);
      if (answer == EnterResult.SHUT || answer == EnterResult.FULL) outcomes[element]++;
      if (answer == EnterResult.RUN) serve();
    }

    /** The thread that serves also works. */
    private void serve() {
      for (var slot = queue.assignNext(true); slot != null; slot = queue.assignNext(true)) work(slot);
      if (queue.isAtPill()) end();
    }

    private void work(WorkerSlot<Integer> slot) {
      for (var element = slot.item(); element != null;) {
        boolean others = slot.isMoreReady();
        handle(element);
        var next = queue.next(slot, element);
        element = next;
        if (element == null && (others || slot.isMoreReady())) return; // the caller serves on
      }
    }

    private void handle(int element) {
      int key = element & 1;
      if (keys && inside[key]) fault(element + " is the second of its key");
      inside[key] = true;
      permits += keys ? 0 : 1 + key;
      if (permits > 2) fault(element + " needs too many permits");
      outcomes[element]++;
      int at = element / EACH * 2 + key;
      if (keys && element % EACH <= newest[at]) fault(element + " was taken after " + newest[at]);
      newest[at] = element % EACH;
      permits -= keys ? 0 : 1 + key;
      inside[key] = false;
    }

    @Operation
    public void removeTheFirst(@Param(name = "sender") int sender) {
      if (sent[sender] > 0 && queue.remove(entries.get(sender).getFirst())) outcomes[sender * EACH + 1]++;
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

    private void fault(String what) {
      if (wrong == null) wrong = what;
    }

    @Validate
    public void check() {
      if (ended) end(); // as a thread does that comes too late
      for (int sender = 0; sender < 6; sender++)
        for (int n = 1; n <= sent[sender]; n++)
          if (outcomes[sender * EACH + n] != 1)
            fault(sender * EACH + n + " had " + outcomes[sender * EACH + n] + " outcomes");
      if (!queue.isIdle() || queue.poll() != null) fault("something waits, and all workers are idle");
      if (wrong != null) throw new AssertionError(wrong);
    }
  }
}
