package io.fibry.nats.transport;

import io.fibry.cluster.TransportException;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.ClusterTransport.Entry;
import io.fibry.nats.NatsNetwork.Role;
import io.fibry.nats.connection.AppSubjects;
import io.fibry.nats.connection.ConnectionErrors;
import io.fibry.nats.connection.NatsConnection;
import io.fibry.nats.stream.StreamSetup;
import io.fibry.nats.stream.WriteOutcome;
import io.fibry.nats.transport.TableReconciler.KeyListing;
import io.fibry.pubsub.Subscription;
import io.nats.client.Connection;
import io.nats.client.Dispatcher;
import io.nats.client.JetStream;
import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamManagement;
import io.nats.client.Message;
import io.nats.client.PublishOptions;
import io.nats.client.PushSubscribeOptions;
import io.nats.client.api.ConsumerConfiguration;
import io.nats.client.api.DeliverPolicy;
import io.nats.client.api.MessageInfo;
import io.nats.client.api.StreamConfiguration;
import io.nats.client.api.StreamInfoOptions;
import io.nats.client.impl.Headers;
import io.nats.client.impl.NatsMessage;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * The table that all nodes of an app share (see {@link ClusterTransport}), in a key-value bucket of
 * JetStream. Entries are written as plain messages, because updates by the client's key-value API
 * have no lease. Single entries are read from the leader, because other servers may be behind.
 */
public final class NatsTable implements TableReconciler.WatchedTable, AutoCloseable {
  // max time for which a write is repeated if it is refused as BUSY, or if no server receives it
  // because the stream has no leader
  private static final Duration BUSY_RETRY_LIMIT = Duration.ofSeconds(5);
  // pause between two heartbeats of the server; if three are missing, the client starts the watch
  // again
  private static final Duration HEARTBEAT_INTERVAL = Duration.ofSeconds(1);
  private static final String OPERATION = "KV-Operation"; // header of a deletion
  private static final String MARKER_REASON = "Nats-Marker-Reason"; // header of the server's notice that an entry ended
  private static final int NOT_FOUND = 10037; // error code of the server

  /**
   * Times that tests shorten.
   *
   * @param markerTime how long the server remembers that an entry ended
   * @param checkInterval the pause between two lists of all keys
   */
  public record TableTimings(Duration markerTime, Duration checkInterval) {
    public static final TableTimings DEFAULT = new TableTimings(Duration.ofHours(1), Duration.ofSeconds(30));
  }

  private final Connection connection;
  private final JetStream jetStream;
  private final JetStreamManagement management;
  private final String streamName;
  private final String subjectPrefix;
  private final Duration markerTime;
  private final TableReconciler watches;

  private NatsTable(Connection connection, AppSubjects subjects, TableTimings timings) throws IOException {
    this.connection = connection;
    this.jetStream = connection.jetStream();
    this.management = connection.jetStreamManagement();
    this.streamName = subjects.tableStream();
    this.subjectPrefix = subjects.tablePrefix();
    this.markerTime = timings.markerTime;
    this.watches = new TableReconciler(streamName, this, timings.checkInterval);
  }

  public static NatsTable of(Connection connection, String app, int replicas, Role role, TableTimings timings) {
    var subjects = new AppSubjects(app);
    try {
      StreamSetup.create(connection.jetStreamManagement(), role, configuration(subjects, replicas, timings.markerTime));
      return new NatsTable(connection, subjects, timings);
    } catch (IOException failure) {
      throw new TransportException(Failure.DISCONNECTED, "JetStream does not answer: "
          + ConnectionErrors.text(failure));
    }
  }

  private static StreamConfiguration configuration(AppSubjects subjects, int replicas, Duration markerTime) {
    return StreamConfiguration.builder().name(subjects.tableStream()).subjects(subjects.tablePrefix() + ">")
        .maxMessagesPerSubject(1)
        .replicas(replicas).duplicateWindow(StreamSetup.DEDUPLICATION_WINDOW).allowMessageTtl()
        .subjectDeleteMarkerTtl(markerTime)
        .allowRollup(true).denyDelete(true)
        .build();
  }

