package io.fibry.durable;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.codec.Codec;
import io.fibry.pool.Entities;
import io.fibry.pubsub.Subscription;
import io.fibry.store.Store;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * For programs that share a store, each of which owns some of the keys. Two actors of one key, in
 * two programs, would end each other's lives again and again. No turn would be lost or stored
 * twice, but the turns of one of them are refused. {@code fibry-cluster} shares keys out by it.
 * Immutable and thread-safe.
 *
 * @param <M> messages
 */
public final class SharedStoreAccess<M> {
  private final DurableDefinition<?, ?, M> definition;

  private SharedStoreAccess(DurableDefinition<?, ?, M> definition) {
    this.definition = definition;
  }

  /**
   * For a kind.
   *
   * @param <M> messages
   * @param kind which
   * @return how to share its keys out
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

  /** {@return the type of its messages} */
  public Class<M> messages() {
    return definition.kind().messages().type();
  }

  /**
   * How its messages are written.
   *
   * @return the codec of the definition
   * @throws IllegalArgumentException if they have no form in bytes
   */
  public Codec<M> codec() {
    return definition.kind().messages().requireCodec();
  }

  /** {@return whether messages are stored before they are handled} */
  public boolean storesMessages() {
    return definition.kind().maxStoredMessages() > 0;
  }

  /**
   * Entities of some keys. Messages that wait at the store are given to these entities only.
   *
   * @param how makes them
   * @param store where they are kept
   * @param idle how long an actor stays without a message
   * @param keys chooses the keys that this program owns; messages to other keys must not be sent
   * here
   * @return entities, none alive
   */
  public Entities<String, M> entities(ActorBuilder<? super M> how, Store store, Duration idle,
      Predicate<String> keys) {
    return definition.entities(how, store, idle, Objects.requireNonNull(keys, "keys"));
  }

  /**
   * Returns an actor's address for one message that came from another program. If the message is
   * kept, these bytes are stored, because newer code may have written them with fields that this
   * code would lose.
   *
   * @param <M> messages
   * @param actor to which the message is sent
   * @param bytes of the message, by the {@link #codec} of its kind
   * @return the address, for this message only
   */
  public static <M> Actor<M> asReceived(Actor<M> actor, byte[] bytes) {
    return Objects.requireNonNull(actor, "actor") instanceof DurableActor<M> durable ? durable.withEncodedMessage(bytes)
        : actor;
  }

  /**
   * Looks after what waits at the store for an actor of this program: another program has left it
   * there.
   *
   * @param store where it waits
   * @param actor the actor; the call has no effect if this program does not own it
   */
  public static void deliverPending(Store store, Store.ActorId actor) {
    deliverPending(store, actor, Instant.MIN);
  }

  /**
   * Looks after a message for an actor of this program: at once, or when it is due.
   *
   * @param store where it waits
   * @param actor the actor; the call has no effect if this program does not own it
   * @param due when it is due
   */
  public static void deliverPending(Store store, Store.ActorId actor, Instant due) {
    StoreRegistry.of(store).notifyStored(Objects.requireNonNull(actor, "actor"), Objects.requireNonNull(due, "due"));
  }

  /**
   * Hears of actors of other programs for which a turn of this one has left messages at the store,
   * so that those can be told to {@link #deliverPending}.
   *
   * @param store where they wait
   * @param reader gets each; on a thread of the store, so it must not wait
   * @return closing it ends that
   */
  public static Subscription onUnownedMessage(Store store, Consumer<Store.ActorId> reader) {
    return StoreRegistry.of(store).onUnownedMessage(Objects.requireNonNull(reader, "reader"));
  }
}
