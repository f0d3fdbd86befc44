package io.fibry.flow;

import io.fibry.ActorBuilder;
import io.fibry.Handler;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * A sequence that actors produce while it is read. When the maximum number of elements is unread,
 * the actors wait for the reader. Immutable and thread-safe.
 * {@snippet class="io.fibry.GeneratorSnippetsTest" region="generator"}
 *
 * <p>Every {@link #iterator()} starts the producers again, each on its own actor; the builder's
 * mailbox is ignored. If the builder's strategy is {@link io.fibry.Strategy#CALLER}, the producers
 * run on virtual threads instead. If the strategy is an executor, a waiting producer holds one of
 * its threads, so a reader on the last free thread would wait forever.
 *
 * <p>When a producer throws, the builder's failure policy applies. A retry runs the producer from
 * its start, and the elements that the failed attempt made stay in the sequence. Without a retry
 * all producers end. The reader first gets the elements that are still unread, and then the
 * exception object of the producer, even if it is a checked exception. If other code ends a
 * producer's actor, the reader gets an exception, too.
 *
 * @param <T> elements
 */
public interface Generator<T> extends Iterable<T> {

  /**
   * Makes a generator. The elements of several producers come in no particular order.
   *
   * @param <T> elements
   * @param builder makes the actors
   * @param maxUnread maximum number of unread elements, of all producers together; at least 1. A
   * waiting producer continues when half of that capacity is free
   * @param producers each runs once per iteration
   * @return a generator
   */
  @SafeVarargs
  static <T> Generator<T> of(ActorBuilder<?> builder, int maxUnread, Handler<Output<T>>... producers) {
    var handlers = new ArrayList<Handler<Output<T>>>();
    for (var producer : Objects.requireNonNull(producers, "producers"))
      handlers.add(Objects.requireNonNull(producer, "a producer"));
    return ActorGenerator.of(builder, maxUnread, handlers);
  }

  /**
   * Starts the producers.
   *
   * @return their elements
   * @throws IllegalArgumentException if their name is taken
   * @throws IllegalStateException if their scope is closed
   */
  @Override
  Iteration<T> iterator();

  /**
   * {@return a stream of the elements, ordered if there is one producer} Reading starts the
   * producers. Close a stream that you do not read to its end. Otherwise its producers end only
   * when the stream is garbage.
   */
  Stream<T> stream();

  /**
   * Takes the elements of a producer until the producer returns. Thread-safe.
   *
   * @param <T> elements
   */
  interface Output<T> {
    /**
     * Hands over an element to the reader. Waits while the maximum number of elements is unread.
     *
     * @param element never null
     * @throws java.util.concurrent.CancellationException if the iteration has ended, or if the
     * thread is interrupted; after an interrupt the interrupt flag stays set. Do not catch this
     * exception
     * @throws IllegalStateException if the producer has returned
     */
    void yield(T element);
  }

  /**
   * Reads the elements once. Only one thread at a time may read; any thread may close the
   * iteration. An iteration that is neither closed nor read to its end ends its producers when it
   * is garbage.
   *
   * @param <T> elements
   */
  interface Iteration<T> extends Iterator<T>, AutoCloseable {
    /**
     * Waits for an element or the end. If a producer failed, its exception is thrown once, by this
     * method or by {@link #next}.
     *
     * @return false at the end
     * @throws java.util.concurrent.CancellationException if the iteration was closed, or the thread
     * is interrupted; after an interrupt the interrupt flag stays set, and the caller may read
     * again
     */
    @Override
    boolean hasNext();

    /**
     * Waits for an element.
     *
     * @return never null
     * @throws java.util.concurrent.CancellationException if the iteration was closed, or the thread
     * is interrupted
     */
    @Override
    T next();

    /**
     * Kills the producers, waits until they have ended or their kill grace is over, and discards
     * unread elements. Does nothing if the iteration was read to its end.
     *
     * @throws java.util.concurrent.CancellationException if the thread is interrupted while it
     * waits; its interrupt flag stays set, and the producers end nevertheless
     */
    @Override
    void close();
  }
}
