package io.fibry.engine.message;

import io.fibry.Actor;
import io.fibry.ContextPropagator;
import java.util.List;
import java.util.concurrent.Executor;

/** Baggage that a block keeps until it sends the message: set while the block's code runs. */
public record BaggageExecutor(List<ContextPropagator<?>> propagators, Actor<?> to, Object message, Baggage baggage)
    implements Executor {

  /** Captures on this thread. */
  public static BaggageExecutor of(List<ContextPropagator<?>> propagators, Actor<?> to, Object message) {
    return new BaggageExecutor(propagators, to, message, Baggage.of(Baggage.captureContext(propagators, to, message)));
  }

  /** Of a text that was written in another process. */
  public static BaggageExecutor ofText(List<ContextPropagator<?>> propagators, Actor<?> to, Object message,
      String text) {
    boolean any = !propagators.isEmpty() && !text.isEmpty();
    return new BaggageExecutor(propagators, to, message,
        any ? Baggage.of(BaggageText.parse(propagators, to, text)) : null);
  }

  @Override
  public void execute(Runnable code) {
    var toClose = baggage == null ? null : baggage.newCloseables();
    if (toClose == null) {
      code.run();
      return;
    }
    try {
      baggage.restore(propagators, to, message, toClose);
      code.run();
    } finally {
      Baggage.close(propagators, to, toClose);
    }
  }
}
