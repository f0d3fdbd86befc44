package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.codec.Codec;
import io.fibry.store.Store;
import io.fibry.store.StoreDamagedException;
import io.fibry.store.folder.FolderStore;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process that copies a store, and is killed. */
class MoveKillTest {
  private static final int TURNS = 50_000;

  record Count() implements Request<Count, Integer> {}

  record Counted() {}

  private static final Durable<Count> COUNTER = Durable.kind("counter", Count.class)
      .events(Counted.class, 0, (Integer n, Counted counted) -> n + 1)
      .by((n, count, context) -> context.reply(count, n));

  /** Copies, and says when it has begun. */
  static final class Copying {
    public static void main(String[] args) throws Exception {
      try (var from = FolderStore.open(Path.of(args[0])); var to = FolderStore.open(Path.of(args[1]))) {
        from.copyTo(to, progress -> System.out.println(progress.turns()));
      }
    }
  }

  @Test
  void aCopyThatWasKilledHasNoActorsAndTheFirstStoreIsWhole(@TempDir Path folder) throws Exception {
    var first = folder.resolve("first");
    var half = folder.resolve("half");
    fill(first);

    var process = new ProcessBuilder(ProcessHandle.current().info().command().orElseThrow(), "-cp",
        System.getProperty("java.class.path"), Copying.class.getName(), first.toString(), half.toString())
        .redirectError(ProcessBuilder.Redirect.INHERIT).start();
    try (var out = process.inputReader()) {
      out.readLine();
      process.toHandle().destroyForcibly();
      process.waitFor();
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
      var ada = new Store.Id("counter", "ada");
      long life = store.load(ada).life();
      CompletionStage<Void> last = CompletableFuture.completedFuture(null);
      for (int i = 1; i <= TURNS; i++)
        last = store.append(new Store.Turn(ada, life, i, Instant.EPOCH, false, event, List.of(), List.of()));
      last.toCompletableFuture().get();
    }
  }
}
