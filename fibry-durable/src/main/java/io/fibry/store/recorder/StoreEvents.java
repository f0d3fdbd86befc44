package io.fibry.store.recorder;

import io.fibry.text.Lines;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.FlightRecorderListener;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;
import jdk.jfr.Timespan;

/**
 * The events of stores for Java Flight Recorder. Each type of events has a prototype, an instance
 * that says whether the type is recorded. The prototypes are made when the recorder starts, because
 * the JVM takes long to load a class of events. Without the module {@code jdk.jfr} no nested class
 * is loaded. No method here may convert a nested class to its superclass or interface, because the
 * verifier would then load the class.
 */
public final class StoreEvents {
  /**
   * One object of each event class; null until the recorder starts. Written by the thread that
   * starts it, before a recording begins, and read by all threads. Its fields are final, so each
   * thread that reads the object sees the prototypes.
   */
  private static StorePrototypes prototypes;

  static {
    if (isJfrPresent()) StoreRecorderStart.await();
  }

  private StoreEvents() {}

  private static boolean isJfrPresent() {
    try {
      Class.forName("jdk.jfr.Event", false, StoreEvents.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException | LinkageError absent) {
      return false;
    }
  }

  /**
   * Initializes this class, which then waits for the recorder. Called while a store is opened or a
   * kind is defined, because a class whose initialization fails for lack of stack can never be used
   * again.
   */
  public static void prepare() {}

  // ---- commits

  /** Returns the event of a commit that begins; null if commits are not recorded. */
  public static Object beginCommit() {
    var known = prototypes;
    if (known == null || !known.commit.isEnabled()) return null;
    var event = new CommitEvent();
    event.begin();
    event.began = System.nanoTime();
    return event;
  }

  /** Called when the commit is written. A sync follows, unless the store syncs at intervals. */
  public static void onWritten(Object begunEvent) {
    if (begunEvent == null) return;
    var event = (CommitEvent) begunEvent;
    event.written = System.nanoTime();
    event.write = event.written - event.began;
    event.end();
  }

  /** Called when the written bytes are on disk. */
  public static void onSynced(Object begunEvent) {
    if (begunEvent == null) return;
    var event = (CommitEvent) begunEvent;
    event.sync = System.nanoTime() - event.written;
    event.end();
  }

  public static void endCommit(Object begunEvent, Object store, String segment, int records, long bytes) {
    var event = (CommitEvent) begunEvent;
    if (!event.shouldCommit()) return;
    event.store = store.toString();
    event.segment = segment;
    event.records = records;
    event.bytes = bytes;
    event.commit();
  }

  // ---- actors

  /** Returns the event of a load that begins; null if loads are not recorded. */
  public static Object beginLoad() {
    var known = prototypes;
    if (known == null || !known.load.isEnabled()) return null;
    var event = new LoadEvent();
    event.begin();
    return event;
  }

  /** Ends the load of an actor, with the number of turns and bytes that were read. */
  public static void endLoad(Object begunEvent, String kind, String key, int turns, long bytes) {
    var event = (LoadEvent) begunEvent;
    event.end();
    if (!event.shouldCommit()) return;
    event.kind = kind;
    event.key = key;
    event.turns = turns;
    event.bytes = bytes;
    event.commit();
  }

  // ---- files

  /** Returns the event of a compaction that begins; null if compactions are not recorded. */
  public static Object beginCompaction() {
    var known = prototypes;
    if (known == null || !known.compaction.isEnabled()) return null;
    var event = new CompactionEvent();
    event.begin();
    return event;
  }

  /** Ends a compaction, which replaced {@code files} files by one segment. */
  public static void endCompaction(Object begunEvent, Object store, String segment, int files, long bytesBefore,
      long bytesAfter) {
    var event = (CompactionEvent) begunEvent;
    event.store = store.toString();
    event.segment = segment;
    event.files = files;
    event.bytesBefore = bytesBefore;
    event.bytesAfter = bytesAfter;
    event.commit();
  }

  /** Records that the disk refused a new file of this size in bytes. */
  public static void recordFull(Object store, String segment, long size, Throwable refusal) {
    var known = prototypes;
    if (known == null || !known.full.isEnabled()) return;
    var event = new StoreFullEvent();
    event.store = store.toString();
    event.segment = segment;
    event.size = size;
    event.refusal = text(refusal);
    event.commit();
  }

  public static void recordBroken(Object store, String problem, Throwable failure) {
    var known = prototypes;
    if (known == null || !known.broken.isEnabled()) return;
    var event = new StoreBrokenEvent();
    event.store = store.toString();
    event.problem = problem;
    event.failure = text(failure);
    event.commit();
  }

  /**
   * Returns the failure's text, or its class name if making the text fails. The failure may be of a
   * class of the user's {@code StorageDirectory}.
   */
  private static String text(Throwable failure) {
    try {
      return Lines.thrown(failure);
    } catch (Throwable unprintable) {
      return failure.getClass().getName();
    }
  }

  /** Makes the prototypes when the recorder starts, or at once if it has started. */
  private static final class StoreRecorderStart implements FlightRecorderListener {
    static void await() {
      FlightRecorder.addListener(new StoreRecorderStart());
    }

    @Override
    public void recorderInitialized(FlightRecorder recorder) {
      prototypes = new StorePrototypes();
    }
  }

  /** One object of each event class, which tells whether events of this class are recorded. */
  private static final class StorePrototypes {
    final CommitEvent commit = new CommitEvent();
    final LoadEvent load = new LoadEvent();
    final CompactionEvent compaction = new CompactionEvent();
    final StoreFullEvent full = new StoreFullEvent();
    final StoreBrokenEvent broken = new StoreBrokenEvent();
  }

  @Category("Fibry")
  @StackTrace(false)
  private abstract static class StoreEvent extends Event {
    @Label("Store")
    @Description("The folder of the store")
    String store;
  }

  @Name("fibry.Commit")
  @Label("Commit")
  @Description("Turns and messages that were written to a store and synced together")
  @Threshold("20 ms")
  private static final class CommitEvent extends StoreEvent {
    private transient long began;
    private transient long written;

    @Label("Segment")
    @Description("The file of the log")
    String segment;
    @Label("Records")
    int records;
    @Label("Bytes")
    @DataAmount
    long bytes;
    @Label("Write")
    @Description("Includes the change to the next file, if the previous file was full")
    @Timespan
    long write;
    @Label("Sync")
    @Description("Zero if the store syncs at intervals")
    @Timespan
    long sync;
  }

  @Name("fibry.Load")
  @Label("Load")
  @Description("A durable actor was read from its store")
  @Category("Fibry")
  @Threshold("20 ms")
  @StackTrace(false)
  private static final class LoadEvent extends Event {
    @Label("Kind")
    String kind;
    @Label("Key")
    String key;
    @Label("Turns")
    @Description("The turns that were read: the last full-state turn or snapshot, and the later turns")
    int turns;
    @Label("Bytes")
    @DataAmount
    long bytes;
  }

  @Name("fibry.Compaction")
  @Label("Compaction")
  @Description("Full files of a store were rewritten as one file, without dead records")
  private static final class CompactionEvent extends StoreEvent {
    @Label("Segment")
    @Description("The new file")
    String segment;
    @Label("Files")
    @Description("The number of files that the new file replaced")
    int files;
    @Label("Bytes Before")
    @DataAmount
    long bytesBefore;
    @Label("Bytes After")
    @DataAmount
    long bytesAfter;
  }

  @Name("fibry.StoreFull")
  @Label("Store Full")
  @Description("A disk refused the next file of a store, which tries again each second")
  private static final class StoreFullEvent extends StoreEvent {
    @Label("Segment")
    String segment;
    @Label("Size")
    @DataAmount
    long size;
    @Label("Refusal")
    String refusal;
  }

  @Name("fibry.StoreBroken")
  @Label("Store Broken")
  @Description("A disk failed, and the store refuses all writes until it is opened again")
  private static final class StoreBrokenEvent extends StoreEvent {
    @Label("Problem")
    String problem;
    @Label("Failure")
    String failure;
  }
}
