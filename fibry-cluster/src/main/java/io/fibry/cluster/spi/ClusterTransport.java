package io.fibry.cluster.spi;

import io.fibry.cluster.TransportException;
import io.fibry.pubsub.Subscription;
import io.fibry.store.Store;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * The network as one node sees it: it carries messages between nodes, and keeps a table that all
 * nodes see. It knows nothing of actors. Thread-safe.
 *
 * <p>A subject is made of names with dots between them. Messages from one node to one subject keep
 * their order, as long as the node is connected.
 */
public interface ClusterTransport extends AutoCloseable {

  /** The lease of an entry that does not go by itself. */
  Duration FOREVER = Duration.ofNanos(Long.MAX_VALUE);

  /**
   * Sends a message to all who have subscribed to its subject, and to one of each group. It gets
   * there once, or not at all.
   *
   * @param message the message
   * @throws TransportException if it did not leave
   * @throws IllegalArgumentException if it is too large
   */
  void publish(WireMessage message);

  /**
   * Sends a message, and waits for one answer.
   *
   * @param message the message
   * @param limit how long at most
   * @return the answer; or fails with a {@link TransportException}. Completed by a
   * thread of the engine, which must not be held up
   * @throws IllegalArgumentException if the message is too large
   */
  CompletionStage<WireMessage> request(WireMessage message, Duration limit);

  /**
   * Gets messages, one after the other, on a thread of the engine.
   *
   * @param subject of the messages
   * @param group only one member of a group gets a message; empty if all subscribers get it
   * @param reader gets them, and must not wait
   * @return closing it ends the subscription, after messages that have arrived
   */
  Subscription subscribe(String subject, Optional<String> group, Consumer<WireMessage> reader);

  // ---- the table

  /**
   * An entry of the table.
   *
   * @param key of it
   * @param value empty: it is gone
   * @param version grows with each change, also after it was gone
   */
  record Entry(String key, Optional<byte[]> value, long version) {}

  /**
   * Makes an entry.
   *
   * @param key of it
   * @param value of it
   * @param lease it goes by itself after this time, unless it is updated; or {@link #FOREVER}
   * @return its version, or empty if the entry exists already
   * @throws TransportException if it is not known whether the entry exists
   */
  OptionalLong create(String key, byte[] value, Duration lease);

  /**
   * Changes an entry, and begins its lease again.
   *
   * @param key of it
   * @param value the next one
   * @param version that it has
   * @param lease as of {@code create}
   * @return the next version, or empty if the entry has another version or is gone
   * @throws TransportException if nobody knows whether it was changed
   */
  OptionalLong update(String key, byte[] value, long version, Duration lease);

  /**
   * Takes an entry away.
   *
   * @param key of it
   * @param version that it has
   * @return false: it has another version, or is gone
   * @throws TransportException if it is not known whether the entry exists
   */
  boolean delete(String key, long version);

  /**
   * Reads an entry: never an older one than anybody else has read before.
   *
   * @param key of it
   * @return empty: there is none
   * @throws TransportException if it cannot be read
   */
  Optional<Entry> get(String key);

  /**
   * Follows entries: first the present entries, then each change, in order for each key.
   *
   * @param prefix of their keys: whole names, and a dot at its end
   * @param reader gets them on a thread of the engine, and must not wait
   * @return closing it ends that
   */
  Subscription watch(String prefix, Consumer<Entry> reader);

  /**
   * A store that all nodes have, for durable actors.
   *
   * @return always the same; closed with this engine
   * @throws TransportException if there is no connection, or the network refuses
   * it
   * @throws IllegalStateException if the existing store cannot be used
   */
  Store store();

  // ---- work

  /**
   * Work that waits until it is done; all nodes have it.
   *
   * @param subject of the queue
   * @return for this node
   * @throws TransportException if there is no connection, or the network refuses
   * it
   * @throws IllegalStateException if the existing queue cannot be used
   */
  Queue queue(String subject);

  /** A queue, as one node sees it. Thread-safe. */
  interface Queue {

    /**
     * Stores a piece of work.
     *
     * @param id the id of the work; work that comes with the same id within two minutes is not
     * stored again
     * @param work bytes
     * @throws TransportException if it was not stored, or nobody knows
     * @throws IllegalArgumentException if it is too large
     */
    void put(String id, byte[] work);

    /**
     * Takes pieces, the oldest first. A piece that is not done because its node crashed is given to
     * another node some seconds later.
     *
     * @param max how many pieces may be worked on at the same time
     * @param worker gets them, and must not wait
     * @return closing it ends the taking; pieces that are being worked on stay so
     */
    Subscription take(int max, Consumer<WorkItem> worker);

    /**
     * Returns the waiting pieces, and those that are being worked on.
     *
     * @param from a number; 0 for all
     * @param max how many at most
     * @return the oldest first
     * @throws TransportException if it cannot be read
     */
    List<PendingWork> list(long from, int max);

    /**
     * Takes a piece away.
     *
     * @param number of it
     * @return false if it is not in the queue any more
     * @throws TransportException if nobody knows
     */
    boolean remove(long number);

    /**
     * {@return the number of pieces, including those that are being worked on}
     *
     * @throws TransportException if it cannot be read
     */
    long size();
  }

  /**
   * Work in a queue.
   *
   * @param number grows
   * @param work bytes
   */
  record PendingWork(long number, byte[] work) {}

  /** Work that this node has taken. One of {@code done} and {@code again} is called, once. */
  interface WorkItem {

    /** {@return its number} */
    long number();

    /** {@return its bytes} */
    byte[] work();

    /** {@return how often it was taken, with this time} */
    int attempts();

    /**
     * {@return whether the piece is gone; if false, that is not known, and it may be done once
     * more}
     */
    boolean acknowledge();

    /**
     * Gives it back.
     *
     * @param later when it may be taken again
     */
    void release(Duration later);
  }

  /** {@return why no message leaves at the moment, or empty if the node is connected} */
  Optional<String> connectionProblem();

  /** {@return how many bytes a body may have} */
  int maxBodyBytes();

  /** Ends all that was begun with it. */
  @Override
  void close();
}
