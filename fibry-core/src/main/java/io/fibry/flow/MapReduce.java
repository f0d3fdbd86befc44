package io.fibry.flow;

import io.fibry.ActorBuilder;
import io.fibry.Handler;
import io.fibry.block.Arguments;
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
   * Starts a map-reduce. The iterator of the items may be slow or endless. Only one actor at a time
   * takes an item, and only one at a time folds a result.
   *
   * <p>Each item is a message to an actor, so the builder's interceptors and failure policy apply;
   * the builder's mailbox is ignored. If {@code map} fails after its retries, or if the iterator or
   * {@code reduce} throws, the future fails and all work is interrupted. If other code completes
   * the future, the work is interrupted, too. An {@code AutoCloseable} iterator is closed at the
   * end.
   *
   * <p>Stages chained to the future do not run on an actor's thread. On
   * {@link io.fibry.Strategy#CALLER} all work is done before this method returns.
   *
   * @param <T> items
   * @param <R> results
   * @param builder makes the actors
   * @param maxParallel maximum number of items that are mapped at the same time; at least 1
   * @param items iterated by the actors: an actor takes an item when it is free to map it. No item
   * may be null
   * @param map never returns null
   * @param zero first value of the fold
   * @param reduce folds results in the order of their items; must be associative, and never returns
   * null
   * @return completes with the fold of all results
   */
  public static <T, R> CompletableFuture<R> start(ActorBuilder<?> builder, int maxParallel, Iterable<T> items,
      Handler.Returning<T, R> map, R zero, BinaryOperator<R> reduce) {
    Objects.requireNonNull(builder, "builder");
    Arguments.requireAtLeastOne(maxParallel, "a map-reduce with " + maxParallel + " items at once would never begin");
    var fold = new OrderedFold<>(Objects.requireNonNull(zero, "zero"), Objects.requireNonNull(reduce, "reduce"));
    return new MapReduceRun<>(builder, maxParallel, Objects.requireNonNull(items, "items"),
        Objects.requireNonNull(map, "map"), fold).start();
  }
}
