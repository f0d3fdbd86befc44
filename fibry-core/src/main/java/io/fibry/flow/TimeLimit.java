package io.fibry.flow;

import io.fibry.ActorBuilder;
import io.fibry.Handler;
import io.fibry.Strategy;
import io.fibry.block.Arguments;
import io.fibry.block.SendStackProbe;
import io.fibry.spi.BlockBuilder;
import io.fibry.text.Durations;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeoutException;

/**
 * Builders of actors whose handler is interrupted when a message takes too long. Thread-safe.
 * {@snippet class="io.fibry.FlowSnippetsTest" region="timeLimit"}
 *
 * <p>The exception that the interrupted handler throws becomes the cause of a
 * {@link TimeoutException}, with which the message fails. A handler that ignores the interrupt
 * continues; if it returns, it has handled its message. The interrupt never reaches the handling of
 * the next message.
 */
public final class TimeLimit {
  private TimeLimit() {}

  /**
   * Limits how long a message may be handled. Waiting in the mailbox does not count, although the
   * limit of an {@code ask} includes it.
   *
   * @param <M> messages
   * @param builder makes the actors; the limit uses the clock of its scope
   * @param limit maximum time of each call of the handler, and of each retry; more than zero
   * @return a copy
   */
  public static <M> ActorBuilder<M> around(ActorBuilder<M> builder, Duration limit) {
    var blockBuilder = BlockBuilder.of(Objects.requireNonNull(builder, "builder"));
    Arguments.requirePositive(limit, "limit", "a limit of " + Durations.text(limit) + " leaves no time for a message");
    Handler.Interceptor<M> interceptor = (message, next) -> {
      SendStackProbe.probe(); // throws here if the stack is nearly full, because `end` must not fail
      var call = new InterruptibleCall(Thread.currentThread());
      // a new thread: the timer's thread must not wait, and a fiber may find no free carrier
      var clock = blockBuilder.scheduler();
      var timer = clock.schedule(limit, clock.isManual() ? call : () -> Strategy.THREAD.activate(call));
      try {
        next.run();
      } catch (Exception failure) {
        if (!call.end()) throw failure;
        var timeout = new TimeoutException("it took longer than " + Durations.text(limit) + " to handle "
            + blockBuilder.describe(message) + ", so the handler was interrupted");
        timeout.initCause(failure);
        throw timeout;
      } finally {
        call.end();
        timer.cancel();
      }
    };
    return builder.intercept(interceptor);
  }
}
