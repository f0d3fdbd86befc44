package io.fibry.store.folder;

import io.fibry.store.Store;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Where the log has what is to be read of an actor: its last whole turn and those after it, and the
 * messages that wait for it. Its fields, and those of a life, are guarded by the object's own
 * monitor. Used by {@link IndexStripe#expand}, and by records that are being stored, which keep it
 * awake.
 */
final class ActorLocation {
  private static final long[] NO_PLACES = {};

  /** The time from one load to the next. */
  static final class ActorLife {
    private final ActorLocation where;
    private final long number;
    private final CompletableFuture<Void> earlierTurnsDone; // done when no turn of earlier lives is being stored
    private final CompletableFuture<Void> idle = new CompletableFuture<>(); // of this one and those before
    private boolean wasRefused; // a turn was refused, so those behind it are
    private boolean isClosedToTurns; // whether no turn enters any more
    private boolean isActorGone; // whether the actor has ended; then no turn enters either
    private int pendingTurns;

    private ActorLife(ActorLocation location, long number, CompletableFuture<Void> before) {
      this.where = location;
      this.number = number;
      this.earlierTurnsDone = before;
    }

    ActorLocation where() {
      return where;
    }

    long number() {
      return number;
    }

    CompletableFuture<Void> earlierTurnsDone() {
      return earlierTurnsDone;
    }

    synchronized boolean isOver() {
      return wasRefused;
    }

    synchronized void endLife() {
      wasRefused = true;
    }

    private synchronized void enter() {
      pendingTurns++;
    }

    void leave() {
      if (leaveAndCheckIdle()) earlierTurnsDone.thenRun(() -> idle.complete(null));
    }

    private synchronized boolean leaveAndCheckIdle() {
      return --pendingTurns == 0 && isClosedToTurns;
    }

    /** No turn enters any more. */
    private CompletableFuture<Void> closeToTurns() {
      if (closeAndCheckIdle()) earlierTurnsDone.thenRun(() -> idle.complete(null));
      return idle;
    }

    private synchronized boolean closeAndCheckIdle() {
      isClosedToTurns = true;
      return pendingTurns == 0;
    }

    private synchronized void markActorGone() {
      isActorGone = true;
    }

    private synchronized boolean isGone() {
      return isActorGone;
    }

    private synchronized boolean isForgettable() {
      return isActorGone && pendingTurns == 0 && earlierTurnsDone.isDone();
    }
  }

  /**
   * A message that waits.
   *
   * @param index of it in the record
   */
  record MessageLocation(Instant due, int segment, int offset, int index) {}

  private final Store.ActorId actor;
  private final Fingerprint print; // of the actor
  private long[] places; // segment and offset of each, ascending; the array may be longer
  private int count;
  private long last; // the number of the last turn
  private long lastFullTurn; // the number of the last whole turn, beside snapshots
  private boolean hasGap; // in front of one of these; before a whole turn there may be some, as they were dead
  private ActorLife life; // null until the first load in this process
  private long newestTurn; // the number of the newest turn that is being stored, or of the last one
  private Map<String, MessageLocation> pending = Map.of(); // by id, oldest first; an immutable map while it is empty
  private int arrivingCount; // messages that are being stored

  /** Makes the entry of an actor of which no turn is stored. */
  ActorLocation(Store.ActorId actor, Fingerprint print) {
    this(actor, print, NO_PLACES, 0, 0);
  }

  ActorLocation(Store.ActorId actor, Fingerprint print, long[] places, long last, long lastFullTurn) {
    this.actor = actor;
    this.print = print;
    this.places = places;
    this.count = places.length;
    this.last = last;
    this.lastFullTurn = lastFullTurn;
  }

  Store.ActorId actor() {
    return actor;
  }

  Fingerprint print() {
    return print;
  }

  /** Whether it is not used, no message waits, and none of its turns is missing. */
  synchronized boolean isCompactable() {
    return pending.isEmpty() && arrivingCount == 0 && !hasGap && (life == null || life.isForgettable());
  }

  /** Something is stored of it, or waits for it. */
  synchronized boolean isKnown() {
    return last > 0 || !pending.isEmpty();
  }

  synchronized long last() {
    return last;
  }

  synchronized long lastFullTurn() {
    return lastFullTurn;
  }

  synchronized long[] places() {
    return Arrays.copyOf(places, count);
  }

  synchronized void add(long number, LogRecord.RecordType type, int segment, int offset) {
    boolean whole = type != LogRecord.RecordType.TURN;
    hasGap = !whole && (hasGap || last != 0 && number > last + 1);
    if (whole) count = 0;
    if (type == LogRecord.RecordType.WHOLE) lastFullTurn = number;
    if (count == places.length) places = Arrays.copyOf(places, Math.max(1, 2 * count));
    places[count++] = packPlace(segment, offset);
    last = number;
  }

  /** A turn is missing that is to be read. */
  synchronized boolean hasGap() {
    return hasGap;
  }

  /**
   * Returns false if the record is dead. Turns before a snapshot are history until they are old.
   */
  synchronized boolean has(long number, LogRecord.RecordType type, long place, boolean old) {
    boolean snapshot = type == LogRecord.RecordType.SNAPSHOT;
    return snapshot || old ? Arrays.binarySearch(places, 0, count, place) >= 0 : number >= lastFullTurn;
  }

  synchronized void move(Relocations relocations) {
    for (int i = 0; i < count; i++) places[i] = relocations.newPlace(places[i]);
    if (!pending.isEmpty()) pending.replaceAll((id, one) -> relocations.newPlace(one));
  }

  static long packPlace(int segment, int offset) {
    return (long) segment << Integer.SIZE | offset;
  }

  /** The next life, with a number that no other has. No turn enters the life before any more. */
  synchronized ActorLife beginLife(long number) {
    life = new ActorLife(this, number, life == null ? CompletableFuture.completedFuture(null) : life.closeToTurns());
    newestTurn = -1; // until it has read
    return life;
  }

  /** The life has read all turns before. */
  synchronized void onRead(ActorLife reader) {
    resumeAt(reader, last);
  }

  /** The next turn of the life has the number after this one. */
  synchronized void resumeAt(ActorLife reader, long number) {
    if (life == reader) newestTurn = number;
  }

  /**
   * A turn is being stored, until it leaves. Returns null if the turn belongs to another life, or
   * is not the next one.
   */
  synchronized ActorLife enter(long number, long turn) {
    if (!isOfLife(number) || newestTurn < 0 || turn != newestTurn + 1) return null;
    newestTurn = turn;
    life.enter();
    return life;
  }

  /** Does the same for a snapshot, which may come late. */
  synchronized ActorLife enterSnapshot(long number) {
    if (!isOfLife(number)) return null;
    life.enter();
    return life;
  }

  private boolean isOfLife(long number) {
    return life != null && life.number == number && !life.isGone();
  }

  /** The actor of this life has ended. */
  synchronized void endLife(long number) {
    if (isOfLife(number)) life.markActorGone();
  }

  // ---- what waits

  /**
   * A message is being stored, until {@code onArrived}. Returns false if it would be one message too
   * many.
   */
  synchronized boolean reserve(int max, Instant due) {
    if (pending.size() + arrivingCount >= max && dueUntil(due) + arrivingCount >= max) return false;
    arrivingCount++;
    return true;
  }

  private long dueUntil(Instant time) {
    return pending.values().stream().filter(one -> !one.due.isAfter(time)).count();
  }

  synchronized Optional<Instant> nextDueTime(Instant after) {
    return pending.values().stream().map(MessageLocation::due).filter(after::isBefore).min(Instant::compareTo);
  }

  synchronized void onArrived() {
    arrivingCount--;
  }

  synchronized void put(String id, MessageLocation message) {
    if (pending.isEmpty()) pending = new LinkedHashMap<>(2);
    pending.remove(id); // so that it is the last one
    pending.put(id, message);
  }

  synchronized void removeHandled(List<String> ids) {
    if (pending.isEmpty()) return;
    ids.forEach(pending::remove);
    if (pending.isEmpty()) pending = Map.of();
  }

  /** How many wait. */
  synchronized int count() {
    return pending.size();
  }

  /** How many are due at this time. */
  synchronized long due(Instant time) {
    return pending.isEmpty() ? 0 : pending.values().stream().filter(one -> one.due.equals(time)).count();
  }

  synchronized List<String> pendingIds() {
    return List.copyOf(pending.keySet());
  }

  synchronized List<MessageLocation> pending(Instant until, int max) {
    return pending.values().stream().filter(one -> !one.due.isAfter(until)).limit(max).toList();
  }

  synchronized boolean has(String id, MessageLocation message) {
    return message.equals(pending.get(id));
  }

  synchronized Optional<Instant> due(String id) {
    return Optional.ofNullable(pending.get(id)).map(MessageLocation::due);
  }
}
