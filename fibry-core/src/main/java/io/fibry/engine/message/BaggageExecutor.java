package io.fibry.engine.message;

import io.fibry.Actor;
import io.fibry.ContextPropagator;
import java.util.List;
import java.util.concurrent.Executor;

/**
 * Runs code on the calling thread with the context of a message. Used by blocks that keep a message
 * and send it later. {@code baggage} is null if the message has no context.
 */
public record BaggageExecutor(List<ContextPropagator<?>> propagators, Actor<?> receiver, Object message,
    Baggage baggage)
    implements Executor {

  /** Captures the context of this thread. */
  public static BaggageExecutor of(List<ContextPropagator<?>> propagators, Actor<?> receiver, Object message) {
    return new BaggageExecutor(propagators, receiver, message,
        Baggage.of(Baggage.captureContext(propagators, receiver, message)));
  }

  /** Reads the context from a text that was written in another process. */
  public static BaggageExecutor ofText(List<ContextPropagator<?>> propagators, Actor<?> receiver, Object message,
      String text) {
    boolean hasContext = !propagators.isEmpty() && !text.isEmpty();
    return new BaggageExecutor(propagators, receiver, message,
        hasContext ? Baggage.of(BaggageText.parse(propagators, receiver, text)) : null);
  }

  @Override
  public void execute(Runnable code) {
    var toClose = baggage == null ? null : baggage.newCloseables();
    if (toClose == null) {
      code.run();
      return;
    }
    try {
      baggage.restore(propagators, receiver, message, toClose, true);
      code.run();
    } finally {
      Baggage.close(propagators, receiver, toClose);
    }
  }
}
