package io.fibry.store.spi;

import io.fibry.store.CopySummary;
import io.fibry.store.Store;
import io.fibry.store.StoreClosedException;
import io.fibry.store.StoreException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * A store as durable actors, clusters and tools call it. Implemented by authors of stores.
 * Thread-safe.
 */
public interface StoreBackend extends Store {
  /**
   * The kind of the actors that store the offsets of views. The key of such an actor is the kind
   * that the view reads, a colon, and the name of the view. {@link ViewOffset} decodes the last
   * turn of such an actor.
   */
  String VIEWS = ":follower";

  /**
   * A message that the store keeps until a turn of its actor has handled it.
   *
   * @param to the receiver
   * @param id the id; the message replaces a pending message of this actor with the same id
   * @param due when the actor may get the message; stores keep it in milliseconds
   * @param body the encoded content
   */
  record PendingMessage(ActorId to, String id, Instant due, byte[] body) {
    /** The due time of a message that may be handled at once, at any time of the clock. */
    public static final Instant ALWAYS = Instant.EPOCH;
    /** The due time of a parked message, which waits for an operator. */
    public static final Instant NEVER = Instant.ofEpochMilli(Long.MAX_VALUE);
    private static final Instant FIRST = Instant.ofEpochMilli(Long.MIN_VALUE);

    /** Checks the components. */
    public PendingMessage {
      Objects.requireNonNull(to, "to");
      Objects.requireNonNull(id, "id");
      Objects.requireNonNull(body, "body");
      if (Objects.requireNonNull(due, "due").isBefore(FIRST) || due.isAfter(NEVER))
        throw new IllegalArgumentException("a message for " + to + " is due at " + due + "; stores know milliseconds, "
            + "from " + FIRST + " to " + NEVER);
    }
  }

  /**
   * The effects of a message on an actor, which are stored together.
   *
   * @param actor the actor
   * @param life the life of the actor, as {@link #load} returned it
   * @param number the number of the turn: the number of the actor's previous turn, plus one
   * @param at the time of the turn
   * @param isFullState whether the body has the full state, so that earlier turns need not be read
   * @param body the encoded content
   * @param handledIds the ids of this actor's pending messages that the turn has handled
   * @param outbox the messages that the turn sends to actors of this store
   */
  record Turn(ActorId actor, long life, long number, Instant at, boolean isFullState, byte[] body,
      List<String> handledIds,
      List<PendingMessage> outbox) {
    /** Checks the components. */
    public Turn {
      Objects.requireNonNull(actor, "actor");
      Objects.requireNonNull(at, "at");
      Objects.requireNonNull(body, "body");
      Objects.requireNonNull(handledIds, "handledIds");
      Objects.requireNonNull(outbox, "outbox");
    }
  }

  /**
   * The stored data of an actor, at the beginning of a life.
   *
   * @param life the number of the life that has begun; its turns must have this number
   * @param lastTurn the number of the actor's last turn, or 0 if it has none
   * @param bodies the bodies of the last full-state turn or snapshot, and of the later turns; if
   *     there is neither, the bodies of all turns
   * @param pendingIds the ids of all pending messages of the actor
   */
  record LoadedActor(long life, long lastTurn, List<byte[]> bodies, List<String> pendingIds) {}

  /**
   * A turn that is stored.
   *
   * @param offset the position of the turn in the history of its kind, for {@link #history}
   * @param key the key of its actor
   * @param number the number of the turn among the turns of its actor
   * @param at the time of the turn
   * @param isFullState whether the body has the full state
   * @param body the encoded content
   */
  record StoredTurn(String offset, String key, long number, Instant at, boolean isFullState, byte[] body) {}

  /**
   * Reads the turns of a kind in the order in which they were stored. The turns of each actor come
   * in the order of their numbers. Used by one thread at a time, except for {@link #close}.
   */
  interface History extends AutoCloseable {

    /**
     * Returns the next turns, and waits if no more are stored.
     *
     * @return the next turns, at least one
     * @throws InterruptedException if interrupted; the method can be called again
     * @throws StoreClosedException if this history or the store is closed
     * @throws StoreException if the turns cannot be read
     */
    List<StoredTurn> take() throws InterruptedException;

    /**
     * Returns the next turns without waiting for new ones.
     *
     * @return the next turns; empty if no more are stored
     * @throws InterruptedException if interrupted; the method can be called again
     * @throws StoreClosedException if this history or the store is closed
     * @throws StoreException if the turns cannot be read
     */
    List<StoredTurn> poll() throws InterruptedException;

    /** Closes the history. A thread that waits in {@link #take} gets an exception. */
    @Override
    void close();
  }

  /**
   * Begins a life of an actor, and reads the actor. Turns that this store received before this call
   * are stored or refused first. Turns of an earlier life that it receives later are refused.
   *
   * @param actor the actor
   * @return the stored data of the actor
   * @throws StoreException if the actor cannot be read
   * @throws CancellationException if interrupted while it waits for another thread or a server. All
   *     other methods that read throw it, too
   */
  LoadedActor load(ActorId actor);

  /**
   * Reads the turns of an actor without its snapshot. Called if the snapshot cannot be decoded. The
   * default implementation reads the history of the whole kind.
   *
   * @param actor the actor
   * @return its stored turns, in their order. The list may contain a turn twice, and turns that a
   *     full-state turn replaced
   * @throws StoreException if the turns cannot be read
   */
  default List<StoredTurn> turns(ActorId actor) {
    var turns = new ArrayList<StoredTurn>();
    try (var history = history(actor.kind(), "")) {
      for (var page = history.poll(); !page.isEmpty(); page = history.poll())
        for (var turn : page) if (turn.key().equals(actor.key())) turns.add(turn);
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted while the turns of " + actor + " were read");
    }
    return turns;
  }

