package io.fibry.store.folder.repair;

import io.fibry.store.Store;
import io.fibry.store.folder.StorageDirectory;
import io.fibry.store.folder.StoreCheck;
import io.fibry.store.folder.StoreCheck.LostTurns;
import io.fibry.store.folder.log.LogRecord;
import io.fibry.store.folder.log.Segment;
import io.fibry.store.spi.StoreBackend;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Decides which intact records of a damaged log are usable. A turn after a missing turn is not
 * usable, unless a later turn has the full state. An unusable turn is lost, with the messages that
 * it sent. The messages that it handled are pending again. Each log is read twice: the first pass
 * collects facts about each actor, and the second pass decides.
 */
public final class SalvagePlan {
  /** The facts about one actor. */
  private static final class ActorFindings {
    private long baseTurn; // first pass: the last turn whose full state is in its record or in a snapshot
    private long lastFullTurn; // first pass: the last turn whose own record has the full state
    private long lastUsedTurn; // second pass: the last usable turn
    private long lastSeenTurn; // second pass: the last turn that was found
    // Whether each pending message is parked, by id.
    private final Map<String, Boolean> isParkedById = new LinkedHashMap<>(0);
  }

  private final Map<Store.ActorId, ActorFindings> actorFindings = new HashMap<>();
  private final List<LostTurns> lostTurns = new ArrayList<>();
  private boolean hasDamage; // whether the first pass found a defect
  private long turns; // usable turns

  private SalvagePlan() {}

  private ActorFindings findingsOf(Store.ActorId actor) {
    return actorFindings.computeIfAbsent(actor, newActor -> new ActorFindings());
  }

  // ---- the first pass

  /** If the record has a full state, remembers the number of its turn. */
  void analyze(LogRecord record) {
    if (record.type() == LogRecord.RecordType.MESSAGE || record.type() == LogRecord.RecordType.TURN) return;
    var findings = findingsOf(record.actor());
    findings.baseTurn = Math.max(findings.baseTurn, record.number());
    if (record.type() == LogRecord.RecordType.FULL_STATE)
      findings.lastFullTurn = Math.max(findings.lastFullTurn, record.number());
  }

  // ---- the second pass

  /**
   * Begins the second pass.
   *
   * @param isDamaged whether the first pass found a defect
   */
  void beginSecondPass(boolean isDamaged) {
    hasDamage = isDamaged;
  }

  /**
   * Decides whether a record is usable, and counts it as used or lost. Called once for each record,
   * in the order of the log.
   */
  boolean isUsable(LogRecord record) {
    boolean isUsable = record.type() == LogRecord.RecordType.MESSAGE || decideTurn(record, findingsOf(record.actor()));
    if (isUsable) markUsed(record);
    return isUsable;
  }

  private boolean decideTurn(LogRecord record, ActorFindings findings) {
    long number = record.number();
    addGap(record, findings);
    findings.lastSeenTurn = Math.max(findings.lastSeenTurn, number);
    boolean isUsable = record.type() != LogRecord.RecordType.TURN || number <= findings.baseTurn
        || number == Math.max(findings.lastUsedTurn, findings.baseTurn) + 1;
    if (!isUsable) addLost(record.actor(), number, number, "it is whole, and comes after a turn that is missing");
    else findings.lastUsedTurn = Math.max(findings.lastUsedTurn, number);
    return isUsable;
  }

  /** Adds the turns that are missing before a record to {@code lostTurns}. */
  private void addGap(LogRecord record, ActorFindings findings) {
    long number = record.number();
    long firstMissing = findings.lastSeenTurn + 1;
    if (number <= firstMissing && record.type() != LogRecord.RecordType.SNAPSHOT || number < firstMissing
        || number <= findings.lastFullTurn)
      return;
    long lastMissing = record.type() == LogRecord.RecordType.SNAPSHOT ? number : number - 1;
    if (number > findings.baseTurn)
      addLost(record.actor(), Math.max(firstMissing, findings.baseTurn + 1), lastMissing, "it is missing");
    else if (hasDamage && findings.lastSeenTurn > 0)
      addLost(record.actor(), firstMissing, lastMissing, "it is missing in the history; the state is whole");
  }

