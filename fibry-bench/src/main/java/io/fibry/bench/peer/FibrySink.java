package io.fibry.bench.peer;

import io.fibry.Sink;
import io.fibry.stereotype.Stereotypes;
import java.util.function.Consumer;

/**
 * Ours, as the least that an actor can be: {@code Stereotypes.fibers().sink(null)}, to which a
 * message is code to run.
 */
final class FibrySink implements Peer {

  private record SinkReceiver<M>(Sink<?> sink, Consumer<M> handler) implements Receiver<M> {
    @Override
    public void send(M message) {
      sink.execAsync(nothing -> handler.accept(message));
    }

    @Override
    public Object bare() {
      return sink;
    }

    @Override
    public void end() {} // it is garbage
  }

  @Override
  public <M> Receiver<M> actor(Consumer<M> handler) {
    return new SinkReceiver<>(Stereotypes.fibers().sink(null), handler);
  }
}
