package io.fibry.store.folder.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.store.Store;
import io.fibry.store.StoreDamagedException;
import io.fibry.store.folder.log.Frame;
import io.fibry.store.folder.log.LogRecord;
import io.fibry.store.folder.log.Segment;
import io.fibry.store.spi.StoreBackend;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that two threads that index chunks of a log find the same actors as one thread that indexes
 * record by record.
 */
class IndexBuilderTest {
  private static final int ACTORS = 300;
  private static final int FRAMES = 2_000;

  private final long seed = Long.getLong("fibry.seed", System.nanoTime());
  private final SplittableRandom random = new SplittableRandom(seed);
  private final Map<Long, Store.ActorId> actorsByPosition = new HashMap<>();
  private final Map<Store.ActorId, Long> lastTurns = new HashMap<>();
  private final Map<Store.ActorId, List<String>> pendingIds = new HashMap<>();
  private int messages;

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 100, 1 << 20})
  void chunkedIndexingEqualsSequentialIndexing(int chunk) {
    System.out.println("indexing: -Dfibry.seed=" + seed);
    var log = log();
    var expected = index();
    for (var frame : log) addSequentially(frame, expected);

    var index = index();
    try (var indexing = new IndexBuilder(index, chunk)) {
      for (var frame : log) indexing.read(frame.position, Frame.readHeader(frame.position, frame.bytes), frame.bytes);
      indexing.end();
    }

    for (int i = 0; i < ACTORS; i++) assertEquals(describe(expected, id(i)), describe(index, id(i)), "seed " + seed);
    assertEquals(expected.counts(), index.counts(), "seed " + seed);
  }

  @Test
  void indexingFailureReachesReadingThread() {
    var damage = new StoreDamagedException("an actor cannot be read");
    var index = new LogIndex(() -> "a store", (fingerprint, position) -> {
      throw damage;
    }, InstantSource.system());
    try (var indexing = new IndexBuilder(index, 1)) {
      var failure = assertThrows(StoreDamagedException.class, () -> {
        // Every second turn is missing, so the index must read the actor
        for (int number = 1; number < 10_000; number += 2) {
          var frame = new WrittenFrame(new Frame.FramePosition(1, 1, Segment.HEADER), List.of(turn(id(1), number)));
          indexing.read(frame.position, Frame.readHeader(frame.position, frame.bytes), frame.bytes);
        }
      });

      assertEquals(damage, failure);
    }
  }

  private LogIndex index() {
    return new LogIndex(() -> "a store", (fingerprint, position) -> actorsByPosition.get(position),
        InstantSource.system());
  }

  private static Store.ActorId id(int actor) {
    return new Store.ActorId("account", "a" + actor);
  }

  private static StoreBackend.Turn turn(Store.ActorId id, long number) {
    return new StoreBackend.Turn(id, 1, number, Instant.EPOCH, false, new byte[8], List.of(), List.of());
  }

  // ---- a log

  private static final class WrittenFrame {
    final Frame.FramePosition position;
    final ByteBuffer bytes;
    final List<ByteBuffer> records;

    WrittenFrame(Frame.FramePosition position, List<StoreBackend.Turn> turns) {
      this(turns.stream().map(turn -> LogRecord.bytes(turn, false)).toList(), position);
    }

    WrittenFrame(List<ByteBuffer> records, Frame.FramePosition position) {
      this.position = position;
      this.records = records;
      this.bytes = Frame.ofRecords(1, 0, 0, records).bytes(position);
    }
  }

  private List<WrittenFrame> log() {
    var log = new ArrayList<WrittenFrame>();
    int offset = Segment.HEADER;
    for (int number = 1; number <= FRAMES; number++) {
      var records = new ArrayList<ByteBuffer>();
      int recordOffset = offset + Frame.RECORDS_OFFSET;
      for (int remaining = random.nextInt(1, 8); remaining > 0; remaining--) {
        var id = id(random.nextInt(1 + random.nextInt(ACTORS))); // some actors are chosen often
        var record = record(id);
        actorsByPosition.put(ActorLocation.packPosition(1, recordOffset), id);
        recordOffset = Frame.nextOffset(recordOffset, record);
        records.add(record);
      }
      var frame = new WrittenFrame(records, new Frame.FramePosition(1, 1, offset));
      log.add(frame);
      offset += frame.bytes.remaining();
    }
    return log;
  }

  private ByteBuffer record(Store.ActorId id) {
    if (random.nextInt(8) == 0) return LogRecord.bytes(message(id), 0);
    boolean snapshot = lastTurns.containsKey(id) && random.nextInt(8) == 0;
    long number = snapshot ? lastTurns.get(id) : lastTurns.merge(id, 1L, Long::sum);
    var sends =
        random.nextInt(6) == 0 ? List.of(message(id(random.nextInt(ACTORS)))) : List.<StoreBackend.PendingMessage>of();
    return LogRecord
        .bytes(new StoreBackend.Turn(id, 1, number, Instant.EPOCH, !snapshot && random.nextInt(3) == 0, new byte[8],
            snapshot ? List.of() : handledIds(id), snapshot ? List.of() : sends), snapshot);
  }

  private StoreBackend.PendingMessage message(Store.ActorId to) {
    String id = "m" + messages++;
    pendingIds.computeIfAbsent(to, k -> new ArrayList<>()).add(id);
    return new StoreBackend.PendingMessage(to, id, Instant.EPOCH, new byte[4]);
  }

  private List<String> handledIds(Store.ActorId id) {
    var ids = pendingIds.getOrDefault(id, new ArrayList<>());
    if (ids.isEmpty() || random.nextBoolean()) return List.of();
    return List.of(ids.remove(random.nextInt(ids.size())));
  }

  // ---- comparison

  private static void addSequentially(WrittenFrame frame, LogIndex index) {
    int recordOffset = frame.position.offset() + Frame.RECORDS_OFFSET;
    for (var record : frame.records) {
      index.addRecord(LogRecord.of(record), frame.position.segment(), recordOffset);
      recordOffset = Frame.nextOffset(recordOffset, record);
    }
  }

  private static String describe(LogIndex index, Store.ActorId id) {
    String text = index.withActor(id,
        location -> location.lastTurn() + " " + location.lastFullTurn() + " "
            + Arrays.toString(location.positions()) + " " + location.pendingIds());
    index.expandedActor(id).ifPresent(index::compact);
    return text;
  }
}
