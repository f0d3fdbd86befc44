package io.fibry.store.recorder;

import io.fibry.text.Lines;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;
import jdk.jfr.Timespan;

/**
 * What a flight recording sees of stores. It costs nothing until the recorder starts and rewrites
 * the nested classes. Without the module of the recorder the prototypes are null, and no nested
 * class is loaded. No method here may use a nested class as its superclass, or the verifier would
 * load it.
 */
public final class StoreEvents {
  private static final boolean PRESENT = present();
  private static final CommitEvent COMMIT = PRESENT ? new CommitEvent() : null;
  private static final LoadEvent LOAD = PRESENT ? new LoadEvent() : null;
  private static final CompactionEvent COMPACTION = PRESENT ? new CompactionEvent() : null;
  private static final StoreFullEvent FULL = PRESENT ? new StoreFullEvent() : null;
  private static final StoreBrokenEvent BROKEN = PRESENT ? new StoreBrokenEvent() : null;

  private StoreEvents() {}

  private static boolean present() {
    try {
      Class.forName("jdk.jfr.Event", false, StoreEvents.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException | LinkageError absent) {
      return false;
    }
  }

  /**
   * Makes the prototypes. Called where a failure does little harm: a class whose initialisation
   * fails at the edge of a stack could never be used again.
   */
  public static void prepare() {}

  // ---- commits

  /** Returns null if commits are not recorded. */
  public static Object beginCommit() {
    if (COMMIT == null || !COMMIT.isEnabled()) return null;
    var event = new CommitEvent();
    event.begin();
    event.began = System.nanoTime();
    return event;
  }

  /** Called when the commit is written; a force follows. */
  public static void onWritten(Object begun) {
    if (begun == null) return;
    var event = (CommitEvent) begun;
    event.written = System.nanoTime();
    event.write = event.written - event.began;
    event.end();
  }

  /** Called when the written bytes are on disk. */
  public static void onSynced(Object begun) {
    if (begun == null) return;
    var event = (CommitEvent) begun;
    event.force = System.nanoTime() - event.written;
    event.end();
  }

  public static void endCommit(Object begun, Object store, String segment, int records, long bytes) {
    var event = (CommitEvent) begun;
    if (!event.shouldCommit()) return;
    event.store = store.toString();
    event.segment = segment;
    event.records = records;
    event.bytes = bytes;
    event.commit();
  }

  // ---- actors

  /** Returns null if loads are not recorded. */
  public static Object beginLoad() {
    if (LOAD == null || !LOAD.isEnabled()) return null;
    var event = new LoadEvent();
    event.begin();
    return event;
  }

  /** With as many turns as were read, of so many bytes. */
  public static void endLoad(Object begun, String kind, String key, int turns, long bytes) {
    var event = (LoadEvent) begun;
    event.end();
    if (!event.shouldCommit()) return;
    event.kind = kind;
    event.key = key;
    event.turns = turns;
    event.bytes = bytes;
    event.commit();
  }

  // ---- files

  /** Returns null if compactions are not recorded. */
  public static Object beginCompaction() {
    if (COMPACTION == null || !COMPACTION.isEnabled()) return null;
    var event = new CompactionEvent();
    event.begin();
    return event;
  }

  /** So many files became this one. */
  public static void endCompaction(Object begun, Object store, String segment, int files, long before, long after) {
    var event = (CompactionEvent) begun;
    event.store = store.toString();
    event.segment = segment;
    event.files = files;
    event.before = before;
    event.after = after;
    event.commit();
  }

  /** The disk refused a file. */
  public static void full(Object store, String segment, long size, Throwable refusal) {
    if (FULL == null || !FULL.isEnabled()) return;
    var event = new StoreFullEvent();
    event.store = store.toString();
    event.segment = segment;
    event.size = size;
    event.refusal = text(refusal);
    event.commit();
  }

  public static void broken(Object store, String what, Throwable failure) {
    if (BROKEN == null || !BROKEN.isEnabled()) return;
    var event = new StoreBrokenEvent();
    event.store = store.toString();
    event.what = what;
    event.failure = text(failure);
    event.commit();
  }

  /** A disk may be one of the user's own. */
  private static String text(Throwable failure) {
    try {
      return Lines.thrown(failure);
    } catch (Throwable unprintable) {
      return failure.getClass().getName();
    }
  }

  @Category("Fibry")
  @StackTrace(false)
  private abstract static class StoreEvent extends Event {
    @Label("Store")
    @Description("Its folder")
    String store;
  }

  @Name("fibry.Commit")
  @Label("Commit")
  @Description("Turns and messages that were written to a store and forced to disk together")
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
    @Description("With the change to the next file, where the last one was full")
    @Timespan
    long write;
    @Label("Force")
    @Description("Zero where forces have pauses")
    @Timespan
    long force;
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
    @Description("How many were read: the last whole one, or snapshot, and those after it")
    int turns;
    @Label("Bytes")
    @DataAmount
    long bytes;
  }

  @Name("fibry.Compaction")
  @Label("Compaction")
  @Description("Full files of a store were rewritten as one, without what is dead")
  private static final class CompactionEvent extends StoreEvent {
    @Label("Segment")
    @Description("The file that was made")
    String segment;
    @Label("Files")
    @Description("How many it stands for")
    int files;
    @Label("Before")
    @DataAmount
    long before;
    @Label("After")
    @DataAmount
    long after;
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
  @Description("A disk failed, and the store takes nothing more until it is opened again")
  private static final class StoreBrokenEvent extends StoreEvent {
    @Label("What")
    String what;
    @Label("Failure")
    String failure;
  }
}
