package io.fibry.store.folder;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes the usable part of a log into another log, each file as one that was rewritten. Frames
 * keep their numbers, so that views continue at their places. The file that makes the folder a
 * store is written last.
 */
final class LogSalvage implements SalvagePlan.SalvageSink {
  private static final int MIN_REUSED_BYTES = 4096; // bytes of a file that are worth continuing in
  private static final long FRAME_GAP = 1L << 40; // more frames than can be lost

  private final StorageDirectory disk;
  private final long store = new SecureRandom().nextLong();
  private final List<Frame> frames = new ArrayList<>(); // of the file
  private final List<ByteBuffer> records = new ArrayList<>(); // of the frame
  private long number; // of the frame
  private long time;
  private int last; // file that was written
  private long lastFrame; // the number of its last frame
  private int size; // of the largest file

  private LogSalvage(StorageDirectory disk) {
    this.disk = disk;
  }

  /** Returns the findings about the first log. */
  static StoreCheck run(StorageDirectory from, StorageDirectory to) throws IOException {
    StoreIdFile.markUnfinished(to, "what is whole in " + from + " cannot be written");
    var salvage = new LogSalvage(to);
    var found = SalvagePlan.of(from, none -> salvage);
    salvage.write(salvage.last + 1, salvage.lastFrame + FRAME_GAP); // a view may stand at a frame that is lost
    new Segment(salvage.store, salvage.last + 1).create(to, Math.max(MIN_REUSED_BYTES, salvage.size));
    StoreIdFile.write(to, salvage.store);
    var written = SalvagePlan.of(to);
    if (!written.isWhole() || written.turns() != found.turns())
      throw new IOException(to + " is not as it was written: " + written);
    return found;
  }

  @Override
  public void take(long frame, long when, ByteBuffer record) {
    if (frame != number) endFrame();
    number = frame;
    time = when;
    records.add(record);
  }

  private void endFrame() {
    if (!records.isEmpty()) frames.add(Frame.ofRecords(number, number - 1, time, List.copyOf(records)));
    records.clear();
  }

  /** Records in front of a frame were in this file. */
  @Override
  public void end(Segment file, int bytes, long next) throws IOException {
    endFrame();
    size = Math.max(size, bytes);
    if (frames.isEmpty()) return;
    long seal = frames.getLast().number() + 1;
    write(file.number(), Math.max(seal, next - 1));
  }

  /** The file stands for missing files, too. */
  private void write(int file, long seal) throws IOException {
    var segment = new Segment(store, last + 1, file, true);
    frames.add(Frame.ofEnd(seal, seal - 1, time, Frame.FrameKind.SEALED));
    int all = Segment.HEADER + frames.stream().mapToInt(frame -> (int) frame.size()).sum();
    var content = ByteBuffer.allocate(all).put(segment.header(all));
    for (var frame : frames) content.put(frame.bytes(segment.place(content.position())));
    AtomicFile.create(disk, segment.name(), all, content.flip());
    frames.clear();
    last = file;
    lastFrame = seal;
  }
}
