package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.codec.Codec;
import io.fibry.store.Store;
import io.fibry.store.StoreDamagedException;
import io.fibry.store.folder.FolderStore;
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

/** A process that copies a store, and is killed. */
class StoreCopyKillTest {
  private static final int TURNS = 10_000; // more than a page of the history

  record Count() implements Request<Count, Integer> {}

  record Counted() {}

  private static final Durable<Count> COUNTER = Durable.kind("counter", Count.class)
      .events(Counted.class, 0, (Integer n, Counted counted) -> n + 1)
      .handler((n, count, context) -> context.reply(count, n));

  /** Copies, and is paused after it has printed that it has begun. It ends with its parent. */
  static final class Copying {
    public static void main(String[] args) throws Exception {
      try (var from = FolderStore.open(Path.of(args[0])); var to = FolderStore.open(Path.of(args[1]))) {
        from.copyTo(to, progress -> {
          System.out.println("turns: " + progress.turns());
          awaitEnd();
        });
      }
    }

    private static void awaitEnd() {
      try {
        System.in.read();
      } catch (IOException failure) {
        throw new UncheckedIOException(failure);
      }
      Runtime.getRuntime().halt(1);
    }
  }

  @Test
  void killedCopyServesNoActorsAndSourceStaysWhole(@TempDir Path folder) throws Exception {
    var first = folder.resolve("first");
    var half = folder.resolve("half");
    fill(first);

    try (var child = Child.java(List.of(), Copying.class, first.toString(), half.toString())) {
      child.awaitLine(line -> line.startsWith("turns: "));
      child.kill();
    }

    try (var store = FolderStore.open(half)) {
      assertThrows(StoreDamagedException.class, () -> COUNTER.newActor(ActorSystem.named("ada"), store));
    }
    try (var from = FolderStore.open(first); var store = FolderStore.open(folder.resolve("whole"))) {
      from.copyTo(store);
      try (var ada = COUNTER.newActor(ActorSystem.named("ada"), store)) {
        assertEquals(TURNS, ada.ask(new Count()));
      }
    }
  }

  private static void fill(Path folder) throws Exception {
    byte[] event = new Body(Optional.empty(), List.of(Codec.of(Counted.class)
        .encode(new Counted())), List.of()).bytes();
    try (var store = FolderStore.open(folder)) {
      var ada = new Store.ActorId("counter", "ada");
      long life = store.load(ada).life();
      CompletionStage<Void> last = CompletableFuture.completedFuture(null);
      for (int i = 1; i <= TURNS; i++)
        last = store.append(new Store.Turn(ada, life, i, Instant.EPOCH, false, event, List.of(), List.of()));
      last.toCompletableFuture().get();
    }
  }
}
