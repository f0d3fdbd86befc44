package io.fibry.store.folder.index;

import io.fibry.store.Store;
import io.fibry.store.folder.log.LogRecord;
import io.fibry.store.spi.StoreBackend;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * A part of a {@link LogIndex}: the actors whose fingerprints have the same highest eight bits. An
 * actor is <i>compact</i> as long as it is not in use and has no pending message. It is then a slot
 * in a table of numbers. Otherwise it is <i>expanded</i>, an {@link ActorLocation} in a map. An
 * actor is either in the table or in the map, because it moves between them under this object's
 * monitor. The table uses open addressing and grows by a quarter. With the empty slots, an actor
 * thus takes 40 to 50 bytes for its slot of 32 bytes. The bytes of a slot:
 *
 * <pre>
 * 16 fingerprint
 *  8 number of the last turn, and 2 bits that say which turn has the full state
 *  8 position; a negative value has the number of positions, and the link to the last of them
 * </pre>
 *
 * <p>Several positions of an actor are in a chain of {@link PositionChains}.
 */
final class IndexStripe {
  private static final int WIDTH = 4; // longs for each slot
  private static final int LAST_TURN = 2; // index in a slot: the number of the last turn, and the bits
  private static final int POSITION = 3; // index in a slot: its position, or NO_POSITION
  private static final int NO_POSITION = 0; // the slot is empty
  // Value of the bits: the first position belongs to the last turn with the full state.
  private static final int FULL_STATE_FIRST = 1;
  // Value of the bits: the stored positions begin at a snapshot, later than the last turn with the
  // full state. The chain then begins with the complement (~) of the number of the full-state turn.
  private static final int FULL_STATE_APART = 2;
  private static final int STATE_BITS = 2; // number of these bits; their value is 0 if no turn has the full state

  private final int minSlots;
  private long[] slots = {};
  private int usedSlots; // slots that are not empty
  private final PositionChains chains = new PositionChains();
  private final Map<ActorFingerprint, ActorLocation> expanded = new HashMap<>();

  IndexStripe(int minSlots) {
    if (minSlots < 4) throw new IllegalArgumentException(minSlots + " slots cannot grow by a quarter; give 4 or more");
    this.minSlots = minSlots;
  }

  // ---- expanded actors

  /** Calls a function with an actor, which is expanded from then on until {@link #compact}. */
  synchronized <T> T expand(ActorFingerprint fingerprint, Store.ActorId actor, Function<ActorLocation, T> use) {
    var location = expanded.get(fingerprint);
    return use.apply(location != null ? location : expand(fingerprint, actor));
  }

  private ActorLocation expand(ActorFingerprint fingerprint, Store.ActorId actor) {
    int slot = find(fingerprint);
    long position = slot < 0 ? NO_POSITION : slots[slot + POSITION];
    var location =
        slot < 0 ? new ActorLocation(actor, fingerprint)
            : new ActorLocation(actor, fingerprint, positionsOf(slot), lastTurn(slot), lastFullTurn(slot));
    expanded.put(fingerprint, location); // before the slot is removed, because `put` throws if memory is short
    if (slot < 0) return location;
    if (position < 0) chains.remove(link(position), chainLength(position));
    remove(slot);
    return location;
  }

  private long[] positionsOf(int slot) {
    long position = slots[slot + POSITION];
    if (position >= 0) return new long[] {position};
    var chain = chains.read(link(position), chainLength(position));
    return fullStateBits(slot) == FULL_STATE_APART ? Arrays.copyOfRange(chain, 1, chain.length) : chain;
  }

  /**
   * Returns the location of an actor. Returns null if the actor is compact or unknown, and thus has
   * no pending messages.
   */
  synchronized ActorLocation expanded(ActorFingerprint fingerprint) {
    return expanded.get(fingerprint);
  }

  synchronized List<ActorLocation> expanded() {
    return new ArrayList<>(expanded.values());
  }

  /**
   * Makes the actor compact, if it is not in use and has no pending message. No use can begin
   * meanwhile, because a use begins in {@link #expand}, under the same monitor.
   */
  synchronized void compact(ActorLocation location) {
    if (expanded.get(location.fingerprint()) != location || !location.isCompactable()) return;
    var positions = location.positions();
    if (positions.length > 0) {
      ensureCapacity();
      int stateBits = fullStateBits(location.lastTurn(), location.lastFullTurn(), positions.length);
      var chain = stateBits == FULL_STATE_APART ? prependFullTurn(location.lastFullTurn(), positions) : positions;
      int link = -1;
      if (chain.length > 1) for (long position : chain) link = chains.add(position, link);
      insert(location.fingerprint().high(), location.fingerprint().low(), packTurn(location.lastTurn(), stateBits),
          chain.length == 1 ? chain[0] : packChain(chain.length, link));
    }
    expanded.remove(location.fingerprint());
  }

