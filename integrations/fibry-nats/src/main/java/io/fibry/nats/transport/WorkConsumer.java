package io.fibry.nats.transport;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.cluster.TransportException;
import io.fibry.cluster.spi.ClusterTransport.WorkItem;
import io.fibry.nats.NatsNetwork;
import io.fibry.nats.connection.NatsConnection;
import io.fibry.nats.stream.JetStreamLog;
import io.fibry.nats.stream.WriteOutcome;
import io.fibry.pubsub.Subscription;
import io.fibry.spi.BlockBuilder;
import io.fibry.store.StoreClosedException;
import io.fibry.store.StoreReadException;
import io.fibry.text.Lines;
import io.fibry.text.SafeLogger;
import io.nats.client.Message;
import io.nats.client.impl.NatsMessage;
import java.time.Duration;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;

/**
 * Pulls messages from a JetStream consumer, at most as many as the worker may handle in parallel.
 * Reports progress for the messages in progress, so that the server does not deliver them to other
 * nodes. An actor owns the state of the subscription.
 */
final class WorkConsumer implements Subscription {
  static final Duration ACK_TIMEOUT = Duration.ofSeconds(15); // after this time without progress, work is redelivered
  private static final Logger LOG = SafeLogger.of(NatsNetwork.class);
  private static final Duration TICK_INTERVAL = Duration.ofSeconds(2); // between two reports of progress
  private static final Duration PULL_EXPIRY = Duration.ofSeconds(5); // after which a request for work ends
  private static final long PULL_LOST_NANOS = PULL_EXPIRY.plus(TICK_INTERVAL).toNanos(); // an older pull counts as lost
  private static final int STATUS_TIMEOUT = 408; // a request has expired
  private static final int STATUS_NOT_FOUND = 404;
  private static final int STATUS_HEARTBEAT = 100;

  private record ConsumerTick() {}

  private record WorkEnded(NatsWorkItem piece) {}

  private final NatsConnection connection;
  private final JetStreamLog log;
  private final String subject;
  private final String consumerName;
  private final String inbox;
  private final int maxParallel;
  private final Consumer<WorkItem> worker;
  private final Actor<Object> actor;
  private final Subscription deliveries;
  private final Set<NatsWorkItem> inProgress = new HashSet<>(); // this and the next four: used only by the actor
  private int awaitedPieces; // pieces of work that were requested and have not come
  private long requestedAt; // ns by System.nanoTime
  private boolean isBroken; // the server reported that the consumer failed
  private long requestNumber; // of the last request for work
  private volatile boolean closed;

  private WorkConsumer(NatsConnection connection, JetStreamLog log, String subject, int maxParallel,
      Consumer<WorkItem> worker) {
    this.connection = connection;
    this.log = log;
    this.subject = subject;
    this.consumerName = subject.replace('.', '_');
    this.inbox = connection.connection().createInbox();
    this.maxParallel = maxParallel;
    this.worker = worker;
    makeConsumer();
    // messages after the end of this actor are ignored: they report that a request for work has
    // expired or that work has ended, or contain work, which the server delivers again if it is not
    // acknowledged
    var builder = BlockBuilder.of(ActorSystem.anonymous()).excludedFromAccounts().onFailure(FailurePolicy.resume());
    this.actor = BlockBuilder.of(builder).ignoreLost(message -> true).newActor(this::handle);
    Subscription subscription = null;
    try {
      subscription = connection.listen(inbox + ".*", Optional.empty(), actor::sendMessage);
    } finally {
      if (subscription == null) actor.kill();
    }
    this.deliveries = subscription;
  }

  static WorkConsumer begin(NatsConnection connection, JetStreamLog log, String subject, int maxParallel,
      Consumer<WorkItem> worker) {
    var workConsumer = new WorkConsumer(connection, log, subject, maxParallel, worker);
    workConsumer.actor.sendMessage(new ConsumerTick());
    workConsumer.actor.sendMessageEvery(new ConsumerTick(), TICK_INTERVAL);
    return workConsumer;
  }

  /**
   * Stops taking work, and releases work that arrives afterwards. The actor ends after its last
   * work, or at the next tick if the connection is closed.
   */
  @Override
  public void close() {
    if (closed) return;
    closed = true;
    deliveries.close();
    actor.sendMessage(new ConsumerTick());
  }

