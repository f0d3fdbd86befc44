package io.fibry.bench.durable;

import io.fibry.store.Store;
import io.fibry.store.folder.FolderStore;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** How fast a store with many turns opens, beside plain reading of its files. */
final class OpenedStore {
  private static final String OPENED = "fibry, a store is opened";
  private static final String READ = "by hand: its files are read";
  private static final int EACH = 10; // turns of an actor
  private static final int BODY = 256; // as PreparedFile writes

  private OpenedStore() {}

  static DurableQuestion question() {
    return DurableQuestion.of("durable-opening",
        "to open a store with a million turns of 256 bytes, ten of each actor; all its files are in memory",
        OpenedStore::measure, FigureBudget.atLeast(0.3, 0.5, "opening", OPENED, READ));
  }

  /** {@code -Dsize} turns. */
  static List<RoundFigures> measure() throws Exception {
    try (var folder = TemporaryFolder.create()) {
      fill(folder.path(), Integer.getInteger("size", 1_000_000) / EACH);
      List<Path> logs;
      try (var files = Files.list(folder.path())) {
        logs = files.filter(file -> file.toString().endsWith(".log")).toList();
      }
      double megabytes = 0;
      for (var log : logs) megabytes += Files.size(log) / (double) (1 << 20);
      double all = megabytes;
      return new Rounds().side(OPENED, "MB/s", () -> all / open(folder.path()))
          .side(READ, "MB/s", () -> all / read(logs)).run();
    }
  }

  private static void fill(Path folder, int actors) {
    try (var store = FolderStore.open(folder)) {
      long[] lives = new long[actors];
      for (int i = 0; i < actors; i++) lives[i] = store.load(id(i)).life();
      CompletionStage<Void> last = CompletableFuture.completedFuture(null);
      for (int number = 1; number <= EACH; number++)
        for (int i = 0; i < actors; i++)
          last = store.append(
              new Store.Turn(id(i), lives[i], number, Instant.now(), false, new byte[BODY], List.of(), List.of()));
      last.toCompletableFuture().join();
    }
  }

  private static Store.ActorId id(int actor) {
    return new Store.ActorId("account", "account-" + actor);
  }

  /** In seconds. */
  private static double open(Path folder) {
    long began = System.nanoTime();
    var store = FolderStore.open(folder);
    double took = (System.nanoTime() - began) / 1e9;
    store.close();
    return took;
  }

  private static double read(List<Path> logs) throws IOException {
    var into = new byte[1 << 20];
    long began = System.nanoTime();
    for (var log : logs)
      try (var file = new RandomAccessFile(log.toFile(), "r")) {
        while (file.read(into) > 0); // the next part
      }
    return (System.nanoTime() - began) / 1e9;
  }
}
