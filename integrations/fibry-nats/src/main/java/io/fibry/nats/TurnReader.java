package io.fibry.nats;

import io.fibry.store.Store;
import io.fibry.store.StoreDamagedException;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the turns of an actor: from the last whole one on, or from a snapshot. Used by one thread.
 */
final class TurnReader {
  private static final int PAGE = 256;

  private final JetStreamLog log;
  private final StoreSubjects subjects;
  private final Store.ActorId id;
  private final List<byte[]> bodies = new ArrayList<>();
  private long nextNumber = 1; // the number of the turn that is missing

  TurnReader(JetStreamLog log, StoreSubjects subjects, Store.ActorId id) {
    this.log = log;
    this.subjects = subjects;
    this.id = id;
  }

  /** Up to the last message, which says this. */
  List<byte[]> readUpTo(long last, JournalEntry entry) {
    long from = entry.from() == 0 ? last : entry.from();
    if (entry.number() > 0 && !entry.hasWhole()) {
      var snapshot = log.lastMessage(subjects.snapshot(id)).map(Snapshot::read)
          .filter(one -> one.seq() >= from && one.number() <= entry.number());
      snapshot.ifPresent(one -> {
        bodies.add(one.body());
        nextNumber = one.number() + 1;
      });
      if (nextNumber <= entry.number()) read(snapshot.map(Snapshot::seq).orElse(from), last);
    }
    if (nextNumber <= entry.number()) add(entry);
    if (nextNumber <= entry.number()) throw missing();
    return bodies;
  }

  /**
   * Messages from one number to before another. Where a page ends early, its server may be behind.
   */
  private void read(long first, long last) {
    String subject = subjects.turns(id);
    long at = first;
    while (at < last) {
      var page = log.page(subject, at, PAGE);
      if (page.isEmpty()) return;
      for (var one : page) if (one.getSeq() < last) add(JournalEntry.read(one));
      at = page.getLast().getSeq() + 1;
    }
  }

  private void add(JournalEntry entry) {
    for (int i = entry.lastWhole(); i < entry.turns().size(); i++) {
      var turn = entry.turns().get(i);
      if (entry.number(i) < nextNumber) continue; // the snapshot knows it
      if (turn.whole()) bodies.clear();
      else if (entry.number(i) != nextNumber) throw missing();
      bodies.add(turn.body());
      nextNumber = entry.number(i) + 1;
    }
  }

  private StoreDamagedException missing() {
    return new StoreDamagedException("turn " + nextNumber + " of " + id + " is missing in stream " + subjects.stream()
        + ". Other actors are not concerned; put back a copy of the stream");
  }
}
