package io.fibry.nats;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.cluster.TransportException;
import io.fibry.cluster.spi.ClusterTransport.WorkItem;
import io.fibry.pubsub.Subscription;
import io.fibry.store.StoreClosedException;
import io.fibry.store.StoreReadException;
import io.fibry.text.Lines;
import io.nats.client.Message;
import io.nats.client.impl.NatsMessage;
import java.time.Duration;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks a consumer of JetStream for as many pieces of work as may be worked on, and reports those
 * that are, so that the server does not give them to other nodes. An actor.
 */
final class WorkConsumer implements Subscription {
  static final Duration ACK_TIMEOUT = Duration.ofSeconds(15); // by the server, without progress of its reader
  private static final Logger LOG = LoggerFactory.getLogger(NatsNetwork.class);
  private static final Duration TICK_INTERVAL = Duration.ofSeconds(2);
  private static final Duration PULL_EXPIRY = Duration.ofSeconds(5); // so long the server waits for work
  private static final long PULL_LOST_NANOS = PULL_EXPIRY.plus(TICK_INTERVAL).toNanos(); // then it has not heard of it
  private static final int STATUS_TIMEOUT = 408; // of what was asked for, not all has come
  private static final int STATUS_NOT_FOUND = 404;
  private static final int STATUS_HEARTBEAT = 100;

  private record ConsumerTick() {}

  private record WorkEnded(NatsWorkItem piece) {}

  private final NatsConnection connection;
  private final JetStreamLog log;
  private final String subject;
  private final String consumer;
  private final String inbox;
  private final int maxParallel;
  private final Consumer<WorkItem> worker;
  private final Actor<Object> actor;
  private final Subscription arrivals;
  private final Set<NatsWorkItem> inProgress = new HashSet<>(); // the actor's, as what follows
  private int requested; // and has not come
  private long requestedAt;
  private boolean isBroken; // the consumer does not answer
  private long number; // of the last time it asked
  private volatile boolean closed;

  private WorkConsumer(NatsConnection connection, JetStreamLog log, String subject, int maxParallel,
      Consumer<WorkItem> worker) {
    this.connection = connection;
    this.log = log;
    this.subject = subject;
    this.consumer = subject.replace('.', '_');
    this.inbox = connection.connection().createInbox();
    this.maxParallel = maxParallel;
    this.worker = worker;
    makeConsumer();
    this.actor = ActorSystem.anonymous().onFailure(FailurePolicy.resume()).newActor(this::handle);
    Subscription begun = null;
    try {
      begun = connection.listen(inbox + ".*", Optional.empty(), actor::sendMessage);
    } finally {
      if (begun == null) actor.kill();
    }
    this.arrivals = begun;
  }

  static WorkConsumer begin(NatsConnection connection, JetStreamLog log, String subject, int maxParallel,
      Consumer<WorkItem> worker) {
    var taking = new WorkConsumer(connection, log, subject, maxParallel, worker);
    taking.actor.sendMessage(new ConsumerTick());
    taking.actor.sendMessageEvery(new ConsumerTick(), TICK_INTERVAL);
    return taking;
  }

  /** Pieces that come from now on go back. The actor stays until all pieces are finished. */
  @Override
  public void close() {
    if (closed) return;
    closed = true;
    arrivals.close();
    actor.sendMessage(new ConsumerTick());
  }

  private void handle(Object message, ActorContext<Object> context) {
    switch (message) {
      case Message given when given.isStatusMessage() -> onStatus(given);
      case Message given -> take(given);
      case WorkEnded over -> inProgress.remove(over.piece);
      case ConsumerTick beat -> reportProgress();
      default -> throw new AssertionError(message);
    }
    if (!closed) requestWork();
    else if (inProgress.isEmpty() || connection.isClosed()) context.self().sendPoisonPill();
  }

  private void requestWork() {
    if (requested > 0 || inProgress.size() >= maxParallel) return;
    int free = maxParallel - inProgress.size();
    String what = "{\"batch\":" + free + ",\"expires\":" + PULL_EXPIRY.toNanos() + "}";
    if (!trySend(log.requestSubject(consumer), what, Optional.of(inbox + "." + ++number))) return; // at the next beat
    requested = free;
    requestedAt = System.nanoTime();
  }

  private void onStatus(Message status) {
    int code = status.getStatus().getCode();
    if (code == STATUS_HEARTBEAT || !status.getSubject().equals(inbox + "." + number)) return; // it says nothing of now
    if (code == STATUS_TIMEOUT || code == STATUS_NOT_FOUND) requested = 0;
    else onConsumerFailure(status.getStatus().getMessageWithCode());
  }

  /** The server that has the consumer ends, or somebody has deleted it. */
  private void onConsumerFailure(String why) {
    if (!isBroken) LOG.warn("work of {} does not come at the moment: {}", subject, Lines.escaped(why));
    isBroken = true;
  }

  private void makeConsumer() {
    try {
      log.createConsumer(consumer, subject, ACK_TIMEOUT);
    } catch (StoreReadException | StoreClosedException failed) {
      throw new TransportException(TransportException.Failure.DISCONNECTED,
          "work of " + subject + " cannot be taken: " + Lines.message(failed));
    }
  }

  private void take(Message given) {
    var piece = new NatsWorkItem(given, given.metaData().streamSequence(), (int) given.metaData().deliveredCount());
    requested = Math.max(0, requested - 1);
    inProgress.add(piece);
    if (closed) piece.release(Duration.ZERO);
    else worker.accept(piece);
  }

  private void reportProgress() {
    for (var piece : inProgress) trySend(piece.answers, "+WPI", Optional.empty());
    if (requested > 0 && System.nanoTime() - requestedAt > PULL_LOST_NANOS) requested = 0;
    if (isBroken && !closed) recoverConsumer();
  }

  private void recoverConsumer() {
    try {
      makeConsumer();
      isBroken = false;
      requested = 0;
    } catch (TransportException again) {
      LOG.debug("work of {} does not come yet", subject, again); // at the next beat
    }
  }

  private boolean trySend(String subject, String text, Optional<String> answerTo) {
    var message = NatsMessage.builder().subject(subject).data(text);
    answerTo.ifPresent(message::replyTo);
    try {
      connection.requests().publish(message.build());
      return true;
    } catch (TransportException cut) {
      LOG.debug("{} did not leave", subject, cut);
      return false;
    }
  }

  /** A piece of work. Thread-safe. */
  private final class NatsWorkItem implements WorkItem {
    private final long number;
    private final byte[] work;
    private final int times;
    private final String answers; // where the server hears of it

    NatsWorkItem(Message message, long number, int times) {
      this.number = number;
      this.work = message.getData();
      this.times = times;
      this.answers = message.getReplyTo();
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
      return times;
    }

    @Override
    public boolean acknowledge() {
      boolean interrupted = Thread.interrupted(); // an interrupted thread could not send
      try {
        return log.settle(() -> log.acknowledge(answers)) instanceof WriteOutcome.WriteSuccess;
      } finally {
        actor.sendMessage(new WorkEnded(this));
        if (interrupted) Thread.currentThread().interrupt();
      }
    }

    @Override
    public void release(Duration later) {
      trySend(answers, later.isPositive() ? "-NAK {\"delay\":" + later.toNanos() + "}" : "-NAK", Optional.empty());
      actor.sendMessage(new WorkEnded(this));
    }
  }
}
