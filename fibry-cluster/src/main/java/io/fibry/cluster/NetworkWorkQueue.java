package io.fibry.cluster;

import io.fibry.Exitable;
import io.fibry.Handler;
import io.fibry.cluster.spi.ClusterTransport;
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

/** A queue of the network, with a queue of parked work beside it. */
final class NetworkWorkQueue<M> implements WorkQueue<M> {
  private static final Codec<Failed> FAILED = Codec.of(Failed.class);

  /** The form of parked work. */
  private record Failed(byte[] work, int times, String reason, Instant at) {}

  private final String name;
  private final Protocol<M> protocol;
  private final ClusterTransport.Queue workQueue;
  private final ClusterTransport.Queue parked;
  private final Supplier<String> ids;
  private final WorkersFactory<M> workshop;

  /** Makes what does the work, once for each queue. */
  @FunctionalInterface
  interface WorkersFactory<M> {
    Exitable begin(NetworkWorkQueue<M> queue, Options options, Handler<M> worker);
  }

  NetworkWorkQueue(String name, Protocol<M> protocol, ClusterTransport engine, Subjects subjects, Supplier<String> ids,
      WorkersFactory<M> workshop) {
    this.name = name;
    this.protocol = protocol;
    this.workQueue = engine.queue(subjects.ofQueue(name));
    this.parked = engine.queue(subjects.ofParkedWork(name));
    this.ids = ids;
    this.workshop = workshop;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public void put(M work) {
    workQueue.put(work instanceof Idempotent once ? "once " + once.idempotencyKey() : ids.get(), protocol.encode(work));
  }

  @Override
  public Exitable consume(UnaryOperator<Options> options, Handler<M> worker) {
    return workshop.begin(this, options.apply(Options.DEFAULT), Objects.requireNonNull(worker, "worker"));
  }

  @Override
  public long size() {
    return workQueue.size();
  }

  // ---- for workers

  Subscription subscribe(int max, Consumer<ClusterTransport.WorkItem> worker) {
    return workQueue.take(max, worker);
  }

  M decode(byte[] work) {
    return protocol.decode(work);
  }

  void park(ClusterTransport.WorkItem piece, String reason) {
    var failed = new Failed(piece.work(), piece.attempts(), reason, Instant.now());
    parked.put("aside " + piece.number(), FAILED.encode(failed));
  }

  // ---- parked work

  @Override
  public List<ParkedWork<M>> parked(int max) {
    if (max < 1) throw new IllegalArgumentException("a list of " + max + " pieces; give 1 or more");
    return parked.list(0, max).stream().map(this::toParkedWork).toList();
  }

  private ParkedWork<M> toParkedWork(ClusterTransport.PendingWork one) {
    try {
      var failed = FAILED.decode(one.work());
      return new ParkedWork<>(one.number(), read(failed.work), failed.times, failed.reason, failed.at);
    } catch (CodecException foreign) {
      return new ParkedWork<>(one.number(), Optional.empty(), 0, "it is none: " + Lines.message(foreign),
          Instant.EPOCH);
    }
  }

  private Optional<M> read(byte[] work) {
    try {
      return Optional.of(protocol.decode(work));
    } catch (CodecException unreadable) {
      return Optional.empty();
    }
  }

  /**
   * First the work is put into the queue, then it is removed from the parked work: in between it is
   * in both, and is not lost.
   */
  @Override
  public boolean retry(ParkedWork<M> again) {
    var found = parked.list(again.number(), 1);
    if (found.isEmpty() || found.getFirst().number() != again.number()) return false;
    workQueue.put("again " + again.number(), FAILED.decode(found.getFirst().work()).work);
    return parked.remove(again.number());
  }

  @Override
  public boolean discard(ParkedWork<M> gone) {
    return parked.remove(gone.number());
  }

  @Override
  public String toString() {
    return "queue '" + name + "'";
  }
}
