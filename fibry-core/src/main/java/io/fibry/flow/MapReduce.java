package io.fibry.flow;

import io.fibry.ActorBuilder;
import io.fibry.Handler;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.BinaryOperator;

/**
 * Maps many items at once and folds the results. Thread-safe.
 * {@snippet class="io.fibry.GeneratorSnippetsTest" region="mapReduce"}
 */
public final class MapReduce {
  private MapReduce() {}

  /**
   * Starts it. As many actors as there are items, but at most so many, map one item after the
   * other; each takes the next when it is through with the one before, so the items may come
   * slowly, or never end. Taking an item and folding a result are done by one of them at a time.
   *
   * <p>Each item is a message to one of these actors, so the builder says how it is treated: code
   * around it, retries, what a failure means to the actor; its mailbox is of no account. What
   * {@code map} throws when its retries are over, or what the items or {@code reduce} throw, ends
   * all and fails the future: those at work are interrupted. So they are when the future is
   * cancelled, or completed in any other way. Items whose iterator is an {@code AutoCloseable},
   * such as those of a {@link Generator}, are closed then.
   *
   * <p>What is chained to the future does not run on an actor's thread. On
   * {@link io.fibry.Strategy#CALLER} all the work is done before this returns.
   *
   * @param <T> the items
   * @param <R> the results
   * @param how makes the actors
   * @param parallel at most so many at once, 1 at least
   * @param items taken as they are needed, on the threads of the actors; none of them null
   * @param map makes a result of an item; never null
   * @param zero the result of no items; folded once, before the first
   * @param reduce folds the results of neighbours, in the order of their items: associative, but
   * {@code (a, b)} may differ from {@code (b, a)}; never null
   * @return completes with the fold of all results
   */
  public static <T, R> CompletableFuture<R> start(ActorBuilder<?> how, int parallel, Iterable<T> items,
      Handler.Returning<T, R> map, R zero, BinaryOperator<R> reduce) {
    Objects.requireNonNull(how, "how");
    if (parallel < 1) throw new IllegalArgumentException(
        "a map-reduce with " + parallel + " items at once would never begin; give at least 1");
    var fold = new OrderedFold<>(Objects.requireNonNull(zero, "zero"), Objects.requireNonNull(reduce, "reduce"));
    var run =
        new MapReduceRun<>(how, parallel, Objects.requireNonNull(items, "items"), Objects.requireNonNull(map, "map"),
            fold);
    return run.start();
  }
}
