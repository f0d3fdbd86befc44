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
 * A sender that waits for room, against all that may end its wait: a take, the close, an interrupt,
 * its limit. The sender continues in any case. An element reported as let in was in the queue once;
 * one reported as refused never was.
 */
@Tag("lincheck")
class BlockedSenderTest {
  private static final int SCHEDULES = 100;

  /** Sends one element, and waits for room if it must: first it spins, then it parks. */
  private static final class Sender implements Runnable {
    private final GuardedQueue<String> queue;
    private final QueueEntry<String> entry;
    final AtomicBoolean over = new AtomicBoolean();
    boolean taken;
    boolean interrupted;

    Sender(GuardedQueue<String> queue, QueueEntry<String> entry) {
      this.queue = queue;
      this.entry = entry;
    }

    @Override
    public void run() {
      var answer = queue.enter(entry, true);
      if (answer == null) answer = queue.offer(entry, true);
      taken = answer == EnterResult.TAKEN || answer == EnterResult.BLOCKED && queue.await(entry, over::get);
      interrupted = Thread.currentThread().isInterrupted();
    }
  }

  /** A queue with one element, for which it has room; this thread has the right to run. */
  private static GuardedQueue<String> full() {
    return with("first", 1);
  }

  private static GuardedQueue<String> with(String element, int capacity) {
    var queue = new GuardedQueue<String>(Mailbox.bounded(capacity, Overflow.BLOCK));
    assertEquals(EnterResult.RUN, queue.offer(RankedEntry.of(element, element), true));
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
      var closer = Schedules.start(queue::stopAccepting);
      String first = queue.poll();
      Schedules.join(thread, closer);

      assertEquals("first", first);
      assertEquals(blocked.taken ? "second" : null, queue.poll());
    });
  }

  @Test
  void givesUpWhenInterruptedOrWasIn() {
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
  void givesUpWhenItsTimeIsOverOrWasIn() {
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
  void twoBlockedSendersAreLetInOneByOne() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var queue = with("first", 2);
      assertEquals(EnterResult.TAKEN, queue.offer(RankedEntry.of("second", "second"), true));
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
  void aSenderThatGivesUpLetsTheNextOneIn() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var queue = with("first", 2);
      var block = new Sender(queue, QueueEntry.block(List.of(RankedEntry.of("a", "a"), RankedEntry.of("b", "b"))));
      var single = sender(queue, "c");

      var large = Schedules.start(block);
      var small = Schedules.start(single);
      large.interrupt();
      Schedules.join(large, small); // no thread takes anything: only the block gives up

      assertTrue(single.taken);
      assertEquals(2, queue.size());
    });
  }
}
