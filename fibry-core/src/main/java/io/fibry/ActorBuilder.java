package io.fibry;

import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Sharing;
import io.fibry.time.Scheduler;
import java.util.Optional;
import java.util.concurrent.Callable;

/**
 * How actors are made: scope, name, strategy, mailbox, failure policy. Immutable and thread-safe;
 * each step answers a changed copy, and one builder can make many actors. Everything in Fibry that
 * makes actors takes one of these.
 *
 * @param <M> what they may take; {@code Object}, until {@code protocol} or a mailbox narrows it
 */
public interface ActorBuilder<M> {

  /**
   * How the actors get a thread.
   *
   * @param strategy as the scope says, unless told
   * @return a changed copy
   */
  ActorBuilder<M> strategy(Strategy strategy);

  /**
   * How messages wait.
   *
   * @param <N> what the mailbox can hold
   * @param mailbox as the scope says, unless told; unbounded, unless the scope says
   * @return a changed copy
   */
  <N extends M> ActorBuilder<N> mailbox(Mailbox<? super N> mailbox);

  /**
   * What becomes of an actor whose handler throws.
   *
   * @param policy logged and gone on, unless told
   * @return a changed copy
   */
  ActorBuilder<M> onFailure(FailurePolicy policy);

  /**
   * Fixes the type of the messages; with a name, lets {@code find} find it.
   *
   * @param <N> the messages
   * @param type the messages
   * @return a changed copy
   */
  <N extends M> ActorBuilder<N> protocol(Class<N> type);

  /**
   * Code around every message: rate limits, hooks, measurements. The last one given is the
   * outermost.
   *
   * @param <N> the messages
   * @param around what runs before and after the handler
   * @return a changed copy
   */
  <N extends M> ActorBuilder<N> around(Handler.Around<? super N> around);

  /**
   * An {@code ask} without a limit of its own, made on a virtual thread, runs the handler on that
   * thread while the actor is idle: an actor as cheap as a lock. For actors on
   * {@link Strategy#FIBER}; elsewhere it changes nothing. Messages still run one at a time and see
   * what those before them wrote.
   *
   * <p>What you take on: the handler sees the asker's thread-locals, its name, its context class
   * loader and an interrupt meant for it; it stands on the asker's stack (at most 32 deep, then
   * queued), so that a {@link StackOverflowError} comes earlier; {@code kill} does not interrupt
   * it; and the limit of the scope does not end the wait: the handler sees it in
   * {@code context.cancelled()}.
   *
   * @return a changed copy
   */
  ActorBuilder<M> inlineRequests();

  /**
   * Gives each actor a state of its own, made on the actor's thread before its first message. When
   * making it throws, that message has failed, and the next one tries again.
   *
   * @param <S> the state
   * @param initial makes it; never null
   * @return a builder of actors with a state
   */
  <S> Stateful<S, M> initialState(Callable<? extends S> initial);

  /**
   * An actor.
   *
   * @param <N> the messages
   * @param handler what it does with each
   * @return the actor, at work
   * @throws IllegalArgumentException if the scope has a living actor of this name
   */
  <N extends M> Actor<N> newActor(Handler<N> handler);

  /**
   * An actor whose handler uses its context.
   *
   * @param <N> the messages
   * @param handler what it does with each
   * @return the actor, at work
   * @throws IllegalArgumentException if the scope has a living actor of this name
   */
  <N extends M> Actor<N> newActor(Handler.InContext<N> handler);

  /**
   * An actor that answers every message.
   *
   * @param <N> the messages
   * @param <R> the answers
   * @param handler what it does with each
   * @return the actor, at work
   * @throws IllegalArgumentException if the scope has a living actor of this name
   */
  <N extends M, R> ActorWithReturn<N, R> newActorWithReturn(Handler.Returning<N, R> handler);

  /**
   * An actor that answers every message and whose handler uses its context.
   *
   * @param <N> the messages
   * @param <R> the answers
   * @param handler what it does with each
   * @return the actor, at work
   * @throws IllegalArgumentException if the scope has a living actor of this name
   */
  <N extends M, R> ActorWithReturn<N, R> newActorWithReturn(Handler.ReturningInContext<N, R> handler);

