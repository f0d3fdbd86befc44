package io.fibry.store.folder;

import io.fibry.store.StoreDamagedException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.NavigableMap;

/**
 * Copies the files of a log that is being written, up to one of its frames. The copy is of one
 * moment, because a log only grows. No file is rewritten meanwhile. Each frame is checked. The file
 * that makes the folder a store is written last.
 */
final class LogBackup {
  private final StorageDirectory from;
  private final StorageDirectory to;
  private final long store;
  private final long lastFrame; // the last frame
  private final Runnable checkOpen; // throws where the store is closed meanwhile
  private long lastCopied; // the frame that was copied last
  private long time; // of that frame

  private LogBackup(StorageDirectory from, StorageDirectory to, long store, long lastFrame, Runnable checkOpen) {
    this.from = from;
    this.to = to;
    this.store = store;
    this.lastFrame = lastFrame;
    this.checkOpen = checkOpen;
  }

  /**
   * Copies the frames that are on disk.
   *
   * @param full the segments that are full, by the last frame of each; more may come
   * @param lastFrame the last frame that is on disk
   */
  static void run(StorageDirectory from, StorageDirectory to, long store, NavigableMap<Long, Segment> full,
      long lastFrame,
      Runnable checkOpen)
      throws IOException {
    StoreIdFile.markUnfinished(to, from + " cannot be copied");
    new LogBackup(from, to, store, lastFrame, checkOpen).copy(List.copyOf(full.values()));
    StoreIdFile.write(to, store);
  }

  private void copy(List<Segment> full) throws IOException {
    boolean goesOn = true;
    int last = 0;
    for (var segment : full) if (goesOn) {
      goesOn = isFull(segment);
      last = segment.number();
    }
    while (goesOn) goesOn = isFull(new Segment(store, ++last));
    if (lastCopied != lastFrame)
      throw damaged(new Segment(store, last), "frame " + lastFrame + " was on disk, and is not found");
  }

  /** Copies it. Returns true if the log continues in the next segment. */
  private boolean isFull(Segment segment) throws IOException {
    checkOpen.run();
    var file = segment.read(from);
    String differs = segment.difference(file, file.limit());
    if (differs != null) throw damaged(segment, differs);
    int at = Segment.HEADER;
    boolean full = false;
    for (var frame = frame(segment, file, at); frame != null && !full; frame = frame(segment, file, at)) {
      lastCopied = frame.number();
      time = frame.time();
      full = frame.kind() == Frame.FrameKind.SEALED;
      at += (int) frame.size();
    }
    AtomicFile.create(to, segment.name(), file.limit(), full ? file.slice(0, at) : marked(segment, file, at));
    return full;
  }

  /** Up to its end, with a mark: damage of the last frame is no commit that was cut off. */
  private ByteBuffer marked(Segment segment, ByteBuffer file, int end) {
    if (end + 2 * Frame.MIN_SIZE > file.limit()) return file.slice(0, end); // an older version left no room
    var mark = Frame.ofRecords(lastFrame + 1, lastFrame, time, List.of()).bytes(segment.place(end));
    return ByteBuffer.allocate(end + Frame.MIN_SIZE).put(file.slice(0, end)).put(mark).flip();
  }

  /** Returns null if there is no frame up to the last one. */
  private Frame frame(Segment segment, ByteBuffer file, int at) {
    var frame = lastCopied == lastFrame ? null : Frame.of(segment.place(at), file.duplicate().position(at));
    return frame == null || frame.number() > lastFrame ? null : frame;
  }

  private StoreDamagedException damaged(Segment segment, String what) {
    return new StoreDamagedException(from + ": " + segment.name() + " is damaged: " + what
        + ". The copy is not finished; put back a copy of the file");
  }
}
