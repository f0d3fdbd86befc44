package io.fibry.cluster;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.Handler;
import io.fibry.cluster.spi.ClusterTransport.WorkItem;
import io.fibry.pool.Pools;
import io.fibry.pubsub.Subscription;
import io.fibry.spi.ForwardingExitable;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Does the work of a queue on this node. The engine gives no more than can be done at once. */
final class QueueWorkers<M> extends ForwardingExitable<QueueWorkers<M>> {
  private static final Logger LOG = LoggerFactory.getLogger(Cluster.class);
  private static final Duration END_TIMEOUT = Duration.ofSeconds(20); // of the node
  private static final Duration END_MARGIN = Duration.ofSeconds(1); // until the network knows

  private final NetworkWorkQueue<M> queue;
  private final WorkQueue.Options options;
  private final Handler<M> worker;
  private final Actor<WorkItem> pool;
  private final Subscription arrivals;
  private volatile boolean killed;

  QueueWorkers(ActorBuilder<Object> how, NetworkWorkQueue<M> queue, WorkQueue.Options options, Handler<M> worker) {
    this.queue = queue;
    this.options = options;
    this.worker = worker;
    this.pool = Pools.perMessage(how.onFailure(FailurePolicy.resume())).newActor(this::handle);
    Subscription begun = null;
    try {
      begun = queue.subscribe(options.maxParallel(), this::receive);
      pool.closeOnExit(begun);
    } finally {
      if (begun == null) pool.kill();
    }
    this.arrivals = begun;
  }

  /** Its name. */
  String queue() {
    return queue.name();
  }

  // ---- its end

  @Override
  protected Exitable target() {
    return pool;
  }

  @Override
  public void askExit() {
    arrivals.close();
    super.askExit();
  }

  @Override
  public void sendPoisonPill() {
    arrivals.close();
    super.sendPoisonPill();
  }

  @Override
  public void kill() {
    killed = true;
    arrivals.close();
    super.kill();
  }

  @Override
  public void close() {
    arrivals.close();
    super.close();
  }

  /** Pieces that take too long go back. */
  void stopAndRelease() {
    askExit();
    if (!waitForExit(END_TIMEOUT)) kill();
    waitForExit();
  }

  // ---- pieces

  /** On the engine's thread. */
  private void receive(WorkItem piece) {
    if (!pool.sendMessage(piece)) piece.release(END_MARGIN); // it may come here until the subscription ends
  }

  private void handle(WorkItem piece) {
    if (piece.attempts() > options.maxAttempts()) {
      park(piece, "it was begun " + options.maxAttempts() + " times, and did not end");
      return;
    }
    try {
      worker.handle(queue.decode(piece.work()));
    } catch (Throwable failure) {
      if (killed) piece.release(Duration.ZERO); // another node continues with it
      else onFailure(piece, failure);
      if (failure instanceof Error error) throw error;
      return;
    }
    if (!piece.acknowledge()) LOG.warn("{} is done, and may be done once more", text(piece));
  }

  private void onFailure(WorkItem piece, Throwable failure) {
    if (piece.attempts() >= options.maxAttempts()) {
      LOG.error("{} failed {} times, and is put aside", text(piece), piece.attempts(), failure);
      park(piece, ReplyCodec.summarize(failure));
    } else {
      var pause = options.backoffAfter(piece.attempts());
      LOG.warn("{} failed, attempt {} of {}; again in {}", text(piece), piece.attempts(), options.maxAttempts(), pause,
          failure);
      piece.release(pause);
    }
  }

  private void park(WorkItem piece, String reason) {
    try {
      queue.park(piece, reason);
    } catch (RuntimeException lost) {
      LOG.warn("{} could not be put aside, and waits", text(piece), lost);
      piece.release(options.maxBackoff());
      return;
    }
    piece.acknowledge();
  }

  private String text(WorkItem piece) {
    return "work " + piece.number() + " of queue '" + queue.name() + "'";
  }
}
