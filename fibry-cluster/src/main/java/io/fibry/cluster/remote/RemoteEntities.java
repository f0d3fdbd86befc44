package io.fibry.cluster.remote;

import io.fibry.Actor;
import io.fibry.Exitable;
import io.fibry.cluster.membership.PartitionAssignment;
import io.fibry.cluster.wire.Protocol;
import io.fibry.pool.Entities;
import io.fibry.spi.ForwardingExitable;
import java.time.Duration;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;

/**
 * The addresses of the entities of a kind, on any node. This node has a {@link RemoteSender} for
 * each partition.
 */
public final class RemoteEntities<M> extends ForwardingExitable<Entities<String, M>> implements Entities<String, M> {
  private final Exitable exitable; // its exit is the exit of these entities
  private final String kind;
  private final int partitions;
  private final Protocol<M> protocol;
  private final boolean storesMessages; // whether messages are stored before they are handled
  private final IntFunction<RemoteSender> senders; // by partition
  private final LongSupplier size; // the number of entities on this node
  private final Duration defaultLimit; // the limit of requests that have no limit of their own

  public RemoteEntities(Exitable exitable, String kind, int partitions, Protocol<M> protocol, boolean storesMessages,
      IntFunction<RemoteSender> senders,
      LongSupplier size, Duration defaultLimit) {
    this.exitable = exitable;
    this.kind = kind;
    this.partitions = partitions;
    this.protocol = protocol;
    this.storesMessages = storesMessages;
    this.senders = senders;
    this.size = size;
    this.defaultLimit = defaultLimit;
  }

  @Override
  protected Exitable target() {
    return exitable;
  }

  @Override
  public Actor<M> actor(String key) {
    int partition = PartitionAssignment.partitionOf(PartitionAssignment.checkKey(kind, key), partitions);
    return new RemoteActor<>(new RemoteAddress(kind + "/" + key, Optional.of(key), storesMessages),
        protocol,
        senders.apply(partition),
        defaultLimit, Optional.empty(), Optional::empty);
  }

  @Override
  public long size() {
    return size.getAsLong();
  }

  @Override
  public String toString() {
    return "remote entities '" + kind + "'";
  }
}
