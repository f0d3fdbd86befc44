package io.fibry.durable;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.Request;
import io.fibry.codec.Codec;
import io.fibry.pool.Entities;
import io.fibry.store.Store;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.BiFunction;

/**
 * What a kind of actor keeps, and what it does with a message. Its actors know after a crash what
 * they knew before. Immutable and thread-safe: a constant, which says nothing of a place.
 * {@snippet class="io.fibry.durable.JavadocSnippetsTest" region="durable"}
 *
 * <p>All that a handler did with one message is a <i>turn</i>. It is stored when the handler has
 * returned: whole, or not at all. The answer of a turn leaves afterwards. Meanwhile the actor
 * handles further messages; their answers wait for the turns before. If a turn cannot be stored,
 * neither are those behind it: their requests fail with a {@link NotStoredException}, and the actor
 * reads its state again.
 *
 * <p>A handler that throws stores nothing, and leaves the state as it was. Effects elsewhere, such
 * as sending a message to another actor, are not a part of the turn.
 *
 * @param <M> messages
 */
public sealed interface Durable<M> permits DurableDefinition {

  /**
   * Begins a definition.
   *
   * @param <M> messages
   * @param name of the kind, in the store; lower-case letters, digits and hyphens, at most 64
   * @param messages their type
   * @return a kind without state
   */
  static <M> Builder<M> kind(String name, Class<M> messages) {
    return DefaultDurableBuilder.of(name, messages);
  }

  /**
   * Begins a view of what the actors of a kind have stored.
   *
   * @param <E> events
   * @param kind which; its definition keeps events
   * @param events their type
   * @return a view from the first event on
   */
  static <E> EventView<E> view(String kind, Class<E> events) {
    return DefaultEventView.of(kind, DefaultDurableBuilder.codecOf(kind, "events", events));
  }

  /**
   * Follows a kind, with a codec of its events.
   *
   * @param <E> events
   * @param kind which; its definition keeps events
   * @param events the codec of the definition
   * @return a view from the first event on
   */
  static <E> EventView<E> view(String kind, Codec<E> events) {
    return DefaultEventView.of(kind, CheckedCodec.of(events));
  }

  /**
   * An actor with the state that is stored under its name. When it ends, it waits for its last turn
   * to be stored.
   *
   * @param how makes it; the builder's name is the key
   * @param store where it is kept
   * @return the actor, whose state is read before its first message
   * @throws IllegalArgumentException if the builder has no name, one of more than 512 bytes, a pool
   * or a selective mailbox
   * @throws IllegalStateException if this key has an actor at this store
   */
  Actor<M> newActor(ActorBuilder<? super M> how, Store store);

  /**
   * An actor for each key, made when it is needed.
   *
   * @param how makes them
   * @param store where they are kept
   * @param idle how long an actor stays without a message
   * @return entities, none alive
   */
  Entities<String, M> entities(ActorBuilder<? super M> how, Store store, Duration idle);

  /**
   * Messages that were kept and are not handled any more: their handler threw, or they ended the
   * process again and again. They stay in the store, for a human.
   *
   * @param store where they are
   * @return those of all keys
   */
  List<ParkedMessage<M>> parked(Store store);

  /**
   * Lets the actor handle a parked message, behind the messages that wait. It is the same message:
   * its steps are not run again, and its turn is stored once. If it fails again, it is parked
   * again.
   *
   * @param store where it is
   * @param parked as {@link #parked(Store)} answered it
   * @throws IllegalStateException if it is not aside any more
   * @throws io.fibry.store.StoreException if the store refuses it
   */
  void retry(Store store, ParkedMessage<M> parked);

  /**
   * Removes a parked message, which is then never handled. The message leaves the store when its
   * actor lives.
   *
   * @param store where it is
   * @param parked as {@link #parked(Store)} answered it
   * @throws IllegalStateException if it is not aside any more
   * @throws io.fibry.store.StoreException if the store refuses it
   */
  void discard(Store store, ParkedMessage<M> parked);

  /**
   * The beginning of a definition. Immutable: each step returns a changed copy.
   *
   * @param <M> messages
   */
  interface Builder<M> {

    /**
     * Keeps the state itself, which replaces the one before.
     *
     * @param <S> state
     * @param initial of each key; also tells the type
     * @return a kind with a state
     */
    <S> StateStep<S, M> state(S initial);

    /**
     * Gives the actors a state, with its codec.
     *
     * @param <S> state
     * @param codec of the state
     * @param initial of each key, which gets a copy by the codec
     * @return a kind with a state
     */
    <S> StateStep<S, M> state(Codec<S> codec, S initial);

    /**
     * Keeps events, from which the state follows.
     *
     * @param <S> state
     * @param <E> events
     * @param events their type
     * @param initial of each key: a value, since all keys share it
     * @param after the state after an event; it does nothing else, and never fails
     * @return a kind with events
     */
    <S, E> EventsStep<S, E, M> events(Class<E> events, S initial, BiFunction<S, E, S> after);

    /**
     * Gives the actors events, with their codec.
     *
     * @param <S> state
     * @param <E> events
     * @param codec of the events
     * @param initial of each key: a value, since all keys share it
     * @param after the state after an event; it does nothing else, and never fails
     * @return a kind with events
     */
    <S, E> EventsStep<S, E, M> events(Codec<E> codec, S initial, BiFunction<S, E, S> after);

    /**
     * Gives the actors events, with codecs of the events and of the state, which may read snapshots
     * of an old form.
     *
     * @param <S> state
     * @param <E> events
     * @param codec of the events
     * @param state the codec of the state
     * @param initial of each key: a value, since all keys share it
     * @param after the state after an event; it does nothing else, and never fails
     * @return a kind with events
     */
    <S, E> EventsStep<S, E, M> events(Codec<E> codec, Codec<S> state, S initial, BiFunction<S, E, S> after);