  private void handle(Object message, ActorContext<Object> context) {
    switch (message) {
      case Message delivery when delivery.isStatusMessage() -> onStatus(delivery);
      case Message delivery -> take(delivery);
      case WorkEnded ended -> inProgress.remove(ended.piece);
      case ConsumerTick tick -> reportProgress();
      default -> throw new AssertionError(message);
    }
    if (!closed) requestWork();
    else if (inProgress.isEmpty() || connection.isClosed()) context.self().sendPoisonPill();
  }

  private void requestWork() {
    if (awaitedPieces > 0 || inProgress.size() >= maxParallel) return;
    int free = maxParallel - inProgress.size();
    String request = "{\"batch\":" + free + ",\"expires\":" + PULL_EXPIRY.toNanos() + "}";
    // if the request cannot be sent, the next tick tries again
    if (!trySend(log.requestSubject(consumerName), request, Optional.of(inbox + "." + ++requestNumber))) return;
    awaitedPieces = free;
    requestedAt = System.nanoTime();
  }

  private void onStatus(Message status) {
    int code = status.getStatus().getCode();
    // ignores heartbeats, and the end of an older request
    if (code == STATUS_HEARTBEAT || !status.getSubject().equals(inbox + "." + requestNumber)) return;
    if (code == STATUS_TIMEOUT || code == STATUS_NOT_FOUND) awaitedPieces = 0;
    else onConsumerFailure(status.getStatus().getMessageWithCode());
  }

  /**
   * Called for a status that is neither a heartbeat nor the end of a request, for example after the
   * consumer was deleted.
   */
  private void onConsumerFailure(String reason) {
    if (!isBroken) LOG.warn("queue {} delivers no work at the moment: {}", subject, Lines.escaped(reason));
    isBroken = true;
  }

  private void makeConsumer() {
    try {
      log.createConsumer(consumerName, subject, ACK_TIMEOUT);
    } catch (StoreReadException | StoreClosedException failure) {
      throw new TransportException(TransportException.Failure.DISCONNECTED,
          "work of " + subject + " cannot be taken: " + Lines.message(failure));
    }
  }

  private void take(Message message) {
    var piece = new NatsWorkItem(message, message.metaData().streamSequence(), (int) message.metaData()
        .deliveredCount());
    awaitedPieces = Math.max(0, awaitedPieces - 1);
    inProgress.add(piece);
    if (closed) piece.release(Duration.ZERO);
    else worker.accept(piece);
  }

  private void reportProgress() {
    for (var piece : inProgress) trySend(piece.replySubject, "+WPI", Optional.empty());
    if (awaitedPieces > 0 && System.nanoTime() - requestedAt > PULL_LOST_NANOS) awaitedPieces = 0;
    if (isBroken && !closed) recoverConsumer();
  }

  private void recoverConsumer() {
    try {
      makeConsumer();
      isBroken = false;
      awaitedPieces = 0;
    } catch (TransportException failure) {
      LOG.debug("queue {} does not deliver work yet", subject, failure); // retried at the next tick
    }
  }

  private boolean trySend(String subject, String text, Optional<String> replyTo) {
    var message = NatsMessage.builder().subject(subject).data(text);
    replyTo.ifPresent(message::replyTo);
    try {
      connection.requests().publish(message.build());
      return true;
    } catch (TransportException failure) {
      LOG.debug("a message to {} was not sent", subject, failure);
      return false;
    }
  }

  /** A piece of work that was delivered. Thread-safe. */
  private final class NatsWorkItem implements WorkItem {
    private final long number;
    private final byte[] work;
    private final int attempts;
    private final String replySubject; // the server's subject for progress and acknowledgement

    NatsWorkItem(Message message, long number, int attempts) {
      this.number = number;
      this.work = message.getData();
      this.attempts = attempts;
      this.replySubject = message.getReplyTo();
    }

    @Override
    public long number() {
      return number;
    }

    @Override
    public byte[] work() {
      return work;
    }

    @Override
    public int attempts() {
      return attempts;
    }

    @Override
    public boolean acknowledge() {
      boolean interrupted = Thread.interrupted(); // the client drops messages of interrupted threads
      try {
        return log.retryUntilSettled(() -> log.acknowledge(replySubject)) instanceof WriteOutcome.WriteSuccess;
      } finally {
        actor.sendMessage(new WorkEnded(this));
        if (interrupted) Thread.currentThread().interrupt();
      }
    }

    @Override
    public void release(Duration delay) {
      trySend(replySubject, delay.isPositive() ? "-NAK {\"delay\":" + delay.toNanos() + "}" : "-NAK", Optional.empty());
      actor.sendMessage(new WorkEnded(this));
    }
  }
}
