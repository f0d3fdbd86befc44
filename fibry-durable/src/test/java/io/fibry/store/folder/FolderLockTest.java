package io.fibry.store.folder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fibry.store.Store;
import io.fibry.support.Child;
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

/** One process writes into a folder, and only its user reads it. */
class FolderLockTest {
  private static final Store.ActorId ADA = new Store.ActorId("account", "ada");

  @TempDir
  private Path temporary;
  private Path folder;

  @BeforeEach
  void nameTheFolder() {
    folder = temporary.resolve("data").resolve("store");
  }

  private static Store.Turn turn(long life, long number) {
    return new Store.Turn(ADA, life, number, Instant.now(), false, new byte[] {1}, List.of(), List.of());
  }

  private static void append(Store store, long life, long number) throws Exception {
    store.append(turn(life, number)).toCompletableFuture().get();
  }

  private Throwable refusal(Store store, long life, long number) {
    return assertThrows(ExecutionException.class, () -> append(store, life, number)).getCause();
  }

  private static String causes(Throwable failure) {
    return failure == null ? "" : failure.getMessage() + "; " + causes(failure.getCause());
  }

  /** Opens a store, stores a turn more than there is, and keeps the store open. */
  static final class Taker {
    public static void main(String[] args) throws Exception {
      try (var store = FolderStore.open(Path.of(args[0]))) {
        var loaded = store.load(ADA);
        append(store, loaded.life(), loaded.lastTurn() + 1);
        System.out.println("stored after " + loaded.lastTurn());
        System.in.read();
      }
    }
  }

  @Test
  void storeThatLostItsLockAcknowledgesNothing() throws Exception {
    var store = FolderStore.open(folder);
    long life = store.load(ADA).life();
    append(store, life, 1);
    Files.readAllBytes(folder.resolve("store.lock")); // when it closes the file, the system releases the lock

    append(store, life, 2); // no other process has taken the folder
    try (var taker = Child.java(List.of(), Taker.class, folder.toString())) {
      taker.awaitLine("stored after 2");

      String said = causes(refusal(store, life, 3));
      assertContains(" was locked by process " + taker.handle().pid() + ", because", said);
      store.close();
    }
    try (var again = FolderStore.open(folder)) {
      assertEquals(3, again.load(ADA).lastTurn()); // each turn that either of the two acknowledged
    }
  }

  @Test
  void storeWithDeletedLockAcknowledgesNothing() throws Exception {
    assumeTrue(isPosix());
    var store = FolderStore.open(folder);
    long life = store.load(ADA).life();
    append(store, life, 1);
    Files.delete(folder.resolve("store.lock"));
    try (var taker = Child.java(List.of(), Taker.class, folder.toString())) {
      taker.awaitLine("stored after 1");

      String said = causes(refusal(store, life, 2));
      assertContains(" was locked by process " + taker.handle().pid() + ", because", said);
      assertTrue(store.health().isBroken());
      store.close();
    }
  }

  @Test
  void aStoreWhoseLockWasDeletedMakesNoFile() throws Exception {
    assumeTrue(isPosix());
    try (var disk = StorageDirectory.open(folder)) {
      disk.create("a", 10);
      Files.delete(folder.resolve("store.lock"));

      String said = assertThrows(IOException.class, () -> disk.create("b", 10)).getMessage();
      assertContains(folder + " is not locked any more, because somebody deleted store.lock", said);

      Files.writeString(folder.resolve("store.lock"), "12 other");
      said = assertThrows(IOException.class, () -> disk.create("b", 10)).getMessage();
      assertContains(folder + " was locked by process 12, because somebody deleted store.lock", said);
    }
  }

  @Test
  void aNewFolderCanBeReadByItsUserOnly() throws Exception {
    assumeTrue(isPosix());
    try (var store = FolderStore.open(folder)) {
      append(store, store.load(ADA).life(), 1);
    }
    try (Stream<Path> files = Files.walk(temporary)) {
      for (var one : files.filter(file -> !file.equals(temporary)).toList())
        assertEquals(Files.isDirectory(one) ? "rwx------" : "rw-------",
            PosixFilePermissions.toString(Files.getPosixFilePermissions(one)), one.toString());
    }
  }

  private boolean isPosix() {
    return temporary.getFileSystem().supportedFileAttributeViews().contains("posix");
  }

  private static void assertContains(String part, String text) {
    assertEquals(part, text.contains(part) ? part : text);
  }
}
