package io.fibry.bench.durable;

import io.fibry.store.Store;
import io.fibry.store.folder.FolderStore;
import io.fibry.store.spi.StoreBackend;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Measures how fast a store with many turns opens, beside plain reads of its files. */
final class OpenedStore {
  private static final String OPENED = "fibry, a store is opened";
  private static final String READ = "by hand: its files are read";
  private static final int TURNS_PER_ACTOR = 10;
  private static final int BODY_SIZE = 256; // bytes, as many as PreparedFile writes at once

  private OpenedStore() {}

  static DurableQuestion question() {
    return DurableQuestion.of("durable-opening",
        "to open a store with a million turns of 256 bytes, ten of each actor; all its files are in the page cache",
        OpenedStore::measure, MeasurementBudget.atLeast(0.3, 0.5, "opening", OPENED, READ));
  }

  /** The property {@code size} sets the number of turns, by default a million. */
  static List<RoundMeasurements> measure() throws Exception {
    try (var folder = TemporaryFolder.create()) {
      fill(folder.path(), Integer.getInteger("size", 1_000_000) / TURNS_PER_ACTOR);
      List<Path> logs;
      try (var files = Files.list(folder.path())) {
        logs = files.filter(file -> file.toString().endsWith(".log")).toList();
      }
      double mebibytes = 0;
      for (var log : logs) mebibytes += Files.size(log) / (double) (1 << 20);
      double totalMebibytes = mebibytes;
      return new Rounds().side(OPENED, "MiB/s", () -> totalMebibytes / openingSeconds(folder.path()))
          .side(READ, "MiB/s", () -> totalMebibytes / readingSeconds(logs)).run();
    }
  }

  private static void fill(Path folder, int actors) {
    try (var store = StoreBackend.of(FolderStore.open(folder))) {
      long[] lives = new long[actors];
      for (int i = 0; i < actors; i++) lives[i] = store.load(id(i)).life();
      CompletionStage<Void> lastAppend = CompletableFuture.completedFuture(null);
      for (int number = 1; number <= TURNS_PER_ACTOR; number++)
        for (int i = 0; i < actors; i++)
          lastAppend = store.append(
              new StoreBackend.Turn(id(i), lives[i], number, Instant.now(), false, new byte[BODY_SIZE], List.of(),
                  List.of()));
      lastAppend.toCompletableFuture().join();
    }
  }

  private static Store.ActorId id(int actor) {
    return new Store.ActorId("account", "account-" + actor);
  }

  /** Returns how long it takes to open the store, in seconds. */
  private static double openingSeconds(Path folder) {
    long start = System.nanoTime();
    var store = FolderStore.open(folder);
    double seconds = (System.nanoTime() - start) / 1e9;
    store.close();
    return seconds;
  }

  private static double readingSeconds(List<Path> logs) throws IOException {
    var buffer = new byte[1 << 20];
    long start = System.nanoTime();
    for (var log : logs)
      try (var file = new RandomAccessFile(log.toFile(), "r")) {
        while (file.read(buffer) > 0); // reads the file to its end
      }
    return (System.nanoTime() - start) / 1e9;
  }
}
