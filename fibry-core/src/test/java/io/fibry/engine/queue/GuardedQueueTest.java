package io.fibry.engine.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.engine.queue.GuardedQueue.EnterResult;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/** Tests the queue without an actor, on one thread. */
class GuardedQueueTest {
  private static QueueEntry<String> entry(String message) {
    return RankedEntry.of(message, message);
  }

  @Test
  void rightToRunIsTakenByFirstOfferAndReturnedByRelease() {
    var queue = new GuardedQueue<String>(Mailbox.unbounded().selective());

    assertEquals(EnterResult.RUN, queue.offer(entry("a"), true));
    assertEquals(EnterResult.TAKEN, queue.offer(entry("b"), true));
    assertFalse(queue.release());
    assertEquals("a", queue.poll());
    assertEquals("b", queue.poll());
    assertNull(queue.poll());
    assertTrue(queue.release());
    assertTrue(queue.takeRunIfIdle());
    assertFalse(queue.takeRunIfIdle());
  }

  @Test
  void resultOfOfferToFullQueueDependsOnOverflow() {
    for (var overflow : Overflow.values()) {
      var queue = new GuardedQueue<String>(Mailbox.bounded(1, overflow));
      queue.offer(entry("a"), true);

      var result = queue.offer(entry("b"), true);

      assertEquals(
          overflow == Overflow.BLOCK ? EnterResult.BLOCKED
              : overflow == Overflow.DROP_OLDEST ? EnterResult.TAKEN : EnterResult.FULL,
          result);
      assertEquals(1, queue.size());
    }
  }

  @Test
  void poisonPillUsesNoCapacityOfQueue() {
    var queue = new GuardedQueue<String>(Mailbox.bounded(1, Overflow.REJECT));

    queue.admit(RankedEntry.ofPill("pill"));

    assertEquals(0, queue.size());
    assertEquals(EnterResult.TAKEN, queue.offer(entry("a"), true));
    assertEquals(List.of("pill", "a"), queue.queued(9));
  }

  @Test
  void pollAdmitsFirstBlockedSender() {
    var queue = new GuardedQueue<String>(Mailbox.bounded(1, Overflow.BLOCK));
    queue.offer(entry("a"), true);
    var blockedEntry = entry("b");
    queue.offer(blockedEntry, true);

    queue.poll();

    assertTrue(queue.await(blockedEntry, () -> true));
    assertEquals(List.of("b"), queue.queued(9));
  }

  @Test
  void queueAdmitsSmallerEntryWhenMessageBlockIsCancelled() {
    var queue = new GuardedQueue<String>(Mailbox.bounded(2, Overflow.BLOCK));
    queue.offer(entry("a"), true);
    var block = QueueEntry.block(List.of(entry("b"), entry("c")));
    queue.offer(block, true);
    var smallEntry = entry("d");
    queue.offer(smallEntry, true);

    boolean taken = queue.await(block, () -> true);

    assertFalse(taken);
    assertTrue(queue.await(smallEntry, () -> true));
    assertEquals(List.of("a", "d"), queue.queued(9));
  }

  private static GuardedQueue<String> queueOfMessages(int capacity, String... messages) {
    var queue = new GuardedQueue<String>(Mailbox.bounded(capacity, Overflow.REJECT), System::nanoTime,
        (message, baggage) -> (String) message);
    for (var message : messages) queue.offer(MessageEntry.of(message, null), true);
    return queue;
  }

  @Test
  void messagesThatDrainTookTogetherUseCapacityUntilEachBegins() {
    var queue = queueOfMessages(3, "a", "b", "c");

    assertEquals("a", queue.poll());

    assertEquals(2, queue.size());
    assertEquals(2, queue.entryCount());
    assertEquals(List.of("b", "c"), queue.queued(9));
    assertEquals(List.of("b"), queue.queued(1));
    assertFalse(queue.release());
    assertEquals(EnterResult.TAKEN, queue.offer(MessageEntry.of("d", null), true));
    assertEquals(EnterResult.FULL, queue.offer(MessageEntry.of("e", null), true));
    for (var message : List.of("b", "c", "d")) assertEquals(message, queue.poll());
    assertNull(queue.poll());
    assertTrue(queue.release());
    assertEquals(0, queue.entryCount());
  }

  @Test
  void drainTakesMessagesOfSendersThatItLetsInBehindOthers() {
    var queue = new GuardedQueue<String>(Mailbox.bounded(2, Overflow.BLOCK), System::nanoTime,
        (message, baggage) -> (String) message);
    for (var message : List.of("a", "b", "c", "d")) queue.offer(MessageEntry.of(message, null), true);

    assertEquals("a", queue.poll());

    assertEquals(2, queue.size());
    assertEquals(2, queue.entryCount());
    assertEquals(List.of("b", "c"), queue.queued(9));
    for (var message : List.of("b", "c", "d")) assertEquals(message, queue.poll());
    assertNull(queue.poll());
    assertTrue(queue.release());
    assertEquals(0, queue.entryCount());
  }

