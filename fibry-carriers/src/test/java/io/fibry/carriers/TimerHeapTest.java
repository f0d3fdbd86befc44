package io.fibry.carriers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ScheduledFuture;
import org.junit.jupiter.api.Test;

class TimerHeapTest {
  private static final long HOUR = 3_600_000_000_000L;
  private final TimerHeap heap = new TimerHeap();

  private void runAllDue() {
    Patience.eventually(() -> {
      heap.runDue(Integer.MAX_VALUE);
      return heap.isEmpty();
    });
  }

  @Test
  void timersRunInOrderOfTheirTimes() {
    long seed = Long.getLong("fibry.seed", System.nanoTime());
    System.out.println("fibry.seed=" + seed);
    var random = new Random(seed);
    long past = System.nanoTime() - HOUR;
    var expected = new TreeMap<Integer, Integer>();
    var ran = new ArrayList<Integer>();
    for (int i = 0; i < 500; i++) {
      int number = i;
      int delay = random.nextInt(1_000_000);
      if (expected.putIfAbsent(delay, number) == null) heap.addAt(() -> ran.add(number), past + delay);
    }
    heap.runDue(Integer.MAX_VALUE);

    assertEquals(List.copyOf(expected.values()), ran, "fibry.seed=" + seed);
  }

  @Test
  void cancelledTimersDoNotRun() {
    long seed = Long.getLong("fibry.seed", System.nanoTime());
    System.out.println("fibry.seed=" + seed);
    var random = new Random(seed);
    var timers = new ArrayList<ScheduledFuture<?>>();
    var ran = new ArrayList<Integer>();
    var expected = new ArrayList<Integer>();
    for (int i = 0; i < 1_000; i++) {
      int number = i;
      timers.add(heap.add(() -> ran.add(number), random.nextInt(1_000)));
    }
    for (int i = 0; i < timers.size(); i++) {
      if (random.nextBoolean()) assertTrue(timers.get(i).cancel(false));
      else expected.add(i);
    }
    runAllDue();
    ran.sort(null);

    assertEquals(expected, ran, "fibry.seed=" + seed);
    for (var timer : timers) assertFalse(timer.cancel(false));
  }

  @Test
  void nanosToNextFollowsEarliestPendingTimer() {
    assertEquals(Long.MAX_VALUE, heap.nanosToNext());
    heap.add(() -> {}, Long.MAX_VALUE);
    var hour = heap.add(() -> {}, HOUR);

    assertTrue(heap.nanosToNext() <= HOUR);
    assertFalse(heap.isDue(System.nanoTime()));
    assertTrue(heap.isDue(System.nanoTime() + HOUR + 1));
    hour.cancel(false);
    assertTrue(heap.nanosToNext() > HOUR);
  }
}
