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
  static final Duration GIVEN_UP = Duration.ofSeconds(15); // by the server, without progress of its reader
  private static final Logger LOG = LoggerFactory.getLogger(NatsNetwork.class);
  private static final Duration BEAT = Duration.ofSeconds(2);
  private static final Duration ASKED = Duration.ofSeconds(5); // so long the server waits for work
  private static final long LOST = ASKED.plus(BEAT).toNanos(); // then it has not heard of it
  private static final int LATE = 408; // of what was asked for, not all has come
  private static final int NONE = 404;
  private static final int BEATING = 100;

  private record ConsumerTick() {}

  private record WorkEnded(NatsWorkItem piece) {}

  private final NatsConnection link;
  private final JetStreamLog log;
  private final String subject;
  private final String consumer;
  private final String inbox;
  private final int most;
  private final Consumer<WorkItem> worker;
  private final Actor<Object> actor;
  private final Subscription arrivals;
  private final Set<NatsWorkItem> out = new HashSet<>(); // the actor's, as what follows
  private int asked; // and has not come
  private long askedAt;
  private boolean broken; // the consumer does not answer
  private long number; // of the last time it asked
  private volatile boolean closed;

  private WorkConsumer(NatsConnection link, JetStreamLog log, String subject, int most, Consumer<WorkItem> worker) {
    this.link = link;
    this.log = log;
    this.subject = subject;
    this.consumer = subject.replace('.', '_');
    this.inbox = link.connection().createInbox();
    this.most = most;
    this.worker = worker;
    makeConsumer();
    this.actor = ActorSystem.anonymous().onFailure(FailurePolicy.resume()).newActor(this::handle);
    Subscription begun = null;
    try {
      begun = link.listen(inbox + ".*", Optional.empty(), actor::sendMessage);
    } finally {
      if (begun == null) actor.kill();
    }
    this.arrivals = begun;
  }

  static WorkConsumer begin(NatsConnection link, JetStreamLog log, String subject, int most,
      Consumer<WorkItem> worker) {
    var taking = new WorkConsumer(link, log, subject, most, worker);
    taking.actor.sendMessage(new ConsumerTick());
    taking.actor.sendMessageEvery(new ConsumerTick(), BEAT);
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
      case Message given when given.isStatusMessage() -> hear(given);
      case Message given -> take(given);
      case WorkEnded over -> out.remove(over.piece);
      case ConsumerTick beat -> beat();
      default -> throw new AssertionError(message);
    }
    if (!closed) ask();
    else if (out.isEmpty() || link.isClosed()) context.self().sendPoisonPill();
  }

  private void ask() {
    if (asked > 0 || out.size() >= most) return;
    int free = most - out.size();
    String what = "{\"batch\":" + free + ",\"expires\":" + ASKED.toNanos() + "}";
    if (!sends(log.callOf(consumer), what, Optional.of(inbox + "." + ++number))) return; // at the next beat
    asked = free;
    askedAt = System.nanoTime();
  }

  private void hear(Message status) {
    int code = status.getStatus().getCode();
    if (code == BEATING || !status.getSubject().equals(inbox + "." + number)) return; // it says nothing of now
    if (code == LATE || code == NONE) asked = 0;
    else fails(status.getStatus().getMessageWithCode());
  }

  /** The server that has the consumer ends, or somebody has deleted it. */
  private void fails(String why) {
    if (!broken) LOG.warn("work of {} does not come at the moment: {}", subject, Lines.escaped(why));
    broken = true;
  }

  private void makeConsumer() {
    try {
      log.makeConsumer(consumer, subject, GIVEN_UP);
    } catch (StoreReadException | StoreClosedException failed) {
      throw new TransportException(TransportException.Failure.DISCONNECTED,
          "work of " + subject + " cannot be taken: " + Lines.message(failed));
    }
  }

  private void take(Message given) {
    var piece = new NatsWorkItem(given, given.metaData().streamSequence(), (int) given.metaData().deliveredCount());
    asked = Math.max(0, asked - 1);
    out.add(piece);
    if (closed) piece.release(Duration.ZERO);
    else worker.accept(piece);
  }

  private void beat() {
    for (var piece : out) sends(piece.answers, "+WPI", Optional.empty());
    if (asked > 0 && System.nanoTime() - askedAt > LOST) asked = 0;
    if (broken && !closed) mend();
  }

  private void mend() {
    try {
      makeConsumer();
      broken = false;
      asked = 0;
    } catch (TransportException again) {
      LOG.debug("work of {} does not come yet", subject, again); // at the next beat
    }
  }

  private boolean sends(String subject, String text, Optional<String> answerTo) {
    var message = NatsMessage.builder().subject(subject).data(text);
    answerTo.ifPresent(message::replyTo);
    try {
      link.requests().publish(message.build());
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
      sends(answers, later.isPositive() ? "-NAK {\"delay\":" + later.toNanos() + "}" : "-NAK", Optional.empty());
      actor.sendMessage(new WorkEnded(this));
    }
  }
}
