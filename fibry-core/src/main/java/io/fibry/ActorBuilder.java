package io.fibry;

import io.fibry.mailbox.Mailbox;
import java.util.concurrent.Callable;

/**
 * Makes actors. Immutable and thread-safe: each setting returns a copy, and one builder can make
 * many actors. All blocks of Fibry that make actors, such as pools and servers, take a builder.
 *
 * <p>If the builder has a name, and a living actor of the scope has the same name, the methods that
 * make an actor throw {@link IllegalArgumentException}.
 *
 * @param <M> the type of the messages: {@code Object}, until {@link #protocol} or
 * {@link #mailbox} narrows it
 */
public interface ActorBuilder<M> {

  /**
   * {@return a copy with this strategy}
   *
   * @param strategy used instead of the default of the scope
   */
  ActorBuilder<M> strategy(Strategy strategy);

  /**
   * {@return a copy with this mailbox}
   *
   * @param <N> the type of the messages
   * @param mailbox used instead of the default of the scope
   */
  <N extends M> ActorBuilder<N> mailbox(Mailbox<? super N> mailbox);

  /**
   * {@return a copy with this policy for exceptions of the handler}
   *
   * @param policy used instead of {@link FailurePolicy#resume}
   */
  ActorBuilder<M> onFailure(FailurePolicy policy);

  /**
   * {@return a copy for messages of this type} {@link ActorScope#find} finds a named actor only by
   * the type that was given to the actor's builder.
   *
   * @param <N> the type of the messages
   * @param type the class or interface of the messages
   */
  <N extends M> ActorBuilder<N> protocol(Class<N> type);

  /**
   * {@return a copy that runs this code around the handling of each message, such as a rate limit}
   *
   * @param <N> the type of the messages
   * @param interceptor the code; it also surrounds the interceptors that were given before
   */
  <N extends M> ActorBuilder<N> intercept(Handler.Interceptor<? super N> interceptor);

  /**
   * {@return a copy whose actors, while idle, handle an {@code ask} on the virtual thread of the
   * asker, which saves a switch of threads} The setting has an effect only for actors on
   * {@link Strategy#FIBER}, and only for an {@code ask} that is called without a limit. Messages
   * are still handled one at a time, and a handler sees all writes of the previous handler.
   *
   * <p>The handler then sees the asker's thread-locals, thread name, context class loader and
   * interrupts. It runs on the asker's stack, so a {@link StackOverflowError} comes earlier. Such
   * calls nest at most 32 deep; a deeper request is queued. {@code kill} does not interrupt the
   * handler. The scope's ask limit does not end the asker's wait, but after the limit
   * {@link ActorContext#isCancelled} returns true in the handler.
   */
  ActorBuilder<M> inlineRequests();

  /**
   * {@return a builder of actors with a state} The state is made on the thread of the actor, before
   * the first message. If {@code initial} throws, the message that needed the state has failed, and
   * the next message calls {@code initial} again.
   *
   * @param <S> the type of the state
   * @param initial makes the state; must not return null
   */
  <S> Stateful<S, M> initialState(Callable<? extends S> initial);

  /**
   * {@return a new actor}
   *
   * @param <N> the type of the messages
   * @param handler called with each message
   */
  <N extends M> Actor<N> newActor(Handler<N> handler);

  /**
   * {@return a new actor}
   *
   * @param <N> the type of the messages
   * @param handler called with each message and its context
   */
  <N extends M> Actor<N> newActor(Handler.WithContext<N> handler);

  /**
   * {@return a new actor, which answers each message with the value that its handler returns}
   *
   * @param <N> the type of the messages
   * @param <R> the type of the answers
   * @param handler called with each message
   */
  <N extends M, R> ActorWithReturn<N, R> newActorWithReturn(Handler.Returning<N, R> handler);

  /**
   * {@return a new actor, which answers each message with the value that its handler returns}
   *
   * @param <N> the type of the messages
   * @param <R> the type of the answers
   * @param handler called with each message and its context
   */
  <N extends M, R> ActorWithReturn<N, R> newActorWithReturn(Handler.ReturningWithContext<N, R> handler);

