package io.fibry.bench.peer;

import com.scivicslab.pojoactor.core.ActorRef;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * POJO-actor, used as at the beginning of its documentation. Any object becomes an actor with a
 * resident virtual thread, and a message is code that is called with the object.
 */
final class PojoActor implements Peer.Requests {

  private record PojoReceiver<M>(ActorRef<Consumer<M>> actor) implements Receiver<M> {
    @Override
    public void send(M message) {
      actor.tell(handler -> handler.accept(message));
    }

    @Override
    public Object bare() {
      return actor;
    }

    @Override
    public void end() {
      actor.close();
    }
  }

  @Override
  public <M> Receiver<M> actor(Consumer<M> handler) {
    return new PojoReceiver<>(new ActorRef<>("bench", handler));
  }

  @Override
  public <M, R> Answerer<M, R> answering(Function<M, R> handler) {
    var actor = new ActorRef<>("bench", handler);
    return message -> actor.ask(function -> function.apply(message)).join();
  }
}
