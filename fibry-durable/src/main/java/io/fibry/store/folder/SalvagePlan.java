package io.fibry.store.folder;

import io.fibry.store.Store;
import io.fibry.store.folder.StoreCheck.LostTurns;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The usable part of the whole records. A turn behind a missing turn cannot be used, unless a later
 * turn has the whole state: it is lost with the messages that it has done and sends. It looks at
 * all records twice.
 */
final class SalvagePlan {
  /** The findings of the first look about an actor. */
  private static final class ActorFindings {
    private long base; // the turn of the last record with the whole state, or 0
    private long whole; // the last turn that says all: those before it are dead
    private long used; // in the second look: the last turn that is used
    private long seen; // the last turn that was found
    private final Map<String, Boolean> waiting = new LinkedHashMap<>(0); // by id: whether it is parked
  }

  private final Map<Store.ActorId, ActorFindings> lines = new HashMap<>();
  private final List<LostTurns> lost = new ArrayList<>();
  private boolean damaged;
  private long turns;

  private ActorFindings line(Store.ActorId actor) {
    return lines.computeIfAbsent(actor, none -> new ActorFindings());
  }

  // ---- the first look

  void look(LogRecord stored) {
    if (stored.type() == LogRecord.RecordType.MESSAGE || stored.type() == LogRecord.RecordType.TURN) return;
    var line = line(stored.actor());
    line.base = Math.max(line.base, stored.number());
    if (stored.type() == LogRecord.RecordType.WHOLE) line.whole = Math.max(line.whole, stored.number());
  }

  // ---- the second look

  /** Something was not as it was written. */
  void beginSecond(boolean isDamaged) {
    damaged = isDamaged;
  }

  boolean isUsable(LogRecord stored) {
    boolean usable = stored.type() == LogRecord.RecordType.MESSAGE || isUsable(stored, line(stored.actor()));
    if (usable) use(stored);
    return usable;
  }

  private boolean isUsable(LogRecord stored, ActorFindings line) {
    long number = stored.number();
    noteGap(stored, line);
    line.seen = Math.max(line.seen, number);
    boolean usable = stored.type() != LogRecord.RecordType.TURN || number <= line.base
        || number == Math.max(line.used, line.base) + 1;
    if (!usable) lose(stored.actor(), number, number, "it is whole, and comes after a turn that is missing");
    else line.used = Math.max(line.used, number);
    return usable;
  }

  private void noteGap(LogRecord stored, ActorFindings line) {
    long number = stored.number();
    long first = line.seen + 1;
    if (number <= first && stored.type() != LogRecord.RecordType.SNAPSHOT || number < first || number <= line.whole)
      return;
    long last = stored.type() == LogRecord.RecordType.SNAPSHOT ? number : number - 1;
    if (number > line.base) lose(stored.actor(), Math.max(first, line.base + 1), last, "it is missing");
    else if (damaged && line.seen > 0)
      lose(stored.actor(), first, last, "it is missing in the history; the state is whole");
  }

  private void lose(Store.ActorId actor, long first, long last, String why) {
    if (first > last) return;
    var before = lost.isEmpty() ? null : lost.getLast();
    if (before != null && before.actor().equals(actor) && before.why().equals(why) && before.last() + 1 == first)
      lost.set(lost.size() - 1, new LostTurns(actor, before.first(), last, why));
    else lost.add(new LostTurns(actor, first, last, why));
  }

  private void use(LogRecord stored) {
    if (stored.type() == LogRecord.RecordType.TURN || stored.type() == LogRecord.RecordType.WHOLE) {
      turns++;
      stored.done().forEach(line(stored.actor()).waiting::remove);
    }
    for (var one : stored.sends())
      line(one.to()).waiting.put(one.id(), one.due().toEpochMilli() == Store.PendingMessage.NEVER.toEpochMilli());
  }

  // ---- the result

  /** Reads a log twice. */
  static StoreCheck of(StorageDirectory disk) throws IOException {
    return of(disk, none -> new SalvageSink() {});
  }

  /** Gets what can be used. */
  interface SalvageSink {
    default void take(long frame, long time, ByteBuffer record) {}

    default void end(Segment file, int size, long frame) throws IOException {}
  }

  interface SalvageSinkFactory {
    SalvageSink make(DamagedLogReader found) throws IOException;
  }

  static StoreCheck of(StorageDirectory disk, SalvageSinkFactory maker) throws IOException {
    var survey = new SalvagePlan();
    var found = DamagedLogReader.read(disk, new DamagedLogReader.RecordReader() {
      @Override
      public void read(long frame, long time, LogRecord stored, ByteBuffer record) {
        survey.look(stored);
      }

      @Override
      public void end(Segment file, int size, long frame) {}
    });
    survey.beginSecond(!found.wrong().isEmpty());
    var taking = maker.make(found);
    DamagedLogReader.read(disk, new DamagedLogReader.RecordReader() {
      @Override
      public void read(long frame, long time, LogRecord stored, ByteBuffer record) {
        if (survey.isUsable(stored)) taking.take(frame, time, record);
      }

      @Override
      public void end(Segment file, int size, long frame) throws IOException {
        taking.end(file, size, frame);
      }
    });
    return survey.check(disk, found);
  }

  private StoreCheck check(StorageDirectory disk, DamagedLogReader found) throws IOException {
    long bytes = 0;
    for (var name : disk.names()) bytes += disk.size(name);
    long actors = lines.values().stream().filter(line -> line.used > 0).count();
    long all = lines.values().stream().mapToLong(line -> line.waiting.size()).sum();
    long aside = lines.values().stream().flatMap(line -> line.waiting.values().stream()).filter(one -> one).count();
    return new StoreCheck(disk.toString(), bytes, found.frames(), actors, turns, all - aside, aside, found.closed(),
        List.copyOf(found.torn()), found.doubt(), List.copyOf(found.wrong()), List.copyOf(lost));
  }
}
