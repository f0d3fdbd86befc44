package io.fibry.engine.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Schedules;
import io.fibry.engine.queue.GuardedQueue.Answer;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/**
 * A waiting sender races with a poll, the close, an interrupt and its limit. It always goes on, and
 * its answer is right: its element was in the queue once, or never.
 */
class BlockedSenderTest {
  private static final int SCHEDULES = 40;

  /** Sends one element; waits for room by spinning, then parked. */
  private static final class Sender implements Runnable {
    private final GuardedQueue<String> queue;
    private final Entry<String> entry;
    final AtomicBoolean over = new AtomicBoolean();
    boolean taken;
    boolean interrupted;

    Sender(GuardedQueue<String> queue, Entry<String> entry) {
      this.queue = queue;
      this.entry = entry;
    }

    @Override
    public void run() {
      var answer = queue.enter(entry, true);
      if (answer == null) answer = queue.offer(entry, true);
      taken = answer == Answer.TAKEN || answer == Answer.BLOCKED && queue.await(entry, over::get);
      interrupted = Thread.currentThread().isInterrupted();
    }
  }

  /** A full queue of one, whose sender has the right to run. */
  private static GuardedQueue<String> full() {
    return with("first", 1);
  }

  private static GuardedQueue<String> with(String element, int capacity) {
    var queue = new GuardedQueue<String>(Mailbox.bounded(capacity, Overflow.BLOCK));
    assertEquals(Answer.RUN, queue.offer(RankedEntry.of(element, element), true));
    return queue;
  }

  private static Sender sender(GuardedQueue<String> queue, String element) {
    return new Sender(queue, RankedEntry.of(element, element));
  }

  @Test
  void goesOnWhenTheFirstIsTaken() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var queue = full();
      var blocked = sender(queue, "second");

      var thread = Schedules.start(blocked);
      String first = queue.poll();
      Schedules.join(thread);

      assertTrue(blocked.taken);
      assertEquals("first", first);
      assertEquals("second", queue.poll());
    });
  }

  @Test
  void isSentAwayByTheCloseOrWasIn() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var queue = full();
      var blocked = sender(queue, "second");

      var thread = Schedules.start(blocked);
      var closer = Schedules.start(queue::shutDoor);
      String first = queue.poll();
      Schedules.join(thread, closer);

      assertEquals("first", first);
      assertEquals(blocked.taken ? "second" : null, queue.poll());
    });
  }

  @Test
  void leavesTheLineWhenInterruptedOrWasIn() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var queue = full();
      var blocked = sender(queue, "second");

      var thread = Schedules.start(blocked);
      var interrupter = Schedules.start(thread::interrupt);
      String first = queue.poll();
      Schedules.join(thread, interrupter);

      if (!blocked.taken) assertTrue(blocked.interrupted, "the flag was kept");
      assertEquals("first", first);
      assertEquals(blocked.taken ? "second" : null, queue.poll());
    });
  }

  @Test
  void leavesTheLineWhenItsTimeIsOverOrWasIn() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var queue = full();
      var blocked = sender(queue, "second");

      var thread = Schedules.start(blocked);
      var clock = Schedules.start(() -> {
        blocked.over.set(true);
        LockSupport.unpark(thread);
      });
      String first = queue.poll();
      Schedules.join(thread, clock);

      assertEquals("first", first);
      assertEquals(blocked.taken ? "second" : null, queue.poll());
    });
  }

  @Test
  void twoInTheLineAreLetInOneByOne() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var queue = with("first", 2);
      assertEquals(Answer.TAKEN, queue.offer(RankedEntry.of("second", "second"), true));
      var third = sender(queue, "third");
      var fourth = sender(queue, "fourth");

      var one = Schedules.start(third);
      var other = Schedules.start(fourth);
      queue.poll();
      int between = queue.size();
      queue.poll();
      Schedules.join(one, other);

      assertTrue(third.taken && fourth.taken);
      assertTrue(between == 1 || between == 2, () -> between + " in a queue of 2, of which one was taken");
      assertEquals(2, queue.size());
    });
  }

  @Test
  void whoLeavesTheLineLetsTheNextOneIn() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var queue = with("first", 2);
      var block = new Sender(queue, Entry.block(List.of(RankedEntry.of("a", "a"), RankedEntry.of("b", "b"))));
      var single = sender(queue, "c");

      var large = Schedules.start(block);
      var small = Schedules.start(single);
      large.interrupt();
      Schedules.join(large, small); // only the block's leaving makes room

      assertTrue(single.taken);
      assertEquals(2, queue.size());
    });
  }
}
