package io.fibry.store.folder;

import io.fibry.store.Store;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.concurrent.CompletableFuture;

/** A segment that takes the place of full ones, with what is alive in them. */
final class Rewriting {
  private static final int FRAME = 1 << 20; // bytes of records, about

  /** A record that is alive, of a frame with this number. */
  record Alive(long frame, long time, Stored stored, boolean turn, List<Integer> messages, ByteBuffer record,
      int segment, int offset) {}

  /** What is alive in a segment. */
  record Content(Segment segment, List<Alive> records, boolean whole, long bytes, long seal, long time) {

    static Content of(Segment segment, Disk disk, Index index) throws IOException {
      var file = segment.read(disk).position(Segment.HEADER);
      var records = new ArrayList<Alive>();
      long bytes = 0;
      boolean whole = true;
      while (true) {
        var place = segment.place(file.position());
        var frame = Frame.of(place, file);
        if (frame == null)
          throw new IOException(segment.name() + " has no whole frame at " + place.offset() + ", though it was full");
        if (frame.kind() == Frame.Kind.SEALED)
          return new Content(segment, records, whole, bytes, frame.number(), frame.time());
        int offset = place.offset() + Frame.RECORDS;
        for (var record : frame.records()) {
          var alive = alive(frame, record, segment.number(), offset, index);
          whole &= alive != null && alive.record.equals(record);
          if (alive != null) {
            records.add(alive);
            bytes += Frame.size(1, alive.record.remaining());
          }
          offset = Frame.next(offset, record);
        }
        file.position((int) (file.position() + frame.size()));
      }
    }

    /** Null: nothing of it is. */
    private static Alive alive(Frame frame, ByteBuffer record, int segment, int offset, Index index) {
      var stored = Stored.of(record);
      boolean turn = stored.type() != Stored.Type.MESSAGE && index.isAlive(stored, Where.place(segment, offset));
      var messages = new ArrayList<Integer>(0);
      for (int i = 0; i < stored.sends().size(); i++) {
        var sent = stored.sends().get(i);
        var waits = new Where.Waits(sent.due(), segment, offset, i);
        if (index.awake(sent.to()).filter(where -> where.has(sent.id(), waits)).isPresent()) messages.add(i);
      }
      if (!turn && messages.isEmpty()) return null;
      var bytes = stored.bytes(turn, messages.stream().map(stored.sends()::get).toList());
      return new Alive(frame.number(), frame.time(), stored, turn, messages, bytes, segment, offset);
    }
  }

  private final List<Content> contents = new ArrayList<>();
  private long bytes = Segment.HEADER + Frame.SMALLEST;

  boolean fits(Content more, int size) {
    return contents.isEmpty() || bytes + more.bytes <= size;
  }

  void add(Content content) {
    contents.add(content);
    bytes += content.bytes;
  }

  /** It would be the same. One with something dead must go: what says so is left out later. */
  boolean isVain() {
    return contents.size() == 1 && contents.getFirst().segment.compact() && contents.getFirst().whole;
  }

  List<Segment> replaced() {
    return contents.stream().map(Content::segment).toList();
  }

  Segment segment() {
    var last = contents.getLast().segment;
    return new Segment(last.store(), contents.getFirst().segment.first(), last.number(), true);
  }

  /**
   * Takes their place.
   *
   * @param full all that are full, by the last frame of each
   * @param forced done when the turns are on disk because of which others are dead
   */
  void write(Disk disk, Index index, NavigableMap<Long, Segment> full, CompletableFuture<Void> forced)
      throws IOException {
    var segment = segment();
    var moves = new HashMap<Store.Id, Index.Moves>();
    var frames = frames(segment, moves);
    int size = frames.stream().mapToInt(ByteBuffer::remaining).sum() + Segment.HEADER;
    var file = ByteBuffer.allocate(size).put(segment.header(size));
    frames.forEach(file::put);
    NewFile.prepare(disk, segment.name(), size, file.flip());
    forced.join();
    index.move(() -> {
      NewFile.show(disk, segment.name());
      contents.forEach(content -> full.remove(content.seal));
      full.put(contents.getLast().seal, segment);
    }, moves);
    disk.forceNames();
    for (var one : replaced()) if (one.number() != segment.number()) disk.delete(one.name());
  }

  private List<ByteBuffer> frames(Segment segment, Map<Store.Id, Index.Moves> moves) {
    var frames = new ArrayList<ByteBuffer>();
    var batch = new ArrayList<Alive>();
    int offset = Segment.HEADER;
    long ofBatch = 0;
    for (var content : contents)
      for (var alive : content.records) {
        if (ofBatch > FRAME && alive.frame != batch.getLast().frame) { // frames of one number would be two
          offset += flush(segment, offset, batch, frames, moves);
          ofBatch = 0;
        }
        batch.add(alive);
        ofBatch += alive.record.remaining();
      }
    if (!batch.isEmpty()) offset += flush(segment, offset, batch, frames, moves);
    var last = contents.getLast();
    frames.add(Frame.ofEnd(last.seal, last.seal - 1, last.time, Frame.Kind.SEALED).bytes(segment.place(offset)));
    return frames;
  }

  private static int flush(Segment segment, int offset, List<Alive> batch, List<ByteBuffer> frames,
      Map<Store.Id, Index.Moves> moves) {
    var last = batch.getLast();
    var frame = Frame.ofRecords(last.frame, last.frame - 1, last.time, batch.stream().map(Alive::record).toList());
    int at = offset + Frame.RECORDS;
    for (var alive : batch) {
      note(alive, segment.number(), at, moves);
      at = Frame.next(at, alive.record);
    }
    var bytes = frame.bytes(segment.place(offset));
    frames.add(bytes);
    batch.clear();
    return bytes.remaining();
  }

  private static void note(Alive alive, int segment, int offset, Map<Store.Id, Index.Moves> moves) {
    if (alive.turn) of(alive.stored.actor(), moves).turns().put(Where.place(alive.segment, alive.offset),
        Where.place(segment, offset));
    for (int i = 0; i < alive.messages.size(); i++) {
      int before = alive.messages.get(i);
      var sent = alive.stored.sends().get(before);
      of(sent.to(), moves).messages().put(sent.id(),
          new Where.Moved(new Where.Waits(sent.due(), alive.segment, alive.offset, before),
              new Where.Waits(sent.due(), segment, offset, i)));
    }
  }

  private static Index.Moves of(Store.Id actor, Map<Store.Id, Index.Moves> moves) {
    return moves.computeIfAbsent(actor, none -> new Index.Moves(new HashMap<>(), new HashMap<>()));
  }
}
