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
  private static final int NO_PLACE = 0;
  private static final int FIRST = 1; // the last whole turn is the first of the places
  private static final int APART = 2; // its number, as ~number, is in the chain in front of their places
  private static final int BITS = 2; // 0 if there is no whole turn

  private final int minSlots; // slots
  private long[] slots = {};
  private int used;
  private final PlaceLists placeLists = new PlaceLists();
  private final Map<Fingerprint, ActorLocation> expanded = new HashMap<>();

  IndexStripe(int minSlots) {
    if (minSlots < 4) throw new IllegalArgumentException(minSlots + " slots cannot grow by a quarter; give 4 or more");
    this.minSlots = minSlots;
  }

  // ---- awake

  /** Uses an actor, which is awake then, until it is told to {@link #compact}. */
  synchronized <T> T expand(Fingerprint print, Store.ActorId actor, Function<ActorLocation, T> use) {
    var location = expanded.get(print);
    return use.apply(location != null ? location : expand(print, actor));
  }

  private ActorLocation expand(Fingerprint print, Store.ActorId actor) {
    int at = find(print);
    long place = at < 0 ? NO_PLACE : slots[at + PLACE];
    var location =
        at < 0 ? new ActorLocation(actor, print) : new ActorLocation(actor, print, places(at), last(at), first(at));
    expanded.put(print, location); // first, since without memory it throws
    if (at < 0) return location;
    if (place < 0) placeLists.remove(link(place), count(place));
    remove(at);
    return location;
  }

  private long[] places(int at) {
    long place = slots[at + PLACE];
    if (place >= 0) return new long[] {place};
    var chain = placeLists.read(link(place), count(place));
    return whole(at) == APART ? Arrays.copyOfRange(chain, 1, chain.length) : chain;
  }

  /** Returns null if the actor rests, so that no message waits for it. */
  synchronized ActorLocation expanded(Fingerprint print) {
    return expanded.get(print);
  }

  synchronized List<ActorLocation> expanded() {
    return new ArrayList<>(expanded.values());
  }

  /**
   * If nobody uses it. No use can begin meanwhile, because an actor's use begins in {@code expand}.
   */
  synchronized void compact(ActorLocation location) {
    if (expanded.get(location.print()) != location || !location.isCompactable()) return;
    var places = location.places();
    if (places.length > 0) {
      prepare();
      int whole = whole(location.last(), location.lastFullTurn(), places.length);
      var chain = whole == APART ? addApart(location.lastFullTurn(), places) : places;
      int link = -1;
      if (chain.length > 1) for (long one : chain) link = placeLists.add(one, link);
      insert(location.print().high(), location.print().low(), word(location.last(), whole),
          chain.length == 1 ? chain[0] : value(chain.length, link));
    }
    expanded.remove(location.print());
  }

  private static int whole(long last, long first, int places) {
    if (first == 0) return 0;
    return first == last + 1 - places ? FIRST : APART;
  }

  private static long[] addApart(long first, long[] places) {
    var chain = new long[places.length + 1];
    chain[0] = ~first;
    System.arraycopy(places, 0, chain, 1, places.length);
    return chain;
  }

  /** Actors of which something is stored, messages that wait for them, and for a human. */
  synchronized void count(long[] sums) {
    sums[0] += used;
    for (var location : expanded.values()) {
      long aside = location.due(Store.PendingMessage.NEVER);
      if (location.last() > 0) sums[0]++;
      sums[1] += location.count() - aside;
      sums[2] += aside;
    }
  }

  /** An actor at rest, and the place of one of its turns. */
  record CompactActor(Fingerprint print, long place) {}

  /** The actors that have stored turns or waiting messages. */
  record KnownActors(List<Store.ActorId> expanded, List<CompactActor> compact) {}

  synchronized KnownActors knownActors() {
    var known = new KnownActors(new ArrayList<>(), new ArrayList<>(used));
    for (var location : expanded.values()) if (location.isKnown()) known.expanded.add(location.actor());
    for (int at = 0; at < slots.length; at += WIDTH) if (slots[at + PLACE] != NO_PLACE)
      known.compact.add(new CompactActor(new Fingerprint(slots[at], slots[at + 1]), newest(slots[at + PLACE])));
    known.compact.sort(Comparator.comparingLong(CompactActor::place)); // a disk reads on faster than to and fro
    return known;
  }

  // ---- at rest

  /**
   * A turn is read, after all before. Returns false if the actor must be awake for that. While a
   * log is opened only.
   */
  boolean read(long high, long low, long number, LogRecord.RecordType type, long place) {
    if (!expanded.isEmpty() && expanded.containsKey(new Fingerprint(high, low))) return false;
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
    if (whole && before < 0) placeLists.remove(link(before), count(before));
    return true;
  }

  private long add(long before, long place) {
    if (before < 0) return value(count(before) + 1, placeLists.add(place, link(before)));
    return value(2, placeLists.add(place, placeLists.add(before, -1)));
  }

  /** Does the same as {@link ActorLocation#has(long, TurnRow.ColumnType, long, boolean)}. */
  synchronized boolean has(Fingerprint print, long number, LogRecord.RecordType type, long place, boolean old) {
    var location = expanded.get(print);
    if (location != null) return location.has(number, type, place, old);
    int at = find(print);
    if (at < 0) return false;
    if (type != LogRecord.RecordType.SNAPSHOT && !old) return number >= first(at);
    long known = slots[at + PLACE];
    return known < 0 ? placeLists.has(link(known), count(known), place) : known == place;
  }

  /** Each place once, since new ones may look like old ones. Slots that hold no place stay. */
  synchronized void move(Relocations relocations) {
    for (var location : expanded.values()) location.move(relocations);
    for (int at = PLACE; at < slots.length; at += WIDTH) slots[at] = relocations.newPlace(slots[at]);
    placeLists.move(relocations);
  }

  private long newest(long place) {
    return place < 0 ? placeLists.place(link(place)) : place;
  }

  private long last(int at) {
    return slots[at + LAST] >>> BITS;
  }

  /** The number of the last whole turn, beside snapshots. */
  private long first(int at) {
    long place = slots[at + PLACE];
    return switch (whole(at)) {
      case FIRST -> last(at) + 1 - (place < 0 ? count(place) : 1);
      case APART -> ~placeLists.first(link(place), count(place));
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
    int at = homeSlot(low);
    while (slots[at + PLACE] != NO_PLACE) {
      if (slots[at + 1] == low && slots[at] == high) return at;
      at = nextSlot(at);
    }
    return ~at;
  }

  private int homeSlot(long low) {
    return (int) Math.unsignedMultiplyHigh(low, slots.length / WIDTH) * WIDTH;
  }

  private int nextSlot(int at) {
    return at + WIDTH == slots.length ? 0 : at + WIDTH;
  }

  /** For one more: from four fifths on, searches take long. */
  private void prepare() {
    int capacity = slots.length / WIDTH;
    if (5L * (used + 1) <= 4L * capacity) return;
    var before = slots;
    slots = new long[Math.multiplyExact(Math.max(minSlots, capacity + capacity / 4), WIDTH)];
    for (int from = 0; from < before.length; from += WIDTH)
      if (before[from + PLACE] != NO_PLACE) System.arraycopy(before, from, slots, freeSlot(before[from + 1]), WIDTH);
  }

  private int freeSlot(long low) {
    int at = homeSlot(low);
    while (slots[at + PLACE] != NO_PLACE) at = nextSlot(at);
    return at;
  }

  private void insert(long high, long low, long last, long place) {
    int at = freeSlot(low);
    slots[at] = high;
    slots[at + 1] = low;
    slots[at + LAST] = last;
    slots[at + PLACE] = place;
    used++;
  }

  /** Moves those behind it that would not be found across the gap. */
  private void remove(int removed) {
    int gap = removed;
    for (int at = nextSlot(gap); slots[at + PLACE] != NO_PLACE; at = nextSlot(at)) {
      int home = homeSlot(slots[at + 1]);
      boolean reached = gap <= at ? gap < home && home <= at : gap < home || home <= at;
      if (reached) continue;
      System.arraycopy(slots, at, slots, gap, WIDTH);
      gap = at;
    }
    slots[gap + PLACE] = NO_PLACE;
    used--;
  }
}