  /** {@return a new sink without an object, which passes {@code null} to the code that it runs} */
  Sink<Void> newSink();

  /**
   * {@return a new sink, which passes this object to the code that it runs} A restart keeps the
   * object. With {@code initialState}, a restart makes a new one.
   *
   * @param <S> the type of the object
   * @param object used by the code of the sink only; the workers of a pool share it
   */
  <S> Sink<S> newSink(S object);

  /**
   * Makes actors with a state. Immutable and thread-safe. The settings that both builders have may
   * be given before or after {@link #initialState}.
   *
   * @param <S> the type of the state
   * @param <M> the type of the messages
   */
  interface Stateful<S, M> {

    /**
     * {@return a copy with this strategy}
     *
     * @param strategy used instead of the default of the scope
     */
    Stateful<S, M> strategy(Strategy strategy);

    /**
     * {@return a copy with this mailbox}
     *
     * @param <N> the type of the messages
     * @param mailbox used instead of the default of the scope
     */
    <N extends M> Stateful<S, N> mailbox(Mailbox<? super N> mailbox);

    /**
     * {@return a copy with this policy for exceptions of the handler}
     *
     * @param policy used instead of {@link FailurePolicy#resume}
     */
    Stateful<S, M> onFailure(FailurePolicy policy);

    /**
     * {@return a copy for messages of this type} See {@link ActorBuilder#protocol}.
     *
     * @param <N> the type of the messages
     * @param type the class or interface of the messages
     */
    <N extends M> Stateful<S, N> protocol(Class<N> type);

    /**
     * {@return a copy that runs this code around the handling of each message}
     *
     * @param <N> the type of the messages
     * @param interceptor the code; it also surrounds the interceptors that were given before
     */
    <N extends M> Stateful<S, N> intercept(Handler.Interceptor<? super N> interceptor);

    /**
     * {@return a copy whose idle actors handle an {@code ask} on the virtual thread of the asker}
     * See {@link ActorBuilder#inlineRequests}.
     */
    Stateful<S, M> inlineRequests();

    /**
     * {@return a copy with a hook, which is called on the actor's thread when the actor ends or
     * restarts} The hook is not called if no state was made.
     *
     * @param hook called with the state; an exception that it throws is logged
     */
    Stateful<S, M> onStop(Handler<S> hook);

    /**
     * {@return a copy whose actors return to the state before the message if the handler throws}
     *
     * @param copy copies the state, and is called before each message. The copy must not share
     * objects that the handler changes
     */
    Stateful<S, M> rollback(Handler.Returning<S, S> copy);

    /**
     * {@return a new actor}
     *
     * @param <N> the type of the messages
     * @param handler called with the state and each message
     */
    <N extends M> Actor<N> newActor(Handler.Stateful<S, N> handler);

    /**
     * {@return a new actor}
     *
     * @param <N> the type of the messages
     * @param handler called with the state, each message and its context
     */
    <N extends M> Actor<N> newActor(Handler.StatefulWithContext<S, N> handler);

    /**
     * {@return a new actor, which answers each message with the value that its handler returns}
     *
     * @param <N> the type of the messages
     * @param <R> the type of the answers
     * @param handler called with the state and each message
     */
    <N extends M, R> ActorWithReturn<N, R> newActorWithReturn(Handler.StatefulReturning<S, N, R> handler);

    /**
     * {@return a new actor, which answers each message with the value that its handler returns}
     *
     * @param <N> the type of the messages
     * @param <R> the type of the answers
     * @param handler called with the state, each message and its context
     */
    <N extends M, R> ActorWithReturn<N, R> newActorWithReturn(Handler.StatefulReturningWithContext<S, N, R> handler);

    /** {@return a new sink, whose object is the state: it passes the state to the code it runs} */
    Sink<S> newSink();
  }
}
