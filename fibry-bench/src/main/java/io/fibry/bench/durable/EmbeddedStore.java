package io.fibry.bench.durable;

import java.util.List;

/** A store of others, in this process. One thread uses it. */
interface EmbeddedStore extends AutoCloseable {

  /** What an actor did with a message. */
  record Entry(String actor, long number, byte[] body) {}

  /** When it returns, all of them are on disk. */
  void commit(List<Entry> batch) throws Exception;

  /** How many entries it has. */
  long count() throws Exception;

  @Override
  void close();
}
