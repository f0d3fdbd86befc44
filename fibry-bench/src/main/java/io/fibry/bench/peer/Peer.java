package io.fibry.bench.peer;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A way to have actors. The nested interfaces are what it may offer beyond messages; a peer without
 * one is left out of that question. Thread-safe.
 */
public interface Peer extends AutoCloseable {

  <M> Receiver<M> actor(Consumer<M> handler);

  /** Makes many actors. Overridden where they are best made together. */
  default <M> List<Receiver<M>> actors(int many, Consumer<M> handler) {
    var made = new ArrayList<Receiver<M>>(many);
    for (int i = 0; i < many; i++) made.add(actor(handler));
    return made;
  }

  /** Waits for the actors that were told to end, where {@link Receiver#end} does not. */
  default void awaitEnd() {}

  /** Closes all but the actors. */
  @Override
  default void close() {}

  interface Requests extends Peer {
    <M, R> Answerer<M, R> answering(Function<M, R> handler);
  }

  interface BoundedMailboxes extends Peer {

    /** An actor with room for messages, whose senders wait for it. */
    <M> Receiver<M> bounded(int room, Consumer<M> handler);
  }

  interface PriorityMailboxes extends Peer {

    /** An actor that handles the smallest message first. */
    <M extends Comparable<M>> Receiver<M> prioritised(Consumer<M> handler);
  }

  interface Timers extends Peer {

    /** Sends a message to an actor of this peer after the delay; the result takes it back. */
    <M> Runnable later(Receiver<M> receiver, M message, Duration delay);
  }
}
