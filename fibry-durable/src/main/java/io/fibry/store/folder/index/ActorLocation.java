package io.fibry.store.folder.index;

import io.fibry.store.Store;
import io.fibry.store.folder.log.LogRecord;
import io.fibry.store.spi.StoreBackend;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/**
 * The positions of one actor's records in the log: of its last full-state turn or snapshot, of the
 * later turns, and of the pending messages. A position is the number of a segment and the offset of
 * a record in it, packed into a long.
 *
 * <p>The fields of this class and of {@link ActorLife} are guarded by the monitor of their object.
 * An actor has a location while it is expanded, see {@link IndexStripe}. An actor is in use while
 * its life has not ended, or a record of it is being stored.
 */
public final class ActorLocation {
  private static final long[] NO_POSITIONS = {};
  private static final CompletableFuture<Void> DONE = CompletableFuture.completedFuture(null);

  /** A life of the actor: the time from one load to the next. */
  public static final class ActorLife {
    private final ActorLocation location;
    private final long number;
    private final CompletableFuture<Void> earlierTurnsDone; // completes when no turn of an earlier life is being stored
    // Completes when no turn of this or an earlier life is being stored, or will be stored. Null
    // until a later life begins.
    private CompletableFuture<Void> idle;
    private boolean wasRefused; // a turn was refused, so all later turns of this life are refused
    private boolean isClosedToTurns; // whether a later life has begun; then no turn is accepted any more
    private boolean hasEnded; // whether the life has ended; then no turn is accepted any more
    private int pendingTurns; // turns and snapshots that are being stored

    private ActorLife(ActorLocation location, long number, CompletableFuture<Void> earlierTurnsDone) {
      this.location = location;
      this.number = number;
      this.earlierTurnsDone = earlierTurnsDone;
    }

    public ActorLocation location() {
      return location;
    }

    public long number() {
      return number;
    }

    public CompletableFuture<Void> earlierTurnsDone() {
      return earlierTurnsDone;
    }

    /** Returns whether a turn of this life was refused. */
    public synchronized boolean wasRefused() {
      return wasRefused;
    }

    /** Called when a turn of this life was refused: all later turns are refused, too. */
    public synchronized void markRefused() {
      wasRefused = true;
    }

    private synchronized void addPendingTurn() {
      pendingTurns++;
    }

    /** Called when a turn or a snapshot of this life has been stored or refused. */
    public void onTurnDone() {
      if (removePendingTurn()) earlierTurnsDone.thenRun(() -> idle.complete(null));
    }

    /** Counts a turn as done. Returns whether no further turn of this life will be stored. */
    private synchronized boolean removePendingTurn() {
      return --pendingTurns == 0 && isClosedToTurns;
    }

    /**
     * Accepts no further turn of this life. Returns a future that completes when no turn of this or
     * an earlier life is being stored any more.
     */
    private CompletableFuture<Void> closeToTurns() {
      if (closeAndCheckIdle()) earlierTurnsDone.thenRun(() -> idle.complete(null));
      return idle;
    }

    /** Accepts no further turn. Returns whether no turn of this life is being stored. */
    private synchronized boolean closeAndCheckIdle() {
      isClosedToTurns = true;
      idle = new CompletableFuture<>();
      return pendingTurns == 0;
    }

    private synchronized void markEnded() {
      hasEnded = true;
    }

    private synchronized boolean hasEnded() {
      return hasEnded;
    }

    private synchronized boolean isForgettable() {
      return hasEnded && pendingTurns == 0 && earlierTurnsDone.isDone();
    }
  }

  /**
   * The position of a pending message.
   *
   * @param due when the actor may get the message
   * @param segment the number of the segment
   * @param offset the offset of the record that contains the message
   * @param index the index of the message among the messages of the record
   */
  public record MessageLocation(Instant due, int segment, int offset, int index) {
    public MessageLocation {
      if (due.equals(StoreBackend.PendingMessage.ALWAYS)) due = StoreBackend.PendingMessage.ALWAYS; // shared
    }
  }

