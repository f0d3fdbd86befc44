package io.fibry.flow;

import io.fibry.ActorBuilder;
import io.fibry.Handler;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * A sequence made by actors while it is read: an {@code Iterable} whose producers run ahead, so far
 * and no further. Immutable and thread-safe; an {@link Iteration} is for one thread at a time.
 * {@snippet class="io.fibry.GeneratorSnippetsTest" region="generator"}
 *
 * <p>Every {@link #iterator()} starts the producers anew, an actor each, made as the builder says:
 * scope, strategy, failure policy, the name with a part of its own for each. Only its mailbox is of
 * no account. On {@link io.fibry.Strategy#CALLER} producers have virtual threads all the same,
 * since on the reader's own thread none could wait for him; on an executor a waiting producer keeps
 * a thread of the pool, and a reader that waits on the last one of them waits for ever.
 *
 * <p>What a producer throws is a failure of its actor: the policy of the builder decides, and where
 * it retries, the producer begins anew behind what it made before. Then the others end too, and the
 * reader is thrown the very same object, checked or not, after all elements made before. No
 * sequence is silently cut short: should a producer be ended by others, its reader is told that.
 *
 * @param <T> the elements
 */
public interface Generator<T> extends Iterable<T> {

  /**
   * One producer or several; the elements of several come in no order.
   *
   * @param <T> the elements
   * @param how makes the producers
   * @param ahead how many elements may be made and not yet read, by all of them together; at least
   * 1. A producer that had to wait goes on when half of that room is free
   * @param producers each is run once in each iteration
   * @return a generator; nothing runs yet
   */
  @SafeVarargs
  static <T> Generator<T> of(ActorBuilder<?> how, int ahead, Handler<Output<T>>... producers) {
    var all = new ArrayList<Handler<Output<T>>>();
    for (var producer : producers) all.add(Objects.requireNonNull(producer, "a producer"));
    return ActorGenerator.of(how, ahead, all);
  }

  /**
   * Starts the producers anew.
   *
   * @return what they make
   * @throws IllegalArgumentException if their scope has a living actor of this name
   * @throws IllegalStateException if their scope is closed
   */
  @Override
  Iteration<T> iterator();

  /**
   * {@return the same as a stream, in order if there is one producer; they start when it is read.
   * Close it when it is not read to the end: or they end when it is garbage}
   */
  Stream<T> stream();

  /**
   * Where a producer puts what it made. Thread-safe, and open until the producer returns.
   *
   * @param <T> the elements
   */
  interface Output<T> {
    /**
     * Hands over an element. Waits while the reader is too far behind; the end of the iteration
     * ends the wait.
     *
     * @param element never null
     * @throws java.util.concurrent.CancellationException if nobody reads any more, or the thread is
     * interrupted; the flag is kept. A producer lets it pass
     * @throws IllegalStateException if the producer has returned
     */
    void yield(T element);
  }

  /**
   * One reading. For one thread at a time, but for {@link #close}. Not read to the end and
   * forgotten, it ends its producers when it is garbage; closed, at once.
   *
   * @param <T> the elements
   */
  interface Iteration<T> extends Iterator<T>, AutoCloseable {
    /**
     * Waits until it knows.
     *
     * @return false at the end: all producers have returned; also after one has failed and that was
     * thrown
     * @throws java.util.concurrent.CancellationException if it was closed before its end, or the
     * waiting thread is interrupted; the flag is kept, and it may be read on
     */
    @Override
    boolean hasNext();

    /**
     * Waits for the next element. Throws what a producer threw, once, by this method or by
     * {@link #hasNext}.
     *
     * @return the next one; never null
     * @throws java.util.concurrent.CancellationException as {@link #hasNext}
     */
    @Override
    T next();

    /**
     * Kills the producers and waits until they have ended, or their grace is over; what they made
     * and nobody read is discarded. Does nothing after the end.
     *
     * @throws java.util.concurrent.CancellationException if the waiting thread is interrupted; the
     * flag is kept, and the producers end all the same
     */
    @Override
    void close();
  }
}
