package io.fibry.durable;

import io.fibry.store.Store;
import io.fibry.store.folder.FolderStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;

/** A store in a folder, and what a crash leaves of it. */
record Folders(Path folder, InstantSource clock) implements TestStores {

  @Override
  public Store open() {
    return open(folder.resolve("before"));
  }

  /** Its files are too large to be rewritten while they are copied. */
  private Store open(Path where) {
    return FolderStore.open(where, options -> options.withSegmentBytes(1 << 22).withClock(clock));
  }

  /** A copy of the files while the store is open, as a crash would leave them. */
  @Override
  public Store crash(Store before) throws IOException {
    var copy = Files.createTempDirectory(folder, "after");
    var now = Path.of(before.toString().substring("the store in ".length()));
    try (var files = Files.list(now)) { // in their order, as none is written before the one in front of it is full
      for (var file : files.filter(Folders::isReady).sorted().toList())
        Files.copy(file, copy.resolve(file.getFileName()));
    }
    before.close();
    return open(copy);
  }

  private static boolean isReady(Path file) {
    String name = file.getFileName().toString();
    return !name.equals("store.lock") && !name.endsWith(".new");
  }
}
