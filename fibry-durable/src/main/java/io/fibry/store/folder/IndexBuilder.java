package io.fibry.store.folder;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Reads the records of a log into an index. For most records it makes no object. The thread that
 * reads the log fills chunks, and another thread puts them into the index, one after the other. A
 * chunk is of the first until it is handed over, then of the other until it is put.
 *
 * <p>Records are put stripe by stripe, many at a time: one after the other, each would wait for
 * memory, since the next one is of another actor. Those of one actor keep their order.
 */
final class IndexBuilder implements LogReader.FrameReader, AutoCloseable {
  private static final int WIDTH = 4; // longs of a record: as it is in a stripe
  private static final int MAX_CHUNK = 1 << 15; // records
  private static final int MIN_CHUNK = 128; // where the first one begins to grow
  private static final int CHUNKS = 4;
  private static final int MAX_BATCH = 256; // of one stripe
  private static final int FULL_STATE = 1; // flags of a record, behind its number
  private static final int OTHER = 2;
  private static final int FLAGS = 2; // bits

  /** Records in their order, as numbers, and those records of which the index needs more. */
  private static final class RecordChunk {
    long[] numbers;
    int end;
    final Queue<LogRecord> others = new ArrayDeque<>();
    CompletableFuture<Void> done = CompletableFuture.completedFuture(null); // it may be filled again

    RecordChunk(int size) {
      numbers = new long[size * WIDTH];
    }

    void add(long high, long low, long last, long place) {
      if (end == numbers.length) numbers = Arrays.copyOf(numbers, 2 * end);
      numbers[end] = high;
      numbers[end + 1] = low;
      numbers[end + 2] = last;
      numbers[end + 3] = place;
      end += WIDTH;
    }
  }

  private final LogIndex index;
  private final int chunkSize; // records of a chunk
  private final ExecutorService thread = Executors
      .newSingleThreadExecutor(Thread.ofPlatform().daemon().name("fibry-opening").factory());
  private final Queue<RecordChunk> chunks = new ArrayDeque<>(); // that were handed over, oldest first
  private RecordChunk chunk = new RecordChunk(MIN_CHUNK); // that is filled
  private final long[] print = new long[2]; // of the record that is read
  private final long[][] batches = new long[LogIndex.STRIPES][]; // of the thread that puts
  private final int[] ends = new int[LogIndex.STRIPES]; // likewise

  IndexBuilder(LogIndex index) {
    this(index, MAX_CHUNK);
  }

  IndexBuilder(LogIndex index, int chunkSize) {
    this.index = index;
    this.chunkSize = chunkSize;
  }

  // ---- reading

  @Override
  public void read(Frame.FramePosition place, Frame.FrameHeader frame, ByteBuffer file) {
    byte[] bytes = file.array();
    int begin = file.arrayOffset() + file.position();
    int at = begin + Frame.RECORDS_OFFSET;
    for (int left = frame.records(); left > 0; left--) {
      int size = RecordHeader.size(bytes, at);
      read(new RecordHeader(bytes, at + Integer.BYTES), size,
          ActorLocation.packPlace(place.segment(), place.offset() + at - begin));
      at += Integer.BYTES + size;
    }
  }

  private void read(RecordHeader record, int size, long place) {
    if (chunk.end >= chunkSize * WIDTH) submitChunk();
    var type = record.type();
    if (record.isOfView()) index.viewOffsets().noteView(record.stored(size).actor(), record.stored(size).body());
    boolean other = !record.isPlain() || type == LogRecord.RecordType.MESSAGE || type == LogRecord.RecordType.SNAPSHOT;
    if (other) chunk.others.add(record.stored(size)); // its content will be something else, and is not read
    index.computeFingerprint(record, print);
    chunk.add(print[0], print[1],
        record.number() << FLAGS | (type == LogRecord.RecordType.WHOLE ? FULL_STATE : 0) | (other ? OTHER : 0), place);
  }

  private void submitChunk() {
    var full = chunk;
    full.done = CompletableFuture.runAsync(() -> put(full), thread);
    chunks.add(full);
    chunk = chunks.size() < CHUNKS ? new RecordChunk(chunkSize) : chunks.remove();
    await(chunk);
  }

  private static void await(RecordChunk chunk) {
    try {
      chunk.done.join(); // an interrupt does not end it
    } catch (CompletionException failure) {
      if (failure.getCause() instanceof RuntimeException why) throw why;
      if (failure.getCause() instanceof Error why) throw why;
      throw failure;
    }
  }

  /** Adds the records that were read last, too. */
  void end() {
    chunks.forEach(IndexBuilder::await);
    put(chunk);
    for (int i = 0; i < LogIndex.STRIPES; i++) flush(i);
  }

  /** The thread ends. */
  @Override
  public void close() {
    thread.close();
  }

  // ---- putting

  private void put(RecordChunk chunk) {
    var numbers = chunk.numbers;
    for (int at = 0; at < chunk.end; at += WIDTH) {
      long high = numbers[at];
      long last = numbers[at + 2];
      if ((last & OTHER) != 0) put(chunk.others.remove(), high, numbers[at + 1], numbers[at + 3]);
      else add(high, numbers[at + 1], last, numbers[at + 3]);
    }
    chunk.end = 0;
  }

  private void add(long high, long low, long last, long place) {
    int stripe = LogIndex.stripeOf(high);
    var batch = batches[stripe];
    if (batch == null) batch = batches[stripe] = new long[MAX_BATCH * WIDTH];
    int end = ends[stripe];
    batch[end] = high;
    batch[end + 1] = low;
    batch[end + 2] = last;
    batch[end + 3] = place;
    ends[stripe] = end + WIDTH;
    if (end + WIDTH == batch.length) flush(stripe);
  }

  /** After all before that are of the same actors. */
  private void put(LogRecord record, long high, long low, long place) {
    flush(LogIndex.stripeOf(high));
    if (record.type() != LogRecord.RecordType.MESSAGE && record.outbox().isEmpty()
        && index.addRecord(high, low, record.number(), record.type(), place))
      return; // no message waits for the actor, so it cannot have done one
    for (var sent : record.outbox()) flush(LogIndex.stripeOf(index.computeFingerprint(sent.to()).high()));
    index.addRecord(record, (int) (place >> Integer.SIZE), (int) place);
  }

  private void flush(int stripe) {
    var batch = batches[stripe];
    int end = ends[stripe];
    ends[stripe] = 0;
    for (int at = 0; at < end; at += WIDTH) {
      long high = batch[at];
      long low = batch[at + 1];
      long number = batch[at + 2] >>> FLAGS;
      var type = (batch[at + 2] & FULL_STATE) == 0 ? LogRecord.RecordType.TURN : LogRecord.RecordType.WHOLE;
      long place = batch[at + 3];
      if (!index.addRecord(high, low, number, type, place))
        index.addRecord(new Fingerprint(high, low), number, type, place);
    }
  }
}
