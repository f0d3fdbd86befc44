package io.fibry.durable;

import io.fibry.Actor;
import io.fibry.Exitable;
import io.fibry.pool.Entities;

/** Entities whose addresses keep messages. */
final class DurableEntities<M> extends Fronted implements Entities<String, M> {
  private final Entities<String, Object> entities;
  private final Kinds<M> kind;
  private final Delivery delivery;

  DurableEntities(Entities<String, Object> entities, Kinds<M> kind, Delivery delivery) {
    this.entities = entities;
    this.kind = kind;
    this.delivery = delivery;
  }

  @Override
  Exitable front() {
    return entities;
  }

  @Override
  public Actor<M> actor(String key) {
    return new DurableActor<>(entities.actor(kind.checkedKey(key)), kind, delivery, key, entities);
  }

  @Override
  public long size() {
    return entities.size();
  }

  @Override
  public Entities<String, M> closeOnExit(AutoCloseable... resources) {
    entities.closeOnExit(resources);
    return this;
  }
}
