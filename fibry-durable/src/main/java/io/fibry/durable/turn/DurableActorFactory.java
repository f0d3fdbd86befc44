package io.fibry.durable.turn;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.Exitable;
import io.fibry.durable.delivery.DurableActor;
import io.fibry.durable.delivery.DurableEntities;
import io.fibry.durable.delivery.PendingDelivery;
import io.fibry.durable.kind.DefaultDurableBuilder;
import io.fibry.durable.kind.DurableDefinition;
import io.fibry.durable.storage.StoreRegistry;
import io.fibry.pool.Entities;
import io.fibry.spi.BlockBuilder;
import io.fibry.store.recorder.StoreEvents;
import io.fibry.store.spi.StoreBackend;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Predicate;

/** Makes the actors of a kind at a store, with the delivery of their pending messages. */
public record DurableActorFactory<S, E, M>(DurableDefinition<S, E, M> definition, StoreBackend store) {
  private DefaultDurableBuilder<M> kind() {
    return definition.kind();
  }

  public Actor<M> newActor(ActorBuilder<? super M> builder) {
    check(builder);
    String key = kind().checkedKey(BlockBuilder.of(builder).name()
        .orElseThrow(
            () -> kind()
                .invalidDefinition("it needs a key: take a builder with a name, such as ActorSystem.named(..)")));
    var delivery = new PendingDelivery(store, kind(), BlockBuilder.of(builder), key::equals);
    var actor = startActor(builder, delivery, key).closeOnExit(delivery);
    start(actor, () -> delivery.start(sameKey -> actor));
    return new DurableActor<>(actor, kind(), delivery, key, actor);
  }

  public Entities<String, M> entities(ActorBuilder<? super M> builder, Duration idle, Predicate<String> isOwnedKey) {
    check(builder);
    return openEntities(builder, new PendingDelivery(store, kind(), BlockBuilder.of(builder), isOwnedKey), idle);
  }

  private <B> Entities<String, M> openEntities(ActorBuilder<B> builder, PendingDelivery delivery, Duration idle) {
    Entities<String, Object> entities =
        Entities.open(BlockBuilder.of(builder).defaultName(kind().name()), idle,
            (ActorBuilder<B> keyBuilder, String key) -> startActor(keyBuilder, delivery, key));
    entities.closeOnExit(delivery);
    start(entities, () -> delivery.start(entities::actor));
    return new DurableEntities<>(entities, kind(), delivery);
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

  private void check(ActorBuilder<?> builder) {
    Objects.requireNonNull(builder, "builder");
    StoreRegistry.checkComplete(store);
    StoreEvents.prepare();
    var blockBuilder = BlockBuilder.of(builder);
    if (blockBuilder.isPooled())
      throw kind().invalidDefinition("a pool handles several messages at a time; make entities");
    if (blockBuilder.mailbox().isSelective())
      throw kind()
          .invalidDefinition("a turn has the effects of exactly one message, so the mailbox cannot be selective");
    if (blockBuilder.mailbox().isPriority())
      throw kind()
          .invalidDefinition("messages that wait at the store keep their order, so its mailbox cannot reorder them");
    kind().retention().ifPresent(age -> store.setRetention(kind().name(), age));
  }

  /** Makes the ordinary actor that handles messages of users, and messages from the store. */
  @SuppressWarnings("unchecked") // `DurableRuntime.handle` checks the type of each message
  private Actor<Object> startActor(ActorBuilder<?> builder, PendingDelivery delivery, String key) {
    var id = kind().id(kind().checkedKey(key));
    // If messages are stored, the actor gets no protocol, so it cannot be found by name. A message
    // to an address that was found by name would not be stored.
    var objectBuilder = (ActorBuilder<Object>) (kind().maxStoredMessages() > 0 ? builder
        : ((ActorBuilder<M>) builder).protocol(kind().messages().type()));
    return StoreRegistry.registerActor(store, id,
        () -> objectBuilder.initialState(() -> new DurableRuntime<>(definition, delivery, id))
            .onStop(DurableRuntime::end).newActor(DurableRuntime.messageHandler()));
  }
}