  // ---- writing

  OptionalLong create(String key, byte[] value, Duration lease) {
    var version = write(key, value, 0, lease, new Headers());
    for (int i = 0; version.isEmpty() && i < 3; i++) { // other programs may change the entry between the calls
      var lastMessage = lastMessage(key);
      if (lastMessage.isPresent() && !isEnded(lastMessage.get().getHeaders())) return OptionalLong.empty();
      version = write(key, value, lastMessage.map(MessageInfo::getSeq).orElse(0L), lease, new Headers());
    }
    return version;
  }

  OptionalLong update(String key, byte[] value, long version, Duration lease) {
    return write(key, value, version, lease, new Headers());
  }

  boolean delete(String key, long version) {
    return write(key, new byte[0], version, markerTime, new Headers().put(OPERATION, "DEL")).isPresent();
  }

  private OptionalLong write(String key, byte[] value, long version, Duration lease, Headers headers) {
    var message = NatsMessage.builder().subject(subjectPrefix + key).headers(headers).data(value).build();
    // the server takes a lease in whole seconds, so it is rounded up
    var builder = PublishOptions.builder().expectedLastSubjectSequence(version);
    var options = lease.compareTo(ClusterTransport.FOREVER) < 0
        ? builder.messageTtlSeconds(Math.toIntExact(lease.plusNanos(999_999_999).toSeconds())).build()
        : builder.build();
    long deadline = System.nanoTime() + BUSY_RETRY_LIMIT.toNanos();
    for (int attempt = 1;; attempt++) try {
      return OptionalLong.of(jetStream.publish(message, options).getSeqno());
    } catch (JetStreamApiException refusal) {
      if (refusal.getApiErrorCode() == WriteOutcome.WRONG_NUMBER) return OptionalLong.empty();
      if (refusal.getApiErrorCode() != WriteOutcome.BUSY || System.nanoTime() - deadline > 0)
        throw writeFailure(key, refusal);
      pause(key, attempt, refusal);
    } catch (IOException | IllegalStateException failure) {
      if (!hasNoReceiver(failure) || System.nanoTime() - deadline > 0) throw writeFailure(key, failure);
      pause(key, attempt, failure);
    }
  }

  /**
   * Returns whether no server received the message, so that it is not stored. This happens while
   * the servers elect a leader of the stream. Only the text of the client's exception shows it.
   */
  private static boolean hasNoReceiver(Exception failure) {
    return failure instanceof IOException && ConnectionErrors.text(failure).contains("503 No Responders");
  }

  private static void pause(String key, int attempt, Exception cause) {
    try {
      TimeUnit.MILLISECONDS.sleep(ThreadLocalRandom.current().nextInt(5, 10 + Math.min(90, 10 * attempt)));
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw writeFailure(key, cause);
    }
  }

  private static TransportException writeFailure(String key, Exception cause) {
    var failure = switch (cause) {
      case JetStreamApiException refusal -> failureOf(WriteOutcome.of(refusal));
      case IllegalStateException closed -> Failure.DISCONNECTED;
      case IOException unsent when hasNoReceiver(unsent) -> Failure.DISCONNECTED;
      default -> Failure.UNKNOWN; // the server may have changed the entry
    };
    return new TransportException(failure, (failure == Failure.UNKNOWN
        ? "it is unknown whether '" + key + "' was changed" : "'" + key + "' could not be changed") + ": "
        + ConnectionErrors.text(cause));
  }

  private static Failure failureOf(WriteOutcome outcome) {
    return switch (outcome) {
      case WriteOutcome.WriteRejection rejection when !rejection.isFull() -> Failure.DENIED;
      case WriteOutcome.WriteRejection full -> Failure.DISCONNECTED; // may succeed later
      case WriteOutcome.RetryableFailure retryable when !retryable.mayBeStored() -> Failure.DISCONNECTED;
      default -> Failure.UNKNOWN;
    };
  }

