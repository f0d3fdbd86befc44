package io.fibry.durable;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.Request;
import io.fibry.codec.Codec;
import io.fibry.durable.kind.DefaultDurableBuilder;
import io.fibry.durable.kind.DurableDefinition;
import io.fibry.durable.view.DefaultEventView;
import io.fibry.pool.Entities;
import io.fibry.store.Store;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.BiFunction;

/**
 * The definition of a kind of actors whose state is stored, so that it survives a crash. Immutable
 * and thread-safe. It names no store, so it is usually a constant.
 * {@snippet class="io.fibry.durable.JavadocSnippetsTest" region="durable"}
 *
 * <p>The effects of one message on its actor are a <i>turn</i>. When the handler has returned, the
 * turn is stored completely or not at all. Its answer is sent afterwards. While the turn is being
 * stored, the actor handles further messages. Their answers are not sent before this turn is
 * stored. If a turn cannot be stored, later turns are not stored either. The requests of all these
 * turns fail with a {@link StorageFailedException}, and the actor reads its state again.
 *
 * <p>A handler that throws stores nothing, and leaves the state unchanged. Effects outside of the
 * store, such as a message to the address of another actor, are not a part of the turn.
 *
 * @param <M> messages
 */
public sealed interface Durable<M> permits DurableDefinition {

  /**
   * Begins a definition.
   *
   * @param <M> messages
   * @param name of the kind, in the store; lower-case letters, digits and hyphens, at most 64
   * @param messages type of the messages
   * @return a builder of the definition
   */
  static <M> Builder<M> kind(String name, Class<M> messages) {
    return DefaultDurableBuilder.of(name, messages);
  }

  /**
   * Defines a view, which reads the events that the actors of a kind have stored.
   *
   * @param <E> events
   * @param kind name of the kind, which stores events
   * @param events type of the events
   * @return a view that begins with the first event
   */
  static <E> EventView<E> view(String kind, Class<E> events) {
    return DefaultEventView.of(kind, DefaultDurableBuilder.codecOf(kind, "events", events));
  }

  /**
   * Defines a view, with a codec of the events.
   *
   * @param <E> events
   * @param kind name of the kind, which stores events
   * @param events the codec of the events, as in the definition of the kind
   * @return a view that begins with the first event
   */
  static <E> EventView<E> view(String kind, Codec<E> events) {
    return DefaultEventView.of(kind, events);
  }

  /**
   * Makes an actor with the state that is stored under its name. When the actor ends, it waits
   * until its last turn is stored.
   *
   * @param builder builder of the actor; its name is the key
   * @param store the store that has the state
   * @return the actor, whose state is read before its first message
   * @throws IllegalArgumentException if the builder has no name, a name of more than 512 bytes, a
   * pool, or a mailbox that is selective or reorders messages
   * @throws IllegalStateException if this key has an actor at this store already
   */
  Actor<M> newActor(ActorBuilder<? super M> builder, Store store);

  /**
   * Makes entities: one actor for each key, made when it is needed.
   *
   * @param builder builder of the actors
   * @param store the store that has the states
   * @param idle time without a message after which an actor is passivated
   * @return entities; an actor is loaded when it gets a message
   */
  Entities<String, M> entities(ActorBuilder<? super M> builder, Store store, Duration idle);

  /**
   * Returns the stored messages that are not handled any more, because their handler threw, or
   * because the process ended several times while it handled them. They stay in the store for an
   * operator.
   *
   * @param store the store that has the messages
   * @return the parked messages of all keys
   */
  List<ParkedMessage<M>> parked(Store store);

  /**
   * Lets the actor handle a parked message again, after the messages that wait. Steps whose results
   * are stored are not run again, and the message's turn is stored once. If the message fails
   * again, it is parked again.
   *
   * @param store the store that has the message
   * @param parked a message that {@link #parked(Store)} returned
   * @throws IllegalStateException if the message is not parked any more
   * @throws io.fibry.store.StoreException if the store refuses the message
   */
  void retry(Store store, ParkedMessage<M> parked);

  /**
   * Discards a parked message, which is then never handled. Its actor deletes it from the store as
   * soon as the actor is loaded.
   *
   * @param store the store that has the message
   * @param parked a message that {@link #parked(Store)} returned
   * @throws IllegalStateException if the message is not parked any more
   * @throws io.fibry.store.StoreException if the store refuses the change
   */
  void discard(Store store, ParkedMessage<M> parked);

  /**
   * Builds a definition. Immutable: each method returns a changed copy.
   *
   * @param <M> messages
   */
  interface Builder<M> {

    /**
     * Stores the state itself, which replaces the previous state.
     *
     * @param <S> state
     * @param initial state of each new key; its class is the type of the state
     * @return a builder that still needs a handler
     */
    <S> StateStep<S, M> state(S initial);

    /**
     * Stores the state itself, with a codec.
     *
     * @param <S> state
     * @param codec of the state
     * @param initial state of each new key; the codec makes a copy for each key
     * @return a builder that still needs a handler
     */
    <S> StateStep<S, M> state(Codec<S> codec, S initial);

    /**
     * Stores events, from which the state is computed.
     *
     * @param <S> state
     * @param <E> events
     * @param events type of the events
     * @param initial state of each new key; immutable, because all keys share it
     * @param after returns the state after an event; it has no other effect, and never fails
     * @return a builder that still needs a handler
     */
    <S, E> EventsStep<S, E, M> events(Class<E> events, S initial, BiFunction<S, E, S> after);

