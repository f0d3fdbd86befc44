package io.fibry.bench.durable;

import java.util.List;

/** A store of another project, embedded in this process. Used by one thread at a time. */
interface EmbeddedStore extends AutoCloseable {

  /**
   * The stored result of one message to an actor. The number is 1 for the first entry of an actor.
   */
  record Entry(String actor, long number, byte[] body) {}

  /** Stores all entries, and returns when they are on disk. */
  void commit(List<Entry> batch) throws Exception;

  /** Returns how many entries the store has. */
  long count() throws Exception;

  @Override
  void close();
}
