package io.fibry.engine.scope;

import io.fibry.ActorScope.Options;
import io.fibry.Handler;
import io.fibry.Strategy;
import io.fibry.engine.cell.Cell;
import io.fibry.spi.BlockBuilder;
import io.fibry.spi.PoolSpec;
import java.util.function.UnaryOperator;

/** Creates actors for stress tests. Pools run on the sender's thread, which jcstress provides. */
public final class StressActors {
  /** The outcomes of one message that is not a request. */
  public static class Counted {
    public int handled; // written by the handler
    public int deadLetters; // written by the listener of dead letters
  }

  private static final Scope SCOPE =
      scope(options -> options.withDeadLetterListener(letter -> ((Counted) letter.message()).deadLetters++));

  private StressActors() {}

  /** Creates a scope without a parent. */
  public static Scope scope(UnaryOperator<Options> options) {
    return new Scope("proof", options.apply(Options.defaults()), null);
  }

  public static Cell actor(Strategy strategy, Handler<Object> handler) {
    return (Cell) SCOPE.anonymous().strategy(strategy).newActor(handler);
  }

  public static Cell pool(int workers, Handler<Object> handler) {
    return (Cell) BlockBuilder.of(SCOPE.anonymous().strategy(Runnable::run))
        .pooled(PoolSpec.scaling(workers, workers))
        .newActor(handler);
  }
}
