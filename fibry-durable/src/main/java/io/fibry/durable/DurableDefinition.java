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
 * A kind of actor, all told.
 *
 * @param initial makes the state of a key
 * @param state the codec of the state; empty if events are stored, without snapshots
 * @param events the codec of events; empty if the state itself is stored
 * @param applyEvent the state after an event
 */
record DurableDefinition<S, E, M>(DefaultDurableBuilder<M> kind, Callable<? extends S> initial,
    Optional<Codec<S>> state,
    Optional<Codec<E>> events, BiFunction<S, E, S> applyEvent, TurnHandler<S, E, M> handler) implements Durable<M> {

  /** Lets the handler do a turn, and returns the next state. */
  interface TurnHandler<S, E, M> {
    S runTurn(S state, M message, TurnContext<S, E, M> turn) throws Exception;
  }

  DurableDefinition {
    if (kind.maxStoredMessages() > 0) kind.messages().requireCodec();
    IdempotentAnswers.check(kind.messages().type(), kind.messages().answers().keySet());
  }

  /** The state with which an actor begins. */
  S newState(Store.ActorId actor) throws Exception {
    return Objects.requireNonNull(initial.call(), () -> "the initial state of " + actor + " is null");
  }

  /** For what was stored: the kind may have been another one then. */
  <T> Codec<T> requireCodec(Optional<Codec<T>> codec, String what) {
    return codec.orElseThrow(() -> new CodecException("it has " + what + ", which " + this
        + " does not keep; let it keep what it kept, or give it another name"));
  }

  /** The state after an event of a turn. */
  S applyEvent(S before, E event, long turn, Store.ActorId actor) {
    S next;
    try {
      next = applyEvent.apply(before, event);
    } catch (RuntimeException thrown) {
      throw new IllegalStateException(noStateMessage(event, turn, actor) + "threw " + Lines.thrown(thrown),
          thrown);
    }
    return Objects.requireNonNull(next, () -> noStateMessage(event, turn, actor) + "answered null");
  }

  private String noStateMessage(E event, long turn, Store.ActorId actor) {
    return "turn " + turn + " of " + actor + " has no state after its event of " + event.getClass().getName()
        + ": the function of the kind, which must never fail, ";
  }

  @Override
  public Actor<M> newActor(ActorBuilder<? super M> how, Store store) {
    check(how, store);
    String key = kind.checkedKey(BlockBuilder.of(how).name()
        .orElseThrow(
            () -> kind.invalidDefinition("it needs a key: take a builder with a name, such as ActorSystem.named(..)")));
    var delivery = new PendingDelivery(store, kind, BlockBuilder.of(how), key::equals);
    var actor = startActor(how, delivery, key).closeOnExit(delivery);
    start(actor, () -> delivery.start(same -> actor));
    return new DurableActor<>(actor, kind, delivery, key, actor);
  }

  @Override
  public Entities<String, M> entities(ActorBuilder<? super M> how, Store store, Duration idle) {
    return entities(how, store, idle, all -> true);
  }

  Entities<String, M> entities(ActorBuilder<? super M> how, Store store, Duration idle, Predicate<String> keys) {
    check(how, store);
    return openEntities(how, new PendingDelivery(store, kind, BlockBuilder.of(how), keys), idle);
  }

  private <B> Entities<String, M> openEntities(ActorBuilder<B> how, PendingDelivery delivery, Duration idle) {
    Entities<String, Object> entities =
        Entities.open(BlockBuilder.of(how).defaultName(kind.name()), idle,
            (ActorBuilder<B> builder, String key) -> startActor(builder, delivery, key));
    entities.closeOnExit(delivery);
    start(entities, () -> delivery.start(entities::actor));
    return new DurableEntities<>(entities, kind, delivery);
  }

  /** Begins to give waiting messages. If the store cannot list them, the actor is closed again. */
  private static void start(Exitable made, Runnable delivery) {
    boolean started = false;
    try {
      delivery.run();
      started = true;
    } finally {
      if (!started) made.kill();
    }
  }

  private void check(ActorBuilder<?> how, Store store) {
    Objects.requireNonNull(how, "how");
    StoreRegistry.checkComplete(store);
    StoreEvents.prepare();
    if (BlockBuilder.of(how).isPooled())
      throw kind.invalidDefinition("a pool handles several messages at a time; make entities");
    if (BlockBuilder.of(how).mailbox().isSelective())
      throw kind.invalidDefinition("what it does with one message is a turn, so its mailbox cannot be selective");
    if (BlockBuilder.of(how).mailbox().isOrdered())
      throw kind
          .invalidDefinition("messages that wait at the store keep their order, so its mailbox cannot have another");
    kind.retention().ifPresent(age -> store.setRetention(kind.name(), age));
  }

  /** Makes the actor that takes messages of users, and messages from the store. */
  @SuppressWarnings("unchecked") // its messages are known by their own types
  private Actor<Object> startActor(ActorBuilder<?> how, PendingDelivery delivery, String key) {
    var id = kind.id(kind.checkedKey(key));
    // a kind that keeps messages cannot be found by name, because a message sent past the address
    // would not be kept
    var builder = (ActorBuilder<Object>) (kind.maxStoredMessages() > 0 ? how
        : ((ActorBuilder<M>) how).protocol(kind.messages().type()));
    return StoreRegistry.registerActor(delivery.store(), id,
        () -> builder.initialState(() -> new DurableRuntime<>(this, delivery, id)).onStop(DurableRuntime::end)
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

  private ParkedMessage<M> parked(Store.PendingMessage one) {
    var mail = Mail.read(one.body());
    var failed = mail.failed().orElseThrow();
    return new ParkedMessage<>(one.to().key(), one.id(), kind.messages().requireCodec().decode(mail.message()),
        failed.reason(),
        failed.at());
  }

  @Override
  public void retry(Store store, ParkedMessage<M> parked) {
    StoreRegistry.of(store).unpark(store, idOf(parked), parked.id(), Mail::asRetried);
  }

  @Override
  public void discard(Store store, ParkedMessage<M> parked) {
    StoreRegistry.of(store).unpark(store, idOf(parked), parked.id(), mail -> mail); // with its failure, but due
  }

  private Store.ActorId idOf(ParkedMessage<M> parked) {
    return kind.id(kind.checkedKey(Objects.requireNonNull(parked, "parked").key()));
  }

  @Override
  public String toString() {
    return "kind '" + kind.name() + "'";
  }
}
