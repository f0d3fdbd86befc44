package io.fibry;

import io.fibry.mailbox.Mailbox;
import io.fibry.spi.PoolPolicy;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.function.Predicate;

/**
 * Makes actors. Everything in Fibry that does takes a builder. Immutable and thread-safe; one
 * builder can make many actors.
 *
 * <p>Making one throws {@link IllegalArgumentException} if a living actor of the scope has the
 * name.
 *
 * @param <M> messages; {@code Object} until {@code protocol} or a mailbox narrows it
 */
public interface ActorBuilder<M> {

  /**
   * {@return a copy with this strategy}
   *
   * @param strategy instead of the scope's
   */
  ActorBuilder<M> strategy(Strategy strategy);

  /**
   * {@return a copy with this mailbox}
   *
   * @param <N> messages
   * @param mailbox instead of the scope's
   */
  <N extends M> ActorBuilder<N> mailbox(Mailbox<? super N> mailbox);

  /**
   * {@return a copy with this policy}
   *
   * @param policy instead of {@link FailurePolicy#resume}
   */
  ActorBuilder<M> onFailure(FailurePolicy policy);

  /**
   * {@return a copy for this type of messages, by which {@code find} finds a named actor}
   *
   * @param <N> messages
   * @param type of messages
   */
  <N extends M> ActorBuilder<N> protocol(Class<N> type);

  /**
   * {@return a copy with code around every message, such as rate limits or hooks}
   *
   * @param <N> messages
   * @param around goes around those given before
   */
  <N extends M> ActorBuilder<N> intercept(Handler.Interceptor<? super N> around);

  /**
   * {@return a copy whose idle actors handle an {@code ask} without its own limit on the asker's
   * virtual thread, which spares a switch of threads} Only for {@link Strategy#FIBER}. Messages
   * still run one at a time and see what those before them wrote.
   *
   * <p>The handler then sees the asker's thread-locals, name, context class loader and interrupts.
   * It runs on the asker's stack (at most 32 deep, then queued), so a {@link StackOverflowError}
   * comes earlier. {@code kill} does not interrupt it. The scope's ask limit does not end the wait;
   * the handler sees it in {@code context.cancelled()}.
   */
  ActorBuilder<M> inlineRequests();

  /**
   * {@return a builder of actors with a state, made on their thread before the first message} If
   * that throws, the message has failed, and the next tries again.
   *
   * @param <S> state
   * @param initial never null
   */
  <S> Stateful<S, M> initialState(Callable<? extends S> initial);

  /**
   * {@return a new actor}
   *
   * @param <N> messages
   * @param handler its handler
   */
  <N extends M> Actor<N> newActor(Handler<N> handler);

  /**
   * {@return a new actor}
   *
   * @param <N> messages
   * @param handler its handler
   */
  <N extends M> Actor<N> newActor(Handler.WithContext<N> handler);

  /**
   * {@return a new actor that answers}
   *
   * @param <N> messages
   * @param <R> answers
   * @param handler its handler
   */
  <N extends M, R> ActorWithReturn<N, R> newActorWithReturn(Handler.Returning<N, R> handler);

  /**
   * {@return a new actor that answers}
   *
   * @param <N> messages
   * @param <R> answers
   * @param handler its handler
   */
  <N extends M, R> ActorWithReturn<N, R> newActorWithReturn(Handler.ReturningWithContext<N, R> handler);

  /** {@return a sink without an object, which passes {@code null} to its code} */
  Sink<Void> newSink();

  /**
   * Makes actors with a state. Immutable and thread-safe. The steps of a builder may come before or
   * after {@link #initialState}.
   *
   * @param <S> state
   * @param <M> messages
   */
  interface Stateful<S, M> {

    /**
     * {@return a copy, as of {@link ActorBuilder#strategy(Strategy)}}
     *
     * @param strategy instead of the scope's
     */
    Stateful<S, M> strategy(Strategy strategy);

    /**
     * {@return a copy, as of {@link ActorBuilder#mailbox(Mailbox)}}
     *
     * @param <N> messages
     * @param mailbox instead of the scope's
     */
    <N extends M> Stateful<S, N> mailbox(Mailbox<? super N> mailbox);

    /**
     * {@return a copy, as of {@link ActorBuilder#onFailure}}
     *
     * @param policy instead of {@link FailurePolicy#resume}
     */
    Stateful<S, M> onFailure(FailurePolicy policy);

    /**
     * {@return a copy, as of {@link ActorBuilder#protocol}}
     *
     * @param <N> messages
     * @param type of messages
     */
    <N extends M> Stateful<S, N> protocol(Class<N> type);

    /**
     * {@return a copy, as of {@link ActorBuilder#intercept}}
     *
     * @param <N> messages
     * @param around goes around those given before
     */
    <N extends M> Stateful<S, N> intercept(Handler.Interceptor<? super N> around);

    /** {@return a copy, as of {@link ActorBuilder#inlineRequests}} */
    Stateful<S, M> inlineRequests();

    /**
     * {@return a copy with a hook, called on the actor's thread when it ends, if a state was made}
     *
     * @param hook takes the state; an exception that it throws is logged
     */
    Stateful<S, M> onStop(Handler<S> hook);

    /**
     * {@return a copy that restores the state if a handler throws}
     *
     * @param copy called before each message; shares nothing the handler changes
     */
    Stateful<S, M> rollback(Handler.Returning<S, S> copy);

    /**
     * {@return a new actor}
     *
     * @param <N> messages
     * @param handler its handler
     */
    <N extends M> Actor<N> newActor(Handler.Stateful<S, N> handler);

    /**
     * {@return a new actor}
     *
     * @param <N> messages
     * @param handler its handler
     */
    <N extends M> Actor<N> newActor(Handler.StatefulWithContext<S, N> handler);

    /**
     * {@return a new actor that answers}
     *
     * @param <N> messages
     * @param <R> answers
     * @param handler its handler
     */
    <N extends M, R> ActorWithReturn<N, R> newActorWithReturn(Handler.StatefulReturning<S, N, R> handler);

    /**
     * {@return a new actor that answers}
     *
     * @param <N> messages
     * @param <R> answers
     * @param handler its handler
     */
    <N extends M, R> ActorWithReturn<N, R> newActorWithReturn(Handler.StatefulReturningWithContext<S, N, R> handler);

    /** {@return the state itself as an actor} */
    Sink<S> newSink();
  }
}
