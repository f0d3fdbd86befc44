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
 * <p>States and messages are distinguished by class: best are two sealed interfaces of records. A
 * rule also holds for subclasses; the most specific rule counts. {@link #newActor} rejects a
 * machine if several rules match and none is the most specific. It also rejects a machine without
 * transitions, and a machine with a message that no state takes. A message must not be postponed in
 * a state that no rule leaves.
 *
 * <p>A message without a rule in the current state fails with an {@link IllegalStateException}. If
 * a message fails, the state stays, except if code of {@link #onEnter} failed. The actor's failure
 * policy decides, and a restart begins with the initial state.
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
   * function returns the given state itself, the machine stays: no state is left or entered, and
   * the time limit of the state continues. Any other object is entered, even an equal object.
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
   * Adds a rule: in this state, this message or request waits for another state, in which it is
   * handled before later messages. A message that is still postponed at the actor's end is
   * undelivered. The actor gets a selective mailbox.
   *
   * @param state class of the state
   * @param message class of the message
   * @return a changed copy
   * @throws IllegalArgumentException if the machine has a rule for these two classes already
   */
  Fsm<S, M> postpone(Class<? extends S> state, Class<? extends M> message);

  /**
   * Adds a rule: when the machine has been in this state for {@code time}, by the clock of the
   * actor's scope, the function returns the next state. If it returns the given state, it runs
   * again after {@code time}. The machine sends itself a message at that time, and calls the
   * function when this message is handled, after the messages that were in the mailbox. If a full
   * mailbox drops this message, another message follows after {@code time}.
   *
   * @param <A> state
   * @param state class of the state
   * @param time more than zero
   * @param next returns the next state, never null
   * @return a changed copy
   * @throws IllegalArgumentException if {@code time} is not positive, or the state has a time
   * already
   */
  <A extends S> Fsm<S, M> onTimeout(Class<A> state, Duration time, Handler.Returning<A, S> next);

  /**
   * Adds code that runs when this state is entered; for the initial state, as soon as the actor is
   * made. If the code throws, the machine is in this state, and the message that led to it has
   * failed.
   *
   * @param <A> state
   * @param state class of the state
   * @param code gets the state
   * @return a changed copy
   * @throws IllegalArgumentException if the state has such code already
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
   * @throws IllegalArgumentException if the state has such code already
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
   * @throws IllegalArgumentException if the name is taken, or the mailbox is ordered but the
   * machine sends itself messages
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
