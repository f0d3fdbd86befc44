package io.fibry.nats.store;

import io.fibry.nats.connection.StoreSubjects;
import io.fibry.nats.stream.JetStreamLog;
import io.fibry.store.Store;
import io.fibry.store.StoreDamagedException;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the turns of an actor, from the last full-state turn or a snapshot on. Used by one thread.
 */
final class TurnReader {
  private static final int PAGE = 256;

  private final JetStreamLog log;
  private final StoreSubjects subjects;
  private final Store.ActorId id;
  private final List<byte[]> bodies = new ArrayList<>();
  private long nextNumber = 1; // number of the turn that must be read next

  TurnReader(JetStreamLog log, StoreSubjects subjects, Store.ActorId id) {
    this.log = log;
    this.subjects = subjects;
    this.id = id;
  }

  /**
   * Returns the bodies from which the actor computes its state: a snapshot or full-state turn, if
   * there is one, and the turns after it.
   *
   * @param lastSeq the sequence number of the stream message that has the actor's last entry
   * @param entry the last entry of the actor's journal
   */
  List<byte[]> readUpTo(long lastSeq, JournalEntry entry) {
    // entry.from() is zero if the last entry itself has the full state
    long fullStateSeq = entry.from() == 0 ? lastSeq : entry.from();
    if (entry.number() > 0 && !entry.hasFullState()) {
      var snapshot = log.lastMessage(subjects.snapshot(id)).map(Snapshot::read)
          .filter(stored -> stored.seq() >= fullStateSeq && stored.number() <= entry.number());
      snapshot.ifPresent(stored -> {
        bodies.add(stored.body());
        nextNumber = stored.number() + 1;
      });
      if (nextNumber <= entry.number()) read(snapshot.map(Snapshot::seq).orElse(fullStateSeq), lastSeq);
    }
    if (nextNumber <= entry.number()) add(entry);
    if (nextNumber <= entry.number()) throw missing();
    return bodies;
  }

  /**
   * Reads the messages from {@code firstSeq} on, up to the message before {@code endSeq}. Stops at
   * an empty page, which means that the stream has no more messages. If the empty page comes too
   * early, the caller finds that a turn is missing.
   */
  private void read(long firstSeq, long endSeq) {
    String subject = subjects.turns(id);
    long nextSeq = firstSeq;
    while (nextSeq < endSeq) {
      var page = log.page(subject, nextSeq, PAGE);
      if (page.isEmpty()) return;
      for (var message : page) if (message.getSeq() < endSeq) add(JournalEntry.read(message));
      nextSeq = page.getLast().getSeq() + 1;
    }
  }

  private void add(JournalEntry entry) {
    for (int i = entry.lastFullStateIndex(); i < entry.turns().size(); i++) {
      var turn = entry.turns().get(i);
      if (entry.number(i) < nextNumber) continue; // the snapshot covers it
      if (turn.whole()) bodies.clear();
      else if (entry.number(i) != nextNumber) throw missing();
      bodies.add(turn.body());
      nextNumber = entry.number(i) + 1;
    }
  }

  private StoreDamagedException missing() {
    return new StoreDamagedException(
        "turn " + nextNumber + " of " + id + " is missing in stream " + subjects.streamName()
            + ". The turns of other actors are complete; to recover this actor, restore a copy of the stream, which "
            + "also sets the other actors back");
  }
}
