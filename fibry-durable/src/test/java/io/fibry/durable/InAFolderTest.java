package io.fibry.durable;

import io.fibry.store.Store;
import io.fibry.store.folder.FolderStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class InAFolderTest extends DurableContract {
  @TempDir
  private Path folder;

  @Override
  Store open() {
    return FolderStore.open(folder.resolve("before"), options -> options.withSegment(1 << 16));
  }

  /** A copy of the files while the store is open, as a crash would leave them. */
  @Override
  Store crash(Store before) throws IOException {
    var copy = Files.createDirectory(folder.resolve("after"));
    try (var files = Files.list(folder.resolve("before"))) {
      for (var file : files.filter(InAFolderTest::isReady).toList())
        Files.copy(file, copy.resolve(file.getFileName()));
    }
    before.close();
    return FolderStore.open(copy, options -> options.withSegment(1 << 16));
  }

  private static boolean isReady(Path file) {
    String name = file.getFileName().toString();
    return !name.equals("store.lock") && !name.endsWith(".new");
  }
}
