package io.fibry.block;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.fibry.Schedules;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Three threads want the lock; no one waits for ever, also if one is interrupted. */
@Tag("lincheck")
class StackSafeLockTest {
  private static final int SCHEDULES = 1_300;

  /** Plain fields, which the lock must protect. */
  private static final class Room {
    final StackSafeLock lock = new StackSafeLock(false);
    private boolean taken;
    private boolean shared;
    private int visits;

    void visit() {
      lock.acquire();
      shared |= taken;
      taken = true;
      visits++;
      taken = false;
      lock.close();
    }
  }

  @Test
  void everyThreadEntersAloneAndEventually() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var room = new Room();

      var one = Schedules.start(room::visit);
      var two = Schedules.start(room::visit);
      room.visit();
      Schedules.join(one, two);

      assertFalse(room.shared, "two had the lock");
      assertEquals(3, room.visits);
    });
  }

  @Test
  void anInterruptHoldsUpNobody() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var room = new Room();

      var one = Schedules.start(() -> {
        room.visit();
        room.visit();
      });
      one.interrupt();
      room.visit();
      Schedules.join(one);

      assertFalse(room.shared, "two had the lock");
      assertEquals(3, room.visits);
    });
  }
}
