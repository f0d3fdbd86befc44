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
 * monitor. Used by {@link IndexStripe#wake}, and by records that are being stored, which keep it
 * awake.
 */
final class ActorLocation {
  private static final long[] NOWHERE = {};

  /** The time from one load to the next. */
  static final class ActorLife {
    private final ActorLocation where;
    private final long number;
    private final CompletableFuture<Void> before; // done when no turn of earlier lives is being stored
    private final CompletableFuture<Void> idle = new CompletableFuture<>(); // of this one and those before
    private boolean over; // a turn was refused, so those behind it are
    private boolean followed; // whether no turn enters any more
    private boolean gone; // whether the actor has ended; then no turn enters either
    private int underWay;

    private ActorLife(ActorLocation where, long number, CompletableFuture<Void> before) {
      this.where = where;
      this.number = number;
      this.before = before;
    }

    ActorLocation where() {
      return where;
    }

    long number() {
      return number;
    }

    CompletableFuture<Void> before() {
      return before;
    }

    synchronized boolean isOver() {
      return over;
    }

    synchronized void end() {
      over = true;
    }

    private synchronized void enter() {
      underWay++;
    }

    void leave() {
      if (left()) before.thenRun(() -> idle.complete(null));
    }

    private synchronized boolean left() {
      return --underWay == 0 && followed;
    }

    /** No turn enters any more. */
    private CompletableFuture<Void> follow() {
      if (isIdle()) before.thenRun(() -> idle.complete(null));
      return idle;
    }

    private synchronized boolean isIdle() {
      followed = true;
      return underWay == 0;
    }

    private synchronized void go() {
      gone = true;
    }

    private synchronized boolean isGone() {
      return gone;
    }

    private synchronized boolean isForgettable() {
      return gone && underWay == 0 && before.isDone();
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
  private long first; // the number of the last whole turn, beside snapshots
  private boolean gap; // in front of one of these; before a whole turn there may be some, as they were dead
  private ActorLife life; // null until the first load in this process
  private long given; // the number of the newest turn that is being stored, or of the last one
  private Map<String, MessageLocation> waiting = Map.of(); // by id, oldest first; an immutable map while it is empty
  private int arriving; // messages that are being stored

  /** Makes the entry of an actor of which no turn is stored. */
  ActorLocation(Store.ActorId actor, Fingerprint print) {
    this(actor, print, NOWHERE, 0, 0);
  }

  ActorLocation(Store.ActorId actor, Fingerprint print, long[] places, long last, long first) {
    this.actor = actor;
    this.print = print;
    this.places = places;
    this.count = places.length;
    this.last = last;
    this.first = first;
  }

  Store.ActorId actor() {
    return actor;
  }

  Fingerprint print() {
    return print;
  }

  /** Whether it is not used, no message waits, and none of its turns is missing. */
  synchronized boolean isAtRest() {
    return waiting.isEmpty() && arriving == 0 && !gap && (life == null || life.isForgettable());
  }

  /** Something is stored of it, or waits for it. */
  synchronized boolean isKnown() {
    return last > 0 || !waiting.isEmpty();
  }

  synchronized long last() {
    return last;
  }

  synchronized long first() {
    return first;
  }

  synchronized long[] places() {
    return Arrays.copyOf(places, count);
  }

  synchronized void add(long number, LogRecord.RecordType type, int segment, int offset) {
    boolean whole = type != LogRecord.RecordType.TURN;
    gap = !whole && (gap || last != 0 && number > last + 1);
    if (whole) count = 0;
    if (type == LogRecord.RecordType.WHOLE) first = number;
    if (count == places.length) places = Arrays.copyOf(places, Math.max(1, 2 * count));
    places[count++] = place(segment, offset);
    last = number;
  }

  /** A turn is missing that is to be read. */
  synchronized boolean hasGap() {
    return gap;
  }

  /**
   * Returns false if the record is dead. Turns before a snapshot are history until they are old.
   */
  synchronized boolean has(long number, LogRecord.RecordType type, long place, boolean old) {
    boolean snapshot = type == LogRecord.RecordType.SNAPSHOT;
    return snapshot || old ? Arrays.binarySearch(places, 0, count, place) >= 0 : number >= first;
  }

  synchronized void move(Relocations moves) {
    for (int i = 0; i < count; i++) places[i] = moves.of(places[i]);
    if (!waiting.isEmpty()) waiting.replaceAll((id, one) -> moves.of(one));
  }

  static long place(int segment, int offset) {
    return (long) segment << Integer.SIZE | offset;
  }

  /** The next life, with a number that no other has. No turn enters the life before any more. */
  synchronized ActorLife begin(long number) {
    life = new ActorLife(this, number, life == null ? CompletableFuture.completedFuture(null) : life.follow());
    given = -1; // until it has read
    return life;
  }

  /** The life has read all turns before. */
  synchronized void hasRead(ActorLife reader) {
    goOn(reader, last);
  }

  /** The next turn of the life has the number after this one. */
  synchronized void goOn(ActorLife reader, long number) {
    if (life == reader) given = number;
  }

  /**
   * A turn is being stored, until it leaves. Returns null if the turn belongs to another life, or
   * is not the next one.
   */
  synchronized ActorLife enter(long number, long turn) {
    if (!isOf(number) || given < 0 || turn != given + 1) return null;
    given = turn;
    life.enter();
    return life;
  }

  /** Does the same for a snapshot, which may come late. */
  synchronized ActorLife enterSnapshot(long number) {
    if (!isOf(number)) return null;
    life.enter();
    return life;
  }

  private boolean isOf(long number) {
    return life != null && life.number == number && !life.isGone();
  }

  /** The actor of this life has ended. */
  synchronized void end(long number) {
    if (isOf(number)) life.go();
  }

  // ---- what waits

  /**
   * A message is being stored, until {@code arrived}. Returns false if it would be one message too
   * many.
   */
  synchronized boolean reserve(int most, Instant due) {
    if (waiting.size() + arriving >= most && dueUntil(due) + arriving >= most) return false;
    arriving++;
    return true;
  }

  private long dueUntil(Instant time) {
    return waiting.values().stream().filter(one -> !one.due.isAfter(time)).count();
  }

  synchronized Optional<Instant> next(Instant after) {
    return waiting.values().stream().map(MessageLocation::due).filter(after::isBefore).min(Instant::compareTo);
  }

  synchronized void arrived() {
    arriving--;
  }

  synchronized void put(String id, MessageLocation message) {
    if (waiting.isEmpty()) waiting = new LinkedHashMap<>(2);
    waiting.remove(id); // so that it is the last one
    waiting.put(id, message);
  }

  synchronized void done(List<String> ids) {
    if (waiting.isEmpty()) return;
    ids.forEach(waiting::remove);
    if (waiting.isEmpty()) waiting = Map.of();
  }

  /** How many wait. */
  synchronized int count() {
    return waiting.size();
  }

  /** How many are due at this time. */
  synchronized long due(Instant time) {
    return waiting.isEmpty() ? 0 : waiting.values().stream().filter(one -> one.due.equals(time)).count();
  }

  synchronized List<String> waiting() {
    return List.copyOf(waiting.keySet());
  }

  synchronized List<MessageLocation> waiting(Instant until, int most) {
    return waiting.values().stream().filter(one -> !one.due.isAfter(until)).limit(most).toList();
  }

  synchronized boolean has(String id, MessageLocation message) {
    return message.equals(waiting.get(id));
  }

  synchronized Optional<Instant> due(String id) {
    return Optional.ofNullable(waiting.get(id)).map(MessageLocation::due);
  }
}