    /**
     * For a state that changes itself: each key begins with a new one.
     *
     * @param <S> state
     * @param initial makes it
     * @return a kind that needs events
     */
    <S> MutableStateStep<S, M> initialState(Callable<? extends S> initial);

    /**
     * Messages are written in this way, if they are kept, sent by a turn, or reminders.
     *
     * @param codec by default {@code Codec.of(messages)}
     * @return a changed copy
     */
    Builder<M> messages(Codec<M> codec);

    /**
     * Answers to a request that is {@link Idempotent} are remembered in this way.
     *
     * @param <R> answers
     * @param request its class
     * @param codec for the answers; it may read answers of an old form
     * @return a changed copy
     */
    <R> Builder<M> answers(Class<? extends Request<?, R>> request, Codec<R> codec);

    /**
     * Stores messages before they are handled. After that, {@code sendMessage} returns true when
     * the message is stored. The message is handled even if the process ends before, and its turn
     * is stored once. One that fails is put {@link Durable#parked aside} at once, unless its asker
     * hears of it; the failure policy does not try it again. The addresses that {@code newActor}
     * and {@code entities} return do this, but neither their timers nor tasks.
     *
     * <p>Messages keep the order of their sender. Requests are kept, too, and may overtake only
     * messages that are tried again, or wait behind 63 others.
     *
     * @param max how many may wait for an actor; further ones are refused
     * @return a changed copy
     */
    Builder<M> storeMessages(int max);

    /**
     * How long an actor remembers messages that are {@link Idempotent}, and their answers.
     *
     * @param answers how many; by default 1,000, and at most 1 MiB
     * @param time how long; by default a day
     * @return a changed copy
     */
    Builder<M> deduplicate(int answers, Duration time);

    /**
     * Events are read from the last snapshot of the state, which is stored now and then. A state
     * that has no form in bytes has none: all its events are read. So they are where a snapshot
     * cannot be read, if none has gone; a folder reads the history of the whole kind for that.
     *
     * @param turns from one snapshot to the next; by default 1,000
     * @return a changed copy
     */
    Builder<M> snapshotEvery(int turns);

    /**
     * Sets how many turns of an actor may be handled before the first of them is stored. Further
     * ones wait.
     *
     * @param turns by default 1,024; 1 stores them one by one
     * @return a changed copy
     */
    Builder<M> maxUnstoredTurns(int turns);

    /**
     * How long events stay that a snapshot has made needless. They are for views, and for humans.
     *
     * @param age by default for ever; zero or more
     * @return a changed copy
     */
    Builder<M> retainEvents(Duration age);
  }

  /**
   * A kind whose state changes itself by events.
   *
   * @param <S> state
   * @param <M> messages
   */
  interface MutableStateStep<S, M> {

    /**
     * Keeps events.
     *
     * @param <E> events
     * @param events their type
     * @param after the state after an event, mostly the same object
     * @return a kind with events
     */
    <E> EventsStep<S, E, M> events(Class<E> events, BiFunction<S, E, S> after);

    /**
     * Adds events, with their codec.
     *
     * @param <E> events
     * @param codec of the events
     * @param after the state after an event, mostly the same object
     * @return a kind with events
     */
    <E> EventsStep<S, E, M> events(Codec<E> codec, BiFunction<S, E, S> after);
  }

  /**
   * A kind that keeps its state.
   *
   * @param <S> state
   * @param <M> messages
   */
  interface StateStep<S, M> {

    /**
     * Ends the definition.
     *
     * @param handler returns the next state
     * @return a kind of actor
     */
    Durable<M> handler(StateHandler<S, M> handler);

    /**
     * Ends the definition.
     *
     * @param handler returns the next state
     * @return a kind of actor
     */
    Durable<M> handler(StateHandlerWithContext<S, M> handler);
  }

  /**
   * A kind that keeps events.
   *
   * @param <S> state
   * @param <E> events
   * @param <M> messages
   */
  interface EventsStep<S, E, M> {

    /**
     * Ends the definition.
     *
     * @param handler persists events
     * @return a kind of actor
     */
    Durable<M> handler(EventHandler<S, E, M> handler);
  }

  /**
   * Returns the next state.
   *
   * @param <S> state
   * @param <M> messages
   */
  @FunctionalInterface
  interface StateHandler<S, M> {

    /**
     * Handles a message.
     *
     * @param state the state of this actor
     * @param message the message
     * @return the next state; the same object if there is no change to store
     * @throws Exception a failure of the actor
     */
    S handle(S state, M message) throws Exception;
  }

  /**
   * Returns the next state, and may answer a request.
   *
   * @param <S> state
   * @param <M> messages
   */
  @FunctionalInterface
  interface StateHandlerWithContext<S, M> {

    /**
     * Handles a message.
     *
     * @param state the state of this actor
     * @param message the message
     * @param context valid until this returns
     * @return the next state; the same object if there is no change to store
     * @throws Exception a failure of the actor
     */
    S handle(S state, M message, DurableContext<M> context) throws Exception;
  }

  /**
   * Persists events.
   *
   * @param <S> state
   * @param <E> events
   * @param <M> messages
   */
  @FunctionalInterface
  interface EventHandler<S, E, M> {

    /**
     * Handles a message.
     *
     * @param state the state of this actor
     * @param message the message
     * @param context valid until this returns
     * @throws Exception a failure of the actor
     */
    void handle(S state, M message, EventContext<S, E, M> context) throws Exception;
  }
}
