package io.fibry.store.folder;

import io.fibry.store.Store;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * A part of the index. An actor <i>rests</i> as long as nobody uses it and nothing waits for it:
 * then it is a slot in a table of numbers. Otherwise it is <i>awake</i>, a {@link ActorLocation}.
 * An actor is in one of the two tables, since it changes tables under this object's monitor only.
 * The table has open addresses and grows by a quarter, so a slot of 32 bytes takes 40 to 50.
 *
 * <pre>
 * fingerprint 16 | number of the last turn, and 2 bits: where that of the last whole turn is 8
 *     | its place 8; or, negative: how many it has, and the link to the last of them
 * </pre>
 */
final class IndexStripe {
  private static final int WIDTH = 4;
  private static final int LAST = 2;
  private static final int PLACE = 3; // 0 if the slot is empty
  private static final int NOWHERE = 0;
  private static final int FIRST = 1; // the last whole turn is the first of the places
  private static final int APART = 2; // its number, as ~number, is in the chain in front of their places
  private static final int BITS = 2; // 0 if there is no whole turn

  private final int least; // slots
  private long[] slots = {};
  private int used;
  private final PlaceLists chains = new PlaceLists();
  private final Map<Fingerprint, ActorLocation> awake = new HashMap<>();

  IndexStripe(int least) {
    if (least < 4) throw new IllegalArgumentException(least + " slots cannot grow by a quarter; give 4 or more");
    this.least = least;
  }

  // ---- awake

  /** Uses an actor, which is awake then, until it is told to {@link #rest}. */
  synchronized <T> T wake(Fingerprint print, Store.ActorId actor, Function<ActorLocation, T> use) {
    var where = awake.get(print);
    return use.apply(where != null ? where : wake(print, actor));
  }

  private ActorLocation wake(Fingerprint print, Store.ActorId actor) {
    int at = find(print);
    long place = at < 0 ? NOWHERE : slots[at + PLACE];
    var where =
        at < 0 ? new ActorLocation(actor, print) : new ActorLocation(actor, print, places(at), last(at), first(at));
    awake.put(print, where); // first, since without memory it throws
    if (at < 0) return where;
    if (place < 0) chains.remove(link(place), count(place));
    remove(at);
    return where;
  }

  private long[] places(int at) {
    long place = slots[at + PLACE];
    if (place >= 0) return new long[] {place};
    var chain = chains.read(link(place), count(place));
    return whole(at) == APART ? Arrays.copyOfRange(chain, 1, chain.length) : chain;
  }

  /** Returns null if the actor rests, so that no message waits for it. */
  synchronized ActorLocation awake(Fingerprint print) {
    return awake.get(print);
  }

  synchronized List<ActorLocation> awake() {
    return new ArrayList<>(awake.values());
  }

  /**
   * If nobody uses it. No use can begin meanwhile, because an actor's use begins in {@code wake}.
   */
  synchronized void rest(ActorLocation where) {
    if (awake.get(where.print()) != where || !where.isAtRest()) return;
    var places = where.places();
    if (places.length > 0) {
      prepare();
      int whole = whole(where.last(), where.first(), places.length);
      var chain = whole == APART ? apart(where.first(), places) : places;
      int link = -1;
      if (chain.length > 1) for (long one : chain) link = chains.add(one, link);
      insert(where.print().high(), where.print().low(), word(where.last(), whole),
          chain.length == 1 ? chain[0] : value(chain.length, link));
    }
    awake.remove(where.print());
  }

  private static int whole(long last, long first, int places) {
    if (first == 0) return 0;
    return first == last + 1 - places ? FIRST : APART;
  }

  private static long[] apart(long first, long[] places) {
    var chain = new long[places.length + 1];
    chain[0] = ~first;
    System.arraycopy(places, 0, chain, 1, places.length);
    return chain;
  }

  /** Actors of which something is stored, messages that wait for them, and for a human. */
  synchronized void count(long[] sums) {
    sums[0] += used;
    for (var where : awake.values()) {
      long aside = where.due(Store.PendingMessage.NEVER);
      if (where.last() > 0) sums[0]++;
      sums[1] += where.count() - aside;
      sums[2] += aside;
    }
  }

  /** An actor at rest, and the place of one of its turns. */
  record CompactActor(Fingerprint print, long place) {}

  /** The actors that have stored turns or waiting messages. */
  record KnownActors(List<Store.ActorId> awake, List<CompactActor> resting) {}

  synchronized KnownActors known() {
    var known = new KnownActors(new ArrayList<>(), new ArrayList<>(used));
    for (var where : awake.values()) if (where.isKnown()) known.awake.add(where.actor());
    for (int at = 0; at < slots.length; at += WIDTH) if (slots[at + PLACE] != NOWHERE)
      known.resting.add(new CompactActor(new Fingerprint(slots[at], slots[at + 1]), newest(slots[at + PLACE])));
    known.resting.sort(Comparator.comparingLong(CompactActor::place)); // a disk reads on faster than to and fro
    return known;
  }

  // ---- at rest

