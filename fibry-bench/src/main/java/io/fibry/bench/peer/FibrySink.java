package io.fibry.bench.peer;

import io.fibry.Sink;
import io.fibry.stereotype.Stereotypes;
import java.util.function.Consumer;

/** The smallest actor of Fibry: a sink, whose messages are code to run. */
final class FibrySink implements Peer {

  private record SinkReceiver<M>(Sink<?> sink, Consumer<M> handler) implements Receiver<M> {
    @Override
    public void send(M message) {
      sink.execAsync(state -> handler.accept(message));
    }

    @Override
    public Object bare() {
      return sink;
    }

    @Override
    public void end() {} // an idle sink is garbage
  }

  @Override
  public <M> Receiver<M> actor(Consumer<M> handler) {
    return new SinkReceiver<>(Stereotypes.fibers().sink(null), handler);
  }
}