  private static int fullStateBits(long lastTurn, long lastFullTurn, int positionCount) {
    if (lastFullTurn == 0) return 0;
    return lastFullTurn == lastTurn + 1 - positionCount ? FULL_STATE_FIRST : FULL_STATE_APART;
  }

  private static long[] prependFullTurn(long lastFullTurn, long[] positions) {
    var chain = new long[positions.length + 1];
    chain[0] = ~lastFullTurn;
    System.arraycopy(positions, 0, chain, 1, positions.length);
    return chain;
  }

  /**
   * Adds to the sums the number of actors with stored turns, the number of all pending messages
   * without parked messages, the number of all parked messages, and the number of messages that are
   * due now.
   */
  synchronized void addCounts(long[] sums, Instant now) {
    sums[0] += usedSlots;
    for (var location : expanded.values()) {
      long parked = location.countDue(StoreBackend.PendingMessage.NEVER);
      if (location.lastTurn() > 0) sums[0]++;
      sums[1] += location.pendingCount() - parked;
      sums[2] += parked;
      sums[3] += location.countDueBy(now);
    }
  }

  /** A compact actor, and the position of its last turn. */
  record CompactActor(ActorFingerprint fingerprint, long position) {}

  /** The actors that have stored turns or pending messages. */
  record KnownActors(List<Store.ActorId> expanded, List<CompactActor> compact) {}

  synchronized KnownActors knownActors() {
    var known = new KnownActors(new ArrayList<>(), new ArrayList<>(usedSlots));
    for (var location : expanded.values()) if (location.hasRecords()) known.expanded.add(location.actor());
    for (int slot = 0; slot < slots.length; slot += WIDTH) if (slots[slot + POSITION] != NO_POSITION)
      known.compact.add(
          new CompactActor(new ActorFingerprint(slots[slot], slots[slot + 1]), lastPosition(slots[slot + POSITION])));
    // A disk reads forward faster than in random order.
    known.compact.sort(Comparator.comparingLong(CompactActor::position));
    return known;
  }

  // ---- compact actors

  /**
   * Adds a turn while a log is being opened, after all earlier turns. If the actor must be expanded
   * for it, adds nothing, and returns false.
   */
  boolean addTurn(long high, long low, long number, LogRecord.RecordType type, long position) {
    if (!expanded.isEmpty() && expanded.containsKey(new ActorFingerprint(high, low))) return false;
    int slot = find(high, low);
    boolean hasFullState = type == LogRecord.RecordType.FULL_STATE;
    if (slot < 0) {
      if (type == LogRecord.RecordType.SNAPSHOT) return false;
      ensureCapacity();
      insert(high, low, packTurn(number, hasFullState ? FULL_STATE_FIRST : 0), position);
      return true;
    }
    if (!hasFullState && (type == LogRecord.RecordType.SNAPSHOT || number != lastTurn(slot) + 1)) return false;
    long oldPosition = slots[slot + POSITION];
    slots[slot + POSITION] = hasFullState ? position : add(oldPosition, position);
    slots[slot + LAST_TURN] = packTurn(number, hasFullState ? FULL_STATE_FIRST : fullStateBits(slot));
    if (hasFullState && oldPosition < 0) chains.remove(link(oldPosition), chainLength(oldPosition));
    return true;
  }

  private long add(long oldPosition, long position) {
    if (oldPosition < 0) return packChain(chainLength(oldPosition) + 1, chains.add(position, link(oldPosition)));
    return packChain(2, chains.add(position, chains.add(oldPosition, -1)));
  }

  /**
   * Returns whether a record is still needed, like {@link ActorLocation#isLive(long,
   * LogRecord.RecordType, long, boolean)}.
   */
  synchronized boolean isLive(ActorFingerprint fingerprint, long number, LogRecord.RecordType type, long position,
      boolean isOld) {
    var location = expanded.get(fingerprint);
    if (location != null) return location.isLive(number, type, position, isOld);
    int slot = find(fingerprint);
    if (slot < 0) return false;
    if (type != LogRecord.RecordType.SNAPSHOT && !isOld) return number >= lastFullTurn(slot);
    long stored = slots[slot + POSITION];
    return stored < 0 ? chains.contains(link(stored), chainLength(stored), position) : stored == position;
  }

