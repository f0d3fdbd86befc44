package io.fibry.pool;

import io.fibry.ActorBuilder;
import io.fibry.spi.BlockBuilder;
import io.fibry.spi.PoolSpec;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.ToIntFunction;

/**
 * Builders of pools. A pool is an actor that handles several messages at the same time. It has one
 * mailbox and one name, and several workers, which end together. Thread-safe.
 * {@snippet class="io.fibry.PoolSnippetsTest" region="pools"}
 *
 * <p>The given builder makes each worker, with its thread, state and failure policy. The mailbox of
 * the builder becomes the mailbox of the pool, by default bounded to 1024 with {@code BLOCK}. Any
 * free worker takes the next message, so a worker that blocks or fails delays no other worker. A
 * worker that its failure policy has stopped is replaced when needed. {@code context.self()} is the
 * pool. Code around the handler, such as a rate limit, may be added to the given builder or to the
 * returned builder.
 *
 * <p>At the end {@code onStop} runs for each worker; after that the resources of
 * {@code closeOnExit} are closed once. A pool takes no lists of messages ({@code sendMessages}) and
 * no selective mailbox; {@code inlineRequests} has no effect. If workers wait for answers of their
 * own pool, and too few workers are left to handle the requests, one of them gets an
 * {@link io.fibry.AskCycleException}. If workers send to their own pool, give it an unbounded
 * mailbox or a mailbox that rejects.
 */
public final class Pools {
  private Pools() {}

  /**
   * Makes a worker with its own state for each message. No message waits for a free worker.
   *
   * @param <M> messages
   * @param builder makes workers
   * @return a builder
   */
  public static <M> ActorBuilder<M> perMessage(ActorBuilder<M> builder) {
    return BlockBuilder.of(Objects.requireNonNull(builder, "builder")).pooled(PoolSpec.perMessage());
  }

  /**
   * Makes a fixed number of workers.
   *
   * @param <M> messages
   * @param builder makes workers
   * @param workers at least 1
   * @return a builder
   */
  public static <M> ActorBuilder<M> fixed(ActorBuilder<M> builder, int workers) {
    return BlockBuilder.of(Objects.requireNonNull(builder, "builder")).pooled(PoolSpec.scaling(workers, workers));
  }

  /**
   * Adds workers while messages wait. A worker that is idle for ten seconds ends.
   *
   * @param <M> messages
   * @param builder makes workers
   * @param minWorkers number of workers that stay alive once they were needed; at least 0
   * @param maxWorkers at least 1, and at least {@code minWorkers}
   * @return a builder
   */
  public static <M> ActorBuilder<M> scaling(ActorBuilder<M> builder, int minWorkers, int maxWorkers) {
    return BlockBuilder.of(Objects.requireNonNull(builder, "builder"))
        .pooled(PoolSpec.scaling(minWorkers, maxWorkers));
  }

  /**
   * Limits the sum of the weights of the messages that are being handled. A message holds as many
   * permits as its weight; a message that waits for permits delays the messages behind it. If a
   * message weighs less than 1, or more than {@code permits}, the sender gets an
   * {@link IllegalArgumentException}.
   *
   * @param <M> messages of the builder
   * @param <N> messages
   * @param builder makes workers
   * @param permits at least 1
   * @param weight returns the number of permits of a message; runs on the sender's thread
   * @return a builder
   */
  public static <M, N extends M> ActorBuilder<N> weighted(ActorBuilder<M> builder, int permits,
      ToIntFunction<N> weight) {
    return BlockBuilder.of(Objects.requireNonNull(builder, "builder")).pooled(PoolSpec.weighted(permits, weight));
  }

  /**
   * Handles messages of one key in order and one at a time. A busy key delays no other key.
   *
   * @param <M> messages of the builder
   * @param <N> messages
   * @param builder makes workers
   * @param workers at least 1
   * @param key returns the key of a message, never null, compared by {@code equals}; runs on the
   * sender's thread
   * @return a builder
   */
  public static <M, N extends M> ActorBuilder<N> byKey(ActorBuilder<M> builder, int workers, Function<N, ?> key) {
    return BlockBuilder.of(Objects.requireNonNull(builder, "builder")).pooled(PoolSpec.byKey(workers, key));
  }
}
