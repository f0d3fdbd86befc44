package io.fibry;

import io.fibry.mailbox.Overflow;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Statistics of an actor at one moment: a line of {@link ActorScope#dump} as data.
 *
 * @param scopes the names of the scopes around the actor, from the scope whose
 * {@link ActorScope#actors} was called to the actor's own scope
 * @param name the name of the actor
 * @param kind the strategy of the actor; for a pool also how its workers share the mailbox
 * @param queued messages in the mailbox, including stashed messages; counted up to 100,000
 * @param oldestWaiting how long at least the oldest message in the mailbox has been waiting.
 * Messages do not have the time at which they were sent. Thus this time begins when statistics or
 * the watchdog first observe a message that still waits. Zero if no message waits
 * @param handled messages that the actor had handled when it last went idle or yielded, plus the
 * completed steps of the current message
 * @param failed messages whose handler threw
 * @param state the state of the actor, at most 0.1 s old; for a pool that handles messages, the
 * state of the worker that has been busy for longest
 * @param awaited the name of the actor for which the handler waits, in the state
 * {@link ActorState#AWAITING_ACTOR}; empty in the other states
 * @param busyWorkers how many workers of a pool are at work; 0 if the actor is no pool
 * @param workers how many workers a pool has now; 0 if the actor is no pool
 * @param maxWorkers how many workers a pool may have, {@code Integer.MAX_VALUE} if their number has
 * no bound; 0 if the actor is no pool
 * @param activity the current activity, as a text that follows the actor's name, such as "is
 * suspended after a failure". A text for people: programs read the state
 * @param messageType the simple name of the class of the message or step that the actor handles; in
 * a pool, of the handler that has been busy for longest. For an exchange of an HTTP server, it is
 * the route, such as {@code GET /orders/{id}}. Empty if the actor handles none, or if it is not
 * known
 * @param busyFor how long at least the actor has been handling its current message or step; zero if
 * the actor is idle. A pool has the longest such time of its workers
 * @param isBusyForExact whether {@code busyFor} counts from the start of the message or step, to 20
 * ms. If not, the time begins when the library first observes the message or step, and the actor
 * may have been busy for longer. This applies to scopes with a scheduler of your own, to inline
 * requests, and to steps of your own {@link io.fibry.spi.MultiStepMessage}
 * @param capacity how many messages the mailbox accepts; empty if it is unbounded
 * @param overflow the rule of the mailbox for a message that it has no space for; empty if it is
 * unbounded
 * @param refused messages that the mailbox did not accept, because it was full or the wait would
 * have been too long
 * @param dropped messages that the mailbox accepted, and dropped later because it was full
 * @param expired requests whose limit was over before the actor began them; 0 if the actor has no
 * name
 * @param restarted how often the actor, or the workers of the pool, have been restarted
 * @param stack where the handler is, the newest call first, at most 0.1 s old. In a pool, the
 * handler that has been busy for longest. Empty if no handler runs, or its stack is not known
 * @param lastFailure the last failure of the actor, or of an earlier actor of the scope with its
 * name. A scope keeps the failures of the 100 actors that failed last
 */
public record ActorStats(List<String> scopes, String name, String kind, long queued, Duration oldestWaiting,
    long handled, long failed, ActorState state, Optional<String> awaited, int busyWorkers, int workers,
    int maxWorkers, String activity, Optional<String> messageType, Duration busyFor, boolean isBusyForExact,
    OptionalInt capacity, Optional<Overflow> overflow, long refused, long dropped, long expired, long restarted,
    List<StackTraceElement> stack, Optional<ActorFailure> lastFailure) {

  /** The state of an actor at one moment. Later versions may add states. */
  public enum ActorState {
    /** The actor has nothing to do. */
    IDLE,
    /** The actor has messages, and waits for a thread from its strategy. */
    READY,
    /** The actor handles a message or step, or is about to begin its next message. */
    BUSY,
    /** The handler waits for an actor: for its answer, its end, or capacity in its mailbox. */
    AWAITING_ACTOR,
    /**
     * The actor handles a multi-step message whose next step has not begun. For example, a
     * connection waits for its client.
     */
    AWAITING_STEP,
    /** The actor is suspended after a failure, and continues after its backoff. */
    SUSPENDED,
    /** The actor has handled its last message, and is ending. */
    ENDING,
    /** The actor was cut off after a kill, and its handler still runs. */
    CUT_OFF
  }

  /**
   * A failure of a handler.
   *
   * @param time when the handler failed, by the clock of the actor's scope
   * @param type the name of the class of the exception
   * @param message the text of the exception, cut if it is long. Empty if there is none, or if the
   * scope hides the contents of messages
   * @param stack where the exception was made, the newest call first, at most 50 calls
   */
  public record ActorFailure(Instant time, String type, Optional<String> message, List<StackTraceElement> stack) {

    /** Keeps a copy of the list. */
    public ActorFailure {
      stack = List.copyOf(stack);
    }
  }

  /** {@return the name of the actor's own scope} */
  public String scope() {
    return scopes.getLast();
  }
}
