package io.fibry.flow;

import io.fibry.ActorBuilder;
import io.fibry.Handler;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * A sequence that actors produce while it is read, a bounded number of elements ahead. Immutable
 * and thread-safe.
 * {@snippet class="io.fibry.GeneratorSnippetsTest" region="generator"}
 *
 * <p>Every {@link #iterator()} starts the producers again, each on its own actor; the builder's
 * mailbox is ignored. On {@link io.fibry.Strategy#CALLER} they have virtual threads all the same.
 * On an executor a waiting producer holds a thread; a reader on the last thread waits for ever.
 *
 * <p>When a producer throws, the builder's failure policy decides; a retry runs it from its start,
 * behind what it made before. Otherwise all producers end, and the reader gets the very exception,
 * checked or not, after the elements. A producer ended from outside is an exception, too.
 *
 * @param <T> elements
 */
public interface Generator<T> extends Iterable<T> {

  /**
   * A generator. The elements of several producers come in no order.
   *
   * @param <T> elements
   * @param builder makes the actors
   * @param ahead most unread elements, of all producers; at least 1. A waiting producer continues
   * when half of that room is free
   * @param producers each runs once per iteration
   * @return a generator
   */
  @SafeVarargs
  static <T> Generator<T> of(ActorBuilder<?> builder, int ahead, Handler<Output<T>>... producers) {
    var all = new ArrayList<Handler<Output<T>>>();
    for (var producer : Objects.requireNonNull(producers, "producers"))
      all.add(Objects.requireNonNull(producer, "a producer"));
    return ActorGenerator.of(builder, ahead, all);
  }

  /**
   * Starts the producers.
   *
   * @return what they make
   * @throws IllegalArgumentException if their name is taken
   * @throws IllegalStateException if their scope is closed
   */
  @Override
  Iteration<T> iterator();

  /**
   * {@return the elements, ordered with one producer. Reading starts the producers; unless it goes
   * to the end, close the stream, or they end only when it is garbage}
   */
  Stream<T> stream();

  /**
   * Takes a producer's elements until it returns. Thread-safe.
   *
   * @param <T> elements
   */
  interface Output<T> {
    /**
     * Hands over an element. Waits while the reader is too far behind.
     *
     * @param element never null
     * @throws java.util.concurrent.CancellationException if the iteration ended, or the thread is
     * interrupted; the flag is kept. Do not catch it
     * @throws IllegalStateException if the producer has returned
     */
    void yield(T element);
  }

  /**
   * One reading, by one thread at a time; any thread may close it. Unless closed or read to its
   * end, it ends its producers when it is garbage.
   *
   * @param <T> elements
   */
  interface Iteration<T> extends Iterator<T>, AutoCloseable {
    /**
     * Waits for an element or the end. This or {@link #next} throws a producer's failure, once.
     *
     * @return false at the end
     * @throws java.util.concurrent.CancellationException if the generator was closed, or the thread
     * is interrupted; after an interrupt the flag is kept, and the caller may read again
     */
    @Override
    boolean hasNext();

    /**
     * Waits for an element.
     *
     * @return never null
     * @throws java.util.concurrent.CancellationException as {@link #hasNext}
     */
    @Override
    T next();

    /**
     * Kills the producers, waits for their end or grace, and discards unread elements. Does nothing
     * at the end.
     *
     * @throws java.util.concurrent.CancellationException if the thread is interrupted; the flag is
     * kept, and the producers end all the same
     */
    @Override
    void close();
  }
}
