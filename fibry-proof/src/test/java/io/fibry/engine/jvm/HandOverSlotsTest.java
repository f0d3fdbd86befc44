package io.fibry.engine.jvm;

import io.fibry.Schedules;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests two fibers that share a slot and put drains into it. One fiber then continues with a drain,
 * and the other blocks. The monitor thread scans the slot, and then falls asleep. Each drain must
 * be taken once, or be in the slot while the monitor is awake.
 */
@Tag("lincheck")
class HandOverSlotsTest {
  private static final int SCHEDULES = 1_000;

  @Test
  void noDrainIsLostOrTakenTwice() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var slot = new SharedSlot();
      Schedules.join(Schedules.start(slot::fiber), Schedules.start(slot::blockedFiber),
          Schedules.start(slot::monitor));
      slot.check();
    });
  }

  private static final class SharedSlot {
    private final HandOverSlots slots = new HandOverSlots(1);
    private final HandOverMonitor monitor = new HandOverMonitor(slots, this::take);
    private final List<CountingDrain> drains = new ArrayList<>();

    SharedSlot() {
      for (int i = 0; i < 3; i++) drains.add(new CountingDrain());
    }

    private synchronized void take(WokenDrain drain) {
      CountingDrain.take(drain);
    }

    void fiber() {
      put(0);
      put(1);
      take(slots.take());
    }

    /** Puts a drain into the slot and blocks, so that another thread must take the drain. */
    void blockedFiber() {
      put(2);
    }

    private void put(int number) {
      take(slots.put(drains.get(number).write()));
      monitor.wake();
    }

    void monitor() {
      var drain = slots.peek(0);
      if (drain != null && slots.take(0, drain)) take(drain);
      monitor.tryFallAsleep();
    }

    void check() {
      var remaining = slots.peek(0);
      if (remaining != null && monitor.isAsleep())
        throw new AssertionError("no thread will start the drain in the slot");
      take(remaining);
      for (var drain : drains) if (drain.takenCount != 1 || drain.unseenCount > 0)
        throw new AssertionError("taken " + drain.takenCount + " times, unseen " + drain.unseenCount);
    }
  }
}
