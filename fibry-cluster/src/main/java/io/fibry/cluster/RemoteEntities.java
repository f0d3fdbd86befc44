package io.fibry.cluster;

import io.fibry.Actor;
import io.fibry.Exitable;
import io.fibry.pool.Entities;
import io.fibry.spi.ForwardingExitable;
import java.time.Duration;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;

/** Addresses of entities, wherever they live. Messages to each part have a relay here. */
final class RemoteEntities<M> extends ForwardingExitable<Entities<String, M>> implements Entities<String, M> {
  private final Exitable front;
  private final String kind;
  private final int parts;
  private final Protocol<M> protocol;
  private final boolean keeps; // messages are stored before they are handled
  private final IntFunction<RemoteSender> relays; // by part
  private final LongSupplier size;
  private final Duration longest; // for answers without a limit

  RemoteEntities(Exitable front, String kind, int parts, Protocol<M> protocol, boolean keeps,
      IntFunction<RemoteSender> relays,
      LongSupplier size, Duration longest) {
    this.front = front;
    this.kind = kind;
    this.parts = parts;
    this.protocol = protocol;
    this.keeps = keeps;
    this.relays = relays;
    this.size = size;
    this.longest = longest;
  }

  @Override
  protected Exitable target() {
    return front;
  }

  @Override
  public Actor<M> actor(String key) {
    int part = PartitionAssignment.part(PartitionAssignment.checked(kind, key), parts);
    return new RemoteActor<>(new RemoteSender.RemoteAddress(kind + "/" + key, Optional.of(key), keeps), protocol,
        relays.apply(part),
        longest, Optional.empty());
  }

  @Override
  public long size() {
    return size.getAsLong();
  }

  @Override
  public String toString() {
    return "far entities '" + kind + "'";
  }
}
