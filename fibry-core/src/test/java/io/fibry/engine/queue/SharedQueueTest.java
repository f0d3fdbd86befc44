package io.fibry.engine.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.engine.queue.GuardedQueue.EnterResult;
import io.fibry.mailbox.Mailbox;
import io.fibry.spi.PoolSpec;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Tests which worker of a pool gets which message, step by step. */
class SharedQueueTest {
  private static SharedQueue<String> queue(PoolSpec<?> spec) {
    return new SharedQueue<>(Mailbox.unbounded(), spec, System::nanoTime);
  }

  private static EnterResult offer(SharedQueue<String> queue, String message) {
    return queue.offer(queue.newEntry(message, message, true, "p"), false);
  }

  private static PoolSpec<String> byFirstLetter(int workers) {
    return PoolSpec.byKey(workers, (String message) -> message.charAt(0));
  }

  @Test
  void workerThatBecameIdleLastGetsNextMessage() {
    var queue = queue(PoolSpec.scaling(0, 3));
    offer(queue, "a");
    var firstSlot = queue.assignNext(true);
    offer(queue, "b");
    var secondSlot = queue.assignNext(true);
    assertNull(queue.next(firstSlot, "a"));
    assertNull(queue.next(secondSlot, "b"));

    offer(queue, "c");

    assertSame(secondSlot, queue.assignNext(true));
    offer(queue, "d");
    assertSame(firstSlot, queue.assignNext(true));
    offer(queue, "e");
    assertNotSame(firstSlot, queue.assignNext(true));
  }

  @Test
  void workerThatFinishesMessageTakesNextMessage() {
    var queue = queue(PoolSpec.scaling(1, 1));
    assertEquals(EnterResult.RUN, offer(queue, "a"));
    var slot = queue.assignNext(true);
    assertEquals(EnterResult.TAKEN, offer(queue, "b"));

    assertEquals("b", queue.next(slot, "a"));

    assertNull(queue.next(slot, "b"));
    assertTrue(queue.isIdle());
  }

  @Test
  void queueIsIdleOnlyAfterMessageOfRemovedWorkerIsFinished() {
    var queue = queue(PoolSpec.scaling(0, 2));
    offer(queue, "a");
    var slot = queue.assignNext(true);

    queue.removeSlot(slot);

    assertEquals("a", slot.item());
    assertFalse(queue.isIdle());
    queue.finish(slot, "a"); // called by the thread that delivered the message, when it finds that the worker has ended
    assertTrue(queue.isIdle());
  }

  @Test
  void messageTakenBackFromWorkerIsAssignedNextAndOnlyOnce() {
    var queue = queue(byFirstLetter(2));
    offer(queue, "a1");
    var slot = queue.assignNext(true);
    offer(queue, "a2");

    assertNull(queue.takeBack(slot, false));
    assertNull(queue.takeBack(slot, false));

    assertEquals(List.of("a1", "a2"), queue.queued(10));
    assertEquals("a1", queue.assignNext(true).item());
    assertNull(queue.assignNext(true));
  }

  @Test
  void takeBackReturnsUndeliveredMessageAfterQueueBeganToEnd() {
    var queue = queue(PoolSpec.scaling(0, 2));
    offer(queue, "a");
    var slot = queue.assignNext(true);

    queue.beginEnd();

    assertEquals("a", queue.takeBack(slot, false));
    assertTrue(queue.isIdle());
  }

  @Test
  void keyIsFreeOnlyWhenItsMessageIsFinished() {
    var queue = queue(byFirstLetter(3));
    offer(queue, "a1");
    var slot = queue.assignNext(true);
    assertEquals(EnterResult.TAKEN, offer(queue, "a2"));
    assertEquals(EnterResult.RUN, offer(queue, "b1"));
    assertEquals("b1", queue.assignNext(true).item());

    queue.finish(slot, "another");
    assertNull(queue.assignNext(true));

    queue.finish(slot, "a1");
    assertEquals("a2", queue.assignNext(true).item());
  }

