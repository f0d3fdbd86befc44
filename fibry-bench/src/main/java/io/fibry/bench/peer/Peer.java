package io.fibry.bench.peer;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A way to have actors. What it can do beyond taking messages, the nested interfaces say: who does
 * not implement one is left out of that question. Thread-safe.
 */
public interface Peer extends AutoCloseable {

  /**
   * An actor, at work.
   *
   * @param <M> the messages
   * @param handler what it does with each, one at a time
   * @return the actor
   */
  <M> Receiver<M> actor(Consumer<M> handler);

  /**
   * Many actors. Overridden where they are best made together.
   *
   * @param <M> the messages
   * @param many how many
   * @param handler what each does with a message
   * @return the actors
   */
  default <M> List<Receiver<M>> actors(int many, Consumer<M> handler) {
    var made = new ArrayList<Receiver<M>>(many);
    for (int i = 0; i < many; i++) made.add(actor(handler));
    return made;
  }

  /** Waits until the actors that were told to end are gone, where {@link Receiver#end} does not. */
  default void awaitEnd() {}

  /** Ends what it has, actors apart. */
  @Override
  default void close() {}

  /** Can answer. */
  interface Requests extends Peer {

    /**
     * An actor that answers.
     *
     * @param <M> the messages
     * @param <R> the answers
     * @param handler answers each
     * @return the actor
     */
    <M, R> Answerer<M, R> answering(Function<M, R> handler);
  }

  /** Can make a sender wait for room. */
  interface BoundedMailboxes extends Peer {

    /**
     * An actor for which so many may wait; who sends one more waits for room.
     *
     * @param <M> the messages
     * @param room how many may wait
     * @param handler what it does with each
     * @return the actor
     */
    <M> Receiver<M> bounded(int room, Consumer<M> handler);
  }

  /** Can handle the smallest message first. */
  interface PriorityMailboxes extends Peer {

    /**
     * An actor that handles the smallest message first, equal ones in the order they came where the
     * peer can.
     *
     * @param <M> the messages
     * @param handler what it does with each
     * @return the actor
     */
    <M extends Comparable<M>> Receiver<M> prioritised(Consumer<M> handler);
  }

  /** Can send later. */
  interface Timers extends Peer {

    /**
     * Sends later.
     *
     * @param <M> the messages
     * @param receiver an actor of this peer
     * @param message never null
     * @param delay from now
     * @return takes it back
     */
    <M> Runnable later(Receiver<M> receiver, M message, Duration delay);
  }
}