  /**
   * A turn is read, after all before. Returns false if the actor must be awake for that. While a
   * log is opened only.
   */
  boolean read(long high, long low, long number, LogRecord.RecordType type, long place) {
    if (!awake.isEmpty() && awake.containsKey(new Fingerprint(high, low))) return false;
    int at = find(high, low);
    boolean whole = type == LogRecord.RecordType.WHOLE;
    if (at < 0) {
      if (type == LogRecord.RecordType.SNAPSHOT) return false;
      prepare();
      insert(high, low, word(number, whole ? FIRST : 0), place);
      return true;
    }
    if (!whole && (type == LogRecord.RecordType.SNAPSHOT || number != last(at) + 1)) return false;
    long before = slots[at + PLACE];
    slots[at + PLACE] = whole ? place : add(before, place);
    slots[at + LAST] = word(number, whole ? FIRST : whole(at));
    if (whole && before < 0) chains.remove(link(before), count(before));
    return true;
  }

  private long add(long before, long place) {
    if (before < 0) return value(count(before) + 1, chains.add(place, link(before)));
    return value(2, chains.add(place, chains.add(before, -1)));
  }

  /** Does the same as {@link ActorLocation#has(long, TurnRow.ColumnType, long, boolean)}. */
  synchronized boolean has(Fingerprint print, long number, LogRecord.RecordType type, long place, boolean old) {
    var where = awake.get(print);
    if (where != null) return where.has(number, type, place, old);
    int at = find(print);
    if (at < 0) return false;
    if (type != LogRecord.RecordType.SNAPSHOT && !old) return number >= first(at);
    long known = slots[at + PLACE];
    return known < 0 ? chains.has(link(known), count(known), place) : known == place;
  }

  /** Each place once, since new ones may look like old ones. Slots that hold no place stay. */
  synchronized void move(Relocations moves) {
    for (var where : awake.values()) where.move(moves);
    for (int at = PLACE; at < slots.length; at += WIDTH) slots[at] = moves.of(slots[at]);
    chains.move(moves);
  }

  private long newest(long place) {
    return place < 0 ? chains.place(link(place)) : place;
  }

  private long last(int at) {
    return slots[at + LAST] >>> BITS;
  }

  /** The number of the last whole turn, beside snapshots. */
  private long first(int at) {
    long place = slots[at + PLACE];
    return switch (whole(at)) {
      case FIRST -> last(at) + 1 - (place < 0 ? count(place) : 1);
      case APART -> ~chains.first(link(place), count(place));
      default -> 0;
    };
  }

  private int whole(int at) {
    return (int) slots[at + LAST] & (1 << BITS) - 1;
  }

  private static long word(long last, int whole) {
    return last << BITS | whole;
  }

  private static long value(int count, int link) {
    return Long.MIN_VALUE | (long) count << Integer.SIZE | link;
  }

  private static int count(long value) {
    return (int) (value >>> Integer.SIZE) & Integer.MAX_VALUE;
  }

  private static int link(long value) {
    return (int) value;
  }

  // ---- the table

  /** Where it is; or, negative, where it would be. */
  private int find(Fingerprint print) {
    return find(print.high(), print.low());
  }

  private int find(long high, long low) {
    if (used == 0) return -1;
    int at = home(low);
    while (slots[at + PLACE] != NOWHERE) {
      if (slots[at + 1] == low && slots[at] == high) return at;
      at = next(at);
    }
    return ~at;
  }

  private int home(long low) {
    return (int) Math.unsignedMultiplyHigh(low, slots.length / WIDTH) * WIDTH;
  }

  private int next(int at) {
    return at + WIDTH == slots.length ? 0 : at + WIDTH;
  }

  /** For one more: from four fifths on, searches take long. */
  private void prepare() {
    int capacity = slots.length / WIDTH;
    if (5L * (used + 1) <= 4L * capacity) return;
    var before = slots;
    slots = new long[Math.multiplyExact(Math.max(least, capacity + capacity / 4), WIDTH)];
    for (int from = 0; from < before.length; from += WIDTH)
      if (before[from + PLACE] != NOWHERE) System.arraycopy(before, from, slots, free(before[from + 1]), WIDTH);
  }

  private int free(long low) {
    int at = home(low);
    while (slots[at + PLACE] != NOWHERE) at = next(at);
    return at;
  }

  private void insert(long high, long low, long last, long place) {
    int at = free(low);
    slots[at] = high;
    slots[at + 1] = low;
    slots[at + LAST] = last;
    slots[at + PLACE] = place;
    used++;
  }

  /** Moves those behind it that would not be found across the gap. */
  private void remove(int removed) {
    int gap = removed;
    for (int at = next(gap); slots[at + PLACE] != NOWHERE; at = next(at)) {
      int home = home(slots[at + 1]);
      boolean reached = gap <= at ? gap < home && home <= at : gap < home || home <= at;
      if (reached) continue;
      System.arraycopy(slots, at, slots, gap, WIDTH);
      gap = at;
    }
    slots[gap + PLACE] = NOWHERE;
    used--;
  }
}
