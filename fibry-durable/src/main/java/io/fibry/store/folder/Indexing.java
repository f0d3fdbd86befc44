package io.fibry.store.folder;

import java.nio.ByteBuffer;

/**
 * Reads the records of a log into an index. Of most it makes no object. They are put stripe by
 * stripe, many at a time: one after the other, each would wait for memory, since the next one is of
 * another actor. Those of one actor keep their order. Of one thread.
 */
final class Indexing implements Opening.Reader {
  private static final int WIDTH = 4; // longs of a record: as it is in a stripe
  private static final int BATCH = 1024 * WIDTH;

  private final Index index;
  private final long[][] batches = new long[Index.STRIPES][];
  private final int[] ends = new int[Index.STRIPES];
  private final long[] print = new long[2]; // of the record that is read

  Indexing(Index index) {
    this.index = index;
  }

  @Override
  public void read(Frame.Place place, Frame.Head frame, ByteBuffer file) {
    byte[] bytes = file.array();
    int begin = file.arrayOffset() + file.position();
    int at = begin + Frame.RECORDS;
    for (int left = frame.records(); left > 0; left--) {
      int size = Skimmed.size(bytes, at);
      read(bytes, at + Integer.BYTES, size, place.segment(), place.offset() + at - begin);
      at += Integer.BYTES + size;
    }
  }

  private void read(byte[] bytes, int at, int size, int segment, int offset) {
    var record = new Skimmed(bytes, at);
    var type = record.type();
    if (!record.isPlain() || type == Stored.Type.MESSAGE || type == Stored.Type.SNAPSHOT)
      put(record, size, segment, offset);
    else {
      index.print(record, print);
      add(record.number() << 1 | (type == Stored.Type.WHOLE ? 1 : 0), Where.place(segment, offset));
    }
  }

  private void add(long last, long place) {
    int stripe = Index.stripeOf(print[0]);
    var batch = batches[stripe];
    if (batch == null) batch = batches[stripe] = new long[BATCH];
    int end = ends[stripe];
    batch[end] = print[0];
    batch[end + 1] = print[1];
    batch[end + 2] = last;
    batch[end + 3] = place;
    ends[stripe] = end + WIDTH;
    if (end + WIDTH == BATCH) flush(stripe);
  }

  /** After all before that are of the same actors. */
  private void put(Skimmed record, int size, int segment, int offset) {
    index.print(record, print);
    flush(Index.stripeOf(print[0]));
    if (record.type() != Stored.Type.MESSAGE && !record.sends()
        && index.put(print[0], print[1], record.number(), record.type(), Where.place(segment, offset)))
      return; // nothing waits for it, so it cannot have done any
    var stored = record.stored(size);
    for (var sent : stored.sends()) flush(Index.stripeOf(index.print(sent.to()).high()));
    index.put(stored, segment, offset);
  }

  /** What was read last is put, too. */
  void end() {
    for (int i = 0; i < Index.STRIPES; i++) flush(i);
  }

  private void flush(int stripe) {
    var batch = batches[stripe];
    int end = ends[stripe];
    ends[stripe] = 0;
    for (int at = 0; at < end; at += WIDTH) {
      long high = batch[at];
      long low = batch[at + 1];
      long number = batch[at + 2] >>> 1;
      var type = (batch[at + 2] & 1) == 0 ? Stored.Type.TURN : Stored.Type.WHOLE;
      long place = batch[at + 3];
      if (!index.put(high, low, number, type, place))
        index.put(new Fingerprint(high, low), number, type, place);
    }
  }
}
