package io.fibry.store.folder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Child;
import io.fibry.support.Patience;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that only one process at a time writes to a folder, and that only the user of this process
 * can read the folder.
 */
class FolderLockTest {
  private static final Store.ActorId ADA = new Store.ActorId("account", "ada");

  @TempDir
  private Path temporary;
  private Path folder;

  @BeforeEach
  void nameFolder() {
    folder = temporary.resolve("data").resolve("store");
  }

  /**
   * Opens a store and waits until it has created its next segment in advance. Otherwise another
   * process could find that file unfinished, and this process could delete it.
   */
  private LogStore openedWithNextSegment() {
    var store = (LogStore) FolderStore.open(folder);
    Patience.eventually(() -> Files.exists(folder.resolve("00000002.log")));
    return store;
  }

  private static StoreBackend.Turn turn(long life, long number) {
    return new StoreBackend.Turn(ADA, life, number, Instant.now(), false, new byte[] {1}, List.of(), List.of());
  }

  private static void append(StoreBackend store, long life, long number) throws Exception {
    store.append(turn(life, number)).toCompletableFuture().get();
  }

  private Throwable refusal(StoreBackend store, long life, long number) {
    return assertThrows(ExecutionException.class, () -> append(store, life, number)).getCause();
  }

  private static String causes(Throwable failure) {
    return failure == null ? "" : failure.getMessage() + "; " + causes(failure.getCause());
  }

  /** Opens a store, stores the next turn of an actor, and keeps the store open. */
  static final class Taker {
    public static void main(String[] args) throws Exception {
      try (var store = (LogStore) FolderStore.open(Path.of(args[0]))) {
        var loaded = store.load(ADA);
        append(store, loaded.life(), loaded.lastTurn() + 1);
        System.out.println("stored after " + loaded.lastTurn());
        System.in.read();
      }
    }
  }

  @Test
  void storeThatLostItsLockAcknowledgesNothing() throws Exception {
    var store = openedWithNextSegment();
    long life = store.load(ADA).life();
    append(store, life, 1);
    Files.readAllBytes(folder.resolve("store.lock")); // on POSIX, the close after this read releases the lock

    append(store, life, 2); // succeeds, because no other process has taken the folder
    try (var taker = Child.java(List.of(), Taker.class, folder.toString())) {
      taker.awaitLine("stored after 2");

      String text = causes(refusal(store, life, 3));
      assertContains(" was locked by process " + taker.handle().pid() + ", because", text);
      store.close();
    }
    try (var reopened = (LogStore) FolderStore.open(folder)) {
      assertEquals(3, reopened.load(ADA).lastTurn()); // all turns that either process acknowledged
    }
  }

  @Test
  void storeWithDeletedLockAcknowledgesNothing() throws Exception {
    assumeTrue(isPosix());
    var store = openedWithNextSegment();
    long life = store.load(ADA).life();
    append(store, life, 1);
    Files.delete(folder.resolve("store.lock"));
    try (var taker = Child.java(List.of(), Taker.class, folder.toString())) {
      taker.awaitLine("stored after 1");

      String text = causes(refusal(store, life, 2));
      assertContains(" was locked by process " + taker.handle().pid() + ", because", text);
      assertTrue(store.health().isBroken());
      store.close();
    }
  }

  @Test
  void storageDirectoryWithDeletedLockCreatesNoFile() throws Exception {
    assumeTrue(isPosix());
    try (var disk = StorageDirectory.open(folder)) {
      disk.create("a", 10);
      Files.delete(folder.resolve("store.lock"));

      String text = assertThrows(IOException.class, () -> disk.create("b", 10)).getMessage();
      assertContains(folder + " is no longer locked, because store.lock was deleted", text);

      Files.writeString(folder.resolve("store.lock"), "12 other");
      text = assertThrows(IOException.class, () -> disk.create("b", 10)).getMessage();
      assertContains(folder + " was locked by process 12, because store.lock was deleted", text);
    }
  }

  @Test
  void newFolderIsReadableOnlyByItsUser() throws Exception {
    assumeTrue(isPosix());
    try (var store = (LogStore) FolderStore.open(folder)) {
      append(store, store.load(ADA).life(), 1);
    }
    try (Stream<Path> files = Files.walk(temporary)) {
      for (var path : files.filter(file -> !file.equals(temporary)).toList())
        assertEquals(Files.isDirectory(path) ? "rwx------" : "rw-------",
            PosixFilePermissions.toString(Files.getPosixFilePermissions(path)), path.toString());
    }
  }

  private boolean isPosix() {
    return temporary.getFileSystem().supportedFileAttributeViews().contains("posix");
  }

  private static void assertContains(String part, String text) {
    assertEquals(part, text.contains(part) ? part : text);
  }
}
