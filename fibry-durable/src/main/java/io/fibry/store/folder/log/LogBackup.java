package io.fibry.store.folder.log;

import io.fibry.store.StoreDamagedException;
import io.fibry.store.folder.StorageDirectory;
import io.fibry.store.folder.disk.AtomicFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.NavigableMap;

/**
 * Copies the files of a log that is in use, up to a given frame. The copy is of one moment, because
 * a log only grows. No file is rewritten during the copy. Each frame is checked. The file that
 * makes the folder a store ({@link StoreIdFile}) is written last.
 */
public final class LogBackup {
  private final StorageDirectory source;
  private final StorageDirectory target;
  private final long storeId;
  private final long lastFrame; // the number of the last frame to copy
  private final Runnable checkOpen; // throws if the store was closed during the copy
  private long lastCopied; // the number of the frame that was copied last
  private long time; // the time of that frame, in milliseconds since 1970

  private LogBackup(StorageDirectory source, StorageDirectory target, long storeId, long lastFrame,
      Runnable checkOpen) {
    this.source = source;
    this.target = target;
    this.storeId = storeId;
    this.lastFrame = lastFrame;
    this.checkOpen = checkOpen;
  }

  /**
   * Copies all frames that are on disk.
   *
   * @param sealed the sealed segments, by the number of their last frame. Segments that the log
   * seals during the copy are found by their number
   * @param lastFrame the number of the last frame that is on disk
   */
  public static void run(StorageDirectory source, StorageDirectory target, long storeId,
      NavigableMap<Long, Segment> sealed,
      long lastFrame,
      Runnable checkOpen)
      throws IOException {
    StoreIdFile.markUnfinished(target, source + " cannot be copied");
    new LogBackup(source, target, storeId, lastFrame, checkOpen).copy(List.copyOf(sealed.values()));
    StoreIdFile.write(target, storeId);
  }

  private void copy(List<Segment> sealed) throws IOException {
    boolean isContinued = true;
    int lastSegment = 0;
    for (var segment : sealed) if (isContinued) {
      isContinued = copySegment(segment);
      lastSegment = segment.number();
    }
    while (isContinued) isContinued = copySegment(new Segment(storeId, ++lastSegment));
    if (lastCopied != lastFrame)
      throw damaged(new Segment(storeId, lastSegment), "frame " + lastFrame + " was on disk, but is not found");
  }

  /** Copies a segment. Returns whether the log continues in the next segment. */
  private boolean copySegment(Segment segment) throws IOException {
    checkOpen.run();
    var content = segment.read(source);
    String difference = segment.difference(content, content.limit());
    if (difference != null) throw damaged(segment, difference);
    int end = Segment.HEADER;
    boolean isSealed = false;
    for (var frame = frameAt(segment, content, end); frame != null && !isSealed;
        frame = frameAt(segment, content, end)) {
      lastCopied = frame.number();
      time = frame.time();
      isSealed = frame.kind() == Frame.FrameKind.SEALED;
      end += (int) frame.size();
    }
    AtomicFile.create(target, segment.name(), content.limit(),
        isSealed ? content.slice(0, end) : withMark(segment, content, end));
    return isSealed;
  }

  /**
   * Returns the content of the last segment with a mark after its last frame. The mark says that
   * this frame was on disk: if the frame is damaged later, the damage is detected.
   */
  private ByteBuffer withMark(Segment segment, ByteBuffer content, int end) {
    // A mark, and the seal after it, need space; a segment of an older version may have none.
    if (end + 2 * Frame.MIN_SIZE > content.limit()) return content.slice(0, end);
    var mark = Frame.ofRecords(lastFrame + 1, lastFrame, time, List.of()).bytes(segment.position(end));
    return ByteBuffer.allocate(end + Frame.MIN_SIZE).put(content.slice(0, end)).put(mark).flip();
  }

  /**
   * Returns the frame at an offset. Returns null if there is none, or if it comes after the last
   * frame to copy.
   */
  private Frame frameAt(Segment segment, ByteBuffer content, int offset) {
    var frame =
        lastCopied == lastFrame ? null : Frame.of(segment.position(offset), content.duplicate().position(offset));
    return frame == null || frame.number() > lastFrame ? null : frame;
  }

  private StoreDamagedException damaged(Segment segment, String problem) {
    return new StoreDamagedException(source + ": " + segment.name() + " is damaged: " + problem
        + ". The backup is not complete; restore this file from an earlier backup, and back up again");
  }
}
