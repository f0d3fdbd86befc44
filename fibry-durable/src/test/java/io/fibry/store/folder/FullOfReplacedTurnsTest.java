package io.fibry.store.folder;

import static io.fibry.durable.TestTurns.ADA;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.durable.TestTurns;
import io.fibry.store.StoreFullException;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a store compacts a full disk at once if later turns have replaced some turns. */
class FullOfReplacedTurnsTest {
  private static final int SEGMENT = 16_384;
  private static final int TURN_BYTES = 9_000; // bytes; a segment has space for one turn
  private static final int CAPACITY = 3 * SEGMENT + 4_096; // compaction would begin at four segments

  @TempDir
  private Path folder;
  private StorageDirectory files;

  private StorageDirectory disk() throws IOException {
    files = StorageDirectory.open(folder);
    return Intercepted.of(StorageDirectory.class, files, (method, arguments, call) -> {
      if (method.getName().equals("create") && used() + (long) arguments[1] > CAPACITY)
        throw new IOException("No space left on device, as the test has asked for");
      return call.pass();
    });
  }

  private long used() throws IOException {
    long bytes = 0;
    for (var name : files.names()) if (name.contains(".log")) bytes += files.size(name);
    return bytes;
  }

  @Test
  void storeOnFullDiskIsCompactedAtOnce() throws Exception {
    try (var store = StoreBackend.of(FolderStore.open(disk(), options -> options.withSegmentBytes(SEGMENT)))) {
      for (int i = 1; i <= 20; i++) {
        int number = i;
        Patience.eventually("turn " + i + " was refused", () -> isStored(store, number));
      }
    }
    try (var store = StoreBackend.of(FolderStore.open(folder))) {
      assertEquals(20, store.load(ADA).lastTurn());
    }
    assertTrue(FolderStore.check(folder).isWhole());
  }

  private static boolean isStored(StoreBackend store, int number) {
    try {
      store.append(TestTurns.turn(ADA, store.load(ADA).life(), number, true, new byte[TURN_BYTES]))
          .toCompletableFuture()
          .join();
      return true;
    } catch (CompletionException failure) {
      if (failure.getCause() instanceof StoreFullException) return false;
      throw failure;
    }
  }
}
