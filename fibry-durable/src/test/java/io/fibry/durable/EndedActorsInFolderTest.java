package io.fibry.durable;

import io.fibry.store.Store;
import io.fibry.store.folder.FolderStore;
import io.fibry.support.Patience;
import io.fibry.test.CrashDisk;
import java.time.InstantSource;
import java.util.List;

/** Tests ended actors in a folder with small files, which are rewritten often. */
class EndedActorsInFolderTest extends EndedActorsContract {
  private static final int SEGMENT = 1 << 14;
  private static final int FILES = 6; // compaction begins when four are full
  private static final Store.ActorId FILLER = new Store.ActorId("filler", "f");

  /** A folder on a simulated disk. A crash is a power cut. */
  private static final class Disks implements TestStores {
    private final InstantSource clock;
    private CrashDisk disk = CrashDisk.empty();

    Disks(InstantSource clock) {
      this.clock = clock;
    }

    @Override
    public Store open() {
      return FolderStore.open(disk, options -> options.withSegmentBytes(SEGMENT).withClock(clock));
    }

    @Override
    public Store crash(Store oldStore) {
      var diskAfterCut = disk.cutPower(1);
      oldStore.close();
      disk = diskAfterCut;
      return open();
    }
  }

  EndedActorsInFolderTest() {
    super((folder, clock) -> new Disks(clock));
  }

  @Override
  void removePassed() {
    var loaded = store.load(FILLER);
    for (int i = 1; i <= FILES; i++) {
      var turn = new Store.Turn(FILLER, loaded.life(), loaded.lastTurn() + i, store.clock().instant(), true,
          new byte[SEGMENT * 3 / 4], List.of(), List.of());
      Patience.value(store.append(turn).toCompletableFuture());
    }
    store.endLife(FILLER, loaded.life());
  }
}
