package io.fibry.durable.delivery;

import io.fibry.Actor;
import io.fibry.Exitable;
import io.fibry.durable.kind.DefaultDurableBuilder;
import io.fibry.pool.Entities;
import io.fibry.spi.ForwardingExitable;

/** Entities of a durable kind: their addresses store messages if the kind does. */
public final class DurableEntities<M> extends ForwardingExitable<Entities<String, M>> implements Entities<String, M> {
  private final Entities<String, Object> entities;
  private final DefaultDurableBuilder<M> kind;
  private final PendingDelivery delivery;

  public DurableEntities(Entities<String, Object> entities, DefaultDurableBuilder<M> kind, PendingDelivery delivery) {
    this.entities = entities;
    this.kind = kind;
    this.delivery = delivery;
  }

  @Override
  protected Entities<String, Object> target() {
    return entities;
  }

  /** Returns the actor behind a durable address, or the entities behind durable entities. */
  public static Exitable unwrap(Exitable exitable) {
    return exitable instanceof DurableActor<?> actor ? actor.target()
        : exitable instanceof DurableEntities<?> entities ? entities.entities : exitable;
  }

  @Override
  public Actor<M> actor(String key) {
    return new DurableActor<>(entities.actor(kind.checkedKey(key)), kind, delivery, key, entities);
  }

  /**
   * Sends the pill when all requests that are held at this moment have been sent. They are held
   * because couriers deliver earlier messages first.
   */
  @Override
  public void sendPoisonPill() {
    delivery.endBarrier(key -> true).thenRun(entities::sendPoisonPill);
  }

  @Override
  public void close() {
    // the wait cycle has 3 elements: an actor, its entities, and the actor again
    DurableActor.close(delivery.endBarrier(key -> true), entities, 3);
  }

  @Override
  public long size() {
    return entities.size();
  }

  @Override
  public String toString() {
    return entities.toString();
  }
}
