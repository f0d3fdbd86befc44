package io.fibry.spi;

import io.fibry.ActorScope;
import io.fibry.ActorStats;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Sums of the counts of a scope's actors by name, for libraries of metrics. An actor that has ended
 * stays in the sums, so they never shrink. Thread-safe.
 * {@snippet class="io.fibry.spi.ActorTotalsTest" region="totals"}
 *
 * <p>The sums have the actors that the scope and the scopes in it track, except for actors that had
 * ended before {@link #of} was called. Actors without a name belong to no sum. The memory for the
 * sums grows with the number of names that are given. Moreover, they remember the names of at most
 * 10,000 actors with waiting messages, and of actors with problems, for some minutes.
 */
public interface ActorTotals extends AutoCloseable {

  /**
   * The sum over all actors of a name.
   *
   * @param name the name or the beginning of a name, as it was given
   * @param living actors that the scope tracks; an actor leaves it soon after its end is announced
   * @param suspended actors that are suspended after a failure, and such workers of pools
   * @param handled messages that the actors had handled when they last went idle or yielded, plus
   * the completed steps of their current messages
   * @param failed messages whose handlers threw
   * @param refused messages that full mailboxes did not take
   * @param dropped messages that mailboxes took, and dropped later because they were full
   * @param restarted how often the actors, and the workers of pools, have been restarted
   * @param queued messages in mailboxes, including stashed messages; counted up to 100,000 for each
   * actor
   * @param oldestWaiting how long at least the oldest waiting message of these actors has been
   * waiting, as {@link io.fibry.ActorStats#oldestWaiting} explains. After a read, waiting actors
   * are observed once a second, or more seldom if that takes long (at least each 15 seconds), for
   * two minutes at most. Zero if no message waits
   * @param oldestWaitingActor the actor for which that message waits; empty if the time is zero
   * @param busyFor how long the actor that has been busy for longest has been handling its current
   * message or step. Leaves out an actor whose handler waits for another actor of these sums, while
   * that actor has work, because that actor is the cause. Zero if there is none
   * @param busiestActor the actor that this time belongs to; empty if the time is zero
   * @param worstFailing the actor that has failed most in the last minutes; empty if none has
   * @param worstRefusing the actor that has refused most in the last minutes; empty if none has
   * @param worstRestarting the actor that has restarted most in the last minutes; empty if none has
   * @param worstExpiring the actor in whose mailbox most requests have expired in the last minutes;
   * empty if none has
   * @param worstGrowing the actor whose mailbox has grown most in five to six minutes, by at least
   * 100 messages, and is longer than one to two minutes ago. The count is how many more messages
   * wait. Mailboxes are counted up to 100,000. So at this limit, a mailbox counts as growing, by
   * 100 messages at least. Empty if there is none
   * @param longestQueue the actor for which most messages wait, at least 100, counted up to
   * 100,000. The last actor remains until another has over a tenth more. Empty if there is none
   * @param suspendedActor an actor that is suspended, or has suspended workers: the last one, while
   * it is suspended, and otherwise the actor with most of them. Empty if there is none
   */
  record Total(String name, int living, int suspended, long handled, long failed, long refused, long dropped,
      long restarted, long queued, Duration oldestWaiting, Optional<String> oldestWaitingActor, Duration busyFor,
      Optional<String> busiestActor, Optional<Worst> worstFailing, Optional<Worst> worstRefusing,
      Optional<Worst> worstRestarting, Optional<Worst> worstExpiring, Optional<Worst> worstGrowing,
      Optional<Worst> longestQueue, Optional<Worst> suspendedActor) {}

  /**
   * The actor of a name that had more problems of a kind than the others. Failures, refusals,
   * expired requests and restarts before {@link ActorTotals#of} was called do not count. For these,
   * the actor is shown in the period of five minutes in which it had the problems, and in the
   * period after, until an actor has a problem in that period. If actors had equally many, it is
   * the first that was found.
   *
   * @param actor the actor; actors with the same name are one actor
   * @param count how many problems it had in that period, or has now
   */
  record Worst(String actor, long count) {}

  /** A scope of this library, which can make sums and samples. */
  interface Source {

    /**
     * Adds samples of its actors. If it has more than {@code max} actors, idle actors are left out,
     * and so are other actors beyond {@code max}.
     *
     * @param samples gets the samples, oldest first
     * @param max how many samples to add at most
     * @return whether no actor was left out
     */
    boolean addSamples(List<ActorStats> samples, int max);

    /**
     * {@return the sums of these names}
     *
     * @param names names and beginnings of names
     */
    ActorTotals totals(ActorNames names);
  }

  /**
   * {@return the sums of these names} The scope refers to them, and counts each actor that ends,
   * until they are closed.
   *
   * @param scope the scope of the actors; actors of scopes in it belong to the sums, too
   * @param names names and beginnings of names
   * @throws IllegalArgumentException if the scope was not made by this library
   */
  static ActorTotals of(ActorScope scope, ActorNames names) {
    if (BlockBuilder.of(scope.anonymous()).scope() instanceof Source source) return source.totals(names);
    throw new IllegalArgumentException(
        "scope '" + scope.name() + "' is not of this library; give a scope that ActorSystem or ActorScope has opened");
  }

  /**
   * {@return the sums now, in the order of the names} A name without an actor has a sum of zeros.
   * An actor that ends during the call is in its sum once.
   */
  List<Total> read();

  /** Stops counting: {@link #read} then returns the sums at the first close. */
  @Override
  void close();
}