  private final Store.ActorId actor;
  private final ActorFingerprint fingerprint;
  private long[] positions; // of the records that a load reads, ascending; the end of the array may be unused
  private int positionCount; // used elements of the array
  private long lastTurn; // the number of the last stored turn, or 0 if there is none
  private long lastFullTurn; // the last turn whose own record has the full state, or 0; snapshots do not count
  private boolean hasGap; // whether a turn that a load needs is missing; gaps before a full state do not count
  private ActorLife life; // null until the first load in this process
  // The number of the last turn that was stored or accepted; -1 until the life has loaded the
  // actor.
  private long newestTurn;
  // by id, oldest first. An immutable map while it has at most one message, because many actors
  // wait with one pending message each
  private Map<String, MessageLocation> pending = Map.of();
  // due times of messages being stored, not pending yet; an immutable list while it is empty
  private List<Instant> arriving = List.of();

  /** Creates the location of an actor without stored turns. */
  ActorLocation(Store.ActorId actor, ActorFingerprint fingerprint) {
    this(actor, fingerprint, NO_POSITIONS, 0, 0);
  }

  ActorLocation(Store.ActorId actor, ActorFingerprint fingerprint, long[] positions, long lastTurn, long lastFullTurn) {
    this.actor = actor;
    this.fingerprint = fingerprint;
    this.positions = positions;
    this.positionCount = positions.length;
    this.lastTurn = lastTurn;
    this.lastFullTurn = lastFullTurn;
  }

  public Store.ActorId actor() {
    return actor;
  }

  ActorFingerprint fingerprint() {
    return fingerprint;
  }

  /**
   * Returns whether the actor may become compact, see {@link IndexStripe}: it is not in use, has no
   * pending message, and no turn of it is missing.
   */
  synchronized boolean isCompactable() {
    return pending.isEmpty() && arriving.isEmpty() && !hasGap && (life == null || life.isForgettable());
  }

  /** Returns whether the actor has a stored turn or a pending message. */
  synchronized boolean hasRecords() {
    return lastTurn > 0 || !pending.isEmpty();
  }

  public synchronized long lastTurn() {
    return lastTurn;
  }

  synchronized long lastFullTurn() {
    return lastFullTurn;
  }

  public synchronized long[] positions() {
    return Arrays.copyOf(positions, positionCount);
  }

  /**
   * Adds the record of a turn or a snapshot. All earlier records of the actor must have been added.
   */
  public synchronized void add(long number, LogRecord.RecordType type, int segment, int offset) {
    boolean hasFullState = type != LogRecord.RecordType.TURN;
    hasGap = !hasFullState && (hasGap || lastTurn != 0 && number > lastTurn + 1);
    if (hasFullState) positionCount = 0;
    if (type == LogRecord.RecordType.FULL_STATE) lastFullTurn = number;
    if (positionCount == positions.length) positions = Arrays.copyOf(positions, Math.max(1, 2 * positionCount));
    positions[positionCount++] = packPosition(segment, offset);
    lastTurn = number;
  }

  /** Returns whether a turn that a load reads is missing. */
  synchronized boolean hasGap() {
    return hasGap;
  }

  /**
   * Returns whether a turn or a snapshot is still needed. If not, its record is dead. Turns before
   * a snapshot are needed until they are old: they are the history that views read.
   *
   * @param isOld whether the record is older than the retention of its kind
   */
  synchronized boolean isLive(long number, LogRecord.RecordType type, long position, boolean isOld) {
    boolean isSnapshot = type == LogRecord.RecordType.SNAPSHOT;
    return isSnapshot || isOld ? Arrays.binarySearch(positions, 0, positionCount, position) >= 0
        : number >= lastFullTurn;
  }

  /** Replaces the positions of records that were moved. */
  synchronized void move(Relocations relocations) {
    for (int i = 0; i < positionCount; i++) positions[i] = relocations.newPosition(positions[i]);
    if (pending.size() > 1) pending.replaceAll((id, message) -> relocations.newPosition(message));
    else pending.forEach((id, message) -> pending = Map.of(id, relocations.newPosition(message)));
  }

  /** Packs a position into a long. */
  public static long packPosition(int segment, int offset) {
    return (long) segment << Integer.SIZE | offset;
  }

  /**
   * Begins the next life. No turn of the previous life is accepted any more.
   *
   * @param number the number of the new life, which no other life has
   */
  synchronized ActorLife beginLife(long number) {
    life = new ActorLife(this, number, life == null ? DONE : life.closeToTurns());
    newestTurn = -1; // until the life has loaded the actor
    return life;
  }

  /** Called when the life has loaded the actor. Its first turn must follow the last stored turn. */
  public synchronized void onLoaded(ActorLife loadingLife) {
    resumeAt(loadingLife, lastTurn);
  }

