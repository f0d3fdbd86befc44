package io.fibry.store.folder;

import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Where the log has what is to be read of an actor: its last whole turn and those after it, and the
 * messages that wait for it. Its fields, and those of a life, are under the object's own monitor.
 */
final class Where {
  private static final long[] NOWHERE = {};

  /** From one load to the next. */
  static final class Life {
    private final long number;
    private final CompletableFuture<Void> before; // done when no turn of earlier lives is on its way
    private final CompletableFuture<Void> idle = new CompletableFuture<>(); // of this one and those before
    private boolean over; // a turn was refused, so those behind it are
    private boolean followed; // none enters any more
    private int underWay;

    private Life(long number, CompletableFuture<Void> before) {
      this.number = number;
      this.before = before;
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

    /** None enters any more. */
    private CompletableFuture<Void> follow() {
      if (isIdle()) before.thenRun(() -> idle.complete(null));
      return idle;
    }

    private synchronized boolean isIdle() {
      followed = true;
      return underWay == 0;
    }
  }

  /**
   * A message that waits.
   *
   * @param index of it in the record
   */
  record Waits(Instant due, int segment, int offset, int index) {}

  /** A message that waits is in another place. */
  record Moved(Waits from, Waits to) {}

  private long[] places = NOWHERE; // segment and offset of each, ascending; the array may be longer
  private int count;
  private long last; // the number of the last turn
  private long first; // the number of the last whole turn, beside snapshots
  private boolean gap; // in front of one of these; before a whole turn there may be some, as they were dead
  private Life life; // null: none in this process yet
  private long given; // the number of the newest turn that is on its way, or of the last
  private Map<String, Waits> waiting = Map.of(); // by id, oldest first; immutable: none
  private int arriving; // messages that are on their way

  synchronized long last() {
    return last;
  }

  synchronized long[] places() {
    return Arrays.copyOf(places, count);
  }

  synchronized void add(long number, Stored.Type type, int segment, int offset) {
    boolean whole = type != Stored.Type.TURN;
    gap = !whole && (gap || last != 0 && number > last + 1);
    if (whole) count = 0;
    if (type == Stored.Type.WHOLE) first = number;
    if (count == places.length) places = Arrays.copyOf(places, Math.max(1, 2 * count));
    places[count++] = place(segment, offset);
    last = number;
  }

  /** A turn is missing that is to be read. */
  synchronized boolean hasGap() {
    return gap;
  }

  /** False: it means nothing any more. Turns before a snapshot are history until they are old. */
  synchronized boolean has(long number, Stored.Type type, long place, boolean old) {
    boolean snapshot = type == Stored.Type.SNAPSHOT;
    return snapshot || old ? Arrays.binarySearch(places, 0, count, place) >= 0 : number >= first;
  }

  /** All at once, since new places may look like old ones. */
  synchronized void move(Map<Long, Long> turns, Map<String, Moved> messages) {
    for (int i = 0; i < count; i++) places[i] = turns.getOrDefault(places[i], places[i]);
    messages.forEach((id, moved) -> {
      if (!waiting.isEmpty()) waiting.computeIfPresent(id, (same, now) -> now.equals(moved.from) ? moved.to : now);
    });
  }

  static long place(int segment, int offset) {
    return (long) segment << Integer.SIZE | offset;
  }

  /** The next life. None enters the one before any more. */
  synchronized Life begin() {
    life = life == null ? new Life(1, CompletableFuture.completedFuture(null))
        : new Life(life.number + 1, life.follow());
    given = -1; // until it has read
    return life;
  }

  /** The life has read all turns before. */
  synchronized void hasRead(Life reader) {
    goOn(reader, last);
  }

  /** The next turn of the life has the number after this one. */
  synchronized void goOn(Life reader, long number) {
    if (life == reader) given = number;
  }

  /** A turn is on its way, until it leaves. Null: it is of another life, or not the next one. */
  synchronized Life enter(long number, long turn) {
    if (life == null || life.number != number || given < 0 || turn != given + 1) return null;
    given = turn;
    life.enter();
    return life;
  }

  /** Likewise a snapshot, which may come late. */
  synchronized Life enterSnapshot(long number) {
    if (life == null || life.number != number) return null;
    life.enter();
    return life;
  }

  // ---- what waits

  /** A message is on its way, until {@code arrived}. False: it would be one too many. */
  synchronized boolean reserve(int most, Instant due) {
    if (waiting.size() + arriving >= most && dueUntil(due) + arriving >= most) return false;
    arriving++;
    return true;
  }

  private long dueUntil(Instant time) {
    return waiting.values().stream().filter(one -> !one.due.isAfter(time)).count();
  }

  synchronized Optional<Instant> next(Instant after) {
    return waiting.values().stream().map(Waits::due).filter(after::isBefore).min(Instant::compareTo);
  }

  synchronized void arrived() {
    arriving--;
  }

  synchronized void put(String id, Waits message) {
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

  synchronized List<Waits> waiting(Instant until, int most) {
    return waiting.values().stream().filter(one -> !one.due.isAfter(until)).limit(most).toList();
  }

  synchronized boolean has(String id, Waits message) {
    return message.equals(waiting.get(id));
  }

  synchronized Optional<Instant> due(String id) {
    return Optional.ofNullable(waiting.get(id)).map(Waits::due);
  }
}
