package io.fibry.store.folder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Logged;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SparesTest {
  @TempDir
  private Path folder;

  @Test
  void fullDiskIsRetriedEachSecondAndLoggedOnceAMinute() throws Exception {
    var nanos = new AtomicLong(-5); // where System.nanoTime begins is not said
    var faulty = new FaultyDisk(folder);
    try (var disk = faulty.disk(); var logged = new Logged()) {
      var spares = new SegmentPreallocator(disk, Runnable::run, 4096, nanos::get);
      var next = new Segment(1, 2);
      faulty.fail("create");

      spares.startPreparing(next);
      for (int i = 0; i < 1_500; i++) {
        nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(100));
        spares.retry(next);
      }

      assertTrue(spares.isFull() && !spares.isReady());
      // At 0:00, 1:00 and 2:00 on the test's clock
      assertEquals(3, logged.lines(folder + " could not create 00000002.log").size());
      assertEquals(0, logged.lines(folder + " can create files again").size());
      faulty.heal();
      spares.retry(next);
      assertTrue(spares.isFull(), "it is not tried again before a second is over");
      nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
      spares.retry(next);
      assertFalse(spares.isFull());
      assertTrue(spares.isReady());
      assertEquals(1, logged.lines(folder + " can create files again").size());
    }
  }
}
