package io.fibry.nats;

import io.fibry.cluster.TransportException.Failure;
import io.fibry.cluster.TransportException;
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
  private final NatsConnection link;
  private final JetStreamLog log;
  private final String subject;
  private final int mostBytes;

  NatsQueue(NatsConnection link, JetStreamLog log, String subject, int mostBytes) {
    this.link = link;
    this.log = log;
    this.subject = subject;
    this.mostBytes = mostBytes;
  }

  static String stream(String app) {
    return "FB_" + app + "_work";
  }

  /** Makes the stream with all queues of an app. */
  static void make(JetStreamManagement management, String app, int replicas, Role role) throws IOException {
    StreamSetup.make(management, role,
        StreamConfiguration.builder().name(stream(app)).subjects("fb." + app + ".w.>").replicas(replicas)
            .retentionPolicy(RetentionPolicy.WorkQueue).duplicateWindow(StreamSetup.IDS_KNOWN).allowDirect(true)
            .build());
  }

  @Override
  public void put(String id, byte[] work) {
    WireMessage.to(subject, Map.of(), work).checkSize(mostBytes);
    var addition = JetStreamLog.StreamMessage.of(subject, work);
    String unique = WireMessageConverter.encode(subject + " " + id);
    switch (log.settle(() -> log.add(addition, unique))) {
      case WriteOutcome.WriteSuccess here -> {}
      case WriteOutcome.WriteConflict outdated -> throw new AssertionError(outdated);
      case WriteOutcome.RetryableFailure again -> throw new TransportException(
          again.unknown() ? Failure.UNKNOWN : Failure.DISCONNECTED,
          (again.unknown() ? "nobody knows whether work was put into " : "work was not put into ") + subject + ": "
              + again.why());
      case WriteOutcome.WriteRejection refused -> throw new TransportException(Failure.DENIED,
          "the server of NATS refuses work for " + subject + ": " + refused.why());
    }
  }

  @Override
  public Subscription take(int most, Consumer<ClusterTransport.WorkItem> worker) {
    return WorkConsumer.begin(link, log, subject, most, worker);
  }

  // ---- present work

  @Override
  public List<ClusterTransport.PendingWork> list(long from, int most) {
    return read(() -> {
      var found = new ArrayList<MessageInfo>();
      for (var page = page(from, most); !page.isEmpty();) {
        found.addAll(page);
        int left = most - found.size();
        page = left > 0 ? page(page.getLast().getSeq() + 1, left) : List.of();
      }
      return found.stream().map(one -> new ClusterTransport.PendingWork(one.getSeq(), one.getData())).toList();
    });
  }

  private List<MessageInfo> page(long from, int most) {
    return log.page(subject, Math.max(1, from), most);
  }

  @Override
  public long size() {
    return read(() -> log.subjects(subject).getOrDefault(subject, 0L));
  }

  @Override
  public boolean remove(long number) {
    if (read(() -> log.next(subject, number)).filter(one -> one.getSeq() == number).isEmpty()) return false;
    var removed = log.settle(() -> log.delete(number));
    if (removed instanceof WriteOutcome.RetryableFailure again)
      throw new TransportException(Failure.UNKNOWN, "nobody knows whether work left " + subject + ": " + again.why());
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
