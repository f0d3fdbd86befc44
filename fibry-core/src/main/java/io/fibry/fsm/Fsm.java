package io.fibry.fsm;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.Handler;
import java.time.Duration;

/**
 * A state machine: which message does what in which state. Immutable and thread-safe; each step
 * answers a changed copy, and one machine can make many actors, each with a state of its own.
 * {@snippet class="io.fibry.FsmSnippetsTest" region="fsm"}
 *
 * <p>States and messages are told apart by class, best those of two sealed interfaces of records.
 * What is said of a class holds for all below it; of several that fit the most specific one counts.
 * Where two fit and neither is more specific in state and message, where no state takes a message
 * of the sealed set, or where a message would be postponed for ever, {@link #newActor} refuses the
 * machine.
 *
 * <p>A message that its state does not name is a failure, an {@link IllegalStateException} that
 * says what the state takes; whoever asked gets it. So is what a transition throws: the state
 * stays, and the failure policy of the actor decides. A restart begins again with the initial
 * state.
 *
 * @param <S> the states
 * @param <M> the messages
 */
public interface Fsm<S, M> {

  /**
   * A machine without rules.
   *
   * @param <S> the states
   * @param <M> the messages
   * @param states what all states are
   * @param messages what all messages are
   * @param initial where every actor begins; shared by all of them
   * @return a machine
   */
  static <S, M> Fsm<S, M> of(Class<S> states, Class<M> messages, S initial) {
    return TransitionTable.of(states, messages, initial);
  }

  /**
   * In this state, this message leads to the state that the code answers. The very object that it
   * was given means that the machine stays: nothing is left or entered, and the time in the state
   * runs on. Any other object, also an equal one, is a state that is entered.
   *
   * @param <A> the state
   * @param <B> the message
   * @param state the state
   * @param message the message
   * @param next answers the next state; never null
   * @return a changed copy
   * @throws IllegalArgumentException if it has been said what this message does in this state
   */
  <A extends S, B extends M> Fsm<S, M> on(Class<A> state, Class<B> message, Handler.StatefulReturning<A, B, S> next);

  /**
   * The same for code that uses its context: to answer a request, say.
   *
   * @param <A> the state
   * @param <B> the message
   * @param state the state
   * @param message the message
   * @param next answers the next state; never null
   * @return a changed copy
   * @throws IllegalArgumentException if it has been said what this message does in this state
   */
  <A extends S, B extends M> Fsm<S, M> on(Class<A> state, Class<B> message, Transition<A, B, S, M> next);

  /**
   * In this state, this message waits for another state: when that is entered, it comes again,
   * before all that came later. Requests may wait too. What still waits at the end of the actor is
   * undelivered. The actor has a selective mailbox then.
   *
   * @param state the state
   * @param message the message
   * @return a changed copy
   * @throws IllegalArgumentException if it has been said what this message does in this state
   */
  Fsm<S, M> postpone(Class<? extends S> state, Class<? extends M> message);

  /**
   * After so long in this state, by the clock of the actor's scope, and again after as long while
   * the code answers the very state it was given. The time begins when the state is entered. It
   * comes as a message of the machine's own through the mailbox: after what waits, and where a full
   * mailbox drops it, again after the same time.
   *
   * @param <A> the state
   * @param state the state
   * @param time how long; more than zero
   * @param next answers the next state; never null
   * @return a changed copy
   * @throws IllegalArgumentException if the time is not more than zero, or this state has one
   * already
   */
  <A extends S> Fsm<S, M> after(Class<A> state, Duration time, Handler.Returning<A, S> next);

  /**
   * Runs when this state is entered, the initial one too, as soon as the actor was made. The
   * machine is in the state already: when this throws, it stays there, and the message that led to
   * it has failed.
   *
   * @param <A> the state
   * @param state the state
   * @param code what to do
   * @return a changed copy
   * @throws IllegalArgumentException if this state has such code already
   */
  <A extends S> Fsm<S, M> entering(Class<A> state, Handler<A> code);

  /**
   * Runs when this state is left for another. When it throws, the machine stays in it, and the
   * message that would have led out has failed. The end of the actor, or a restart, leaves no
   * state.
   *
   * @param <A> the state
   * @param state the state
   * @param code what to do
   * @return a changed copy
   * @throws IllegalArgumentException if this state has such code already
   */
  <A extends S> Fsm<S, M> leaving(Class<A> state, Handler<A> code);

  /**
   * An actor that begins in the initial state. Code given to {@code around} is around the machine's
   * own messages too, where there are times or the initial state is entered with code: let it take
   * any object.
   *
   * @param how makes it
   * @return the actor, at work
   * @throws IllegalStateException if the machine cannot work; the text says why
   * @throws IllegalArgumentException if the mailbox has an order of its own, and the machine
   * messages of its own, which have no rank; or if the scope has a living actor of this name
   */
  Actor<M> newActor(ActorBuilder<? super M> how);

  /**
   * A transition that uses its context.
   *
   * @param <A> the state
   * @param <B> the message
   * @param <S> the states
   * @param <M> the messages
   */
  @FunctionalInterface
  interface Transition<A, B, S, M> {
    /**
     * Does what is to be done, and says where it leads.
     *
     * @param state the state that the machine is in
     * @param message never null
     * @param context valid until this returns
     * @return the next state, or the very one given; never null
     * @throws Exception what the failure policy decides about; the state stays
     */
    S next(A state, B message, ActorContext<M> context) throws Exception;
  }
}
