package io.fibry.store.folder.log;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.Store;
import io.fibry.store.StoreDamagedException;
import io.fibry.store.folder.FolderStore;
import io.fibry.store.spi.StoreBackend;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests how a store opens after a power cut, and after a newer version has written its files. */
class TornEndTest {
  private static final Store.ActorId ADA = new Store.ActorId("account", "ada");
  private static final String LOG = "00000001.log";

  @TempDir
  private Path temporary;

  private static FolderStore open(Path folder) {
    return FolderStore.open(folder, options -> options.withSegmentBytes(4096));
  }

  private static void append(StoreBackend store, long life, long number) throws Exception {
    store
        .append(
            new StoreBackend.Turn(ADA, life, number, Instant.EPOCH, false, new byte[] {1, 2, 3}, List.of(), List.of()))
        .toCompletableFuture().get();
  }

  /**
   * Returns the offset of the last frame with records. An idle store also writes frames without
   * records.
   */
  private static int lastFrameWithRecords(long storeId, ByteBuffer log) {
    int lastOffset = 0;
    int offset = Segment.HEADER;
    for (var frame = Frame.readHeader(new Frame.FramePosition(storeId, 1, offset), log.position(offset)); frame != null;
        frame = Frame.readHeader(
            new Frame.FramePosition(storeId, 1, offset), log.position(offset))) {
      if (frame.records() > 0) lastOffset = offset;
      offset += frame.size();
    }
    return lastOffset;
  }

  @Test
  void tornEndOfLogIsSavedToSeparateFile() throws Exception {
    var wholeFolder = temporary.resolve("whole");
    byte[] log;
    try (var store = StoreBackend.of(open(wholeFolder))) {
      long life = store.load(ADA).life();
      append(store, life, 1);
      append(store, life, 2);
      log = Files.readAllBytes(wholeFolder.resolve(LOG));
    }
    byte[] id = Files.readAllBytes(wholeFolder.resolve(StoreIdFile.NAME));
    int begin = lastFrameWithRecords(ByteBuffer.wrap(id).getLong(12), ByteBuffer.wrap(log));
    int end = begin + (int) Frame.sizeFrom(ByteBuffer.wrap(log).getInt(begin));

    for (int cut = begin + 1; cut < end - Frame.ALIGNMENT; cut++) {
      var folder = Files.createDirectory(temporary.resolve("cut-" + cut));
      byte[] torn = log.clone();
      Arrays.fill(torn, cut, torn.length, (byte) 0);
      Files.write(folder.resolve(LOG), torn);
      Files.write(folder.resolve(StoreIdFile.NAME), id);
      int lastByte = LogReader.lastNonZero(ByteBuffer.wrap(torn));
      boolean isBlank = lastByte < begin;
      try (var store = open(folder)) {
        var backend = StoreBackend.of(store);
        assertEquals(1, backend.load(ADA).lastTurn());
        assertEquals(isBlank ? List.of() : List.of("00000001-" + begin + ".torn"), store.health().tornFiles());
        append(backend, backend.load(ADA).life(), 2);
      }
      if (!isBlank) assertArrayEquals(Arrays.copyOfRange(torn, begin, lastByte + 1),
          Files.readAllBytes(folder.resolve("00000001-" + begin + ".torn")));
      try (var store = open(folder)) {
        assertEquals(2, StoreBackend.of(store).load(ADA).lastTurn());
        assertEquals(List.of(), store.health().tornFiles());
      }
    }
  }

  @Test
  void storeOfNewerFormatIsRefused() throws Exception {
    var folder = temporary.resolve("newer");
    open(folder).close();
    writeNewerFormat(folder.resolve(LOG), Segment.HEADER);
    assertRefused(folder, LOG + " is damaged: it has format 2; this version reads format 1");

    writeNewerFormat(folder.resolve(StoreIdFile.NAME), 24);
    assertRefused(folder, " has format 2; this version reads format 1");
  }

  /** Writes a newer format into a header, which ends with a checksum of its other bytes. */
  private static void writeNewerFormat(Path file, int headerSize) throws IOException {
    var bytes = ByteBuffer.wrap(Files.readAllBytes(file)).putInt(8, 2);
    bytes.putInt(headerSize - Integer.BYTES, Checksum.of(bytes.slice(0, headerSize - Integer.BYTES)));
    Files.write(file, bytes.array());
  }

  private static void assertRefused(Path folder, String fact) {
    var failure = assertThrows(StoreDamagedException.class, () -> open(folder));
    assertTrue(failure.getMessage().contains(fact), failure.getMessage());
    assertTrue(failure.getMessage().contains(folder.toString()), failure.getMessage());
  }
}
