package io.fibry.durable;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.Exitable;
import io.fibry.codec.Codec;
import io.fibry.codec.CodecException;
import io.fibry.pool.Entities;
import io.fibry.spi.BlockBuilder;
import io.fibry.store.Store;
import io.fibry.store.recorder.StoreEvents;
import io.fibry.text.Lines;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.BiFunction;
import java.util.function.Predicate;

/**
 * The complete definition of a kind of actors.
 *
 * @param stateFactory makes the initial state of a key
 * @param stateCodec the codec of the state; empty if events are stored, without snapshots
 * @param eventCodec the codec of events; empty if the state itself is stored
 * @param applyEvent returns the state after an event
 */
record DurableDefinition<S, E, M>(DefaultDurableBuilder<M> kind, Callable<? extends S> stateFactory,
    Optional<Codec<S>> stateCodec,
    Optional<Codec<E>> eventCodec, BiFunction<S, E, S> applyEvent, TurnHandler<S, E, M> handler) implements Durable<M> {

  /** Calls the user's handler for one turn, and returns the next state. */
  interface TurnHandler<S, E, M> {
    S runTurn(S state, M message, TurnContext<S, E, M> turn) throws Exception;
  }

  DurableDefinition {
    if (kind.maxStoredMessages() > 0) kind.messages().requireCodec();
    IdempotentAnswers.check(kind.messages().type(), kind.messages().answerCodecs().keySet());
  }

  /** Returns the initial state of an actor. */
  S newState(Store.ActorId actor) throws Exception {
    return Objects.requireNonNull(stateFactory.call(), () -> "the initial state of " + actor + " is null");
  }

  /** Returns the codec of stored data, or throws if the kind no longer has a codec for it. */
  <T> Codec<T> requireCodec(Optional<Codec<T>> codec, String content) {
    return codec.orElseThrow(() -> new CodecException("it has " + content + ", which " + this
        + " does not store any more; let the kind store it again, or rename the kind"));
  }

  /** Returns the state after an event of a turn. */
  S applyEvent(S state, E event, long turn, Store.ActorId actor) {
    S next;
    try {
      next = applyEvent.apply(state, event);
    } catch (RuntimeException failure) {
      throw new IllegalStateException(noStateMessage(event, turn, actor) + "threw " + Lines.thrown(failure),
          failure);
    }
    return Objects.requireNonNull(next, () -> noStateMessage(event, turn, actor) + "answered null");
  }

  private String noStateMessage(E event, long turn, Store.ActorId actor) {
    return "turn " + turn + " of " + actor + " has no state after its event of " + event.getClass().getName()
        + ": the function of the kind, which must never fail, ";
  }

  @Override
  public Actor<M> newActor(ActorBuilder<? super M> builder, Store store) {
    check(builder, store);
    String key = kind.checkedKey(BlockBuilder.of(builder).name()
        .orElseThrow(
            () -> kind.invalidDefinition("it needs a key: take a builder with a name, such as ActorSystem.named(..)")));
    var delivery = new PendingDelivery(store, kind, BlockBuilder.of(builder), key::equals);
    var actor = startActor(builder, delivery, key).closeOnExit(delivery);
    start(actor, () -> delivery.start(sameKey -> actor));
    return new DurableActor<>(actor, kind, delivery, key, actor);
  }

  @Override
  public Entities<String, M> entities(ActorBuilder<? super M> builder, Store store, Duration idle) {
    return entities(builder, store, idle, key -> true);
  }

  Entities<String, M> entities(ActorBuilder<? super M> builder, Store store, Duration idle,
      Predicate<String> isOwnedKey) {
    check(builder, store);
    return openEntities(builder, new PendingDelivery(store, kind, BlockBuilder.of(builder), isOwnedKey), idle);
  }

  private <B> Entities<String, M> openEntities(ActorBuilder<B> builder, PendingDelivery delivery, Duration idle) {
    Entities<String, Object> entities =
        Entities.open(BlockBuilder.of(builder).defaultName(kind.name()), idle,
            (ActorBuilder<B> keyBuilder, String key) -> startActor(keyBuilder, delivery, key));
    entities.closeOnExit(delivery);
    start(entities, () -> delivery.start(entities::actor));
    return new DurableEntities<>(entities, kind, delivery);
  }

  /** Starts to deliver waiting messages. If the store cannot list them, the receiver is killed. */
  private static void start(Exitable receiver, Runnable startDelivery) {
    boolean isStarted = false;
    try {
      startDelivery.run();
      isStarted = true;
    } finally {
      if (!isStarted) receiver.kill();
    }
  }

  private void check(ActorBuilder<?> builder, Store store) {
    Objects.requireNonNull(builder, "builder");
    StoreRegistry.checkComplete(store);
    StoreEvents.prepare();
    if (BlockBuilder.of(builder).isPooled())
      throw kind.invalidDefinition("a pool handles several messages at a time; make entities");
    if (BlockBuilder.of(builder).mailbox().isSelective())
      throw kind.invalidDefinition("a turn has the effects of exactly one message, so the mailbox cannot be selective");
    if (BlockBuilder.of(builder).mailbox().isOrdered())
      throw kind
          .invalidDefinition("messages that wait at the store keep their order, so its mailbox cannot have another");
    kind.retention().ifPresent(age -> store.setRetention(kind.name(), age));
  }

  /** Makes the ordinary actor that handles messages of users, and messages from the store. */
  @SuppressWarnings("unchecked") // `DurableRuntime.handle` checks the type of each message
  private Actor<Object> startActor(ActorBuilder<?> builder, PendingDelivery delivery, String key) {
    var id = kind.id(kind.checkedKey(key));
    // If messages are stored, the actor gets no protocol, so it cannot be found by name. A message
    // to an address that was found by name would not be stored.
    var objectBuilder = (ActorBuilder<Object>) (kind.maxStoredMessages() > 0 ? builder
        : ((ActorBuilder<M>) builder).protocol(kind.messages().type()));
    return StoreRegistry.registerActor(delivery.store(), id,
        () -> objectBuilder.initialState(() -> new DurableRuntime<>(this, delivery, id)).onStop(DurableRuntime::end)
            .newActor(DurableRuntime<S, E, M>::handle));
  }

  @Override
  public List<ParkedMessage<M>> parked(Store store) {
    var actors = new LinkedHashSet<Store.ActorId>();
    Objects.requireNonNull(store, "store").forEachPending(kind.name(), (id, due) -> {
      if (due.equals(Store.PendingMessage.NEVER)) actors.add(id);
    });
    return actors.stream().flatMap(id -> store.pending(id, Store.PendingMessage.NEVER, Integer.MAX_VALUE).stream())
        .filter(Mail::isParked).map(this::parked).toList();
  }

  private ParkedMessage<M> parked(Store.PendingMessage pending) {
    var mail = Mail.read(pending.body());
    var failure = mail.failed().orElseThrow();
    return new ParkedMessage<>(pending.to().key(), pending.id(), kind.messages().requireCodec().decode(mail.message()),
        failure.reason(),
        failure.at());
  }

  @Override
  public void retry(Store store, ParkedMessage<M> parked) {
    StoreRegistry.of(store).unpark(store, idOf(parked), parked.id(), Mail::asRetried);
  }

  @Override
  public void discard(Store store, ParkedMessage<M> parked) {
    // the message becomes due, and the failure in its mail makes the actor delete it
    StoreRegistry.of(store).unpark(store, idOf(parked), parked.id(), mail -> mail);
  }

  private Store.ActorId idOf(ParkedMessage<M> parked) {
    return kind.id(kind.checkedKey(Objects.requireNonNull(parked, "parked").key()));
  }

  @Override
  public String toString() {
    return "kind '" + kind.name() + "'";
  }
}