  @Test
  void messageThatDrainTookIsNotWithdrawn() {
    var queue = queueOfMessages(9, "a");
    QueueEntry<String> entry = MessageEntry.of("b", null);
    queue.offer(entry, true);

    queue.poll();

    assertFalse(queue.takeBack(entry, 1));
    assertEquals("b", queue.poll());
    assertNull(queue.poll());
  }

  @Test
  void drainDoesNotTakeRequestTogetherWithMessages() {
    var queue = queueOfMessages(9, "a", "b");
    QueueEntry<String> request = QueueEntry.of("request");
    queue.offer(request, true);
    queue.offer(MessageEntry.of("c", null), true);

    assertEquals("a", queue.poll());

    assertTrue(queue.remove(request));
    assertEquals(List.of("b", "c"), queue.queued(9));
    assertEquals("b", queue.poll());
    assertEquals("c", queue.poll());
  }

  @Test
  void newestIsLastMessageThatHasNotBegun() {
    var queue = queueOfMessages(9, "a", "b");
    QueueEntry<String> lastEntry = MessageEntry.of("c", null);
    queue.offer(lastEntry, true);

    queue.poll();
    assertSame(lastEntry, queue.newest());
    assertTrue(lastEntry.isQueued());
    queue.poll();
    assertSame(lastEntry, queue.newest());
    assertEquals("c", queue.poll());

    assertNull(queue.newest());
    assertFalse(lastEntry.isQueued());
    assertTrue(lastEntry.isGone());
  }

  @Test
  void newestIgnoresPill() {
    var queue = queueOfMessages(9, "a", "b");
    queue.admit(RankedEntry.ofPill("pill"));

    assertTrue(queue.newest().isQueued());
    queue.poll();
    assertTrue(queue.newest().isQueued());
    queue.poll();

    assertNull(queue.newest());
  }

  /** A queue that has no memory to wake its blocked senders, as may happen on Java 21. */
  private static final class FullHeapQueue extends GuardedQueue<String> {
    private int wakes;

    FullHeapQueue() {
      super(Mailbox.bounded(1, Overflow.BLOCK), System::nanoTime, (message, baggage) -> (String) message);
    }

    @Override
    void wake(QueueEntry<String> entry, boolean isNear) {
      wakes++;
      throw new RejectedExecutionException("planned"); // no OutOfMemoryError, which would end JUnit
    }
  }

  @Test
  void errorWhileBlockedSenderIsWokenLosesNoMessage() {
    var queue = new FullHeapQueue();
    for (var message : List.of("a", "b", "c", "d")) queue.offer(MessageEntry.of(message, null), true);
    QueueEntry<String> request = QueueEntry.of("request");
    queue.offer(request, true);
    queue.offer(MessageEntry.of("e", null), true);

    for (var message : List.of("a", "b", "c", "d", "request", "e")) assertEquals(message, queue.poll());

    assertEquals(5, queue.wakes);
    assertTrue(queue.release());
  }

  @Test
  void stopRefusesAllBlockedSendersDespiteErrorOfFirstWakeUp() {
    var queue = new FullHeapQueue();
    for (var message : List.of("a", "b", "c")) queue.offer(MessageEntry.of(message, null), true);

    queue.stopAccepting();

    assertEquals(2, queue.wakes);
  }

  /** Handles one message of each activation, for longer than the limit of quick messages. */
  private static void handleOneSlowMessage(GuardedQueue<String> queue) {
    queue.offer(MessageEntry.of("slow", null), true);
    assertEquals("slow", queue.poll());
    for (long start = System.nanoTime(); System.nanoTime() - start < 1_000;) Thread.onSpinWait();
    assertNull(queue.poll());
    assertTrue(queue.release());
  }

  @Test
  void queueIsNotNearWhenSingleMessagesBecomeSlow() {
    var queue = new GuardedQueue<String>(Mailbox.bounded(9, Overflow.BLOCK), System::nanoTime,
        (message, baggage) -> (String) message);
    queue.recordMessageTime(50);
    assertTrue(queue.isNearSenders());

    for (int i = 0; i < 80; i++) handleOneSlowMessage(queue);

    assertFalse(queue.isNearSenders());
  }

