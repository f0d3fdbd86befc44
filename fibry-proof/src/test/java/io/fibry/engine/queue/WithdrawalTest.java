package io.fibry.engine.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Schedules;
import io.fibry.engine.queue.GuardedQueue.EnterResult;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests a message that enters just as the actor becomes idle, while its sender cannot give the
 * actor a thread. The sender withdraws the message. If other messages entered behind it, the next
 * sender finds them.
 *
 * <p>The test fails if the right to run is kept although no message waits, if it is given up
 * although a message waits, or if a withdrawn message is handled.
 */
@Tag("lincheck")
class WithdrawalTest {
  private static final int SCHEDULES = 700;

  @Test
  void noMessageIsLostOrRepeatedWhenSenderWithdrawsMessage() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var race = new Race();
      race.queue.offer(QueueEntry.of(1), false); // the drain below has the right to run

      Schedules.join(Schedules.start(race::drain), Schedules.start(() -> race.send(2, true)),
          Schedules.start(() -> race.send(3, false)));

      race.send(4, false);
      for (int number = 1; number <= 4; number++)
        assertEquals(race.refused == number ? 0 : 1, race.handled[number], "the count of handled messages " + number);
      assertTrue(race.queue.isIdle());
    });
  }

  private static final class Race {
    final GuardedQueue<Integer> queue = new GuardedQueue<>(Mailbox.bounded(8, Overflow.BLOCK));
    final int[] handled = new int[5]; // written by the holder of the right to run
    int refused;
    private volatile boolean stranded;

    void send(int number, boolean cannotStartDrain) {
      var entry = QueueEntry.of(number);
      var result = queue.enter(entry, false);
      if (result == EnterResult.RUN && cannotStartDrain) withdraw(entry, number);
      else if (result == EnterResult.RUN || result == null && queue.offer(entry, false) == EnterResult.RUN) drain();
      if (stranded && !cannotStartDrain) {
        stranded = false;
        drain();
      }
    }

    private void withdraw(QueueEntry<Integer> entry, int number) {
      boolean isWithdrawn = queue.takeBack(entry, 1);
      if (isWithdrawn) refused = number;
      if (!isWithdrawn || !queue.release()) stranded = true;
    }

    void drain() {
      do {
        for (Integer number; (number = queue.poll()) != null;) handled[number]++;
      } while (!queue.release());
    }
  }
}
