package io.fibry.block;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.fibry.Schedules;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests that each thread that wants the lock gets it in the end, and has it alone, even if a thread
 * is interrupted.
 */
@Tag("lincheck")
class StackSafeLockTest {
  private static final int SCHEDULES = 1_300;

  /** Plain fields, which the lock must protect. */
  private static final class LockedFields {
    final StackSafeLock lock = new StackSafeLock(false);
    private boolean isLocked;
    private boolean isShared;
    private int visits;

    void visit() {
      lock.acquire();
      isShared |= isLocked;
      isLocked = true;
      visits++;
      isLocked = false;
      lock.close();
    }
  }

  @Test
  void threadsGetLockOneAtATime() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var fields = new LockedFields();

      var firstThread = Schedules.start(fields::visit);
      var secondThread = Schedules.start(fields::visit);
      fields.visit();
      Schedules.join(firstThread, secondThread);

      assertFalse(fields.isShared, "two threads had the lock");
      assertEquals(3, fields.visits);
    });
  }

  @Test
  void interruptedThreadDelaysNoOtherThread() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var fields = new LockedFields();

      var firstThread = Schedules.start(() -> {
        fields.visit();
        fields.visit();
      });
      firstThread.interrupt();
      fields.visit();
      Schedules.join(firstThread);

      assertFalse(fields.isShared, "two threads had the lock");
      assertEquals(3, fields.visits);
    });
  }
}
