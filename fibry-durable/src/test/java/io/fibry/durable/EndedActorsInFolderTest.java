package io.fibry.durable;

import io.fibry.store.Store;
import io.fibry.store.folder.FolderStore;
import io.fibry.store.spi.StoreBackend;
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
    public StoreBackend open() {
      return StoreBackend.of(FolderStore.open(disk, options -> options.withSegmentBytes(SEGMENT).withClock(clock)));
    }

    @Override
    public StoreBackend crash(StoreBackend oldStore) {
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
    fillFiles();
  }

  /**
   * Waits until a compaction has removed a turn of the filler actor. A compaction goes from the
   * oldest turn to the newest, so it has also passed all turns that were stored earlier.
   */
  @Override
  void awaitRemoval() {
    long firstTurn = fillFiles();
    Patience.eventually("no compaction", () -> {
      fillFiles();
      return !hasFillerTurn(firstTurn);
    });
  }

  private boolean hasFillerTurn(long number) {
    try {
      return Histories.read(store, FILLER.kind()).stream().anyMatch(turn -> turn.number() == number);
    } catch (InterruptedException interrupt) {
      throw new AssertionError(interrupt);
    }
  }

  /** Fills files with turns of the filler actor. Returns the number of the first of these turns. */
  private long fillFiles() {
    var loaded = store.load(FILLER);
    for (int i = 1; i <= FILES; i++) {
      var turn = new StoreBackend.Turn(FILLER, loaded.life(), loaded.lastTurn() + i, store.clock().instant(), true,
          new byte[SEGMENT * 3 / 4], List.of(), List.of());
      Patience.value(store.append(turn).toCompletableFuture());
    }
    store.endLife(FILLER, loaded.life());
    return loaded.lastTurn() + 1;
  }
}
