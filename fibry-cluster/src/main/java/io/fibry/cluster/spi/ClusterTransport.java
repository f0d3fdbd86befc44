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
 * The network as one node sees it: it carries messages between nodes, and has a table that all
 * nodes share. It knows nothing of actors. Thread-safe.
 *
 * <p>A subject consists of names with dots between them. Messages from one node to one subject keep
 * their order, as long as the node is connected.
 */
public interface ClusterTransport extends AutoCloseable {

  /** The lease of an entry that never expires. */
  Duration FOREVER = Duration.ofNanos(Long.MAX_VALUE);

  /**
   * Sends a message to all subscribers of its subject that have no group, and to one member of each
   * group. Each receiver gets the message once, or not at all.
   *
   * @param message the message
   * @throws TransportException if the message was not sent
   * @throws IllegalArgumentException if the message is too large
   */
  void publish(WireMessage message);

  /**
   * Sends a message, and returns the future of its first answer.
   *
   * @param message the message
   * @param limit how long to wait for the answer
   * @return completes with the answer, or fails with a {@link TransportException}. A thread of the
   * transport completes it, so its callbacks must not wait
   * @throws IllegalArgumentException if the message is too large
   */
  CompletionStage<WireMessage> request(WireMessage message, Duration limit);

  /**
   * Returns whether {@link #publish} and {@link #request} never wait, and call no reader on the
   * calling thread. If so, a request is sent on the thread of its asker, without a switch of
   * threads.
   *
   * @return by default false; always the same
   */
  default boolean publishesWithoutWait() {
    return false;
  }

  /**
   * Returns whether no other node can connect to the network. If so, a node may give a request to
   * its own actor without this transport.
   *
   * @return by default false; always the same
   */
  default boolean isOfOnlyNode() {
    return false;
  }

  /**
   * Returns whether readers of this node have read all messages to a subject. Called only if this
   * transport belongs to the only node.
   *
   * @param subject the subject of the messages
   * @return by default false. If true, the reader has returned from its call for each message that
   * the calling thread has seen published
   */
  default boolean isRead(String subject) {
    return false;
  }

  /**
   * Subscribes to a subject.
   *
   * @param subject the subject of the messages
   * @param group the name of the group, of which only one member gets each message; empty if this
   * subscriber gets all messages
   * @param reader called on a thread of the transport with one message after the other; must not
   * wait
   * @return the subscription; closing it ends the subscription, after the reader has got the
   * messages that have arrived
   */
  Subscription subscribe(String subject, Optional<String> group, Consumer<WireMessage> reader);

  // ---- the table

  /**
   * An entry of the table.
   *
   * @param key the key of the entry
   * @param value its current value, or empty if it was deleted or has expired
   * @param version grows with each change of the entry, also when it is deleted and created again
   */
  record Entry(String key, Optional<byte[]> value, long version) {}

  /**
   * Creates an entry.
   *
   * @param key the key of the entry
   * @param value its first value
   * @param lease the entry expires after this time, unless it is updated; or {@link #FOREVER}
   * @return its version, or empty if the entry exists already
   * @throws TransportException if the call failed; the entry may have been created nevertheless
   */
  OptionalLong create(String key, byte[] value, Duration lease);

  /**
   * Replaces the value of an entry, and begins its lease again.
   *
   * @param key the key of the entry
   * @param value its new value
   * @param version the version that the entry must have
   * @param lease the entry expires after this time, unless it is updated; or {@link #FOREVER}
   * @return the new version, or empty if the entry has another version or does not exist
   * @throws TransportException if the call failed; the entry may have been changed nevertheless
   */
  OptionalLong update(String key, byte[] value, long version, Duration lease);

  /**
   * Deletes an entry.
   *
   * @param key the key of the entry
   * @param version the version that the entry must have
   * @return whether it was deleted; false if it has another version or does not exist
   * @throws TransportException if the call failed; the entry may have been deleted nevertheless
   */
  boolean delete(String key, long version);