  /**
   * Replaces the positions of records that were moved. Visits each position only once, because a
   * new position may equal the old position of another record.
   */
  synchronized void move(Relocations relocations) {
    for (var location : expanded.values()) location.move(relocations);
    for (int i = POSITION; i < slots.length; i += WIDTH) slots[i] = relocations.newPosition(slots[i]);
    chains.move(relocations);
  }

  private long lastPosition(long position) {
    return position < 0 ? chains.positionAt(link(position)) : position;
  }

  private long lastTurn(int slot) {
    return slots[slot + LAST_TURN] >>> STATE_BITS;
  }

  /**
   * Returns the number of the last turn with the full state, not counting snapshots; 0 if there is
   * none.
   */
  private long lastFullTurn(int slot) {
    long position = slots[slot + POSITION];
    return switch (fullStateBits(slot)) {
      case FULL_STATE_FIRST -> lastTurn(slot) + 1 - (position < 0 ? chainLength(position) : 1);
      case FULL_STATE_APART -> ~chains.firstPosition(link(position), chainLength(position));
      default -> 0;
    };
  }

  private int fullStateBits(int slot) {
    return (int) slots[slot + LAST_TURN] & (1 << STATE_BITS) - 1;
  }

  private static long packTurn(long lastTurn, int stateBits) {
    return lastTurn << STATE_BITS | stateBits;
  }

  private static long packChain(int count, int link) {
    return Long.MIN_VALUE | (long) count << Integer.SIZE | link;
  }

  /** Returns the number of positions in a packed chain. */
  private static int chainLength(long position) {
    return (int) (position >>> Integer.SIZE) & Integer.MAX_VALUE;
  }

  /** Returns the link to the last position in a packed chain. */
  private static int link(long position) {
    return (int) position;
  }

  // ---- the table

  /** Returns the index of the actor's slot in the table; a negative number if it has none. */
  private int find(ActorFingerprint fingerprint) {
    return find(fingerprint.high(), fingerprint.low());
  }

  private int find(long high, long low) {
    if (usedSlots == 0) return -1;
    int slot = homeSlot(low);
    while (slots[slot + POSITION] != NO_POSITION) {
      if (slots[slot + 1] == low && slots[slot] == high) return slot;
      slot = nextSlot(slot);
    }
    return ~slot;
  }

  private int homeSlot(long low) {
    return (int) Math.unsignedMultiplyHigh(low, slots.length / WIDTH) * WIDTH;
  }

  private int nextSlot(int slot) {
    return slot + WIDTH == slots.length ? 0 : slot + WIDTH;
  }

  /**
   * Makes space for one more slot. The table grows when it is four fifths full, because searches in
   * a fuller table take long.
   */
  private void ensureCapacity() {
    int capacity = slots.length / WIDTH;
    if (5L * (usedSlots + 1) <= 4L * capacity) return;
    var oldSlots = slots;
    slots = new long[Math.multiplyExact(Math.max(minSlots, capacity + capacity / 4), WIDTH)];
    for (int slot = 0; slot < oldSlots.length; slot += WIDTH) if (oldSlots[slot + POSITION] != NO_POSITION)
      System.arraycopy(oldSlots, slot, slots, freeSlot(oldSlots[slot + 1]), WIDTH);
  }

  private int freeSlot(long low) {
    int slot = homeSlot(low);
    while (slots[slot + POSITION] != NO_POSITION) slot = nextSlot(slot);
    return slot;
  }

  private void insert(long high, long low, long turn, long position) {
    int slot = freeSlot(low);
    slots[slot] = high;
    slots[slot + 1] = low;
    slots[slot + LAST_TURN] = turn;
    slots[slot + POSITION] = position;
    usedSlots++;
  }

  /**
   * Empties a slot. A search ends at an empty slot, so later slots that a search would no longer
   * find are moved into the gap.
   */
  private void remove(int removedSlot) {
    int gap = removedSlot;
    for (int slot = nextSlot(gap); slots[slot + POSITION] != NO_POSITION; slot = nextSlot(slot)) {
      int home = homeSlot(slots[slot + 1]);
      boolean isReachable = gap <= slot ? gap < home && home <= slot : gap < home || home <= slot;
      if (isReachable) continue;
      System.arraycopy(slots, slot, slots, gap, WIDTH);
      gap = slot;
    }
    slots[gap + POSITION] = NO_POSITION;
    usedSlots--;
  }
}