  /**
   * Begins a life of an actor whose next turn does not follow its last stored turn. Called by
   * copies, because the first turns of an actor may be missing, or be stored elsewhere.
   *
   * @param actor the actor
   * @param lastTurn one less than the number of the next turn
   * @return the number of the life that has begun; its turns must have this number as their life
   * @throws StoreException if the life cannot be stored
   */
  long beginLife(ActorId actor, long lastTurn);

  /**
   * Ends a life of an actor. The store may forget which turn comes next, and may refuse turns of
   * this life that it receives later. Turns that it received before are stored nevertheless.
   *
   * @param actor the actor
   * @param life the life to end; if it is over already, the call has no effect
   */
  default void endLife(ActorId actor, long life) {}

  /**
   * Stores a turn after all turns of this actor that the store received before. If a turn is not
   * stored, the later turns of its life are not stored either. May wait for capacity.
   *
   * @param turn the turn
   * @return completes when the turn is stored, or fails with a {@link StoreException}
   * @throws CancellationException if interrupted while it waits for capacity; then the turn is not
   *     stored
   */
  CompletionStage<Void> append(Turn turn);

  /**
   * Stores the full-state turn that erases an actor, as {@link #append} stores a turn. The replaced
   * turns stay until the offset of each view of the kind, as stored in {@link #VIEWS}, is at this
   * turn or later. If the kind has no named view, they may be deleted at once.
   *
   * @param turn a full-state turn
   * @return completes when the turn is stored, or fails with a {@link StoreException}
   */
  default CompletionStage<Void> end(Turn turn) {
    return append(turn);
  }

  /**
   * Returns whether the history has turns of different actors in the order in which one thread
   * stored them. If not, a thread that needs this order must wait until each turn is stored.
   *
   * @return whether the order is preserved; true by default
   */
  default boolean preservesGlobalOrder() {
    return true;
  }

  /**
   * Stores the full state of an actor after its last stored turn, so that loading the actor need
   * not read earlier turns. A snapshot may get lost: the actor is then loaded from earlier turns.
   *
   * @param turn a full-state turn with the number of the last stored turn, without handled ids and
   *     without outbox
   */
  void snapshot(Turn turn);

  /**
   * Stores a message after the messages that this thread stored before. May wait for capacity.
   *
   * @param message the message
   * @param maxPending the maximum number of pending messages of this actor, with this message;
   *     messages that are due later than this message do not count
   * @return completes with true when the message is stored, or with false if it would exceed the
   *     maximum, or fails with a {@link StoreException}
   * @throws CancellationException if interrupted while it waits for capacity; then the message is
   *     not stored
   */
  CompletionStage<Boolean> enqueue(PendingMessage message, int maxPending);

  /**
   * Returns pending messages of an actor.
   *
   * @param actor the actor
   * @param until messages that are due later are left out
   * @param maxMessages the maximum number of messages to return
   * @return the messages, in the order in which they were stored
   * @throws StoreException if the messages cannot be read
   */
  List<PendingMessage> pending(ActorId actor, Instant until, int maxMessages);

  /**
   * Returns when a pending message is due.
   *
   * @param actor the receiver of the message
   * @param id the id of the message
   * @return the due time; empty if no message with this id is pending
   */
  Optional<Instant> dueTime(ActorId actor, String id);

  /**
   * Returns when the first pending message after a given time is due.
   *
   * @param actor the receiver of the messages
   * @param after messages that are due at this time or earlier are left out
   * @return the earliest due time; empty if no message is due after the given time
   */
  Optional<Instant> nextDueTime(ActorId actor, Instant after);

  /**
   * Calls a function for each pending message of a kind.
   *
   * @param kind the kind of the receivers
   * @param reader gets the receiver and the due time of each message
   */
  void forEachPending(String kind, BiConsumer<ActorId, Instant> reader);

  /**
   * Opens the history of a kind. It has a turn only if a loss of power cannot undo this turn. Turns
   * that a later full-state turn replaced may be left out, unless {@link #end} keeps them for
   * views. A turn may be returned again, for example after a crash.
   *
   * @param kind the kind of the actors
   * @param afterOffset the offset of the turn that was read last, or empty for the beginning
   * @return the turns after this offset
   * @throws IllegalArgumentException if {@code afterOffset} is not an offset of this store
   */
  History history(String kind, String afterOffset);

  /**
   * Allows the store to delete old turns of a kind that are not needed to load their actors. Until
   * this method is called, a turn stays unless a later full-state turn has replaced it.
   *
   * @param kind the kind of the actors
   * @param age the age after which turns may be deleted
   */
  void setRetention(String kind, Duration age);

  /**
   * Returns the backend of a store.
   *
   * @param store a store
   * @return the same object
   * @throws IllegalArgumentException if its class implements only {@link Store}
   */
  static StoreBackend of(Store store) {
    if (Objects.requireNonNull(store, "store") instanceof StoreBackend backend) return backend;
    throw new IllegalArgumentException(store.getClass().getName()
        + " implements only Store, so no actor can be stored in it; let it implement StoreBackend");
  }

  @Override
  default CopySummary copyTo(Store to, Consumer<CopySummary> progress) {
    return new StoreCopier(this, of(Objects.requireNonNull(to, "to")), Objects.requireNonNull(progress, "progress"))
        .run();
  }

  @Override
  default boolean hasUnfinishedCopy() {
    return dueTime(StoreCopier.ACTOR, StoreCopier.UNFINISHED).isPresent();
  }
}
