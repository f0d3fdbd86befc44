package io.fibry.flow;

import io.fibry.ActorBuilder;
import io.fibry.Handler;
import io.fibry.block.Arguments;
import io.fibry.spi.BlockBuilder;
import java.time.Duration;
import java.util.Objects;

/**
 * Builders of actors that handle messages at a limited rate. Thread-safe.
 * {@snippet class="io.fibry.FlowSnippetsTest" region="rateLimit"}
 *
 * <p>A bucket of {@code messages} tokens starts full and fills at an even rate: a burst passes at
 * once, and later messages are spread over the period. All actors of the builder, and of builders
 * derived from it, share the bucket and are served in order. Each call of a handler takes a token,
 * and so does each retry.
 *
 * <p>The actor waits on its own thread: a fiber parks, and an executor's thread is held. With
 * {@link io.fibry.Strategy#CALLER} the sender waits. {@code kill} ends the wait.
 */
public final class RateLimit {
  private RateLimit() {}

  /**
   * Limits the actors of a builder.
   *
   * @param <M> messages
   * @param builder makes the actors; the limit uses the clock of its scope
   * @param messages how many messages may pass in each period on average, and in a burst; at least
   * 1
   * @param period more than zero
   * @return a copy
   */
  public static <M> ActorBuilder<M> around(ActorBuilder<M> builder, int messages, Duration period) {
    Arguments.requireRate(messages, "messages", period);
    var bucket =
        new TokenBucket(BlockBuilder.of(Objects.requireNonNull(builder, "builder")).scheduler(), messages, period);
    Handler.Interceptor<M> interceptor = (message, next) -> {
      bucket.awaitToken();
      next.run();
    };
    return builder.intercept(interceptor);
  }
}
