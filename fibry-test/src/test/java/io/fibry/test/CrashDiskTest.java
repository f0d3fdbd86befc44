package io.fibry.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.Request;
import io.fibry.RequestOutcome;
import io.fibry.durable.Durable;
import io.fibry.durable.StorageFailedException;
import io.fibry.store.folder.FolderStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class CrashDiskTest {
  record Count() implements Request<Count, Long> {}

  private static final Durable<Count> COUNTER = Durable.kind("counter", Count.class).state(0L)
      .handler((n, count, context) -> {
        context.reply(count, n + 1);
        return n + 1;
      });

  private static FolderStore open(CrashDisk disk) {
    return FolderStore.open(disk, options -> options.withSegmentBytes(1 << 16));
  }

  @Test
  void effectOfAnsweredRequestSurvivesPowerCut() {
    long seed = System.nanoTime();
    // @start region="disk"
    var disk = CrashDisk.empty();
    try (var scope = TestScope.fibers(); var store = open(disk)) {
      var before = COUNTER.newActor(scope.named("home"), store);
      assertEquals(1, before.ask(new Count()));

      var after = disk.cutPower(seed);

      try (var again = TestScope.fibers(); var stored = open(after)) {
        assertEquals(2, COUNTER.newActor(again.named("home"), stored).ask(new Count()), "seed " + seed);
      }
    }
    // @end
  }

  @Test
  void failedSyncFailsRequestWithUnknownOutcome() {
    var disk = CrashDisk.empty();
    try (var scope = TestScope.fibers(); var store = open(disk)) {
      var counter = COUNTER.newActor(scope.named("home"), store);
      counter.ask(new Count());
      disk.beforeOperation(operation -> {
        if (operation.equals("sync")) throw new UncheckedIOException(new IOException("made up, for a test"));
      });

      assertEquals(RequestOutcome.UNKNOWN,
          assertThrows(StorageFailedException.class, () -> counter.ask(new Count())).outcome());
    }
  }

  @Test
  void anySubsetOfUnsyncedBytesMaySurvivePowerCut() throws IOException {
    var disk = CrashDisk.empty();
    disk.create("file", 1024);
    disk.syncDirectory();
    disk.write("file", 511, ByteBuffer.wrap(new byte[] {1, 1}));
    disk.write("file", 511, ByteBuffer.wrap(new byte[] {2}));

    var contents = new HashSet<String>();
    disk.forEachCrashState(100, 1, image -> contents.add(contents(image)));

    assertEquals(Set.of("00", "01", "10", "11", "20", "21"), contents);
    disk.sync("file");
    assertEquals("21", contents(disk.cutPower(1)));
  }

  @Test
  void fileUsesMemoryOnlyForWrittenBytes() throws IOException {
    long size = 64L << 30;
    var disk = CrashDisk.empty();
    disk.create("file", size);
    disk.syncDirectory();
    disk.write("file", size - 1, ByteBuffer.wrap(new byte[] {7}));
    disk.sync("file");

    var diskAfterCut = disk.cutPower(1);
    var end = ByteBuffer.allocate(10);
    diskAfterCut.read("file", size - 3, end);

    assertEquals(size, diskAfterCut.size("file"));
    assertEquals(ByteBuffer.wrap(new byte[] {0, 0, 7}), end.flip());
    var failure = assertThrows(IndexOutOfBoundsException.class,
        () -> diskAfterCut.write("file", size - 1, ByteBuffer.allocate(2)));
    assertEquals("2 bytes at 68719476735 do not fit into a file of 68719476736 bytes", failure.getMessage());
  }

  @Test
  void bytesOfTruncatedFileAreZeroAfterItGrowsAgain() throws IOException {
    var disk = CrashDisk.empty();
    disk.create("file", 2_000);
    disk.write("file", 0, ByteBuffer.wrap("x".repeat(2_000).getBytes(StandardCharsets.US_ASCII)));

    disk.truncate("file", 1_000);
    disk.truncate("file", 1_500);
    disk.flipBit("file", 8_000);

    var bytes = ByteBuffer.allocate(1_600);
    disk.read("file", 0, bytes);
    assertEquals("x".repeat(1_000) + "\1" + "\0".repeat(499),
        StandardCharsets.US_ASCII.decode(bytes.flip()).toString());
  }

  private static String contents(CrashDisk disk) {
    var bytes = ByteBuffer.allocate(2);
    try {
      disk.read("file", 511, bytes);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    return "" + bytes.get(0) + bytes.get(1);
  }

  @Test
  void unsyncedRenameMayBeLost() throws IOException {
    var disk = CrashDisk.empty();
    disk.create("a", 1);
    disk.syncDirectory();
    disk.rename("a", "b");
    disk.create("c", 1);

    var names = new HashSet<String>();
    disk.forEachCrashState(100, 1, image -> names.add(image.names().toString()));

    assertEquals(Set.of("[a]", "[b]", "[a, c]", "[b, c]"), names);
  }
}
