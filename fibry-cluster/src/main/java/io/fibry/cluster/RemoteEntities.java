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
  private final int partitions;
  private final Protocol<M> protocol;
  private final boolean storesMessages; // messages are stored before they are handled
  private final IntFunction<RemoteSender> senders; // by part
  private final LongSupplier size;
  private final Duration maxWait; // for answers without a limit

  RemoteEntities(Exitable front, String kind, int partitions, Protocol<M> protocol, boolean storesMessages,
      IntFunction<RemoteSender> senders,
      LongSupplier size, Duration maxWait) {
    this.front = front;
    this.kind = kind;
    this.partitions = partitions;
    this.protocol = protocol;
    this.storesMessages = storesMessages;
    this.senders = senders;
    this.size = size;
    this.maxWait = maxWait;
  }

  @Override
  protected Exitable target() {
    return front;
  }

  @Override
  public Actor<M> actor(String key) {
    int part = PartitionAssignment.partitionOf(PartitionAssignment.checkKey(kind, key), partitions);
    return new RemoteActor<>(new RemoteSender.RemoteAddress(kind + "/" + key, Optional.of(key), storesMessages),
        protocol,
        senders.apply(part),
        maxWait, Optional.empty());
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
