package io.fibry.engine.message;

import io.fibry.Handler;

/** Code for a sink, whose sender waits until the code has run. */
public record AwaitedSinkTask(Handler<Object> code) implements Handler.Returning<Object, Object> {
  @Override
  public Object handle(Object state) throws Exception {
    code.handle(state);
    return Boolean.TRUE; // any answer wakes the sender
  }
}
