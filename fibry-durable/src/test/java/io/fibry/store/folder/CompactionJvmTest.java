package io.fibry.store.folder;

import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Child;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests compaction in a JVM with little memory. */
class CompactionJvmTest {
  private static final int SEGMENT = 16 << 20;

  /** Replaces states until the first file has been rewritten, and then reads the states. */
  static final class Program {
    private static final int ACTORS = 200;

    public static void main(String[] args) throws Exception {
      var firstFile = Path.of(args[0], "00000001.log");
      try (var store =
          StoreBackend
              .of(FolderStore.open(Path.of(args[0]), o -> o.withSegmentBytes(SEGMENT).withMaxPendingBytes(1 << 20)))) {
        var lives = new long[ACTORS];
        for (int i = 0; i < ACTORS; i++) lives[i] = store.load(id(i)).life();
        long number = 0;
        while (Files.exists(firstFile)) {
          CompletionStage<Void> lastAppend = null;
          number++;
          for (int i = 0; i < ACTORS; i++)
            lastAppend = store.append(new StoreBackend.Turn(id(i), lives[i], number, Instant.EPOCH, true,
                ByteBuffer.allocate(50_000).putLong(number).array(), List.of(), List.of()));
          lastAppend.toCompletableFuture().get();
        }
        for (int i = 0; i < ACTORS; i++)
          if (ByteBuffer.wrap(store.load(id(i)).bodies().getFirst()).getLong() != number) throw new AssertionError(i);
      }
      System.out.println("rewritten");
    }

    private static Store.ActorId id(int actor) {
      return new Store.ActorId("actor", "a" + actor);
    }
  }

  @Test
  void compactionRewritesFilesAsLargeAsHeap(@TempDir Path folder) {
    try (var child = Child.java(List.of("-Xmx16m", "-XX:+UseSerialGC"), Program.class, folder.toString())) {
      child.awaitLine("rewritten");
      child.awaitExit(0);
    }
  }
}
