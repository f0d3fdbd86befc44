package io.fibry.store.folder;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PaceTest {
  private final List<Long> rests = new ArrayList<>();
  private long nanos = -5; // where System.nanoTime begins is not said
  private final DiskThrottle pace = new DiskThrottle(() -> nanos, this::sleep);

  private void sleep(long time) {
    rests.add(time);
    nanos += time;
  }

  private void work(int bytes, long time) {
    nanos += time;
    pace.recordWork(bytes);
  }

  @Test
  void paceRestsThreeTimesTheWorkAfterEachMebibyte() {
    pace.begin();
    work(DiskThrottle.WORK_BYTES - 1, 10);
    work(1, 20);
    work(3 * DiskThrottle.WORK_BYTES, 7);

    assertEquals(List.of(90L, 21L), rests);
  }

  @Test
  void waitingTimeDoesNotCountAsWork() {
    pace.begin();
    work(DiskThrottle.WORK_BYTES - 1, 10);
    nanos += 1_000_000;
    pace.begin();
    work(1, 20);

    assertEquals(List.of(90L), rests);
  }

  @Test
  void earlyEndingSleepIsResumed() {
    var late = new DiskThrottle(() -> nanos, time -> sleep((time + 1) / 2));
    late.begin();
    nanos += 4;
    late.recordWork(DiskThrottle.WORK_BYTES);

    assertEquals(List.of(6L, 3L, 2L, 1L), rests);
  }

  @Test
  void hurryEndsRestAndPreventsFurtherRests() {
    var hurried = new ArrayList<DiskThrottle>();
    var busy = new DiskThrottle(() -> nanos, time -> {
      sleep(1);
      hurried.getFirst().hurry();
    });
    hurried.add(busy);
    busy.begin();
    nanos += 10;
    busy.recordWork(DiskThrottle.WORK_BYTES);
    nanos += 10;
    busy.recordWork(DiskThrottle.WORK_BYTES);

    assertEquals(List.of(1L), rests);
  }
}
