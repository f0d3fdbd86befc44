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
 * <p>States and messages are told apart by class; two sealed interfaces of records suit best. A
 * rule holds for subclasses too; the most specific one counts. {@link #newActor} rejects a machine
 * with rules of which none is the most specific, with a message that no state takes, or with a
 * message that would be postponed for ever.
 *
 * <p>A message without a rule in the present state fails with an {@link IllegalStateException}. If
 * it or a transition fails, the state stays, and the actor's failure policy decides. A restart
 * begins with the initial state.
 *
 * @param <S> states
 * @param <M> messages
 */
public interface Fsm<S, M> {

  /**
   * A machine without rules.
   *
   * @param <S> states
   * @param <M> messages
   * @param states their type
   * @param messages their type
   * @param initial shared by all actors
   * @return a machine
   */
  static <S, M> Fsm<S, M> of(Class<S> states, Class<M> messages, S initial) {
    return TransitionTable.of(states, messages, initial);
  }

  /**
   * This message leads from this state to the one returned. Returning the given object itself means
   * to stay: no state is left or entered, and the time limit of the state continues. Any other
   * object is entered, even an equal one.
   *
   * @param <A> state
   * @param <B> message
   * @param state its class
   * @param message its class
   * @param next the next state; never null
   * @return a changed copy
   * @throws IllegalArgumentException if there is a rule
   */
  <A extends S, B extends M> Fsm<S, M> on(Class<A> state, Class<B> message, Handler.StatefulReturning<A, B, S> next);

  /**
   * Adds a rule whose function also gets the context, for example to answer a request.
   *
   * @param <A> state
   * @param <B> message
   * @param state its class
   * @param message its class
   * @param next the next state; never null
   * @return a changed copy
   * @throws IllegalArgumentException if there is a rule
   */
  <A extends S, B extends M> Fsm<S, M> on(Class<A> state, Class<B> message, Transition<A, B, S, M> next);

  /**
   * In this state, this message or request waits for another state, where it comes before later
   * messages. A message that is still postponed at the actor's end is undelivered. The actor gets a
   * selective mailbox.
   *
   * @param state its class
   * @param message its class
   * @return a changed copy
   * @throws IllegalArgumentException if there is a rule
   */
  Fsm<S, M> postpone(Class<? extends S> state, Class<? extends M> message);

  /**
   * Runs after {@code time} in this state, by the clock of the actor's scope, and again while it
   * returns the given state. The end of the time is a message behind the queued messages. If a full
   * mailbox drops it, it comes again after {@code time}.
   *
   * @param <A> state
   * @param state its class
   * @param time more than zero
   * @param next the next state; never null
   * @return a changed copy
   * @throws IllegalArgumentException if {@code time} is not positive, or the state has one
   */
  <A extends S> Fsm<S, M> onTimeout(Class<A> state, Duration time, Handler.Returning<A, S> next);

  /**
   * Runs when this state is entered, the initial one as soon as the actor is made. If it throws,
   * the machine is in this state, and the message that led to it has failed.
   *
   * @param <A> state
   * @param state its class
   * @param code runs then
   * @return a changed copy
   * @throws IllegalArgumentException if the state has such code
   */
  <A extends S> Fsm<S, M> onEnter(Class<A> state, Handler<A> code);

  /**
   * Runs when this state is left for another, but not at a restart or the actor's end. If it
   * throws, the machine stays in this state, and the message has failed.
   *
   * @param <A> state
   * @param state its class
   * @param code runs then
   * @return a changed copy
   * @throws IllegalArgumentException if the state has such code
   */
  <A extends S> Fsm<S, M> onLeave(Class<A> state, Handler<A> code);

  /**
   * An actor in the initial state. Its {@code around} also sees the machine's own messages, for
   * times and for the begin: let it take any object.
   *
   * @param how makes the actor
   * @return the actor, at work
   * @throws IllegalStateException if the machine cannot work
   * @throws IllegalArgumentException if the name is taken, or the mailbox is ordered but the
   * machine sends itself messages
   */
  Actor<M> newActor(ActorBuilder<? super M> how);

  /**
   * A transition that uses its context.
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
     * @param state the present one
     * @param message never null
     * @param context valid until this returns
     * @return the next state; never null
     * @throws Exception a failure, about which the failure policy decides
     */
    S next(A state, B message, ActorContext<M> context) throws Exception;
  }
}
