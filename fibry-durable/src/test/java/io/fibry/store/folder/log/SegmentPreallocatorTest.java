package io.fibry.store.folder.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.folder.FaultyDisk;
import io.fibry.support.Logged;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SegmentPreallocatorTest {
  @TempDir
  private Path folder;

  @Test
  void fileCreationIsRetriedEachSecondAndLoggedOnceAMinute() throws Exception {
    var nanos = new AtomicLong(-5); // System.nanoTime may be negative
    var faulty = new FaultyDisk(folder);
    try (var disk = faulty.disk(); var logged = new Logged()) {
      var preallocator = new SegmentPreallocator(disk, Runnable::run, 4096, nanos::get);
      var segment = new Segment(1, 2);
      faulty.fail("create");

      preallocator.startPreparing(segment);
      for (int i = 0; i < 1_500; i++) {
        nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(100));
        preallocator.retry(segment);
      }

      assertTrue(preallocator.isFull() && !preallocator.isReady());
      // Logged at the start, and after one and two minutes on the test's clock
      assertEquals(3, logged.lines(folder + " could not create 00000002.log").size());
      assertEquals(0, logged.lines(folder + " can create files again").size());
      faulty.heal();
      preallocator.retry(segment);
      assertTrue(preallocator.isFull(), "a file was created before one second was over");
      nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
      preallocator.retry(segment);
      assertFalse(preallocator.isFull());
      assertTrue(preallocator.isReady());
      assertEquals(1, logged.lines(folder + " can create files again").size());
    }
  }
}