    /**
     * Stores events, with a codec.
     *
     * @param <S> state
     * @param <E> events
     * @param codec of the events
     * @param initial state of each new key; immutable, because all keys share it
     * @param after returns the state after an event; it has no other effect, and never fails
     * @return a builder that still needs a handler
     */
    <S, E> EventsStep<S, E, M> events(Codec<E> codec, S initial, BiFunction<S, E, S> after);

    /**
     * Stores events, with codecs of the events and of the state. The codec of the state may read
     * snapshots of an old form.
     *
     * @param <S> state
     * @param <E> events
     * @param codec of the events
     * @param state the codec of the state
     * @param initial state of each new key; immutable, because all keys share it
     * @param after returns the state after an event; it has no other effect, and never fails
     * @return a builder that still needs a handler
     */
    <S, E> EventsStep<S, E, M> events(Codec<E> codec, Codec<S> state, S initial, BiFunction<S, E, S> after);

    /**
     * Sets a mutable initial state, which events change. Each new key gets its own object.
     *
     * @param <S> state
     * @param initial makes the object
     * @return a builder that still needs events
     */
    <S> MutableStateStep<S, M> initialState(Callable<? extends S> initial);

    /**
     * Sets the codec for stored messages, also for messages that turns send, and for reminders.
     *
     * @param codec by default {@code Codec.of(messages)}
     * @return a changed copy
     */
    Builder<M> messages(Codec<M> codec);

    /**
     * Sets the codec with which answers to an {@link Idempotent} request are remembered. Nodes of a
     * cluster send each other answers in the form of {@code Codec.ofAnswers(request)}.
     *
     * @param <R> answers
     * @param request class of the request
     * @param codec for the answers; it may read answers of an old form
     * @return a changed copy
     */
    <R> Builder<M> answers(Class<? extends Request<?, R>> request, Codec<R> codec);

    /**
     * Stores messages before they are handled: {@code sendMessage} returns true when the message is
     * stored. The message is handled even if the process ends first, and its turn is stored once. A
     * message whose handler throws is {@link Durable#parked parked} at once, unless an asker gets
     * the failure; the failure policy does not retry it. A message is stored if it is sent to an
     * address that {@code newActor} or {@code entities} returned. Messages of timers that this
     * address sets ({@code sendMessageLater}, {@code sendMessageEvery}) are not stored.
     *
     * <p>Messages of one sender keep their order. Requests are stored, too. Stored
     * messages are delivered in batches of at most 64. A request may overtake only messages that
     * are delivered again, or that do not fit into the current batch.
     *
     * @param max how many messages may wait for an actor; further messages are refused
     * @return a changed copy
     */
    Builder<M> storeMessages(int max);

    /**
     * Sets how long an actor remembers {@link Idempotent} messages and their answers.
     *
     * @param answers max number of answers; by default 1,000, and at most 1 MiB in total
     * @param time max age of an answer; by default one day
     * @return a changed copy
     */
    Builder<M> deduplicate(int answers, Duration time);

    /**
     * Sets how often a snapshot of the state is stored; a load reads only the events after the
     * snapshot. Without a codec of the state, a load reads all events. If the snapshot cannot be
     * decoded, a load needs all events, too; a store in a folder then reads the history of the
     * whole kind.
     *
     * @param turns number of turns from one snapshot to the next; by default 1,000
     * @return a changed copy
     */
    Builder<M> snapshotEvery(int turns);

    /**
     * Sets how many turns of an actor may be pending at the store. The next turn waits until the
     * first of them is stored.
     *
     * @param turns by default 1,024; 1 stores the turns one by one
     * @return a changed copy
     */
    Builder<M> maxUnstoredTurns(int turns);

    /**
     * Sets how long events are kept for views and operators, even if a snapshot has replaced them.
     *
     * @param age by default forever; zero or more. A view may miss older events
     * @return a changed copy
     */
    Builder<M> retainEvents(Duration age);
  }

  /**
   * A builder of a kind whose state is a mutable object; it still needs the events that change the
   * object.
   *
   * @param <S> state
   * @param <M> messages
   */
  interface MutableStateStep<S, M> {

    /**
     * Stores events.
     *
     * @param <E> events
     * @param events type of the events
     * @param after returns the state after an event, usually the same object
     * @return a builder that still needs a handler
     */
    <E> EventsStep<S, E, M> events(Class<E> events, BiFunction<S, E, S> after);

    /**
     * Stores events, with a codec.
     *
     * @param <E> events
     * @param codec of the events
     * @param after returns the state after an event, usually the same object
     * @return a builder that still needs a handler
     */
    <E> EventsStep<S, E, M> events(Codec<E> codec, BiFunction<S, E, S> after);
  }

  /**
   * A builder of a kind that stores its state; it still needs a handler.
   *
   * @param <S> state
   * @param <M> messages
   */
  interface StateStep<S, M> {

    /**
     * Completes the definition.
     *
     * @param handler returns the next state
     * @return a kind of actor
     */
    Durable<M> handler(StateHandler<S, M> handler);

    /**
     * Completes the definition.
     *
     * @param handler returns the next state
     * @return a kind of actor
     */
    Durable<M> handler(StateHandlerWithContext<S, M> handler);
  }

  /**
   * A builder of a kind that stores events; it still needs a handler.
   *
   * @param <S> state
   * @param <E> events
   * @param <M> messages
   */
  interface EventsStep<S, E, M> {

    /**
     * Completes the definition.
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
     * @throws Exception any failure; the turn is then not stored
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
     * @param context valid until this method returns
     * @return the next state; the same object if there is no change to store
     * @throws Exception any failure; the turn is then not stored
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
     * @param context valid until this method returns
     * @throws Exception any failure; the turn is then not stored
     */
    void handle(S state, M message, EventSourcedContext<S, E, M> context) throws Exception;
  }
}
