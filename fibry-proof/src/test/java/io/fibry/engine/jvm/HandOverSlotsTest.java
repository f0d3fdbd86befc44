package io.fibry.engine.jvm;

import io.fibry.Schedules;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Two fibers that share a slot place drains, one continues, one blocks; the monitor looks, then
 * falls asleep. Each drain leaves the slot once, or lies there with the monitor awake.
 */
@Tag("lincheck")
class HandOverSlotsTest {
  private static final int SCHEDULES = 1_000;

  @Test
  void noDrainIsLostOrTakenTwice() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var place = new Place();
      Schedules.join(Schedules.start(place::fiber), Schedules.start(place::blockedFiber),
          Schedules.start(place::monitor));
      place.check();
    });
  }

  private static final class Place {
    private final HandOverSlots slots = new HandOverSlots(1);
    private final HandOverMonitor monitor = new HandOverMonitor(slots, this::take);
    private final List<LaidDrain> drains = new ArrayList<>();

    Place() {
      for (int i = 0; i < 3; i++) drains.add(new LaidDrain());
    }

    private synchronized void take(WokenDrain drain) {
      LaidDrain.take(drain);
    }

    void fiber() {
      lay(0);
      lay(1);
      take(slots.take());
    }

    /** Its handler blocks, so another thread takes the drain that it placed. */
    void blockedFiber() {
      lay(2);
    }

    private void lay(int number) {
      take(slots.put(drains.get(number).write()));
      monitor.wake();
    }

    void monitor() {
      var seen = slots.peek(0);
      if (seen != null && slots.take(0, seen)) take(seen);
      monitor.tryFallAsleep();
    }

    void check() {
      var left = slots.peek(0);
      if (left != null && monitor.isAsleep()) throw new AssertionError("nobody will start what lies there");
      take(left);
      for (var drain : drains) if (drain.takenCount != 1 || drain.unseenCount > 0)
        throw new AssertionError("taken " + drain.takenCount + " times, unseen " + drain.unseenCount);
    }
  }
}
