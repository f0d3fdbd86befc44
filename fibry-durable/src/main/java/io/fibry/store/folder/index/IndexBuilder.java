package io.fibry.store.folder.index;

import io.fibry.store.folder.log.Frame;
import io.fibry.store.folder.log.LogReader;
import io.fibry.store.folder.log.LogRecord;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Reads the records of a log into an index. For most records it creates no object. The thread that
 * reads the log fills chunks. Another thread adds the records of full chunks to the index, chunk by
 * chunk. A chunk is used by the reading thread until it is submitted. The other thread then uses it
 * until the chunk's {@code done} completes.
 *
 * <p>Records are added in batches, one for each stripe. If they were added in the order of the log,
 * each addition would wait for the main memory, because successive records belong to different
 * stripes. Records of one actor keep their order.
 */
public final class IndexBuilder implements LogReader.FrameReader, AutoCloseable {
  private static final int WIDTH = 4; // longs for each record, as in a stripe
  private static final int MAX_CHUNK = 1 << 15; // records of a chunk
  private static final int MIN_CHUNK = 128; // records of the first chunk, which grows
  private static final int CHUNKS = 4;
  private static final int MAX_BATCH = 256; // records of a batch
  private static final int FULL_STATE = 1; // flag of a record: it has the full state
  private static final int PARSED = 2; // flag of a record: it is also in `parsedRecords`
  private static final int FLAG_BITS = 2; // bits of the number that hold flags

  /**
   * Records in the order of the log, as numbers. Records of which the index needs all fields are
   * also in {@code parsedRecords}.
   */
  private static final class RecordChunk {
    long[] numbers;
    int end; // the number of used elements of `numbers`
    final Queue<LogRecord> parsedRecords = new ArrayDeque<>();
    // Completes when the chunk may be filled again.
    CompletableFuture<Void> done = CompletableFuture.completedFuture(null);

    RecordChunk(int size) {
      numbers = new long[size * WIDTH];
    }

    void add(long high, long low, long numberAndFlags, long position) {
      if (end == numbers.length) numbers = Arrays.copyOf(numbers, 2 * end);
      numbers[end] = high;
      numbers[end + 1] = low;
      numbers[end + 2] = numberAndFlags;
      numbers[end + 3] = position;
      end += WIDTH;
    }
  }

  private final LogIndex index;
  private final int chunkSize; // records of a chunk
  private final ExecutorService executor = Executors
      .newSingleThreadExecutor(Thread.ofPlatform().daemon().name("fibry-opening").factory());
  private final Queue<RecordChunk> submittedChunks = new ArrayDeque<>(); // oldest first
  private RecordChunk chunk = new RecordChunk(MIN_CHUNK); // the chunk that is being filled
  private final long[] fingerprint = new long[2]; // high and low half of the fingerprint of the current record's actor
  // Records that are not in the index yet, by stripe. Used by the thread that adds.
  private final long[][] batches = new long[LogIndex.STRIPES][];
  private final int[] ends = new int[LogIndex.STRIPES]; // the used longs of each batch

  public IndexBuilder(LogIndex index) {
    this(index, MAX_CHUNK);
  }

  IndexBuilder(LogIndex index, int chunkSize) {
    this.index = index;
    this.chunkSize = chunkSize;
  }

  // ---- reading

  @Override
  public void read(Frame.FramePosition framePosition, Frame.FrameHeader frame, ByteBuffer content) {
    byte[] bytes = content.array();
    int begin = content.arrayOffset() + content.position();
    int offset = begin + Frame.RECORDS_OFFSET;
    for (int remaining = frame.records(); remaining > 0; remaining--) {
      int size = RecordHeader.size(bytes, offset);
      read(new RecordHeader(bytes, offset + Integer.BYTES), size,
          ActorLocation.packPosition(framePosition.segment(), framePosition.offset() + offset - begin));
      offset += Integer.BYTES + size;
    }
  }

