package io.fibry.cluster;

import io.fibry.Exitable;
import io.fibry.Handler;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.wire.Protocol;
import io.fibry.cluster.wire.Subjects;
import io.fibry.codec.Codec;
import io.fibry.codec.CodecException;
import io.fibry.durable.Idempotent;
import io.fibry.pubsub.Subscription;
import io.fibry.text.Lines;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/** A work queue of the network, with a second queue for its parked work. */
final class NetworkWorkQueue<M> implements WorkQueue<M> {
  private static final Codec<Failed> PARKED_CODEC = Codec.of(Failed.class);

  /** The stored form of parked work. */
  private record Failed(byte[] work, int times, String reason, Instant at) {}

  private final String name;
  private final Protocol<M> protocol;
  private final ClusterTransport.Queue workQueue;
  private final ClusterTransport.Queue parkedQueue;
  private final Supplier<String> ids;
  private final WorkersFactory<M> workersFactory;

  /**
   * Begins the workers of a queue on this node. Throws if the queue has workers on this node
   * already.
   */
  @FunctionalInterface
  interface WorkersFactory<M> {
    Exitable begin(NetworkWorkQueue<M> queue, Options options, Handler<M> worker);
  }

  NetworkWorkQueue(String name, Protocol<M> protocol, ClusterTransport transport, Subjects subjects,
      Supplier<String> ids, WorkersFactory<M> workersFactory) {
    this.name = name;
    this.protocol = protocol;
    this.workQueue = transport.queue(subjects.ofQueue(name));
    this.parkedQueue = transport.queue(subjects.ofParkedWork(name));
    this.ids = ids;
    this.workersFactory = workersFactory;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public void put(M work) {
    workQueue.put(work instanceof Idempotent idempotent ? "once " + idempotent.idempotencyKey() : ids.get(),
        protocol.encode(work));
  }

  @Override
  public Exitable consume(UnaryOperator<Options> options, Handler<M> worker) {
    return workersFactory.begin(this, options.apply(Options.DEFAULT), Objects.requireNonNull(worker, "worker"));
  }

  @Override
  public long size() {
    return workQueue.size();
  }

  // ---- for workers

  Subscription subscribe(int maxParallel, Consumer<ClusterTransport.WorkItem> worker) {
    return workQueue.take(maxParallel, worker);
  }

  M decode(byte[] work) {
    return protocol.decode(work);
  }

  void park(ClusterTransport.WorkItem piece, String reason) {
    var parkedWork = new Failed(piece.work(), piece.attempts(), reason, Instant.now());
    parkedQueue.put("aside " + piece.number(), PARKED_CODEC.encode(parkedWork));
  }

  // ---- parked work

  @Override
  public List<ParkedWork<M>> parked(int maxPieces) {
    if (maxPieces < 1) throw new IllegalArgumentException("a list of " + maxPieces + " pieces; give 1 or more");
    return parkedQueue.list(0, maxPieces).stream().map(this::toParkedWork).toList();
  }

  private ParkedWork<M> toParkedWork(ClusterTransport.PendingWork pending) {
    try {
      var parkedWork = PARKED_CODEC.decode(pending.work());
      return new ParkedWork<>(pending.number(), read(parkedWork.work), parkedWork.times, parkedWork.reason,
          parkedWork.at);
    } catch (CodecException failure) {
      return new ParkedWork<>(pending.number(), Optional.empty(), 0,
          "its stored form cannot be read: " + Lines.message(failure), Instant.EPOCH);
    }
  }

  private Optional<M> read(byte[] work) {
    try {
      return Optional.of(protocol.decode(work));
    } catch (CodecException failure) {
      return Optional.empty();
    }
  }

  /**
   * Puts the work into the queue before it removes it from the parked work, so that the work is not
   * lost in between.
   */
  @Override
  public boolean retry(ParkedWork<M> work) {
    var pieces = parkedQueue.list(work.number(), 1);
    if (pieces.isEmpty() || pieces.getFirst().number() != work.number()) return false;
    workQueue.put("again " + work.number(), PARKED_CODEC.decode(pieces.getFirst().work()).work);
    return parkedQueue.remove(work.number());
  }

  @Override
  public boolean discard(ParkedWork<M> work) {
    return parkedQueue.remove(work.number());
  }

  @Override
  public String toString() {
    return "queue '" + name + "'";
  }
}
