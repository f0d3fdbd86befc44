package io.fibry.store;

import io.fibry.text.Lines;
import java.time.InstantSource;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * Stores the states, turns and messages of durable actors. Thread-safe. Programs open a store, make
 * actors with it, and close it. Durable actors read and write it by
 * {@link io.fibry.store.spi.StoreBackend}, which each store implements.
 */
public interface Store extends AutoCloseable {
  /**
   * An actor in a store.
   *
   * @param kind the name of its kind
   * @param key the key of the actor within its kind
   */
  record ActorId(String kind, String key) {
    /** Checks the components. */
    public ActorId {
      Objects.requireNonNull(kind, "kind");
      Objects.requireNonNull(key, "key");
    }

    /** Returns one line. Control characters of the key, such as line breaks, are escaped. */
    @Override
    public String toString() {
      return Lines.escaped(kind + " '" + key + "'");
    }
  }

  /**
   * Calls a function for each actor that has turns or pending messages.
   *
   * @param reader gets each actor once
   */
  void forEachActor(Consumer<ActorId> reader);

  /**
   * Copies everything into another store, perhaps of another type: states, events, notes, pending
   * and parked messages, reminders, and the offsets of views. Afterwards it compares both stores.
   * Close the actors of both stores first.
   *
   * @param to an empty store, which refuses actors until the copy is finished
   * @return the numbers of actors, turns and messages that were copied
   * @throws IllegalArgumentException if the other store is not empty
   * @throws IllegalStateException if the stores differ afterwards, for example because an actor
   *     stored a turn during the copy
   * @throws StoreException if an object cannot be read or stored; the text says which
   */
  default CopySummary copyTo(Store to) {
    return copyTo(to, progress -> {});
  }

  /**
   * Copies everything into another store as {@link #copyTo(Store)} does, and reports its progress.
   *
   * @param to an empty store, which refuses actors until the copy is finished
   * @param progress gets the numbers of objects copied so far, from time to time
   * @return the numbers of actors, turns and messages that were copied
   */
  CopySummary copyTo(Store to, Consumer<CopySummary> progress);

  /**
   * Returns whether a copy into this store has begun, and is not finished. Meanwhile the store
   * refuses actors.
   *
   * @return whether this store has only a part of a copy
   * @throws StoreException if the store cannot be read
   */
  boolean hasUnfinishedCopy();

  /** {@return the clock that decides when messages are due} */
  InstantSource clock();

  /**
   * Stores all turns and messages that this store has received, then closes it. Actors that use the
   * store afterwards fail.
   */
  @Override
  void close();
}
