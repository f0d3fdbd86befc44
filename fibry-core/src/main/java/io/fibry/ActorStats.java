package io.fibry;

import java.time.Duration;
import java.util.List;

/**
 * What an actor does, and has done, at one moment: a line of {@link ActorScope#dump} as data.
 *
 * @param scopes the names of all scopes around the actor, from the scope that was asked to the
 * actor's own
 * @param name its name
 * @param kind its strategy, and of a pool how its workers share the mailbox
 * @param queued messages that wait, stashed ones included; counts up to 100,000
 * @param handled messages that were handled, added when the actor goes idle or yields, and the
 * steps that have ended of the message that it is handling
 * @param failed messages
 * @param activity in words that follow its name
 * @param busyFor for how long at least it has been at its message or step, of a pool the longest;
 * zero if at none. The time begins when the library first looks at the message: in a scope with a
 * scheduler of yours, at an inline request, and at a step of your own
 * {@link io.fibry.spi.MultiStepMessage}. So it may be longer
 */
public record ActorStats(List<String> scopes, String name, String kind, long queued, long handled, long failed,
    String activity, Duration busyFor) {

  /** {@return the name of its scope} */
  public String scope() {
    return scopes.getLast();
  }
}