  /**
   * Reads an entry. The result is never older than a result that any node has read before.
   *
   * @param key the key of the entry
   * @return the entry, or empty if it does not exist
   * @throws TransportException if the entry cannot be read
   */
  Optional<Entry> get(String key);

  /**
   * Passes entries to a reader: first the current entries, then each change. The changes of each
   * key come in order.
   *
   * @param prefix the beginning of the keys: whole names, with a dot at the end
   * @param reader called on a thread of the transport; must not wait
   * @return the subscription; closing it ends the calls
   */
  Subscription watch(String prefix, Consumer<Entry> reader);

  /**
   * Returns the store that all nodes share, for durable actors.
   *
   * @return always the same store; it is closed with this transport
   * @throws TransportException if there is no connection, or the network refuses the store
   * @throws IllegalStateException if the existing store cannot be used
   */
  Store store();

  // ---- work

  /**
   * Returns a queue of work, which all nodes share. Work is stored in it until it is done.
   *
   * @param subject the subject of the queue
   * @return the queue as this node sees it
   * @throws TransportException if there is no connection, or the network refuses the queue
   * @throws IllegalStateException if the existing queue cannot be used
   */
  Queue queue(String subject);

  /** A queue, as one node sees it. Thread-safe. */
  interface Queue {

    /**
     * Stores a piece of work.
     *
     * @param id the id of the work; work that is put with the same id within two minutes is not
     * stored again
     * @param work the encoded work
     * @throws TransportException if the work was not stored, or if it is unknown whether it was
     * stored
     * @throws IllegalArgumentException if the work is too large
     */
    void put(String id, byte[] work);

    /**
     * Takes pieces of work, the oldest first. Some seconds after a node has crashed, other nodes
     * get the pieces that the node had taken.
     *
     * @param maxParallel how many pieces may be worked on at the same time
     * @param worker called with each piece; must not wait
     * @return the subscription; closing it stops the taking, but this node keeps the pieces that it
     * has taken
     */
    Subscription take(int maxParallel, Consumer<WorkItem> worker);

    /**
     * Returns the pieces of the queue that wait or are being worked on.
     *
     * @param minNumber the smallest number of a piece; 0 for all pieces
     * @param maxPieces how many pieces to return at most
     * @return the pieces, the oldest first
     * @throws TransportException if the queue cannot be read
     */
    List<PendingWork> list(long minNumber, int maxPieces);

    /**
     * Removes a piece of work.
     *
     * @param number the number of the piece
     * @return whether the piece was removed; false if it is not in the queue any more
     * @throws TransportException if the call failed; the piece may have been removed nevertheless
     */
    boolean remove(long number);

    /**
     * {@return the number of pieces that wait or are being worked on}
     *
     * @throws TransportException if the queue cannot be read
     */
    long size();
  }

  /**
   * A piece of work in a queue.
   *
   * @param number grows with each piece of the queue
   * @param work the encoded work
   */
  record PendingWork(long number, byte[] work) {}

  /**
   * A piece of work that this node has taken. The node calls either {@link #acknowledge} or
   * {@link #release}, and only once.
   */
  interface WorkItem {

    /** {@return the number of the piece} */
    long number();

    /** {@return the encoded work} */
    byte[] work();

    /** {@return how often the piece was taken, including this time} */
    int attempts();

    /**
     * Removes the piece from the queue, because it is done.
     *
     * @return whether the piece was removed; if false, this is not known, and the piece may be done
     * again
     */
    boolean acknowledge();

    /**
     * Gives the piece back to the queue.
     *
     * @param delay after which time it may be taken again
     */
    void release(Duration delay);
  }

  /** {@return why no message can be sent at the moment, or empty if the node is connected} */
  Optional<String> connectionProblem();

  /** {@return how many bytes a body may have} */
  int maxBodyBytes();

  /** Closes the connection, and ends its subscriptions and pending requests. */
  @Override
  void close();
}
