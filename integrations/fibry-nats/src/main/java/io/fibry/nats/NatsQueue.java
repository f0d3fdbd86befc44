package io.fibry.nats;

import io.fibry.cluster.TransportException;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.nats.NatsNetwork.Role;
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
 * A subject of a stream whose messages go when they are acknowledged. A durable consumer, which all
 * nodes share, gives the pieces. Thread-safe.
 */
final class NatsQueue implements ClusterTransport.Queue {
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

  static String stream(String app) {
    return "FB_" + app + "_work";
  }

  /** Makes the stream with all queues of an app. */
  static void make(JetStreamManagement management, String app, int replicas, Role role) throws IOException {
    StreamSetup.create(management, role,
        StreamConfiguration.builder().name(stream(app)).subjects("fb." + app + ".w.>").replicas(replicas)
            .retentionPolicy(RetentionPolicy.WorkQueue).duplicateWindow(StreamSetup.DEDUPLICATION_WINDOW)
            .allowDirect(true)
            .build());
  }

  @Override
  public void put(String id, byte[] work) {
    WireMessage.to(subject, Map.of(), work).checkSize(maxBytes);
    var addition = JetStreamLog.StreamMessage.of(subject, work);
    String unique = WireMessageConverter.encode(subject + " " + id);
    switch (log.settle(() -> log.add(addition, unique))) {
      case WriteOutcome.WriteSuccess here -> {}
      case WriteOutcome.WriteConflict outdated -> throw new AssertionError(outdated);
      case WriteOutcome.RetryableFailure again -> throw new TransportException(
          again.isUnknown() ? Failure.UNKNOWN : Failure.DISCONNECTED,
          (again.isUnknown() ? "nobody knows whether work was put into " : "work was not put into ") + subject + ": "
              + again.reason());
      case WriteOutcome.WriteRejection refused -> throw new TransportException(Failure.DENIED,
          "the server of NATS refuses work for " + subject + ": " + refused.reason());
    }
  }

  @Override
  public Subscription take(int max, Consumer<ClusterTransport.WorkItem> worker) {
    return WorkConsumer.begin(connection, log, subject, max, worker);
  }

  // ---- present work

  @Override
  public List<ClusterTransport.PendingWork> list(long from, int max) {
    return read(() -> {
      var found = new ArrayList<MessageInfo>();
      for (var page = page(from, max); !page.isEmpty();) {
        found.addAll(page);
        int left = max - found.size();
        page = left > 0 ? page(page.getLast().getSeq() + 1, left) : List.of();
      }
      return found.stream().map(one -> new ClusterTransport.PendingWork(one.getSeq(), one.getData())).toList();
    });
  }

  private List<MessageInfo> page(long from, int max) {
    return log.page(subject, Math.max(1, from), max);
  }

  @Override
  public long size() {
    return read(() -> log.subjects(subject).getOrDefault(subject, 0L));
  }

  @Override
  public boolean remove(long number) {
    if (read(() -> log.nextMessage(subject, number)).filter(one -> one.getSeq() == number).isEmpty()) return false;
    var removed = log.settle(() -> log.delete(number));
    if (removed instanceof WriteOutcome.RetryableFailure again)
      throw new TransportException(Failure.UNKNOWN,
          "nobody knows whether work left " + subject + ": " + again.reason());
    return removed instanceof WriteOutcome.WriteSuccess; // otherwise it is gone meanwhile
  }

  private <T> T read(Supplier<T> reading) {
    try {
      return reading.get();
    } catch (StoreReadException | StoreClosedException failed) {
      throw new TransportException(Failure.DISCONNECTED, subject + " cannot be read: " + Lines.message(failed));
    }
  }
}
