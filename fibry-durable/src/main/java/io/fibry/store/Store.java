package io.fibry.store;

import io.fibry.text.Lines;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * Where durable actors are kept. Thread-safe. Programs open one and close it; its other methods are
 * for actors.
 */
public interface Store extends AutoCloseable {
  /**
   * The kind of actors that say where views stand. The key of one is the kind that is followed, a
   * colon, and the name of the view; its last turn says the place. {@link ViewOffset} reads it.
   */
  String VIEWS = ":follower";

  /**
   * An actor in a store.
   *
   * @param kind its kind
   * @param key which of that kind
   */
  record ActorId(String kind, String key) {
    /** Checks it. */
    public ActorId {
      Objects.requireNonNull(kind, "kind");
      Objects.requireNonNull(key, "key");
    }

    /** Returns one line, whatever characters the key has. */
    @Override
    public String toString() {
      return Lines.escaped(kind + " '" + key + "'");
    }
  }

  /**
   * A message that the store keeps until a turn of its actor has done it.
   *
   * @param to the actor
   * @param id it takes the place of the one with the same id that waits for this actor
   * @param due when the actor may get it; to the millisecond
   * @param body the content
   */
  record PendingMessage(ActorId to, String id, Instant due, byte[] body) {
    /** The due time of a message that may be handled at once: no clock can make it wait. */
    public static final Instant ALWAYS = Instant.EPOCH;
    /** When a message is due that waits for a human. */
    public static final Instant NEVER = Instant.ofEpochMilli(Long.MAX_VALUE);
    private static final Instant FIRST = Instant.ofEpochMilli(Long.MIN_VALUE);

