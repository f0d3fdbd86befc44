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
 * A message enters just as the actor falls asleep, and its sender cannot give the actor a thread:
 * it takes the message back. Others that entered behind it are found by the next sender.
 *
 * <p>Catches a right to run that is kept although no message waits, or given back although one
 * does, and a message that is withdrawn and handled.
 */
@Tag("lincheck")
class TakeBackTest {
  private static final int SCHEDULES = 700;

  @Test
  void noMessageIsLostOrHandledTwice() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var race = new Race();
      race.queue.offer(QueueEntry.of(1), false); // the drain below has the right

      Schedules.join(Schedules.start(race::drain), Schedules.start(() -> race.send(2, true)),
          Schedules.start(() -> race.send(3, false)));

      race.send(4, false);
      for (int number = 1; number <= 4; number++)
        assertEquals(race.refused == number ? 0 : 1, race.handled[number], number + " was handled");
      assertTrue(race.queue.isIdle());
    });
  }

  private static final class Race {
    final GuardedQueue<Integer> queue = new GuardedQueue<>(Mailbox.bounded(8, Overflow.BLOCK));
    final int[] handled = new int[5]; // by the holder of the right
    int refused;
    private volatile boolean stranded;

    void send(int number, boolean edge) {
      var entry = QueueEntry.of(number);
      var answer = queue.enter(entry, false);
      if (answer == EnterResult.RUN && edge) takeBack(entry, number);
      else if (answer == EnterResult.RUN || answer == null && queue.offer(entry, false) == EnterResult.RUN) drain();
      if (stranded && !edge) {
        stranded = false;
        drain();
      }
    }

    private void takeBack(QueueEntry<Integer> entry, int number) {
      boolean out = queue.takeBack(entry, 1);
      if (out) refused = number;
      if (!out || !queue.release()) stranded = true;
    }

    void drain() {
      do {
        for (Integer number; (number = queue.poll()) != null;) handled[number]++;
      } while (!queue.release());
    }
  }
}
