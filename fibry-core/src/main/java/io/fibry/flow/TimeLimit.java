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
 * Builders of actors that are interrupted at a message that takes too long. Thread-safe.
 * {@snippet class="io.fibry.RecipeSnippetsTest" region="timeLimit"}
 *
 * <p>The exception that the handler then throws becomes the cause of a {@link TimeoutException}:
 * the message has failed, and the failure policy decides. A handler that ignores the interrupt
 * continues; if it returns, it has handled its message. The clock is that of the scope. No
 * interrupt reaches the next message.
 */
public final class TimeLimit {
  private TimeLimit() {}

  /**
   * Limits how long a message may be handled. Waiting in the mailbox does not count: for that there
   * is the limit of an {@code ask}.
   *
   * @param <M> messages
   * @param builder makes the actors; its scope has the clock
   * @param limit for each call of the handler, also a retry; more than zero
   * @return a copy
   */
  public static <M> ActorBuilder<M> around(ActorBuilder<M> builder, Duration limit) {
    var home = BlockBuilder.of(Objects.requireNonNull(builder, "builder"));
    Arguments.requirePositive(limit, "limit", "a limit of " + Durations.text(limit) + " leaves no time for a message");
    Handler.Interceptor<M> limited = (message, next) -> {
      SendStackProbe.probe(); // the thread must be able to end the limit
      var run = new InterruptibleCall(Thread.currentThread());
      // not on the timer's thread, which must not wait, nor on a fiber, which may find no carrier
      var clock = home.scheduler();
      var timer = clock.schedule(limit, clock.isManual() ? run : () -> Strategy.THREAD.activate(run));
      try {
        next.run();
      } catch (Exception failure) {
        if (!run.end()) throw failure;
        var late = new TimeoutException("it took longer than " + Durations.text(limit) + " to handle "
            + home.describe(message) + ", so it was interrupted");
        late.initCause(failure);
        throw late;
      } finally {
        run.end();
        timer.cancel();
      }
    };
    return builder.intercept(limited);
  }
}
