package io.fibry.store.folder;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.durable.Ledgers;
import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Child;
import io.fibry.support.Intercepted;
import io.fibry.support.Soak;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Checks {@link Ledgers} in a folder that another process takes over again and again. Before each
 * takeover, other code of this process opens and closes the lock file, so that the operating system
 * unlocks the folder. A takeover comes between any two operations of the owner's disk. It does not
 * come within an operation, because the owner reads the id in the lock file only before an
 * operation, and after a sync.
 */
class LedgersInTakenFolderTest {
  private static final int TAKEOVERS = Soak.ON ? 1_000 : 6;
  private static final int MAX_ANSWERS = 100; // before a takeover
  private static final int MAX_STEPS = 30; // of the disk before a takeover
  private static final Duration IDLE = Duration.ofMinutes(5);
  private static final UnaryOperator<FolderStore.Options> SMALL = options -> options.withSegmentBytes(16 * 1024);
  private static final Set<String> CHANGES = Set.of("create", "write", "sync", "rename", "delete", "syncDirectory");
  private static final Store.ActorId TAKEN = new Store.ActorId("taken", "turns"); // has a turn for each takeover

  /**
   * The process that takes the folder over. For each line of its input, opens the folder and stores
   * a turn, or closes the folder.
   */
  static final class Taker {
    public static void main(String[] arguments) throws Exception {
      var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      while (input.readLine() != null) {
        try (var store = FolderStore.open(Path.of(arguments[0]), SMALL)) {
          var backend = StoreBackend.of(store);
          var loaded = backend.load(TAKEN);
          long number = loaded.lastTurn() + 1;
          backend.append(
              new StoreBackend.Turn(TAKEN, loaded.life(), number, Instant.now(), false, new byte[] {1}, List.of(),
                  List.of()))
              .toCompletableFuture().get();
          System.out.println("stored " + number);
          input.readLine();
        }
        System.out.println("closed");
      }
    }
  }

  /** A store in this process that has the folder open, and serves the ledgers until a takeover. */
  private final class Owner {
    private final ActorScope scope = ActorSystem.openScope("ledgers");
    private final FolderStore store;
    private final Ledgers.Addresses addresses;
    private int stepsToTakeover = Integer.MAX_VALUE; // guarded by this object's monitor
    private volatile boolean isTaken;

    Owner() throws IOException {
      var files = StorageDirectory.open(folder);
      var disk = Intercepted.of(StorageDirectory.class, files, (method, arguments, call) -> {
        if (!CHANGES.contains(method.getName())) return call.pass();
        synchronized (this) {
          if (!isTaken && --stepsToTakeover < 0) takeOver();
          return call.pass();
        }
      });
      store = FolderStore.open(disk, SMALL);
      addresses = new Ledgers.Addresses(Ledgers.kind("folder").entities(scope.anonymous(), store, IDLE),
          Ledgers.inboxKind("folder").entities(scope.anonymous(), store, IDLE));
    }

    synchronized void plan(int steps) {
      stepsToTakeover = steps;
    }

    private void takeOver() throws IOException {
      openAndCloseLock();
      tell("open");
      taker.awaitLine("stored " + ++takeovers);
      isTaken = true;
    }

    void close() {
      scope.close();
      store.close();
    }
  }

  @TempDir
  private Path folder;
  private Child taker;
  private volatile Owner owner;
  private volatile int takeovers;

  private void openAndCloseLock() throws IOException {
    Files.readAllBytes(folder.resolve("store.lock")); // on POSIX, the close after this read releases the lock
  }

  private void tell(String line) {
    try {
      taker.input().write((line + "\n").getBytes(StandardCharsets.UTF_8));
      taker.input().flush();
    } catch (IOException ended) {
      throw new UncheckedIOException(taker.output(), ended);
    }
  }

  @Test
  void processThatLostFolderLockAcknowledgesNothing() throws Exception {
    owner = new Owner();
    try (var child = Child.java(List.of(), Taker.class, folder.toString());
        var ledgers = new Ledgers(() -> owner.addresses)) {
      taker = child;
      var random = new SplittableRandom(ledgers.seed());
      for (int i = 1; i <= TAKEOVERS; i++) {
        ledgers.awaitMore(1 + random.nextInt(MAX_ANSWERS));
        if (random.nextBoolean()) openAndCloseLock(); // harmless, as long as no other process opens the folder
        var taken = owner;
        taken.plan(random.nextInt(MAX_STEPS));
        ledgers.await("the takeover", () -> taken.isTaken);
        long answers = ledgers.answerCount();
        // An owner that does not notice the takeover continues to answer
        ledgers.await("the end of the owner",
            () -> taken.store.health().isBroken() || ledgers.answerCount() > answers + MAX_ANSWERS);
        taken.close();
        tell("close");
        taker.awaitLine("closed");
        owner = new Owner();
        assertEquals(i, StoreBackend.of(owner.store).load(TAKEN).lastTurn(), () -> "-Dfibry.seed=" + ledgers.seed());
      }
      ledgers.awaitMore(MAX_ANSWERS);

      ledgers.check(owner.store);
      System.out.println(ledgers);
    } finally {
      owner.close();
    }
  }
}