  private void addLost(Store.ActorId actor, long first, long last, String reason) {
    if (first > last) return;
    var previous = lostTurns.isEmpty() ? null : lostTurns.getLast();
    if (previous != null && previous.actor().equals(actor) && previous.why().equals(reason)
        && previous.last() + 1 == first)
      lostTurns.set(lostTurns.size() - 1, new LostTurns(actor, previous.first(), last, reason));
    else lostTurns.add(new LostTurns(actor, first, last, reason));
  }

  private void markUsed(LogRecord record) {
    if (record.type() == LogRecord.RecordType.TURN || record.type() == LogRecord.RecordType.FULL_STATE) {
      turns++;
      record.handledIds().forEach(findingsOf(record.actor()).isParkedById::remove);
    }
    for (var message : record.outbox())
      findingsOf(message.to()).isParkedById.put(message.id(),
          message.due().toEpochMilli() == StoreBackend.PendingMessage.NEVER.toEpochMilli());
  }

  // ---- the result

  /** Checks a log, and writes nothing. */
  public static StoreCheck of(StorageDirectory disk) throws IOException {
    return of(disk, damagedLog -> new SalvageSink() {});
  }

  /** Receives the usable records of a log. */
  interface SalvageSink {
    default void take(long frameNumber, long time, ByteBuffer record) {}

    default void onSegmentEnd(Segment segment, int fileSize, long nextFrame) throws IOException {}
  }

  interface SalvageSinkFactory {
    SalvageSink make(DamagedLogReader damagedLog) throws IOException;
  }

  /** Checks a log, and gives its usable records to the sink. */
  static StoreCheck of(StorageDirectory disk, SalvageSinkFactory sinkFactory) throws IOException {
    var plan = new SalvagePlan();
    var damagedLog = DamagedLogReader.read(disk, new DamagedLogReader.RecordReader() {
      @Override
      public void read(long frameNumber, long time, LogRecord record, ByteBuffer bytes) {
        plan.analyze(record);
      }

      @Override
      public void onSegmentEnd(Segment segment, int fileSize, long nextFrame) {}
    });
    plan.beginSecondPass(!damagedLog.defects().isEmpty());
    var sink = sinkFactory.make(damagedLog);
    DamagedLogReader.read(disk, new DamagedLogReader.RecordReader() {
      @Override
      public void read(long frameNumber, long time, LogRecord record, ByteBuffer bytes) {
        if (plan.isUsable(record)) sink.take(frameNumber, time, bytes);
      }

      @Override
      public void onSegmentEnd(Segment segment, int fileSize, long nextFrame) throws IOException {
        sink.onSegmentEnd(segment, fileSize, nextFrame);
      }
    });
    return plan.result(disk, damagedLog);
  }

  private StoreCheck result(StorageDirectory disk, DamagedLogReader damagedLog) throws IOException {
    long bytes = 0;
    for (var name : disk.names()) bytes += disk.size(name);
    long actors = actorFindings.values().stream().filter(findings -> findings.lastUsedTurn > 0).count();
    long messages = actorFindings.values().stream().mapToLong(findings -> findings.isParkedById.size()).sum();
    long parked = actorFindings.values().stream().flatMap(findings -> findings.isParkedById.values().stream())
        .filter(isParked -> isParked).count();
    return new StoreCheck(disk.toString(), bytes, damagedLog.frameCount(), actors, turns, messages - parked, parked,
        damagedLog.wasClosed(), List.copyOf(damagedLog.tornFiles()), damagedLog.unconfirmedEnd(),
        List.copyOf(damagedLog.defects()), List.copyOf(lostTurns));
  }
}