  private void read(RecordHeader record, int size, long position) {
    if (chunk.end >= chunkSize * WIDTH) submitChunk();
    var type = record.type();
    if (record.isViewTurn()) index.viewOffsets().setOffset(record.toRecord(size).actor(), record.toRecord(size).body());
    boolean isParsed = !record.isPlain() || type == LogRecord.RecordType.MESSAGE
        || type == LogRecord.RecordType.SNAPSHOT;
    // The body of a parsed record must not be read later, because the bytes are reused.
    if (isParsed) chunk.parsedRecords.add(record.toRecord(size));
    index.computeFingerprint(record, fingerprint);
    chunk.add(fingerprint[0], fingerprint[1],
        record.number() << FLAG_BITS | (type == LogRecord.RecordType.FULL_STATE ? FULL_STATE : 0)
            | (isParsed ? PARSED : 0),
        position);
  }

  private void submitChunk() {
    var fullChunk = chunk;
    fullChunk.done = CompletableFuture.runAsync(() -> put(fullChunk), executor);
    submittedChunks.add(fullChunk);
    chunk = submittedChunks.size() < CHUNKS ? new RecordChunk(chunkSize) : submittedChunks.remove();
    await(chunk);
  }

  private static void await(RecordChunk chunk) {
    try {
      chunk.done.join(); // an interrupt does not end the wait
    } catch (CompletionException failure) {
      if (failure.getCause() instanceof RuntimeException cause) throw cause;
      if (failure.getCause() instanceof Error cause) throw cause;
      throw failure;
    }
  }

  /** Adds all remaining records to the index. */
  public void end() {
    submittedChunks.forEach(IndexBuilder::await);
    put(chunk);
    for (int i = 0; i < LogIndex.STRIPES; i++) flush(i);
  }

  /** Ends the thread that adds records. */
  @Override
  public void close() {
    executor.close();
  }

  // ---- adding

  private void put(RecordChunk chunk) {
    var numbers = chunk.numbers;
    for (int i = 0; i < chunk.end; i += WIDTH) {
      long high = numbers[i];
      long numberAndFlags = numbers[i + 2];
      if ((numberAndFlags & PARSED) != 0) put(chunk.parsedRecords.remove(), high, numbers[i + 1], numbers[i + 3]);
      else add(high, numbers[i + 1], numberAndFlags, numbers[i + 3]);
    }
    chunk.end = 0;
  }

  private void add(long high, long low, long numberAndFlags, long position) {
    int stripe = LogIndex.stripeOf(high);
    var batch = batches[stripe];
    if (batch == null) batch = batches[stripe] = new long[MAX_BATCH * WIDTH];
    int end = ends[stripe];
    batch[end] = high;
    batch[end + 1] = low;
    batch[end + 2] = numberAndFlags;
    batch[end + 3] = position;
    ends[stripe] = end + WIDTH;
    if (end + WIDTH == batch.length) flush(stripe);
  }

  /**
   * Adds a record of which the index needs all fields, after all earlier records of the same
   * actors.
   */
  private void put(LogRecord record, long high, long low, long position) {
    flush(LogIndex.stripeOf(high));
    if (record.type() != LogRecord.RecordType.MESSAGE && record.outbox().isEmpty()
        && index.addRecord(high, low, record.number(), record.type(), position))
      return; // the actor has no pending message, so the turn cannot have handled one
    for (var sent : record.outbox()) flush(LogIndex.stripeOf(index.computeFingerprint(sent.to()).high()));
    index.addRecord(record, (int) (position >> Integer.SIZE), (int) position);
  }

  private void flush(int stripe) {
    var batch = batches[stripe];
    int end = ends[stripe];
    ends[stripe] = 0;
    for (int i = 0; i < end; i += WIDTH) {
      long high = batch[i];
      long low = batch[i + 1];
      long number = batch[i + 2] >>> FLAG_BITS;
      var type = (batch[i + 2] & FULL_STATE) == 0 ? LogRecord.RecordType.TURN : LogRecord.RecordType.FULL_STATE;
      long position = batch[i + 3];
      if (!index.addRecord(high, low, number, type, position))
        index.addRecord(new ActorFingerprint(high, low), number, type, position);
    }
  }
}