  /**
   * Lets the first turn of the life have the number after {@code previousTurn}. Has no effect if a
   * later life has begun.
   */
  public synchronized void resumeAt(ActorLife loadingLife, long previousTurn) {
    if (life == loadingLife) newestTurn = previousTurn;
  }

  /**
   * Counts a turn as being stored, until {@link ActorLife#onTurnDone}.
   *
   * @param lifeNumber the number of the turn's life
   * @param turnNumber the number of the turn
   * @return the turn's life, or null if this life is over, or another turn must come first
   */
  synchronized ActorLife beginTurn(long lifeNumber, long turnNumber) {
    if (!isCurrentLife(lifeNumber) || newestTurn < 0 || turnNumber != newestTurn + 1) return null;
    newestTurn = turnNumber;
    life.addPendingTurn();
    return life;
  }

  /**
   * Counts a snapshot as being stored. Its number is not checked, because later turns may already
   * be stored. Returns null if its life is over.
   */
  synchronized ActorLife beginSnapshot(long lifeNumber) {
    if (!isCurrentLife(lifeNumber)) return null;
    life.addPendingTurn();
    return life;
  }

  private boolean isCurrentLife(long lifeNumber) {
    return life != null && life.number == lifeNumber && !life.hasEnded();
  }

  /** Ends a life, if it is the current life: no turn of it is accepted any more. */
  synchronized void endLife(long lifeNumber) {
    if (isCurrentLife(lifeNumber)) life.markEnded();
  }

  // ---- pending messages

  /**
   * Counts a message as being stored, until {@link #onMessageDone}. Returns false if
   * {@code maxPending} messages that are due at {@code due} or earlier are already pending or being
   * stored.
   */
  synchronized boolean reserve(int maxPending, Instant due) {
    if (pending.size() + arriving.size() >= maxPending && countDueUntil(due) >= maxPending) return false;
    if (arriving.isEmpty()) arriving = new ArrayList<>(1);
    arriving.add(due);
    return true;
  }

  /** Returns the pending messages. Asks the map for no view that the map would keep. */
  private Stream<MessageLocation> locations() {
    return pending.entrySet().stream().map(Map.Entry::getValue);
  }

  private long countDueUntil(Instant time) {
    return Stream.concat(locations().map(MessageLocation::due), arriving.stream())
        .filter(due -> !due.isAfter(time)).count();
  }

  public synchronized Optional<Instant> nextDueTime(Instant after) {
    return locations().map(MessageLocation::due).filter(after::isBefore).min(Instant::compareTo);
  }

  /** Called when a message with this due time has been stored or refused. */
  public synchronized void onMessageDone(Instant due) {
    if (arriving.isEmpty()) return;
    arriving.remove(due);
    if (arriving.isEmpty()) arriving = List.of();
  }

  synchronized void putPending(String id, MessageLocation message) {
    removePending(id); // so that the message becomes the last of the map
    if (pending.isEmpty()) {
      pending = Map.of(id, message);
      return;
    }
    if (pending.size() == 1) pending = new LinkedHashMap<>(pending);
    pending.put(id, message);
  }

  public synchronized void removeHandled(List<String> ids) {
    ids.forEach(this::removePending);
  }

  private void removePending(String id) {
    if (!pending.containsKey(id)) return;
    if (pending.size() == 1) {
      pending = Map.of();
      return;
    }
    pending.remove(id);
    if (pending.size() == 1) pending = Map.copyOf(pending);
  }

  /** Returns the number of pending messages. */
  public synchronized int pendingCount() {
    return pending.size();
  }

  /** Returns the number of pending messages that are due at this time or earlier. */
  synchronized long countDueBy(Instant time) {
    return pending.isEmpty() ? 0 : locations().filter(message -> !message.due.isAfter(time)).count();
  }

  /** Returns the number of pending messages that are due at exactly this time. */
  synchronized long countDue(Instant time) {
    return pending.isEmpty() ? 0 : locations().filter(message -> message.due.equals(time)).count();
  }

  public synchronized List<String> pendingIds() {
    return pending.entrySet().stream().map(Map.Entry::getKey).toList();
  }

  public synchronized List<MessageLocation> pending(Instant until, int maxMessages) {
    return locations().filter(message -> !message.due.isAfter(until)).limit(maxMessages).toList();
  }

  public synchronized boolean isPending(String id, MessageLocation message) {
    return message.equals(pending.get(id));
  }

  public synchronized Optional<Instant> dueTime(String id) {
    return Optional.ofNullable(pending.get(id)).map(MessageLocation::due);
  }
}