  /**
   * An actor around nothing: it runs code one piece at a time, and hands each {@code null} for the
   * object.
   *
   * @return the actor, at work
   * @throws IllegalArgumentException if the scope has a living actor of this name
   */
  Sink<Void> newSink();

  /**
   * For code that builds on builders: actors that are several workers with one mailbox. Users take
   * {@code Pools}.
   *
   * @param <N> the messages
   * @param sharing how they share it
   * @return a changed copy
   * @throws IllegalArgumentException if these are pools already
   */
  <N extends M> ActorBuilder<N> shared(Sharing<? super N> sharing);

  /**
   * For code that builds on builders.
   *
   * @return whether it makes pools
   */
  boolean isShared();

  /**
   * For code that builds on builders: the same, named after a part of the whole ("orders" makes
   * "orders/3").
   *
   * @param part the name below the name
   * @return a changed copy; the same where there is no name
   */
  ActorBuilder<M> part(String part);

  /**
   * For code that builds on builders.
   *
   * @return the name, if it has one
   */
  Optional<String> name();

  /**
   * For code that builds on builders.
   *
   * @return what actors made now would get
   */
  Strategy strategy();

  /**
   * For code that builds on builders.
   *
   * @return what actors made now would get
   */
  Mailbox<? super M> mailbox();

  /**
   * For code that builds on builders.
   *
   * @param otherwise how messages wait where neither the builder nor its scope was told
   * @return a changed copy; the same where one of them was
   */
  ActorBuilder<M> orMailbox(Mailbox<Object> otherwise);

  /**
   * For code that builds on builders.
   *
   * @return the clock of the scope
   */
  Scheduler scheduler();

  /**
   * For code that builds on builders: the actors are doors of their scope to the outside. When it
   * closes, they get their pill before anybody is waited for.
   *
   * @return a changed copy
   */
  ActorBuilder<M> endsFirst();

  /**
   * How actors with a state are made. Immutable and thread-safe.
   *
   * @param <S> the state
   * @param <M> what the actors may take
   */
  interface Stateful<S, M> {

    /**
     * Called with the state when the actor ends, on the actor's thread; not, if no state was made.
     * What it throws is logged.
     *
     * @param hook what to do
     * @return a changed copy
     */
    Stateful<S, M> onStop(Handler<S> hook);

    /**
     * Before each message the state is copied; when the handler throws, the copy takes its place.
     *
     * @param copy makes a copy that shares nothing the handler changes
     * @return a changed copy
     */
    Stateful<S, M> rollback(Handler.Returning<S, S> copy);

    /**
     * An actor.
     *
     * @param <N> the messages
     * @param handler what it does with each
     * @return the actor, at work
     * @throws IllegalArgumentException if the scope has a living actor of this name
     */
    <N extends M> Actor<N> newActor(Handler.Stateful<S, N> handler);

    /**
     * An actor whose handler uses its context.
     *
     * @param <N> the messages
     * @param handler what it does with each
     * @return the actor, at work
     * @throws IllegalArgumentException if the scope has a living actor of this name
     */
    <N extends M> Actor<N> newActor(Handler.StatefulInContext<S, N> handler);

    /**
     * An actor that answers every message.
     *
     * @param <N> the messages
     * @param <R> the answers
     * @param handler what it does with each
     * @return the actor, at work
     * @throws IllegalArgumentException if the scope has a living actor of this name
     */
    <N extends M, R> ActorWithReturn<N, R> newActorWithReturn(Handler.StatefulReturning<S, N, R> handler);

    /**
     * An actor that answers every message and whose handler uses its context.
     *
     * @param <N> the messages
     * @param <R> the answers
     * @param handler what it does with each
     * @return the actor, at work
     * @throws IllegalArgumentException if the scope has a living actor of this name
     */
    <N extends M, R> ActorWithReturn<N, R> newActorWithReturn(Handler.StatefulReturningInContext<S, N, R> handler);

    /**
     * The state itself as an actor.
     *
     * @return the actor, at work
     * @throws IllegalArgumentException if the scope has a living actor of this name
     */
    Sink<S> newSink();
  }
}
