package io.fibry.bench.durable;

import io.fibry.ActorSystem;
import io.fibry.store.folder.FolderStore;
import io.fibry.store.folder.StorageDirectory;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Shows why a few requests to a durable actor take much longer than most. Each round asks a durable
 * actor once, writes and syncs 256 bytes by hand, and asks an actor in memory once. So all sides
 * see the same disk and the same load. The time of the syncs in a request comes from the store.
 */
final class SlowAsks {
  private static final String FILE = "prepared";
  private static final int FILE_SIZE = 16 << 20;
  private static final int RECORD_SIZE = 256;

  private SlowAsks() {}

  /** Prints the percentiles of each side. An argument is the number of rounds, by default 4,000. */
  public static void main(String[] arguments) throws Exception {
    measure(arguments.length == 0 ? 4_000 : Integer.parseInt(arguments[0])).forEach(System.out::println);
  }

  /** Returns a line for each side. */
  static List<String> measure(int rounds) throws Exception {
    try (var folder = TemporaryFolder.create();
        var disk = StorageDirectory.open(folder.path().resolve("file"));
        var store = FolderStore.open(folder.path().resolve("store"));
        var scope = ActorSystem.openScope("slow")) {
      disk.create(FILE, FILE_SIZE);
      var bytes = ByteBuffer.allocateDirect(RECORD_SIZE);
      var durable = CountingActors.COUNTER.newActor(scope.named("counter"), store);
      var inMemory = CountingActors.inMemory(scope.anonymous());
      var asks = new long[rounds];
      var syncs = new long[rounds];
      var others = new long[rounds];
      var byHand = new long[rounds];
      var memoryAsks = new long[rounds];
      for (int i = -rounds / 2; i < rounds; i++) {
        int round = Math.max(0, i); // warm-up rounds are overwritten
        long syncedBefore = store.health().syncs().total().toNanos();
        long start = System.nanoTime();
        durable.ask(new CountingActors.Count());
        asks[round] = System.nanoTime() - start;
        syncs[round] = store.health().syncs().total().toNanos() - syncedBefore;
        others[round] = asks[round] - syncs[round];
        start = System.nanoTime();
        disk.write(FILE, (long) round * RECORD_SIZE % FILE_SIZE, bytes.putLong(0, i));
        disk.sync(FILE);
        byHand[round] = System.nanoTime() - start;
        start = System.nanoTime();
        inMemory.ask(new CountingActors.Count());
        memoryAsks[round] = System.nanoTime() - start;
      }
      return List.of(line("a request to a durable actor", asks), line("its sync", syncs),
          line("the rest of the request", others), line("by hand: a write and a sync", byHand),
          line("a request to an actor in memory", memoryAsks));
    }
  }

  private static String line(String side, long[] nanos) {
    Arrays.sort(nanos);
    return String.format(Locale.ROOT, "%-32s p50 %7.3f ms, p90 %7.3f ms, p99 %7.3f ms", side, percentile(nanos, 50),
        percentile(nanos, 90), percentile(nanos, 99));
  }

  private static double percentile(long[] sortedNanos, int percent) {
    return sortedNanos[(int) (sortedNanos.length * (long) percent / 100)] / 1e6;
  }
}
