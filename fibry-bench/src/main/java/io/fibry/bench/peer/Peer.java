package io.fibry.bench.peer;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * An implementation of actors. The nested interfaces are optional features; a question about a
 * feature leaves out the peers without it. Thread-safe.
 */
public interface Peer extends AutoCloseable {

  <M> Receiver<M> actor(Consumer<M> handler);

  /**
   * Makes {@code count} actors. Overridden by peers where a call of {@link #actor} costs more than
   * the creation of an actor.
   */
  default <M> List<Receiver<M>> actors(int count, Consumer<M> handler) {
    var receivers = new ArrayList<Receiver<M>>(count);
    for (int i = 0; i < count; i++) receivers.add(actor(handler));
    return receivers;
  }

  /** Waits until all actors have ended. Does nothing in peers whose {@link Receiver#end} waits. */
  default void awaitEnd() {}

  /** Closes everything except the actors. */
  @Override
  default void close() {}

  interface Requests extends Peer {
    <M, R> Answerer<M, R> answering(Function<M, R> handler);
  }

  interface BoundedMailboxes extends Peer {

    /** Makes an actor with a bounded mailbox; a sender waits while the mailbox is full. */
    <M> Receiver<M> bounded(int capacity, Consumer<M> handler);
  }

  interface PriorityMailboxes extends Peer {

    /** Makes an actor that handles the smallest message first. */
    <M extends Comparable<M>> Receiver<M> prioritized(Consumer<M> handler);
  }

  interface Timers extends Peer {

    /**
     * Sends a message to an actor of this peer after the delay. Running the result cancels the
     * timer.
     */
    <M> Runnable later(Receiver<M> receiver, M message, Duration delay);
  }
}
