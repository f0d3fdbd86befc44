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
    private long baseTurn; // the turn of the last record with the whole state, or 0
    private long lastFullTurn; // the last turn that says all: those before it are dead
    private long lastUsedTurn; // in the second look: the last turn that is used
    private long lastSeenTurn; // the last turn that was found
    private final Map<String, Boolean> waiting = new LinkedHashMap<>(0); // by id: whether it is parked
  }

  private final Map<Store.ActorId, ActorFindings> lines = new HashMap<>();
  private final List<LostTurns> lostTurns = new ArrayList<>();
  private boolean hasDamage;
  private long turns;

  private ActorFindings findingsOf(Store.ActorId actor) {
    return lines.computeIfAbsent(actor, none -> new ActorFindings());
  }

  // ---- the first look

  void analyze(LogRecord stored) {
    if (stored.type() == LogRecord.RecordType.MESSAGE || stored.type() == LogRecord.RecordType.TURN) return;
    var line = findingsOf(stored.actor());
    line.baseTurn = Math.max(line.baseTurn, stored.number());
    if (stored.type() == LogRecord.RecordType.WHOLE) line.lastFullTurn = Math.max(line.lastFullTurn, stored.number());
  }

  // ---- the second look

  /** Something was not as it was written. */
  void beginSecondPass(boolean isDamaged) {
    hasDamage = isDamaged;
  }

  boolean isUsable(LogRecord stored) {
    boolean usable = stored.type() == LogRecord.RecordType.MESSAGE || isUsable(stored, findingsOf(stored.actor()));
    if (usable) use(stored);
    return usable;
  }

  private boolean isUsable(LogRecord stored, ActorFindings line) {
    long number = stored.number();
    noteGap(stored, line);
    line.lastSeenTurn = Math.max(line.lastSeenTurn, number);
    boolean usable = stored.type() != LogRecord.RecordType.TURN || number <= line.baseTurn
        || number == Math.max(line.lastUsedTurn, line.baseTurn) + 1;
    if (!usable) addLost(stored.actor(), number, number, "it is whole, and comes after a turn that is missing");
    else line.lastUsedTurn = Math.max(line.lastUsedTurn, number);
    return usable;
  }

  private void noteGap(LogRecord stored, ActorFindings line) {
    long number = stored.number();
    long first = line.lastSeenTurn + 1;
    if (number <= first && stored.type() != LogRecord.RecordType.SNAPSHOT || number < first
        || number <= line.lastFullTurn)
      return;
    long last = stored.type() == LogRecord.RecordType.SNAPSHOT ? number : number - 1;
    if (number > line.baseTurn) addLost(stored.actor(), Math.max(first, line.baseTurn + 1), last, "it is missing");
    else if (hasDamage && line.lastSeenTurn > 0)
      addLost(stored.actor(), first, last, "it is missing in the history; the state is whole");
  }

  private void addLost(Store.ActorId actor, long first, long last, String why) {
    if (first > last) return;
    var before = lostTurns.isEmpty() ? null : lostTurns.getLast();
    if (before != null && before.actor().equals(actor) && before.why().equals(why) && before.last() + 1 == first)
      lostTurns.set(lostTurns.size() - 1, new LostTurns(actor, before.first(), last, why));
    else lostTurns.add(new LostTurns(actor, first, last, why));
  }

  private void use(LogRecord stored) {
    if (stored.type() == LogRecord.RecordType.TURN || stored.type() == LogRecord.RecordType.WHOLE) {
      turns++;
      stored.handledIds().forEach(findingsOf(stored.actor()).waiting::remove);
    }
    for (var one : stored.outbox())
      findingsOf(one.to()).waiting.put(one.id(), one.due().toEpochMilli() == Store.PendingMessage.NEVER.toEpochMilli());
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
        survey.analyze(stored);
      }

      @Override
      public void end(Segment file, int size, long frame) {}
    });
    survey.beginSecondPass(!found.defects().isEmpty());
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
    long actors = lines.values().stream().filter(line -> line.lastUsedTurn > 0).count();
    long all = lines.values().stream().mapToLong(line -> line.waiting.size()).sum();
    long aside = lines.values().stream().flatMap(line -> line.waiting.values().stream()).filter(one -> one).count();
    return new StoreCheck(disk.toString(), bytes, found.frames(), actors, turns, all - aside, aside, found.closed(),
        List.copyOf(found.tornFiles()), found.endDoubt(), List.copyOf(found.defects()), List.copyOf(lostTurns));
  }
}
