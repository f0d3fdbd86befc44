package io.fibry.fsm;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.Handler;
import java.time.Duration;

/**
 * A state machine: its rules say how each message changes each state. Immutable and thread-safe.
 * One machine can make many actors.
 * {@snippet class="io.fibry.FsmSnippetsTest" region="fsm"}
 *
 * <p>Rules distinguish states and messages by class, so the best types for both are sealed
 * interfaces of records. A rule also applies to subclasses of its classes. If several rules match,
 * the most specific rule applies. {@link #newActor} rejects a machine if several rules match a
 * class and no rule is the most specific. It also rejects a machine without transitions, a machine
 * with messages that no state handles, and a machine that postpones messages in a state that no
 * rule leaves.
 *
 * <p>A message without a rule in the current state fails with an {@link IllegalStateException}. If
 * a message fails, the machine stays in its state, unless the code of {@link #onEnter} failed. The
 * actor's failure policy then decides what happens to the actor. A restart begins in the initial
 * state.
 *
 * @param <S> states
 * @param <M> messages
 */
public interface Fsm<S, M> {

  /**
   * Makes a machine without rules.
   *
   * @param <S> states
   * @param <M> messages
   * @param states type of the states
   * @param messages type of the messages
   * @param initial initial state, shared by all actors
   * @return a machine
   */
  static <S, M> Fsm<S, M> of(Class<S> states, Class<M> messages, S initial) {
    return TransitionTable.of(states, messages, initial);
  }

  /**
   * Adds a rule: in this state, this message leads to the state that the function returns. If the
   * function returns the given state itself, the machine stays: it neither leaves nor enters a
   * state, and the time limit of the state continues. Any other object is a new state that the
   * machine enters, even if the objects are equal.
   *
   * @param <A> state
   * @param <B> message
   * @param state class of the state
   * @param message class of the message
   * @param next returns the next state, never null
   * @return a changed copy
   * @throws IllegalArgumentException if the machine has a rule for these two classes already
   */
  <A extends S, B extends M> Fsm<S, M> on(Class<A> state, Class<B> message, Handler.StatefulReturning<A, B, S> next);

  /**
   * Adds a rule whose function also gets the context, for example to answer a request.
   *
   * @param <A> state
   * @param <B> message
   * @param state class of the state
   * @param message class of the message
   * @param next returns the next state, never null
   * @return a changed copy
   * @throws IllegalArgumentException if the machine has a rule for these two classes already
   */
  <A extends S, B extends M> Fsm<S, M> on(Class<A> state, Class<B> message, Transition<A, B, S, M> next);

  /**
   * Adds a rule: in this state, this message or request is postponed until the machine enters
   * another state. There it is handled before later messages. A message that is postponed when the
   * actor ends is undelivered. The actor gets a selective mailbox.
   *
   * @param state class of the state
   * @param message class of the message
   * @return a changed copy
   * @throws IllegalArgumentException if the machine has a rule for these two classes already
   */
  Fsm<S, M> postpone(Class<? extends S> state, Class<? extends M> message);

  /**
   * Adds a rule: when the machine has been in this state for {@code time}, by the clock of the
   * actor's scope, the function returns the next state. If the function returns the given state, it
   * runs again after {@code time}. When {@code time} is over, the machine sends itself a message
   * behind the messages in the mailbox. The function runs when this message is handled. If a full
   * mailbox drops this message, the machine sends another after {@code time}.
   *
   * @param <A> state
   * @param state class of the state
   * @param time more than zero
   * @param next returns the next state, never null
   * @return a changed copy
   * @throws IllegalArgumentException if {@code time} is not positive, or if the machine has such a
   * rule for this class already
   */
  <A extends S> Fsm<S, M> onTimeout(Class<A> state, Duration time, Handler.Returning<A, S> next);

  /**
   * Adds code that runs when this state is entered. For the initial state the code runs as soon as
   * the actor is made. If the code throws, the machine is in this state anyway, and the message
   * that caused the transition has failed.
   *
   * @param <A> state
   * @param state class of the state
   * @param code gets the state
   * @return a changed copy
   * @throws IllegalArgumentException if the machine has such code for this class already
   */
  <A extends S> Fsm<S, M> onEnter(Class<A> state, Handler<A> code);

  /**
   * Adds code that runs when this state is left for another state, but not at a restart or the
   * actor's end. If the code throws, the machine stays in this state, and the message has failed.
   *
   * @param <A> state
   * @param state class of the state
   * @param code gets the state
   * @return a changed copy
   * @throws IllegalArgumentException if the machine has such code for this class already
   */
  <A extends S> Fsm<S, M> onLeave(Class<A> state, Handler<A> code);

  /**
   * Makes an actor in the initial state. The builder's interceptors also see the machine's own
   * messages, which signal time-outs and enter the initial state. Therefore these interceptors must
   * accept any object.
   *
   * @param builder makes the actor
   * @return the actor
   * @throws IllegalStateException if the machine is rejected for a reason in the description of
   * this type
   * @throws IllegalArgumentException if the name is taken, or if the builder has a priority mailbox
   * and the machine sends itself messages
   */
  Actor<M> newActor(ActorBuilder<? super M> builder);

  /**
   * A transition that also uses the context of the message.
   *
   * @param <A> state
   * @param <B> message
   * @param <S> states
   * @param <M> messages
   */
  @FunctionalInterface
  interface Transition<A, B, S, M> {
    /**
     * Handles a message.
     *
     * @param state the current state
     * @param message never null
     * @param context valid until this returns
     * @return the next state; never null
     * @throws Exception a failure, about which the failure policy decides
     */
    S next(A state, B message, ActorContext<M> context) throws Exception;
  }
}
