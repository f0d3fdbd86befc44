package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.codec.Codec;
import io.fibry.durable.storage.Body;
import io.fibry.store.Store;
import io.fibry.store.StoreDamagedException;
import io.fibry.store.folder.FolderStore;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Child;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a store whose copy to another store was interrupted because its process was killed. */
class StoreCopyKillTest {
  private static final int TURNS = 10_000; // more than a page of the history

  record Count() implements Request<Count, Integer> {}

  record Counted() {}

  private static final Durable<Count> COUNTER = Durable.kind("counter", Count.class)
      .events(Counted.class, 0, (Integer n, Counted counted) -> n + 1)
      .handler((n, count, context) -> context.reply(count, n));

  /** Copies a store. Waits after the first progress report, and ends when its parent has ended. */
  static final class CopyProgram {
    public static void main(String[] args) throws Exception {
      try (var source = FolderStore.open(Path.of(args[0])); var target = FolderStore.open(Path.of(args[1]))) {
        source.copyTo(target, progress -> {
          System.out.println("turns: " + progress.turns());
          awaitEndOfParent();
        });
      }
    }

    private static void awaitEndOfParent() {
      try {
        System.in.read();
      } catch (IOException failure) {
        throw new UncheckedIOException(failure);
      }
      Runtime.getRuntime().halt(1);
    }
  }

  @Test
  void copyKilledHalfwayRefusesActorsAndKeepsSourceIntact(@TempDir Path folder) throws Exception {
    var source = folder.resolve("first");
    var unfinished = folder.resolve("half");
    fill(source);

    try (var child = Child.java(List.of(), CopyProgram.class, source.toString(), unfinished.toString())) {
      child.awaitLine(line -> line.startsWith("turns: "));
      child.kill();
    }

    try (var store = FolderStore.open(unfinished)) {
      assertThrows(StoreDamagedException.class, () -> COUNTER.newActor(ActorSystem.named("ada"), store));
    }
    try (var store = FolderStore.open(source); var copy = FolderStore.open(folder.resolve("whole"))) {
      store.copyTo(copy);
      try (var ada = COUNTER.newActor(ActorSystem.named("ada"), copy)) {
        assertEquals(TURNS, ada.ask(new Count()));
      }
    }
  }

  private static void fill(Path folder) throws Exception {
    byte[] event = new Body(Optional.empty(), List.of(Codec.of(Counted.class)
        .encode(new Counted())), List.of()).bytes();
    try (var store = StoreBackend.of(FolderStore.open(folder))) {
      var ada = new Store.ActorId("counter", "ada");
      long life = store.load(ada).life();
      CompletionStage<Void> lastAppend = CompletableFuture.completedFuture(null);
      for (int i = 1; i <= TURNS; i++)
        lastAppend =
            store.append(new StoreBackend.Turn(ada, life, i, Instant.EPOCH, false, event, List.of(), List.of()));
      lastAppend.toCompletableFuture().get();
    }
  }
}
