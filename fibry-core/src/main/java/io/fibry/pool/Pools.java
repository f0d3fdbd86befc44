package io.fibry.pool;

import io.fibry.ActorBuilder;
import io.fibry.spi.BlockBuilder;
import io.fibry.spi.PoolPolicy;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.ToIntFunction;

/**
 * Builders of actors that handle several messages at the same time: one mailbox, one name, one end,
 * several workers. Thread-safe.
 * {@snippet class="io.fibry.PoolSnippetsTest" region="pools"}
 *
 * <p>The given builder makes each worker: thread, state, failure policy. Its mailbox becomes the
 * pool's: bounded to 1024 with {@code BLOCK}, unless set. Any free worker takes the next message,
 * so a worker that blocks or fails delays no others. A stopped one is replaced when needed.
 * {@code context.self()} is the pool. Code around the handler, such as a rate limit, may be added
 * to the builder before or afterwards.
 *
 * <p>{@code onStop} runs for each worker, then {@code closeOnExit}. A pool takes no blocks
 * ({@code sendMessages}) and no selective mailbox; {@code inlineRequests} has no effect. If workers
 * wait for their own pool, and too few are left to serve them, one gets an
 * {@link io.fibry.AskCycleException}. If workers send to their own pool, give it an unbounded
 * mailbox or a mailbox that rejects.
 */
public final class Pools {
  private Pools() {}

  /**
   * Makes a worker with its own state for each message, without holding senders back.
   *
   * @param <M> messages
   * @param how makes workers
   * @return a builder
   */
  public static <M> ActorBuilder<M> perMessage(ActorBuilder<M> how) {
    return BlockBuilder.of(Objects.requireNonNull(how, "how")).pooled(PoolPolicy.perMessage());
  }

  /**
   * A fixed number of workers.
   *
   * @param <M> messages
   * @param how makes workers
   * @param workers at least 1
   * @return a builder
   */
  public static <M> ActorBuilder<M> fixed(ActorBuilder<M> how, int workers) {
    return BlockBuilder.of(Objects.requireNonNull(how, "how")).pooled(PoolPolicy.scaling(workers, workers));
  }

  /**
   * Adds workers while messages wait; a worker idle for ten seconds ends.
   *
   * @param <M> messages
   * @param how makes workers
   * @param least workers that stay once needed; at least 0
   * @param most at least 1 and {@code least}
   * @return a builder
   */
  public static <M> ActorBuilder<M> scaling(ActorBuilder<M> how, int least, int most) {
    return BlockBuilder.of(Objects.requireNonNull(how, "how")).pooled(PoolPolicy.scaling(least, most));
  }

  /**
   * A message holds permits while it is handled; a message that waits for permits delays the
   * messages behind it. Sending a message that weighs less than 1, or more than {@code permits},
   * throws an {@link IllegalArgumentException}.
   *
   * @param <M> messages of the builder
   * @param <N> messages
   * @param how makes workers
   * @param permits at least 1
   * @param weight a message's permits; runs on the sender's thread
   * @return a builder
   */
  public static <M, N extends M> ActorBuilder<N> weighted(ActorBuilder<M> how, int permits, ToIntFunction<N> weight) {
    return BlockBuilder.of(Objects.requireNonNull(how, "how")).pooled(PoolPolicy.weighted(permits, weight));
  }

  /**
   * Handles messages of one key in order and one at a time. A busy key delays no other.
   *
   * @param <M> messages of the builder
   * @param <N> messages
   * @param how makes workers
   * @param workers at least 1
   * @param key runs on the sender's thread; never null, compared by {@code equals}
   * @return a builder
   */
  public static <M, N extends M> ActorBuilder<N> byKey(ActorBuilder<M> how, int workers, Function<N, ?> key) {
    return BlockBuilder.of(Objects.requireNonNull(how, "how")).pooled(PoolPolicy.byKey(workers, key));
  }
}
