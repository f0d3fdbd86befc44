package io.fibry.cluster;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ContextPropagator.HandlerStep;
import io.fibry.ContextPropagator.StepKind;
import io.fibry.ContextPropagator.StepObservation;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.Handler;
import io.fibry.cluster.remote.ReplyCodec;
import io.fibry.cluster.spi.ClusterTransport.WorkItem;
import io.fibry.pool.Pools;
import io.fibry.pubsub.Subscription;
import io.fibry.spi.BlockBuilder;
import io.fibry.spi.ForwardingExitable;
import io.fibry.text.Durations;
import io.fibry.text.Lines;
import io.fibry.text.SafeLogger;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;

/**
 * Does the work of a queue on this node. The transport delivers only as many pieces as may be done
 * at the same time.
 */
final class QueueWorkers<M> extends ForwardingExitable<QueueWorkers<M>> {
  private static final Logger LOG = SafeLogger.of(Cluster.class);
  private static final Duration LATE_PIECE_DELAY = Duration.ofSeconds(1);

  private final NetworkWorkQueue<M> queue;
  private final WorkQueue.Options options;
  private final Handler<M> worker;
  private final BlockBuilder<?> blockBuilder; // has the context propagators of the node's scope
  private final Actor<WorkItem> pool;
  private final Subscription workSubscription;
  private volatile boolean isKilled;

  QueueWorkers(ActorBuilder<Object> builder, NetworkWorkQueue<M> queue, WorkQueue.Options options, Handler<M> worker) {
    this.queue = queue;
    this.options = options;
    this.worker = worker;
    this.blockBuilder = BlockBuilder.of(builder);
    this.pool = Pools.perMessage(builder.onFailure(FailurePolicy.resume())).newActor(this::handle);
    Subscription subscription = null;
    try {
      subscription = queue.subscribe(options.maxParallel(), this::receive);
      pool.closeOnExit(subscription);
    } finally {
      if (subscription == null) pool.kill();
    }
    this.workSubscription = subscription;
  }

  /** {@return the name of the queue} */
  String queueName() {
    return queue.name();
  }

  // ---- the end

  @Override
  protected Exitable target() {
    return pool;
  }

  @Override
  public void askExit() {
    workSubscription.close();
    super.askExit();
  }

  @Override
  public void sendPoisonPill() {
    workSubscription.close();
    super.sendPoisonPill();
  }

  @Override
  public void kill() {
    isKilled = true;
    workSubscription.close();
    super.kill();
  }

  @Override
  public void close() {
    workSubscription.close();
    super.close();
  }

  /**
   * Waits for the end of workers that were asked to exit. Pieces of work that take longer than the
   * limit are interrupted, and given back to their queues.
   *
   * @param limit for all queues together
   */
  static void awaitOrKill(Collection<QueueWorkers<?>> workers, Duration limit) {
    long deadline = System.nanoTime() + limit.toNanos();
    for (var queueWorkers : workers)
      if (!queueWorkers.waitForExit(Duration.ofNanos(Math.max(0, deadline - System.nanoTime())))) queueWorkers.kill();
    workers.forEach(QueueWorkers::waitForExit);
  }

  // ---- pieces

  /**
   * Called on a thread of the transport. Pieces may arrive until the subscription ends. Another
   * node may take a piece that arrives after the pool has ended, but only after a delay.
   */
  private void receive(WorkItem piece) {
    if (!pool.sendMessage(piece)) piece.release(LATE_PIECE_DELAY);
  }

  private void handle(WorkItem piece) {
    if (piece.attempts() > options.maxAttempts()) {
      park(piece, "it was begun " + Lines.count(options.maxAttempts(), "time") + ", and did not end");
      return;
    }
    try (var observation = beginStep(piece)) {
      work(piece, observation);
    }
  }

  private void work(WorkItem piece, StepObservation observation) {
    try {
      worker.handle(queue.decode(piece.work()));
    } catch (Throwable failure) {
      observation.ended(piece.attempts() < options.maxAttempts() || isKilled ? "retried" : "parked",
          Optional.of(failure));
      if (isKilled) piece.release(Duration.ZERO); // any node may take it at once
      else onFailure(piece, failure);
      if (failure instanceof Error error) throw error;
      return;
    }
    observation.ended("done", Optional.empty());
    if (!piece.acknowledge())
      LOG.warn("{} is done, but the confirmation was lost, so it may be done again", describe(piece));
  }

  /** Begins a piece at the context propagators. Allocates nothing if there are none. */
  private StepObservation beginStep(WorkItem piece) {
    return blockBuilder.hasPropagators()
        ? blockBuilder.beginStep(new WorkStep(queue.name(), piece.number(), piece.attempts()))
        : StepObservation.NONE;
  }

  /** A piece of work, as context propagators see it. */
  private record WorkStep(String name, long number, int attempts) implements HandlerStep {
    @Override
    public StepKind kind() {
      return StepKind.QUEUE_WORK;
    }

    @Override
    public Map<String, Object> attributes() {
      return Map.of("messaging.destination.name", name, "messaging.message.id", Long.toString(number),
          "fibry.work.attempt", (long) attempts);
    }

    @Override
    public Map<String, String> senderTexts() {
      return Map.of();
    }
  }

  private void onFailure(WorkItem piece, Throwable failure) {
    if (piece.attempts() >= options.maxAttempts()) {
      LOG.error("{} failed, attempt {} of {}; it will be parked", describe(piece), piece.attempts(),
          options.maxAttempts(), failure);
      park(piece, ReplyCodec.summarize(failure));
    } else {
      var pause = options.backoffAfter(piece.attempts());
      LOG.warn("{} failed, attempt {} of {}; the next in {}", describe(piece), piece.attempts(), options.maxAttempts(),
          Durations.text(pause), failure);
      piece.release(pause);
    }
  }

  private void park(WorkItem piece, String reason) {
    try {
      queue.park(piece, reason);
    } catch (RuntimeException failure) {
      LOG.warn("{} could not be parked, and is tried again later", describe(piece), failure);
      piece.release(options.maxBackoff());
      return;
    }
    piece.acknowledge();
  }

  private String describe(WorkItem piece) {
    return "work " + piece.number() + " of queue '" + queue.name() + "'";
  }
}
