package io.fibry.spi;

import io.fibry.ActorScope;
import io.fibry.ActorStats;
import java.util.ArrayList;
import java.util.List;

/**
 * Samples of the actors of a scope, for libraries that watch a process all the time. A sample costs
 * less than the statistics of {@link ActorScope#actors}, and the number of samples is bounded.
 *
 * @param actors statistics of actors of the scope and the scopes in it, oldest first. They have all
 * counts and times of {@link ActorScope#actors}. They do not have the type of the message, the
 * awaited actor, the stack of a handler and the last failure, and their activity does not describe
 * the message. The state of an actor whose handler waits is {@code BUSY}
 * @param isComplete whether no actor was left out
 */
public record ActorSamples(List<ActorStats> actors, boolean isComplete) {

  /** Keeps a copy of the list. */
  public ActorSamples {
    actors = List.copyOf(actors);
  }

  /**
   * {@return samples of actors} If the scope has more than {@code max} actors, idle actors are left
   * out, and so are other actors beyond {@code max}.
   *
   * @param scope the scope of the actors
   * @param max how many samples to return at most
   * @throws IllegalArgumentException if the scope was not made by this library
   */
  public static ActorSamples of(ActorScope scope, int max) {
    var actors = new ArrayList<ActorStats>();
    if (BlockBuilder.of(scope.anonymous()).scope() instanceof ActorTotals.Source source) {
      boolean isComplete = source.addSamples(actors, max);
      return new ActorSamples(actors, isComplete);
    }
    throw new IllegalArgumentException(
        "scope '" + scope.name() + "' has no samples; give a scope that ActorSystem or ActorScope has opened");
  }
}
