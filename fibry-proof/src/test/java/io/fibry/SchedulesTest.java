package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.jetbrains.lincheck.LincheckAssertionError;
import org.junit.jupiter.api.Test;

/** The proofs can fail: plain races are found, in the few schedules of an ordinary build. */
class SchedulesTest {
  private static final int SCHEDULES = 40;

  private static final class Counter {
    int plain;
    volatile boolean taken;

    void add() {
      plain++;
    }

    boolean take() {
      if (taken) return false;
      return taken = true;
    }
  }

  private static void assertRace(Runnable code) {
    assertThrows(LincheckAssertionError.class, () -> Schedules.modelCheck(SCHEDULES, code));
  }

  @Test
  void aLostUpdateIsFound() {
    assertRace(() -> {
      var counter = new Counter();
      var other = Schedules.start(counter::add);
      counter.add();
      Schedules.join(other);

      assertEquals(2, counter.plain);
    });
  }

  @Test
  void aCheckThatIsTooOldIsFound() {
    assertRace(() -> {
      var counter = new Counter();
      var taken = new boolean[2];
      var other = Schedules.start(() -> taken[0] = counter.take());
      taken[1] = counter.take();
      Schedules.join(other);

      assertTrue(taken[0] ^ taken[1]);
    });
  }

  @Test
  void codeWithoutARaceIsCorrect() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var counter = new Counter();
      Schedules.join(Schedules.start(counter::add));
      counter.add();

      assertEquals(2, counter.plain);
    });
  }
}
