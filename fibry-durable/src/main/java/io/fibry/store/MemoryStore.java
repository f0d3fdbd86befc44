package io.fibry.store;

import java.time.InstantSource;
import java.util.Objects;

/**
 * A store in memory, for tests. {@link #crash} returns a store with the content that a disk would
 * have after a crash. Thread-safe.
 */
public abstract sealed class MemoryStore implements Store permits MapStore {

  MemoryStore() {}

  /** {@return an empty store with the clock of the system} */
  public static MemoryStore open() {
    return open(InstantSource.system());
  }

  /**
   * Makes an empty store for tests that control the time.
   *
   * @param clock decides when messages are due
   * @return the store
   */
  public static MemoryStore open(InstantSource clock) {
    return new MapStore(Objects.requireNonNull(clock, "clock"));
  }

  /** {@return another store with the content of this store} This store is closed, as by a crash. */
  public abstract MemoryStore crash();

  /**
   * Makes the next writes of turns and messages fail.
   *
   * @param writes the number of writes that fail; zero ends the failures
   */
  public abstract void failNext(int writes);
}
