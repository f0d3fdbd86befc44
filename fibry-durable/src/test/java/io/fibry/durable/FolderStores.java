package io.fibry.durable;

import io.fibry.store.folder.FolderStore;
import io.fibry.store.spi.StoreBackend;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;

/** A store in a folder. A copy of the files simulates a crash. */
record FolderStores(Path folder, InstantSource clock) implements TestStores {

  @Override
  public StoreBackend open() {
    return open(folder.resolve("before"));
  }

  /** Opens a store with files so large that none is rewritten while they are copied. */
  private StoreBackend open(Path path) {
    return StoreBackend.of(FolderStore.open(path, options -> options.withSegmentBytes(1 << 22).withClock(clock)));
  }

  /** Copies the files while the store is open, and opens the copy. */
  @Override
  public StoreBackend crash(StoreBackend oldStore) throws IOException {
    var copy = Files.createTempDirectory(folder, "after");
    var current = Path.of(oldStore.toString().substring("the store in ".length()));
    try (var files = Files.list(current)) { // in their order, because each file is filled before the next is written
      for (var file : files.filter(FolderStores::isReady).sorted().toList())
        Files.copy(file, copy.resolve(file.getFileName()));
    }
    oldStore.close();
    return open(copy);
  }

  private static boolean isReady(Path file) {
    String name = file.getFileName().toString();
    return !name.equals("store.lock") && !name.endsWith(".new");
  }
}
