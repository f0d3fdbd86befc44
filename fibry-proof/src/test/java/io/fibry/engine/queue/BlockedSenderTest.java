package io.fibry.engine.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Schedules;
import io.fibry.engine.queue.GuardedQueue.EnterResult;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests a sender that waits for capacity, while a take, the close, an interrupt or its limit may
 * end the wait. The sender continues in any case. An element that is reported as accepted was in
 * the queue once; a refused element was never in it.
 */
@Tag("lincheck")
class BlockedSenderTest {
  private static final int SCHEDULES = 100;

  /** Sends one element. If it must wait for capacity, it first spins and then parks. */
  private static final class Sender implements Runnable {
    private final GuardedQueue<String> queue;
    private final QueueEntry<String> entry;
    final AtomicBoolean isOver = new AtomicBoolean();
    boolean isAccepted;
    boolean isInterrupted;

    Sender(GuardedQueue<String> queue, QueueEntry<String> entry) {
      this.queue = queue;
      this.entry = entry;
    }

    @Override
    public void run() {
      var result = queue.enter(entry, true);
      if (result == null) result = queue.offer(entry, true);
      isAccepted = result == EnterResult.TAKEN || result == EnterResult.BLOCKED && queue.await(entry, isOver::get);
      isInterrupted = Thread.currentThread().isInterrupted();
    }
  }

  /** Returns a full queue with one element; the current thread has the right to run. */
  private static GuardedQueue<String> fullQueue() {
    return queueWith("first", 1);
  }

  private static GuardedQueue<String> queueWith(String element, int capacity) {
    var queue = new GuardedQueue<String>(Mailbox.bounded(capacity, Overflow.BLOCK));
    assertEquals(EnterResult.RUN, queue.offer(RankedEntry.of(element, element), true));
    return queue;
  }

  private static Sender sender(GuardedQueue<String> queue, String element) {
    return new Sender(queue, RankedEntry.of(element, element));
  }

  @Test
  void blockedSenderContinuesWhenElementIsTaken() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var queue = fullQueue();
      var sender = sender(queue, "second");

      var thread = Schedules.start(sender);
      String first = queue.poll();
      Schedules.join(thread);

      assertTrue(sender.isAccepted);
      assertEquals("first", first);
      assertEquals("second", queue.poll());
    });
  }

  /** The drain begins a message that it has taken together with others, without the monitor. */
  @Test
  void blockedSenderContinuesWhenTakenMessageBegins() {
    Schedules.modelCheck(20 * SCHEDULES, () -> {
      var queue = new GuardedQueue<String>(Mailbox.bounded(2, Overflow.BLOCK), System::nanoTime,
          (message, unused) -> (String) message);
      queue.offer(MessageEntry.of("first", null), true);
      queue.offer(MessageEntry.of("second", null), true);
      queue.poll();
      queue.offer(MessageEntry.of("third", null), true);
      var sender = new Sender(queue, MessageEntry.of("fourth", null));

      var thread = Schedules.start(sender);
      String second = queue.poll();
      Schedules.join(thread);

      assertTrue(sender.isAccepted);
      assertEquals("second", second);
      assertEquals(List.of("third", "fourth"), queue.queued(9));
    });
  }

  /** The drain takes the message of the sender that it lets in together with its first message. */
  @Test
  void drainTakesMessageOfSenderThatItLetsIn() {
    Schedules.modelCheck(20 * SCHEDULES, () -> {
      var queue = new GuardedQueue<String>(Mailbox.bounded(1, Overflow.BLOCK), System::nanoTime,
          (message, unused) -> (String) message);
      queue.offer(MessageEntry.of("first", null), true);
      var sender = new Sender(queue, MessageEntry.of("second", null));

      var thread = Schedules.start(sender);
      String first = queue.poll();
      int count = queue.entryCount();
      String second = queue.poll();
      boolean isReleased = second == null && queue.release();
      Schedules.join(thread);

      assertEquals("first", first);
      assertTrue(count <= 1, () -> count + " messages in a queue of capacity 1");
      assertEquals("second", second != null ? second : queue.poll());
      // after a release, the sender got the right to run, and its result was RUN
      assertTrue(sender.isAccepted || isReleased);
      assertEquals(0, queue.entryCount());
    });
  }

  @Test
  void blockedElementIsRefusedOrAcceptedWhenQueueCloses() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var queue = fullQueue();
      var sender = sender(queue, "second");

      var thread = Schedules.start(sender);
      var closer = Schedules.start(queue::stopAccepting);
      String first = queue.poll();
      Schedules.join(thread, closer);

      assertEquals("first", first);
      assertEquals(sender.isAccepted ? "second" : null, queue.poll());
    });
  }

  @Test
  void messageOfInterruptedSenderIsAcceptedOrNotQueued() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var queue = fullQueue();
      var sender = sender(queue, "second");

      var thread = Schedules.start(sender);
      var interrupter = Schedules.start(thread::interrupt);
      String first = queue.poll();
      Schedules.join(thread, interrupter);

      if (!sender.isAccepted) assertTrue(sender.isInterrupted, "the interrupt flag was lost");
      assertEquals("first", first);
      assertEquals(sender.isAccepted ? "second" : null, queue.poll());
    });
  }

  @Test
  void messageOfExpiredSenderIsAcceptedOrNotQueued() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var queue = fullQueue();
      var sender = sender(queue, "second");

      var thread = Schedules.start(sender);
      var clock = Schedules.start(() -> {
        sender.isOver.set(true);
        LockSupport.unpark(thread);
      });
      String first = queue.poll();
      Schedules.join(thread, clock);

      assertEquals("first", first);
      assertEquals(sender.isAccepted ? "second" : null, queue.poll());
    });
  }

  @Test
  void twoBlockedSendersAreAcceptedAsElementsAreTaken() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var queue = queueWith("first", 2);
      assertEquals(EnterResult.TAKEN, queue.offer(RankedEntry.of("second", "second"), true));
      var thirdSender = sender(queue, "third");
      var fourthSender = sender(queue, "fourth");

      var firstThread = Schedules.start(thirdSender);
      var secondThread = Schedules.start(fourthSender);
      queue.poll();
      int sizeAfterTake = queue.size();
      queue.poll();
      Schedules.join(firstThread, secondThread);

      assertTrue(thirdSender.isAccepted && fourthSender.isAccepted);
      assertTrue(sizeAfterTake == 1 || sizeAfterTake == 2,
          () -> sizeAfterTake + " elements in a queue of capacity 2 after one was taken");
      assertEquals(2, queue.size());
    });
  }

  @Test
  void nextSenderIsAcceptedWhenInterruptedSenderStopsWaiting() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var queue = queueWith("first", 2);
      var blockSender =
          new Sender(queue, QueueEntry.block(List.of(RankedEntry.of("a", "a"), RankedEntry.of("b", "b"))));
      var singleSender = sender(queue, "c");

      var blockThread = Schedules.start(blockSender);
      var singleThread = Schedules.start(singleSender);
      blockThread.interrupt();
      // No thread takes an element; "c" is accepted because the sender of the block stops waiting
      Schedules.join(blockThread, singleThread);

      assertTrue(singleSender.isAccepted);
      assertEquals(2, queue.size());
    });
  }
}
