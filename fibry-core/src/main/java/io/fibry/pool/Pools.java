package io.fibry.pool;

import io.fibry.ActorBuilder;
import io.fibry.mailbox.Sharing;
import java.util.function.Function;
import java.util.function.ToIntFunction;

/**
 * Builders of actors that work on several messages at once. What they make is an actor like any
 * other: one mailbox, one name, one end; several workers behind it.
 * {@snippet class="io.fibry.PoolSnippetsTest" region="pools"}
 *
 * <p>The builder given says how each worker is made: its thread by the strategy, a state of its
 * own, the failure policy. Its mailbox becomes the pool's: bounded, 1024, BLOCK, unless told.
 * Messages are begun in the order of the mailbox, by whichever worker is free, so a worker that
 * blocks or fails holds nobody up; one that its policy stops is replaced when it is needed. What
 * the handler sends to {@code context.self()} goes to the pool.
 *
 * <p>{@code sendPoisonPill} lets all that waits be begun, and the workers end what they are at;
 * {@code askExit} only the latter. {@code onStop} runs for each worker's state, and then what was
 * given to {@code closeOnExit}. A pool takes no blocks ({@code sendMessages}), its mailbox cannot
 * be selective, and {@code inlineRequests} changes nothing. A worker may ask its own pool, or send
 * to it: where so many workers wait for their own pool that the others cannot help them, one of
 * them is told by an {@link io.fibry.AskCycleException}. A pool that feeds itself has a mailbox
 * that rejects, or is unbounded.
 *
 * <p>Thread-safe, and so are the builders.
 */
public final class Pools {
  private Pools() {}

  /**
   * A worker for each message, with a state of its own, as many as there are messages: nothing
   * waits, so nothing holds the senders back.
   *
   * @param <M> the messages
   * @param how how each is made
   * @return a builder of pools
   */
  public static <M> ActorBuilder<M> perMessage(ActorBuilder<M> how) {
    return how.shared(Sharing.perMessage());
  }

  /**
   * So many workers, one queue.
   *
   * @param <M> the messages
   * @param how how each is made
   * @param workers at least 1
   * @return a builder of pools
   */
  public static <M> ActorBuilder<M> fixed(ActorBuilder<M> how, int workers) {
    return how.shared(Sharing.scaling(workers, workers));
  }

  /**
   * More workers at once when messages wait, fewer after a calm: one that had nothing to do for ten
   * seconds ends.
   *
   * @param <M> the messages
   * @param how how each is made
   * @param least how many stay, once they were needed; at least 0
   * @param most at least 1, and not less than the least
   * @return a builder of pools
   */
  public static <M> ActorBuilder<M> scaling(ActorBuilder<M> how, int least, int most) {
    return how.shared(Sharing.scaling(least, most));
  }

  /**
   * As many workers as the permits allow; a message holds some of them while it is handled.
   * Messages are begun in their order: one that needs more than are free waits, and those behind it
   * too.
   *
   * <p>A message that weighs nothing, or more than all permits, could never be begun: sending it
   * throws an {@link IllegalArgumentException}.
   *
   * @param <M> what the builder's actors take
   * @param <N> the messages
   * @param how how each worker is made
   * @param permits at least 1
   * @param weight how many permits a message needs; asked on the sender's thread
   * @return a builder of pools
   */
  public static <M, N extends M> ActorBuilder<N> weighted(ActorBuilder<M> how, int permits, ToIntFunction<N> weight) {
    return how.shared(Sharing.weighted(permits, weight));
  }

  /**
   * Messages of one key in order, one at a time; different keys side by side, on so many workers. A
   * key belongs to no worker: whoever is free takes the next message of it, so a busy key holds up
   * no other.
   *
   * @param <M> what the builder's actors take
   * @param <N> the messages
   * @param how how each worker is made
   * @param workers at least 1
   * @param key what must not be handled side by side; asked on the sender's thread, compared by
   * {@code equals}, never null
   * @return a builder of pools
   */
  public static <M, N extends M> ActorBuilder<N> byKey(ActorBuilder<M> how, int workers, Function<N, ?> key) {
    return how.shared(Sharing.byKey(workers, key));
  }
}
