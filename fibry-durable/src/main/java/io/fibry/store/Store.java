package io.fibry.store;

import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * Where durable actors are kept. Thread-safe. Programs open one and close it; its other methods are
 * for actors.
 */
public interface Store extends AutoCloseable {

  /**
   * An actor in a store.
   *
   * @param kind its kind
   * @param key which of that kind
   */
  record Id(String kind, String key) {
    @Override
    public String toString() {
      return kind + " '" + key + "'";
    }
  }

  /**
   * What an actor did with a message.
   *
   * @param actor which
   * @param life of the actor, as {@link #load} told
   * @param number one more than that of the turn before
   * @param at when
   * @param whole it says all that there is to know: those before it are not read any more
   * @param body what it says
   */
  record Turn(Id actor, long life, long number, Instant at, boolean whole, byte[] body) {}

  /**
   * What is stored of an actor.
   *
   * @param life from now on, its turns have this number
   * @param last the number of its last turn; 0: there is none
   * @param bodies of the last whole turn and of those after it; of all, if none is whole
   */
  record Loaded(long life, long last, List<byte[]> bodies) {}

  /**
   * Begins a life of an actor. Turns that were given before are stored or refused first; those of
   * an earlier life that come later are refused.
   *
   * @param actor which
   * @return what is stored
   * @throws StoreException if that cannot be read
   */
  Loaded load(Id actor);

  /**
   * Stores a turn, after all of this actor that were given before. If one is not stored, those of
   * its life after it are not either. May wait for room.
   *
   * @param turn what it did
   * @return when it is stored; or the {@link StoreException} that says why it is not
   * @throws java.util.concurrent.CancellationException if interrupted while it waits for room;
   * nothing is stored
   */
  CompletionStage<Void> append(Turn turn);

  /**
   * Says all that is known after the last turn that is stored, so that the ones before need not be
   * read. It may be lost.
   *
   * @param turn a whole one, with the number of that turn
   */
  void snapshot(Turn turn);

  /** Stores what was given, then gives the store free. Actors that still need it fail. */
  @Override
  void close();
}
