package io.fibry;

import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.PoolPolicy;
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

  /** {@return the same builder, with what code that builds on builders needs} */
  ForBlocks<M> forBlocks();

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

  /**
   * The view of a builder that building blocks have: its settings, and copies that programs do not
   * need.
   *
   * @param <M> messages
   */
  interface ForBlocks<M> extends ActorBuilder<M> {

    /**
     * {@return a copy that makes pools: actors of several workers with one mailbox} Programs
     * use {@code Pools}.
     *
     * @param <N> messages
     * @param sharing how they share it
     * @throws IllegalArgumentException if these are pools already
     */
    <N extends M> ForBlocks<N> pooled(PoolPolicy<? super N> sharing);

    /** {@return whether it makes pools} */
    boolean isPooled();

    /**
     * {@return a copy for a part of the block} Its name is the name of the builder with the part:
     * "orders" becomes "orders/3". A builder without a name stays without one.
     *
     * @param part the name below
     */
    ForBlocks<M> child(String part);

    /**
     * {@return this builder if it has a name, or a copy with the default name}
     *
     * @param otherwise the default name
     * @throws IllegalArgumentException if the default is needed, and is not a valid name
     */
    ForBlocks<M> defaultName(String otherwise);

    /** {@return the name, if any} */
    Optional<String> name();

    /** {@return the strategy of actors made now} */
    Strategy strategy();

    /** {@return the mailbox of actors made now} */
    Mailbox<? super M> mailbox();

    /**
     * {@return a copy with this mailbox, unless this builder or its scope was given one}
     *
     * @param otherwise the default
     */
    ForBlocks<M> defaultMailbox(Mailbox<Object> otherwise);

    /** {@return the clock of the scope} */
    Scheduler scheduler();

    /** {@return the limit of an {@code ask} without one, by the scope's options} */
    Duration askLimit();

    /** {@return whether logs and errors may say what messages do, by the scope's options} */
    boolean mayShowMessages();

    /**
     * {@return what a log or an error may say of this message}
     *
     * @param message of a user, whose {@code toString} gets a thread and 50 ms, or a second if it
     *     computes
     */
    String describe(Object message);

    /**
     * {@return how the text of a {@link RequestException} names its request} It is the class of the
     * request, or a character that becomes the text of the request when the exception is read, as
     * the options of the scope say.
     *
     * @param request that was not answered
     */
    String describeRequest(Object request);

    /**
     * Captures what the scope's carriers take along from this thread.
     *
     * @param to will be sent the message
     * @param message will be sent later, on another thread
     * @return runs code on the calling thread, with what was captured set there
     */
    Executor contextExecutor(Actor<?> to, Object message);

    /**
     * Captures what each {@link TextContextPropagator} of the scope takes along from this thread,
     * for a message that leaves the process.
     *
     * @param to will be sent the message
     * @param message is sent
     * @return printable ASCII, of at most 2,048 bytes; empty: nothing
     */
    String contextText(Actor<?> to, Object message);

    /**
     * Lets a message from outside of the process find what its sender had.
     *
     * @param to will be sent the message
     * @param message has arrived
     * @param text as {@link #contextText} returned it there
     * @return runs code on the calling thread, with what the text says set there
     */
    Executor contextExecutor(Actor<?> to, Object message, String text);

    /** {@return the scope that the actors are made in} */
    ActorScope scope();

    /**
     * {@return a copy that makes its actors in a new scope inside this one} A block uses it to make
     * actors while a close drains others: the inner scope takes new actors until its own turn to
     * close. A failure that its actors escalate goes to the outer scope. The inner scope is kept in
     * memory only where the root scope would keep an actor of this builder.
     *
     * @param kind the scope's name, if this builder has none
     * @throws IllegalStateException if the scope around is closed
     */
    ForBlocks<M> inNewScope(String kind);

    /**
     * {@return a copy whose actors are outside of the scope} They have the scope's options, and
     * their dead letters go to the scope, but they are not its members: the scope neither lists,
     * keeps nor ends them. Several may have the same name, and they can be made after the end of
     * the scope.
     */
    ForBlocks<M> inOuterScope();

    /**
     * {@return a copy for doors to the outside: a closing scope sends them their pill before it
     * waits for any member}
     */
    ForBlocks<M> closesFirst();

    /**
     * {@return a copy for the inside of a block} The messages of its actors count neither as sent
     * nor as handled, because no user sent them. A message that they do not handle counts all the
     * same; a task does not.
     */
    ForBlocks<M> excludedFromAccounts();

    /**
     * {@return a copy whose actors write to a client outside of the process} A message that is lost
     * because the client has disconnected counts as {@link DeadLetter.Reason#DISCONNECTED}: after
     * the actor's end, or when the handler throws an IOException.
     *
     * @param own whether a message is the block's own, such as a ping: lost, it is no dead letter
     * and does not count
     */
    ForBlocks<M> countLostAsDisconnected(Predicate<Object> own);
  }
}
