package io.fibry.flow;

import io.fibry.ActorBuilder;
import io.fibry.Handler;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * A sequence that actors produce while it is read. The actors produce until a bounded number of
 * elements is unread, and then wait for the reader. Immutable and thread-safe.
 * {@snippet class="io.fibry.GeneratorSnippetsTest" region="generator"}
 *
 * <p>Every {@link #iterator()} starts the producers again, each on its own actor; the builder's
 * mailbox is ignored. If the builder's strategy is {@link io.fibry.Strategy#CALLER}, the producers
 * run on virtual threads instead. If the strategy is an executor, a waiting producer holds one of
 * its threads, so a reader on the last free thread would wait for ever.
 *
 * <p>When a producer throws, the builder's failure policy decides. A retry runs the producer from
 * its start, and the elements that it made before stay in the sequence. Without a retry all
 * producers end. After the elements that are still unread, the reader gets the same exception
 * object, checked or not. If a producer's actor is ended from outside, the reader gets an
 * exception, too.
 *
 * @param <T> elements
 */
public interface Generator<T> extends Iterable<T> {

  /**
   * Makes a generator. The elements of several producers come in no particular order.
   *
   * @param <T> elements
   * @param builder makes the actors
   * @param maxUnread maximum of unread elements, of all producers; at least 1. A waiting producer
   * continues when half of that capacity is free
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
   * producers. Close a stream that is not read to its end, or its producers end only when the
   * stream is garbage.
   */
  Stream<T> stream();

  /**
   * Takes the elements of a producer until the producer returns. Thread-safe.
   *
   * @param <T> elements
   */
  interface Output<T> {
    /**
     * Hands over an element. Waits while too many elements are unread.
     *
     * @param element never null
     * @throws java.util.concurrent.CancellationException if the iteration has ended, or if the
     * thread is interrupted; its interrupt flag then stays set. Do not catch this exception
     * @throws IllegalStateException if the producer has returned
     */
    void yield(T element);
  }

  /**
   * Reads the elements once, used by one thread at a time; any thread may close it. An iteration
   * that is neither closed nor read to its end ends its producers when it is garbage.
   *
   * @param <T> elements
   */
  interface Iteration<T> extends Iterator<T>, AutoCloseable {
    /**
     * Waits for an element or the end. This or {@link #next} throws the failure of a
     * producer, once.
     *
     * @return false at the end
     * @throws java.util.concurrent.CancellationException if the iteration was closed, or the thread
     * is interrupted; then its interrupt flag stays set, and the caller may read again later
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
     * @throws java.util.concurrent.CancellationException if the thread is interrupted; its
     * interrupt flag stays set, and the producers end nevertheless
     */
    @Override
    void close();
  }
}