    /** Checks it. */
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
   * What an actor did with a message.
   *
   * @param actor which
   * @param life of the actor, as {@link #load} told
   * @param number one more than that of the turn before
   * @param at when
   * @param isFullState it says all that there is to know: those before it are not read any more
   * @param body the content
   * @param handledIds ids of messages that wait for this actor no more
   * @param outbox messages that wait from now on, for any actor of this store
   */
  record Turn(ActorId actor, long life, long number, Instant at, boolean isFullState, byte[] body,
      List<String> handledIds,
      List<PendingMessage> outbox) {
    /** Checks it. */
    public Turn {
      Objects.requireNonNull(actor, "actor");
      Objects.requireNonNull(at, "at");
      Objects.requireNonNull(body, "body");
      Objects.requireNonNull(handledIds, "handledIds");
      Objects.requireNonNull(outbox, "outbox");
    }
  }

  /**
   * The stored part of an actor.
   *
   * @param life from now on, its turns have this number
   * @param lastTurn the number of its last turn, or 0 if there is none
   * @param bodies of the last whole turn and of those after it; of all, if none is whole
   * @param pendingIds the ids of all messages that wait for it
   */
  record LoadedActor(long life, long lastTurn, List<byte[]> bodies, List<String> pendingIds) {}

  /**
   * A turn that is stored.
   *
   * @param offset its place in the history of its kind: reading after it begins with the next turn
   * @param key of its actor
   * @param number the number of the turn among the turns of its actor
   * @param at when
   * @param isFullState as the turn said
   * @param body the content
   */
  record StoredTurn(String offset, String key, long number, Instant at, boolean isFullState, byte[] body) {}

  /**
   * The turns of a kind, oldest first. Those of one actor have its order; all have the order in
   * which they were stored. Used by one thread at a time, except for {@link #close}.
   */
  interface History extends AutoCloseable {

    /**
     * Waits for turns.
     *
     * @return those that were stored next, at least one
     * @throws InterruptedException if interrupted; it can be called again
     * @throws StoreClosedException if this, or the store, is closed
     * @throws StoreException if they cannot be read
     */
    List<StoredTurn> take() throws InterruptedException;

    /**
     * Does not wait for turns.
     *
     * @return the next turns; empty if no more are stored
     * @throws InterruptedException if interrupted; it can be called again
     * @throws StoreClosedException if this, or the store, is closed
     * @throws StoreException if they cannot be read
     */
    List<StoredTurn> poll() throws InterruptedException;

    /** One that waits for turns hears of it. */
    @Override
    void close();
  }

  /**
   * Begins a life of an actor. Turns that were given before are stored or refused first. Turns of
   * an earlier life that come later are refused.
   *
   * @param actor which
   * @return what is stored
   * @throws StoreException if that cannot be read
   * @throws CancellationException if interrupted where it waits for another thread or a server; so
   * do all methods that read
   */
  LoadedActor load(ActorId actor);

  /**
   * Reads the turns of an actor that a snapshot has made needless, for use if the snapshot cannot
   * be read. The default reads the history of the whole kind.
   *
   * @param actor which
   * @return its turns that are still stored, in their order; one may come again, and some that a
   * whole one replaced may be among them
   * @throws StoreException if they cannot be read
   */
  default List<StoredTurn> turns(ActorId actor) {
    var found = new ArrayList<StoredTurn>();
    try (var history = history(actor.kind(), "")) {
      for (var page = history.poll(); !page.isEmpty(); page = history.poll())
        for (var past : page) if (past.key().equals(actor.key())) found.add(past);
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException(actor + " was interrupted while its turns were read");
    }
    return found;
  }

  /**
   * Begins a life of an actor that has had turns elsewhere, or whose turns are not complete: the
   * next one has another number. For copies.
   *
   * @param actor which
   * @param last the number of the turn before
   * @return from now on, its turns have this number
   * @throws StoreException if that cannot be stored
   */
  long beginLife(ActorId actor, long last);

  /**
   * Says that an actor has ended. The store need not know any more which turn comes next: one of
   * this life that is given later may be refused. Those that were given are stored all the same.
   *
   * @param actor which
   * @param life the life of the actor; the call has no effect if it is over
   */
  default void endLife(ActorId actor, long life) {}

  /**
   * Stores a turn, with what it has done and sends, after all of this actor that were given before.
   * If a turn is not stored, the later turns of its life are not stored either. May wait for room.
   *
   * @param turn the turn
   * @return when it is stored; or the {@link StoreException} that says why it is not
   * @throws CancellationException if interrupted while it waits for room; then the turn is not
   * stored
   */
  CompletionStage<Void> append(Turn turn);

  /**
   * Stores the whole turn with which an actor ends, as {@link #append}. Named views may still have
   * to read the turns that it replaces. So these stay until the place of each view of the kind, as
   * its last turn in {@link #VIEWS} says, is at this turn or behind it. Without a view they may go
   * at once.
   *
   * @param turn a whole one
   * @return as {@code append}
   */
  default CompletionStage<Void> end(Turn turn) {
    return append(turn);
  }

  /**
   * Whether turns of different actors, given by one thread, get into the history in this order. If
   * not, one who needs that waits until one is stored before the next one is given.
   *
   * @return true, unless told
   */
  default boolean preservesGlobalOrder() {
    return true;
  }

  /**
   * Says all that is known after the last turn that is stored, so that the ones before need not be
   * read. It may be lost.
   *
   * @param turn a whole one, with the number of that turn, that has done and sends nothing
   */
  void snapshot(Turn turn);

  /**
   * Stores a message, after the messages that this thread gave before. May wait for room.
   *
   * @param message the message, which waits from now on
   * @param max how many that are due may wait for this actor, with this one
   * @return true when it is stored, false if it would be one too many; or the
   * {@link StoreException} that says why it is not
   * @throws CancellationException if interrupted while it waits for room; then the message is not
   * stored
   */
  CompletionStage<Boolean> enqueue(PendingMessage message, int max);

  /**
   * Returns the messages that wait for an actor.
   *
   * @param actor which
   * @param until messages that are due later are left out
   * @param max how many at most
   * @return the messages, in the order in which they were stored
   * @throws StoreException if they cannot be read
   */
  List<PendingMessage> pending(ActorId actor, Instant until, int max);

  /**
   * When a message that waits is due.
   *
   * @param actor for which it waits
   * @param id which
   * @return empty: it does not wait
   */
  Optional<Instant> dueTime(ActorId actor, String id);

  /**
   * When the next message is due.
   *
   * @param actor for which it waits
   * @param after messages that are due then, or before, are left out
   * @return empty if no message is due later
   */
  Optional<Instant> nextDueTime(ActorId actor, Instant after);

  /**
   * Tells of all messages that wait.
   *
   * @param kind of their actors
   * @param reader gets the actor and when the message is due
   */
  void forEachPending(String kind, BiConsumer<ActorId, Instant> reader);

  /**
   * Tells of all actors that have turns, and of those for which messages wait.
   *
   * @param reader gets each of them once
   */
  void forEachActor(Consumer<ActorId> reader);

  /**
   * Copies everything that is stored into another store, of any kind: states and events, notes,
   * waiting and parked messages, reminders, and the places of views. Afterwards it compares both.
   * Close the actors of both stores first.
   *
   * @param to an empty one. Until the copy is finished, it refuses actors
   * @return what was copied
   * @throws IllegalArgumentException if the other store is not empty
   * @throws IllegalStateException if both are not the same afterwards, such as after a turn
   * meanwhile
   * @throws StoreException if something cannot be read or stored; it says what
   */
  default CopySummary copyTo(Store to) {
    return copyTo(to, progress -> {});
  }

  /**
   * Copies, and reports its progress.
   *
   * @param to an empty one. Until the copy is finished, it refuses actors
   * @param progress gets what has been copied so far, now and then
   * @return what was copied
   */
  default CopySummary copyTo(Store to, Consumer<CopySummary> progress) {
    return new StoreCopier(this, Objects.requireNonNull(to, "to"), Objects.requireNonNull(progress, "progress")).run();
  }

  /**
   * Reads what was stored. Each turn comes after the turns that were stored before it, and a turn
   * that a loss of power could take back does not come. Turns that a later whole turn replaced may
   * be left out, except those that {@link #end} keeps for views. Now and then, such as after a
   * crash, a turn comes again.
   *
   * @param kind of the actors
   * @param after the place of the turn that was read last, or empty for the beginning
   * @return the turns after that one
   * @throws IllegalArgumentException if that is no place of this store
   */
  History history(String kind, String after);

  /**
   * Lets old turns of a kind go, once they are not needed to load their actors. Until this is said,
   * all of them stay that no later whole one has replaced.
   *
   * @param kind of the actors
   * @param age of turns that may go
   */
  void setRetention(String kind, Duration age);

  /** {@return the clock that says when messages are due} */
  InstantSource clock();

  /** Stores what was given, then gives the store free. Actors that still need it fail. */
  @Override
  void close();
}
