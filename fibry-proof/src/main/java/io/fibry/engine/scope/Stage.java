package io.fibry;

import io.fibry.engine.actor.ActorCell;
import io.fibry.engine.scope.Scope;
import io.fibry.mailbox.Sharing;

/** Actors for stress tests. They run on the sender's thread, since jcstress brings its own. */
final class Stage {
  /** The outcomes of one message that is not a request. */
  static class Counted {
    int handled; // by the handler
    int buried; // by the dead-letter listener
  }

  private static final Scope SCOPE =
      new Scope("proof", Scope.ROOT.options().withDeadLetters(letter -> ((Counted) letter.message()).buried++), null);

  private Stage() {}

  static ActorCell actor(Strategy strategy, Handler<Object> handler) {
    return (ActorCell) SCOPE.anonymous().strategy(strategy).newActor(handler);
  }

  static ActorCell pool(int workers, Handler<Object> handler) {
    return (ActorCell) SCOPE.anonymous().strategy(Runnable::run).shared(Sharing.scaling(workers, workers))
        .newActor(handler);
  }
}
