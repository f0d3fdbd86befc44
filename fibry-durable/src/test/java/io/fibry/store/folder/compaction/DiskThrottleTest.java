package io.fibry.store.folder.compaction;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class DiskThrottleTest {
  private final List<Long> pauses = new ArrayList<>();
  private long nanos = -5; // System.nanoTime may be negative
  private final DiskThrottle throttle = new DiskThrottle(() -> nanos, this::sleep);

  private void sleep(long time) {
    pauses.add(time);
    nanos += time;
  }

  private void work(int bytes, long time) {
    nanos += time;
    throttle.recordWork(bytes);
  }

  @Test
  void pauseAfterEachMebibyteIsThreeTimesItsWorkTime() {
    throttle.begin();
    work(DiskThrottle.WORK_BYTES - 1, 10);
    work(1, 20);
    work(3 * DiskThrottle.WORK_BYTES, 7);

    assertEquals(List.of(90L, 21L), pauses);
  }

  @Test
  void timeBeforeCallOfBeginDoesNotCountAsWork() {
    throttle.begin();
    work(DiskThrottle.WORK_BYTES - 1, 10);
    nanos += 1_000_000;
    throttle.begin();
    work(1, 20);

    assertEquals(List.of(90L), pauses);
  }

  @Test
  void pauseContinuesWhenItsSleepEndsEarly() {
    var interruptedThrottle = new DiskThrottle(() -> nanos, time -> sleep((time + 1) / 2));
    interruptedThrottle.begin();
    nanos += 4;
    interruptedThrottle.recordWork(DiskThrottle.WORK_BYTES);

    assertEquals(List.of(6L, 3L, 2L, 1L), pauses);
  }

  @Test
  void callOfHurryEndsPauseAndPreventsFurtherPauses() {
    var throttles = new ArrayList<DiskThrottle>();
    var hurriedThrottle = new DiskThrottle(() -> nanos, time -> {
      sleep(1);
      throttles.getFirst().hurry();
    });
    throttles.add(hurriedThrottle);
    hurriedThrottle.begin();
    nanos += 10;
    hurriedThrottle.recordWork(DiskThrottle.WORK_BYTES);
    nanos += 10;
    hurriedThrottle.recordWork(DiskThrottle.WORK_BYTES);

    assertEquals(List.of(1L), pauses);
  }
}