  @Test
  void secondRemoveOfEntryFreesNoCapacity() {
    var queue = new GuardedQueue<String>(Mailbox.bounded(2, Overflow.REJECT));
    var entryToRemove = entry("b");
    queue.offer(entry("a"), true);
    queue.offer(entryToRemove, true);

    assertTrue(queue.remove(entryToRemove));
    assertFalse(queue.remove(entryToRemove));
    assertEquals(1, queue.size());
  }

  @Test
  void queueThatStoppedAcceptingRefusesOffersButAdmitsPill() {
    var queue = new GuardedQueue<String>(Mailbox.bounded(1, Overflow.BLOCK));
    queue.offer(entry("a"), true);
    var blockedEntry = entry("b");
    queue.offer(blockedEntry, true);

    queue.stopAccepting();

    assertFalse(queue.await(blockedEntry, () -> false));
    assertEquals(EnterResult.SHUT, queue.offer(entry("c"), true));
    assertEquals(EnterResult.TAKEN, queue.admit(RankedEntry.ofPill("pill")));
    assertEquals(List.of("a", "pill"), queue.queued(9));
  }

  @Test
  void entriesPutBackPrecedeQueuedEntries() {
    var queue = new GuardedQueue<String>(Mailbox.unbounded().selective());
    queue.offer(entry("c"), true);

    queue.putBack(List.of(RankedEntry.unranked("a"), RankedEntry.unranked("b")));

    assertEquals(List.of("a", "b", "c"), queue.queued(9));
  }

  @Test
  void messageAfterPillStaysBehindPillDespitePriority() {
    var queue = new GuardedQueue<String>(Mailbox.priority(Comparator.<String>naturalOrder()));
    queue.offer(entry("c"), true);
    queue.offer(entry("b"), true);
    queue.admit(RankedEntry.ofPill("pill"));
    queue.offer(entry("a"), true);

    assertEquals(List.of("b", "c", "pill", "a"), queue.queued(9));
  }

  @Test
  void failedComparatorLeavesQueueUnchanged() {
    var queue = new GuardedQueue<String>(Mailbox.<String>priority((a, b) -> {
      throw new IllegalStateException("bad order");
    }));

    assertThrows(IllegalStateException.class, () -> queue.offer(entry("a"), true));

    assertEquals(0, queue.size());
    assertEquals(List.of(), queue.queued(9));
    assertTrue(queue.takeRunIfIdle());
  }

  @Test
  void senderDoesNotOvertakeBlockedSender() {
    var queue = new GuardedQueue<String>(Mailbox.bounded(2, Overflow.BLOCK));
    queue.offer(entry("a"), true);
    queue.offer(entry("b"), true);
    var block = QueueEntry.block(List.of(entry("c"), entry("d")));
    assertEquals(EnterResult.BLOCKED, queue.offer(block, true));

    queue.poll(); // frees capacity for one entry

    assertEquals(EnterResult.BLOCKED, queue.offer(entry("e"), true));
    assertTrue(block.isBlocked());
    queue.poll();
    assertFalse(block.isBlocked());
    assertEquals(List.of("c", "d"), queue.queued(9));
  }

  @Test
  void enterAddsEntryOnlyIfRightToRunIsTakenAndCapacityFree() {
    var queue = new GuardedQueue<String>(Mailbox.bounded(2, Overflow.BLOCK));
    assertNull(queue.enter(entry("idle"), true));
    queue.offer(entry("a"), true);
    assertEquals(EnterResult.TAKEN, queue.enter(entry("b"), true));

    var outsideEntry = entry("c");
    assertNull(queue.enter(outsideEntry, true)); // enter spins in vain, because no thread polls

    assertTrue(outsideEntry.isOutside());
    assertFalse(queue.remove(outsideEntry));
    assertEquals(List.of("a", "b"), queue.queued(9));
  }

  @Test
  void pollAndQueuedReturnMessageInsteadOfItsEntry() {
    var queue = new GuardedQueue<String>(Mailbox.bounded(2, Overflow.REJECT), System::nanoTime,
        (message, baggage) -> message + " with " + baggage);

    queue.offer(MessageEntry.of("a", "b"), true);

    assertEquals(List.of("a with b"), queue.queued(9));
    assertEquals("a with b", queue.poll());
    assertNull(queue.poll());
  }

  @Test
  void queueWithHugeMaxWaitAcceptsMessages() {
    var queue =
        new GuardedQueue<String>(Mailbox.bounded(3, Overflow.REJECT).withMaxWait(Duration.ofSeconds(Long.MAX_VALUE)));
    queue.offer(RankedEntry.of("a", "a"), true);

    assertEquals(EnterResult.TAKEN, queue.offer(RankedEntry.of("b", "b"), true));
  }
}
