package io.fibry.durable;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.codec.Codec;
import io.fibry.durable.delivery.DurableActor;
import io.fibry.durable.kind.DurableDefinition;
import io.fibry.durable.storage.StoreRegistry;
import io.fibry.durable.turn.DurableActorFactory;
import io.fibry.pool.Entities;
import io.fibry.pubsub.Subscription;
import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Access to a kind of actors for programs that share a store, where each program owns some of the
 * keys. Two actors of one key, in two programs, would end each other's lives again and again. No
 * turn would be lost or stored twice, but the turns of one actor would be refused.
 * {@code fibry-cluster} distributes keys with this class. Immutable and thread-safe.
 *
 * @param <M> messages
 */
public final class SharedStoreAccess<M> {
  private final DurableDefinition<?, ?, M> definition;

  private SharedStoreAccess(DurableDefinition<?, ?, M> definition) {
    this.definition = definition;
  }

  /**
   * Returns the access to a kind.
   *
   * @param <M> messages
   * @param kind the kind
   * @return the access to its actors
   */
  public static <M> SharedStoreAccess<M> of(Durable<M> kind) {
    return switch (Objects.requireNonNull(kind, "kind")) {
      case DurableDefinition<?, ?, M> definition -> new SharedStoreAccess<>(definition);
    };
  }

  /** {@return the name of the kind} */
  public String kind() {
    return definition.kind().name();
  }

  /** {@return the type of the kind's messages} */
  public Class<M> messageType() {
    return definition.kind().messages().type();
  }

  /**
   * Returns the codec of the messages.
   *
   * @return the codec of the definition
   * @throws IllegalArgumentException if the messages have no codec
   */
  public Codec<M> codec() {
    return definition.kind().messages().requireCodec();
  }

  /** {@return whether messages are stored before they are handled} */
  public boolean storesMessages() {
    return definition.kind().maxStoredMessages() > 0;
  }

  /**
   * Makes entities of some keys. Messages that wait at the store are delivered only for these keys.
   *
   * @param builder builder of the actors
   * @param store the store that has the states
   * @param idle time without a message after which an actor is passivated
   * @param keys chooses the keys that this program owns; send no messages to other keys
   * @return entities; an actor is loaded when it gets a message
   */
  public Entities<String, M> entities(ActorBuilder<? super M> builder, Store store, Duration idle,
      Predicate<String> keys) {
    Objects.requireNonNull(keys, "keys");
    return new DurableActorFactory<>(definition, StoreBackend.of(store)).entities(builder, idle, keys);
  }

  /**
   * Returns an actor's address for one message that came from another program. If the message is
   * stored, the store gets these bytes, because newer code may have written them with fields that
   * this code would lose.
   *
   * @param <M> messages
   * @param actor the receiver of the message
   * @param bytes of the message, by the {@link #codec} of its kind
   * @return the address, for this message only
   */
  public static <M> Actor<M> withReceivedBytes(Actor<M> actor, byte[] bytes) {
    return Objects.requireNonNull(actor, "actor") instanceof DurableActor<M> durable ? durable.withEncodedMessage(bytes)
        : actor;
  }

  /**
   * Delivers to an actor of this program the messages that another program has stored for it.
   *
   * @param store the store that has the messages
   * @param actor the receiver; the call has no effect if this program does not own the actor
   */
  public static void deliverPending(Store store, Store.ActorId actor) {
    deliverPending(store, actor, Instant.MIN);
  }

  /**
   * Delivers a stored message to an actor of this program when it is due.
   *
   * @param store the store that has the message
   * @param actor the receiver; the call has no effect if this program does not own the actor
   * @param due when the message is due
   */
  public static void deliverPending(Store store, Store.ActorId actor, Instant due) {
    StoreRegistry.of(store).notifyStored(Objects.requireNonNull(actor, "actor"), Objects.requireNonNull(due, "due"));
  }

  /**
   * Delivers all stored messages of a kind to actors of this program, each message when it is due.
   *
   * @param store the store that has the messages
   * @param kind the kind of the receivers
   */
  public static void deliverAllPending(Store store, String kind) {
    StoreRegistry.earliestDue(StoreBackend.of(store), Objects.requireNonNull(kind, "kind"), actor -> true)
        .forEach((actor, due) -> deliverPending(store, actor, due));
  }

  /**
   * Reports actors of other programs for which a turn of this program has stored messages, so that
   * these programs can call {@link #deliverPending}.
   *
   * @param store the store that has the messages
   * @param reader gets each actor, on a thread of the store, so it must not wait
   * @return a subscription, which ends when it is closed
   */
  public static Subscription onUnownedMessage(Store store, Consumer<Store.ActorId> reader) {
    return StoreRegistry.of(store).onUnownedMessage(Objects.requireNonNull(reader, "reader"));
  }
}