  private static TransportException readFailure(String action, String key, Exception cause) {
    return new TransportException(cause instanceof IllegalStateException ? Failure.DISCONNECTED : Failure.UNKNOWN,
        "'" + key + "' could not be " + action + ": " + ConnectionErrors.text(cause));
  }

  // ---- reading

  Optional<Entry> get(String key) {
    return lastMessage(key).filter(message -> !isEnded(message.getHeaders()))
        .map(message -> new Entry(key, Optional.of(emptyIfNull(message.getData())), message.getSeq()));
  }

  private Optional<MessageInfo> lastMessage(String key) {
    try {
      return Optional.of(management.getLastMessage(streamName, subjectPrefix + key));
    } catch (JetStreamApiException refusal) {
      if (refusal.getApiErrorCode() == NOT_FOUND) return Optional.empty();
      throw readFailure("read", key, refusal);
    } catch (IOException | IllegalStateException failure) {
      throw readFailure("read", key, failure);
    }
  }

  private static boolean isEnded(Headers headers) {
    return headers != null && (headers.containsKey(OPERATION) || headers.containsKey(MARKER_REASON));
  }

  private static byte[] emptyIfNull(byte[] data) {
    return data == null ? new byte[0] : data;
  }

  Subscription watch(String prefix, Consumer<Entry> reader) {
    var options =
        PushSubscribeOptions.builder().stream(streamName).ordered(true)
            .messageAlarmTime(3 * HEARTBEAT_INTERVAL.toMillis())
            .configuration(ConsumerConfiguration.builder().deliverPolicy(DeliverPolicy.LastPerSubject)
                .idleHeartbeat(HEARTBEAT_INTERVAL)
                .build())
            .build();
    boolean isStarted = false;
    var dispatcher = newDispatcher(prefix);
    var watch = watches.open(reader);
    try {
      jetStream.subscribe(subjectPrefix + prefix + ">", dispatcher,
          message -> watch.accept(entry(message)), false, options);
      isStarted = true;
      return () -> {
        watches.close(watch);
        NatsConnection.close(connection, dispatcher);
      };
    } catch (JetStreamApiException | IOException | IllegalStateException failure) {
      throw readFailure("watched", prefix, failure);
    } finally {
      if (!isStarted) {
        watches.close(watch);
        NatsConnection.close(connection, dispatcher);
      }
    }
  }

  @Override
  public boolean has(String key) {
    return get(key).isPresent();
  }

  @Override
  public KeyListing list() {
    try {
      var filter = StreamInfoOptions.filterSubjects(subjectPrefix + ">");
      var state = management.getStreamInfo(streamName, filter).getStreamState();
      return new KeyListing(state.getSubjectMap().keySet().stream()
          .map(subject -> subject.substring(subjectPrefix.length()))
          .collect(Collectors.toSet()), state.getLastSequence());
    } catch (JetStreamApiException | IOException | IllegalStateException failure) {
      throw readFailure("listed", "*", failure);
    }
  }

  private Dispatcher newDispatcher(String prefix) {
    try {
      return connection.createDispatcher();
    } catch (IllegalStateException failure) {
      throw readFailure("watched", prefix, failure);
    }
  }

  private Entry entry(Message message) {
    String key = message.getSubject().substring(subjectPrefix.length());
    var value = isEnded(message.getHeaders()) ? Optional.<byte[]>empty() : Optional.of(emptyIfNull(message.getData()));
    return new Entry(key, value, message.metaData().streamSequence());
  }

  /** Called after a reconnection: lets {@link TableReconciler} list the keys soon. */
  void onReconnected() {
    watches.wake();
  }

  @Override
  public void close() {
    watches.close();
  }
}
