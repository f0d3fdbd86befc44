package io.fibry.store.folder.repair;

import io.fibry.store.folder.StorageDirectory;
import io.fibry.store.folder.StoreCheck;
import io.fibry.store.folder.disk.AtomicFile;
import io.fibry.store.folder.log.Frame;
import io.fibry.store.folder.log.Segment;
import io.fibry.store.folder.log.StoreIdFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes the usable part of a log to a new log. Each segment becomes a compacted segment. Frames
 * keep their numbers, so that views continue at their offsets. The file that makes the folder a
 * store ({@link StoreIdFile}) is written last.
 */
public final class LogSalvage implements SalvagePlan.SalvageSink {
  private static final int MIN_LAST_SEGMENT_BYTES = 4096; // min size of the new last segment
  private static final long FRAME_GAP = 1L << 40; // greater than the number of frames that can be lost

  private final StorageDirectory disk;
  private final long storeId = new SecureRandom().nextLong();
  private final List<Frame> frames = new ArrayList<>(); // frames of the current segment
  private final List<ByteBuffer> records = new ArrayList<>(); // records of the current frame
  private long number; // the number of the current frame
  private long time; // the time of the current frame, in milliseconds since 1970
  private int lastSegment; // the number of the last segment that was written
  private long lastFrame; // the number of the last frame of that segment
  private int maxSize; // the size of the largest file of the damaged log in bytes

  private LogSalvage(StorageDirectory disk) {
    this.disk = disk;
  }

  /** Salvages a log, and returns the result of the check of the damaged log. */
  public static StoreCheck run(StorageDirectory source, StorageDirectory target) throws IOException {
    StoreIdFile.markUnfinished(target, "the intact part of " + source + " cannot be written");
    var salvage = new LogSalvage(target);
    var check = SalvagePlan.of(source, damagedLog -> salvage);
    // An empty segment skips the numbers of lost frames, because a view may have read these frames.
    salvage.write(salvage.lastSegment + 1, salvage.lastFrame + FRAME_GAP);
    new Segment(salvage.storeId, salvage.lastSegment + 1)
        .create(target, Math.max(MIN_LAST_SEGMENT_BYTES, salvage.maxSize));
    StoreIdFile.write(target, salvage.storeId);
    var newCheck = SalvagePlan.of(target);
    if (!newCheck.isWhole() || newCheck.turns() != check.turns())
      throw new IOException(target + " is not as it was written: " + newCheck);
    return check;
  }

  @Override
  public void take(long frameNumber, long frameTime, ByteBuffer record) {
    if (frameNumber != number) endFrame();
    number = frameNumber;
    time = frameTime;
    records.add(record);
  }

  private void endFrame() {
    if (!records.isEmpty()) frames.add(Frame.ofRecords(number, number - 1, time, List.copyOf(records)));
    records.clear();
  }

  /**
   * Called when all records of a segment were taken. The next record is in frame {@code nextFrame}
   * or later.
   */
  @Override
  public void onSegmentEnd(Segment segment, int fileSize, long nextFrame) throws IOException {
    endFrame();
    maxSize = Math.max(maxSize, fileSize);
    if (frames.isEmpty()) return;
    long sealNumber = frames.getLast().number() + 1;
    write(segment.number(), Math.max(sealNumber, nextFrame - 1));
  }

  /** Writes the frames as one segment, which also replaces missing segments before it. */
  private void write(int segmentNumber, long sealNumber) throws IOException {
    var segment = new Segment(storeId, lastSegment + 1, segmentNumber, true);
    frames.add(Frame.ofEnd(sealNumber, sealNumber - 1, time, Frame.FrameKind.SEALED));
    int size = Segment.HEADER + frames.stream().mapToInt(frame -> (int) frame.size()).sum();
    var content = ByteBuffer.allocate(size).put(segment.header(size));
    for (var frame : frames) content.put(frame.bytes(segment.position(content.position())));
    AtomicFile.create(disk, segment.name(), size, content.flip());
    frames.clear();
    lastSegment = segmentNumber;
    lastFrame = sealNumber;
  }
}