  @Test
  void messageIsAssignedWhenEarlierMessagesOfKeyAreRemoved() {
    var queue = queue(byFirstLetter(1));
    var firstEntry = queue.newEntry("a1", "a1", true, "p");
    var secondEntry = queue.newEntry("a2", "a2", true, "p");
    queue.offer(firstEntry, false);
    queue.offer(secondEntry, false);
    offer(queue, "a3");

    assertTrue(queue.remove(secondEntry));
    assertTrue(queue.remove(firstEntry));

    assertEquals("a3", queue.assignNext(true).item());
    assertFalse(queue.remove(firstEntry));
  }

  @Test
  void workerRetiresOnTimeAlthoughClockFailedForOtherWorker() {
    var time = new AtomicLong();
    var queue = new SharedQueue<String>(Mailbox.unbounded(), PoolSpec.scaling(0, 2), () -> {
      if (time.get() == 0) throw new IllegalStateException("planned");
      return time.get();
    });
    offer(queue, "a");
    var slotWithoutTime = queue.assignNext(true);
    offer(queue, "b");
    var otherSlot = queue.assignNext(true);
    assertNull(queue.next(slotWithoutTime, "a"));
    assertEquals(OptionalLong.empty(), queue.nextRetirement(10));
    time.set(1);

    assertNull(queue.next(otherSlot, "b"));

    assertEquals(OptionalLong.of(11), queue.nextRetirement(10));
    assertEquals(List.of(otherSlot), queue.retire(11, 10));
    assertEquals(OptionalLong.of(21), queue.nextRetirement(10));
    assertEquals(List.of(slotWithoutTime), queue.retire(21, 10));
  }

  /**
   * The queue reads the clock, without its lock, before it ends the message. So if a test sees the
   * end and then moves the clock, the idle time of the worker grows.
   */
  @Test
  void idleTimeOfWorkerBeginsWhenItsMessageEnds() {
    var time = new AtomicLong();
    var queueReference = new AtomicReference<SharedQueue<String>>();
    var queue = new SharedQueue<String>(Mailbox.unbounded(), PoolSpec.scaling(0, 1), () -> {
      assertFalse(Thread.holdsLock(queueReference.get()));
      return time.get();
    });
    queueReference.set(queue);
    offer(queue, "a");
    var slot = queue.assignNext(true);

    queue.next(slot, "a");
    time.set(10);

    assertEquals(OptionalLong.of(10), queue.nextRetirement(10));
    assertEquals(List.of(slot), queue.retire(10, 10));
  }

  @Test
  void retiredWorkerTakesNoMoreMessages() {
    var queue = queue(PoolSpec.scaling(0, 1));
    offer(queue, "a");
    var slot = queue.assignNext(true);
    queue.next(slot, "a");

    assertEquals(List.of(slot), queue.retire(System.nanoTime(), 0));
    offer(queue, "b");

    assertNull(queue.next(slot, "a restart"));
    assertNull(queue.assignNext(true));
    queue.removeSlot(slot);
    assertTrue(queue.mayServe());
    assertNotSame(slot, queue.assignNext(true));
  }

  @Test
  void poisonPillIsNextWhenAllEarlierMessagesHaveBegun() {
    var queue = queue(byFirstLetter(2));
    offer(queue, "a1");
    var slot = queue.assignNext(true);
    offer(queue, "a2");
    assertEquals(EnterResult.TAKEN, queue.admit(RankedEntry.ofPill("pill")));
    offer(queue, "b, too late");

    assertFalse(queue.isAtPill());
    assertEquals("a2", queue.next(slot, "a1"));

    assertTrue(slot.isMoreReady());
    assertTrue(queue.isAtPill());
    // the pool's end empties the queue by `poll`, which returns the late message before the pill
    assertEquals(List.of("b, too late", "pill"), List.of(queue.poll(), queue.poll()));
  }

  @Test
  void takeDesertedReturnsTrueOnceForEndedQueueWithoutWorkers() {
    var queue = queue(PoolSpec.scaling(0, 2));
    offer(queue, "a");
    var slot = queue.assignNext(true);
    assertFalse(queue.takeDeserted());

    queue.beginEnd();

    assertFalse(queue.takeDeserted());
    queue.finish(slot, "a");
    queue.removeSlot(slot);
    assertTrue(queue.takeDeserted());
    assertFalse(queue.takeDeserted());
  }
}
