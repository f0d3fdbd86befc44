package io.fibry.store.folder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.store.Store;
import io.fibry.store.StoreDamagedException;
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

/** Two threads that read in chunks find the same as one thread that reads record by record. */
class IndexingTest {
  private static final int ACTORS = 300;
  private static final int FRAMES = 2_000;

  private final long seed = Long.getLong("fibry.seed", System.nanoTime());
  private final SplittableRandom random = new SplittableRandom(seed);
  private final Map<Long, Store.ActorId> places = new HashMap<>();
  private final Map<Store.ActorId, Long> last = new HashMap<>();
  private final Map<Store.ActorId, List<String>> waiting = new HashMap<>();
  private int messages;

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 100, 1 << 20})
  void chunkedIndexingEqualsSequentialIndexing(int chunk) {
    System.out.println("indexing: -Dfibry.seed=" + seed);
    var log = log();
    var expected = index();
    for (var frame : log) each(frame, expected);

    var index = index();
    try (var indexing = new IndexBuilder(index, chunk)) {
      for (var frame : log) indexing.read(frame.place, Frame.readHeader(frame.place, frame.bytes), frame.bytes);
      indexing.end();
    }

    for (int i = 0; i < ACTORS; i++) assertEquals(known(expected, id(i)), known(index, id(i)), "seed " + seed);
    assertEquals(expected.counts(), index.counts(), "seed " + seed);
  }

  @Test
  void indexingFailureReachesReadingThread() {
    var damage = new StoreDamagedException("an actor cannot be read");
    var index = new LogIndex(() -> "a store", (print, place) -> {
      throw damage;
    }, InstantSource.system());
    try (var indexing = new IndexBuilder(index, 1)) {
      var failure = assertThrows(StoreDamagedException.class, () -> {
        for (int number = 1; number < 10_000; number += 2) { // each second one is missing, so its actor is read
          var frame = new Written(new Frame.FramePosition(1, 1, Segment.HEADER), List.of(turn(id(1), number)));
          indexing.read(frame.place, Frame.readHeader(frame.place, frame.bytes), frame.bytes);
        }
      });

      assertEquals(damage, failure);
    }
  }

  private LogIndex index() {
    return new LogIndex(() -> "a store", (print, place) -> places.get(place), InstantSource.system());
  }

  private static Store.ActorId id(int actor) {
    return new Store.ActorId("account", "a" + actor);
  }

  private static Store.Turn turn(Store.ActorId id, long number) {
    return new Store.Turn(id, 1, number, Instant.EPOCH, false, new byte[8], List.of(), List.of());
  }

  // ---- a log

  private static final class Written {
    final Frame.FramePosition place;
    final ByteBuffer bytes;
    final List<ByteBuffer> records;

    Written(Frame.FramePosition place, List<Store.Turn> turns) {
      this(turns.stream().map(turn -> LogRecord.bytes(turn, false)).toList(), place);
    }

    Written(List<ByteBuffer> records, Frame.FramePosition place) {
      this.place = place;
      this.records = records;
      this.bytes = Frame.ofRecords(1, 0, 0, records).bytes(place);
    }
  }

  private List<Written> log() {
    var log = new ArrayList<Written>();
    int offset = Segment.HEADER;
    for (int number = 1; number <= FRAMES; number++) {
      var records = new ArrayList<ByteBuffer>();
      int at = offset + Frame.RECORDS_OFFSET;
      for (int left = random.nextInt(1, 8); left > 0; left--) {
        var id = id(random.nextInt(1 + random.nextInt(ACTORS))); // some often
        var record = record(id);
        places.put(ActorLocation.packPosition(1, at), id);
        at = Frame.nextOffset(at, record);
        records.add(record);
      }
      var frame = new Written(records, new Frame.FramePosition(1, 1, offset));
      log.add(frame);
      offset += frame.bytes.remaining();
    }
    return log;
  }

  private ByteBuffer record(Store.ActorId id) {
    if (random.nextInt(8) == 0) return LogRecord.bytes(message(id), 0);
    boolean snapshot = last.containsKey(id) && random.nextInt(8) == 0;
    long number = snapshot ? last.get(id) : last.merge(id, 1L, Long::sum);
    var sends = random.nextInt(6) == 0 ? List.of(message(id(random.nextInt(ACTORS)))) : List.<Store.PendingMessage>of();
    return LogRecord
        .bytes(new Store.Turn(id, 1, number, Instant.EPOCH, !snapshot && random.nextInt(3) == 0, new byte[8],
            snapshot ? List.of() : done(id), snapshot ? List.of() : sends), snapshot);
  }

  private Store.PendingMessage message(Store.ActorId to) {
    String id = "m" + messages++;
    waiting.computeIfAbsent(to, none -> new ArrayList<>()).add(id);
    return new Store.PendingMessage(to, id, Instant.EPOCH, new byte[4]);
  }

  private List<String> done(Store.ActorId id) {
    var all = waiting.getOrDefault(id, new ArrayList<>());
    if (all.isEmpty() || random.nextBoolean()) return List.of();
    return List.of(all.remove(random.nextInt(all.size())));
  }

  // ---- what is known

  private static void each(Written frame, LogIndex index) {
    int at = frame.place.offset() + Frame.RECORDS_OFFSET;
    for (var record : frame.records) {
      index.addRecord(LogRecord.of(record), frame.place.segment(), at);
      at = Frame.nextOffset(at, record);
    }
  }

  private static String known(LogIndex index, Store.ActorId id) {
    String known = index.withActor(id,
        where -> where.lastTurn() + " " + where.lastFullTurn() + " " + Arrays.toString(where.positions()) + " "
            + where.pendingIds());
    index.expandedActor(id).ifPresent(index::compact);
    return known;
  }
}
