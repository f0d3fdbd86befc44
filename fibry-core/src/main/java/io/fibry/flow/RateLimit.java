package io.fibry.flow;

import io.fibry.ActorBuilder;
import io.fibry.Handler;
import java.time.Duration;
import java.util.Objects;

/**
 * Builders of actors that handle at most so many messages in so long; the others wait. Thread-safe.
 * {@snippet class="io.fibry.RecipeSnippetsTest" region="rateLimit"}
 *
 * <p>It is a bucket that holds {@code messages} tokens, is full at first, and fills at an even
 * rate: a burst finds it full, what comes after is spread over the period. All actors made by one
 * such builder, and by what is built on it, share the bucket, each served in the order in which it
 * asked. Every call of a handler takes a token, also one that fails, and one that a failure policy
 * gives its message again.
 *
 * <p>The actor waits on its own thread, with the message in hand: a fiber parks, but an executor's
 * thread is held, and on {@link io.fibry.Strategy#CALLER} it is the sender who waits. {@code kill}
 * ends the wait; the token is spent.
 */
public final class RateLimit {
  private RateLimit() {}

  /**
   * The same builder, for actors that handle at most so many messages in so long.
   *
   * @param <M> what they may take
   * @param how makes the actors; its scope has the clock
   * @param messages in each period; at least 1
   * @param period more than zero
   * @return a changed copy
   */
  public static <M> ActorBuilder<M> of(ActorBuilder<M> how, int messages, Duration period) {
    Objects.requireNonNull(period, "period");
    if (messages < 1) throw new IllegalArgumentException(
        "a rate of " + messages + " messages in " + period + " would let none through; give at least 1");
    if (!period.isPositive()) throw new IllegalArgumentException(
        "a rate of " + messages + " messages in " + period + " is none; give a period of more than zero");
    var bucket = new TokenBucket(Objects.requireNonNull(how, "how").scheduler(), messages, period);
    Handler.Around<M> limited = (message, next) -> {
      bucket.take();
      next.run();
    };
    return how.around(limited);
  }
}
