package io.fibry.nats.transport;

import io.fibry.cluster.TransportException;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.nats.NatsNetwork.Role;
import io.fibry.nats.connection.AppSubjects;
import io.fibry.nats.connection.NatsConnection;
import io.fibry.nats.stream.JetStreamLog;
import io.fibry.nats.stream.StreamSetup;
import io.fibry.nats.stream.WriteOutcome;
import io.fibry.pubsub.Subscription;
import io.fibry.store.StoreClosedException;
import io.fibry.store.StoreReadException;
import io.fibry.text.Lines;
import io.nats.client.JetStreamManagement;
import io.nats.client.api.MessageInfo;
import io.nats.client.api.RetentionPolicy;
import io.nats.client.api.StreamConfiguration;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A queue of work: a subject of a stream that deletes messages when they are acknowledged. A
 * durable consumer, which all nodes share, delivers the work. Thread-safe.
 */
public final class NatsQueue implements ClusterTransport.Queue {
  private final NatsConnection connection;
  private final JetStreamLog log;
  private final String subject;
  private final int maxBytes;

  NatsQueue(NatsConnection connection, JetStreamLog log, String subject, int maxBytes) {
    this.connection = connection;
    this.log = log;
    this.subject = subject;
    this.maxBytes = maxBytes;
  }

  /** Creates the stream with all queues of an app, if it does not exist. */
  public static void createStream(JetStreamManagement management, AppSubjects subjects, int replicas, Role role)
      throws IOException {
    StreamSetup.create(management, role,
        StreamConfiguration.builder().name(subjects.workStream()).subjects(subjects.workFilter()).replicas(replicas)
            .retentionPolicy(RetentionPolicy.WorkQueue).duplicateWindow(StreamSetup.DEDUPLICATION_WINDOW)
            .allowDirect(true)
            .build());
  }

  @Override
  public void put(String id, byte[] work) {
    WireMessage.oneWay(subject, Map.of(), work).checkSize(maxBytes);
    var message = JetStreamLog.StreamMessage.of(subject, work);
    String deduplicationId = WireMessageConverter.encode(subject + " " + id);
    switch (log.retryUntilSettled(() -> log.add(message, deduplicationId))) {
      case WriteOutcome.WriteSuccess success -> {}
      case WriteOutcome.WriteConflict conflict -> throw new AssertionError(conflict);
      case WriteOutcome.RetryableFailure failure -> throw new TransportException(
          failure.mayBeStored() ? Failure.UNKNOWN : Failure.DISCONNECTED,
          (failure.mayBeStored() ? "it is unknown whether work was put into " : "work was not put into ") + subject
              + ": "
              + failure.reason());
      case WriteOutcome.WriteRejection rejection -> throw new TransportException(Failure.DENIED,
          "the server of NATS refuses work for " + subject + ": " + rejection.reason());
    }
  }

  @Override
  public Subscription take(int max, Consumer<ClusterTransport.WorkItem> worker) {
    return WorkConsumer.begin(connection, log, subject, max, worker);
  }

  // ---- pending work

  @Override
  public List<ClusterTransport.PendingWork> list(long firstNumber, int max) {
    return read(() -> {
      var messages = new ArrayList<MessageInfo>();
      for (var page = page(firstNumber, max); !page.isEmpty();) {
        messages.addAll(page);
        int remaining = max - messages.size();
        page = remaining > 0 ? page(page.getLast().getSeq() + 1, remaining) : List.of();
      }
      return messages.stream().map(message -> new ClusterTransport.PendingWork(message.getSeq(), message.getData()))
          .toList();
    });
  }

  private List<MessageInfo> page(long firstNumber, int max) {
    return log.page(subject, Math.max(1, firstNumber), max);
  }

  @Override
  public long size() {
    return read(() -> log.countBySubject(subject).getOrDefault(subject, 0L));
  }

  @Override
  public boolean remove(long number) {
    if (read(() -> log.nextMessage(subject, number)).filter(message -> message.getSeq() == number).isEmpty())
      return false;
    var outcome = log.retryUntilSettled(() -> log.delete(number));
    if (outcome instanceof WriteOutcome.RetryableFailure failure)
      throw new TransportException(Failure.UNKNOWN,
          "it is unknown whether work was removed from " + subject + ": " + failure.reason());
    return outcome instanceof WriteOutcome.WriteSuccess; // otherwise another program has removed it
  }

  private <T> T read(Supplier<T> operation) {
    try {
      return operation.get();
    } catch (StoreReadException | StoreClosedException failure) {
      throw new TransportException(Failure.DISCONNECTED, subject + " cannot be read: " + Lines.message(failure));
    }
  }
}
