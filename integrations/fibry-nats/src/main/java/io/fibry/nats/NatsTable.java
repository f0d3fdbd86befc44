package io.fibry.nats;

import io.fibry.cluster.TransportException;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.ClusterTransport.Entry;
import io.fibry.nats.NatsNetwork.Role;
import io.fibry.nats.TableWatches.KeyListing;
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
 * A table as a bucket of JetStream. It is written by plain messages, because updates of the
 * client's own bucket carry no lease. Reads ask the leader, since other servers may be behind.
 */
final class NatsTable implements TableWatches.WatchedTable, AutoCloseable {
  private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(5);
  // Of a watch; after three without it, the watch begins again
  private static final Duration HEARTBEAT_INTERVAL = Duration.ofSeconds(1);
  private static final String OPERATION = "KV-Operation";
  private static final String EXPIRED = "Nats-Marker-Reason";
  private static final int WRONG_VERSION = 10071;
  private static final int BUSY = 10164; // another message to the subject is being stored
  private static final int NOT_FOUND = 10037;

  /**
   * Times that tests shorten.
   *
   * @param markerTime how long the server remembers that an entry ended
   * @param checkInterval the pause between two lists of all keys
   */
  record TableTimings(Duration markerTime, Duration checkInterval) {
    static final TableTimings DEFAULT = new TableTimings(Duration.ofHours(1), Duration.ofSeconds(30));
  }

  private final Connection connection;
  private final JetStream stream;
  private final JetStreamManagement management;
  private final String name;
  private final String subjects;
  private final Duration marked;
  private final TableWatches watches;

  private NatsTable(Connection connection, String app, TableTimings times) throws IOException {
    this.connection = connection;
    this.stream = connection.jetStream();
    this.management = connection.jetStreamManagement();
    this.name = stream(app);
    this.subjects = subjects(app);
    this.marked = times.markerTime;
    this.watches = new TableWatches(name, this, times.checkInterval);
  }

  static String stream(String app) {
    return "KV_" + bucket(app);
  }

  /** The beginning of them. */
  static String subjects(String app) {
    return "$KV." + bucket(app) + ".";
  }

  private static String bucket(String app) {
    return "FB_" + app + "_own";
  }

  static NatsTable of(Connection connection, String app, int replicas, Role role, TableTimings times) {
    try {
      StreamSetup.create(connection.jetStreamManagement(), role, configuration(app, replicas, times.markerTime));
      return new NatsTable(connection, app, times);
    } catch (IOException cut) {
      throw new TransportException(Failure.DISCONNECTED, "JetStream does not answer: " + ConnectionErrors.text(cut));
    }
  }

  private static StreamConfiguration configuration(String app, int replicas, Duration marked) {
    return StreamConfiguration.builder().name(stream(app)).subjects(subjects(app) + ">").maxMessagesPerSubject(1)
        .replicas(replicas).duplicateWindow(StreamSetup.DEDUPLICATION_WINDOW).allowMessageTtl()
        .subjectDeleteMarkerTtl(marked)
        .allowRollup(true).denyDelete(true)
        .build();
  }

  // ---- writing

  OptionalLong create(String key, byte[] value, Duration lease) {
    var made = write(key, value, 0, lease, new Headers());
    for (int i = 0; made.isEmpty() && i < 3; i++) { // it may change meanwhile
      var last = last(key);
      if (last.isPresent() && !isGone(last.get().getHeaders())) return OptionalLong.empty();
      made = write(key, value, last.map(MessageInfo::getSeq).orElse(0L), lease, new Headers());
    }
    return made;
  }

  OptionalLong update(String key, byte[] value, long version, Duration lease) {
    return write(key, value, version, lease, new Headers());
  }

  boolean delete(String key, long version) {
    return write(key, new byte[0], version, marked, new Headers().put(OPERATION, "DEL")).isPresent();
  }

  private OptionalLong write(String key, byte[] value, long version, Duration lease, Headers headers) {
    var message = NatsMessage.builder().subject(subjects + key).headers(headers).data(value).build();
    var expecting = PublishOptions.builder().expectedLastSubjectSequence(version);
    var options = lease.compareTo(ClusterTransport.FOREVER) < 0
        ? expecting.messageTtlSeconds(Math.toIntExact(lease.plusNanos(999_999_999).toSeconds())).build()
        : expecting.build();
    long end = System.nanoTime() + ANSWER_TIMEOUT.toNanos();
    for (int times = 1;; times++) try {
      return OptionalLong.of(stream.publish(message, options).getSeqno());
    } catch (JetStreamApiException refused) {
      if (refused.getApiErrorCode() == WRONG_VERSION) return OptionalLong.empty();
      if (refused.getApiErrorCode() != BUSY || System.nanoTime() > end) throw unknown("changed", key, refused);
      pause(key, times, refused);
    } catch (IOException | IllegalStateException cut) {
      throw unknown("changed", key, cut);
    }
  }

  private static void pause(String key, int times, Exception why) {
    try {
      TimeUnit.MILLISECONDS.sleep(ThreadLocalRandom.current().nextInt(5, 10 + Math.min(90, 10 * times)));
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw unknown("changed", key, why);
    }
  }

  private static TransportException unknown(String what, String key, Exception why) {
    return why instanceof IllegalStateException
        ? new TransportException(Failure.DISCONNECTED,
            "'" + key + "' was not " + what + ": " + ConnectionErrors.text(why))
        : new TransportException(Failure.UNKNOWN,
            "nobody knows whether '" + key + "' was " + what + ": " + ConnectionErrors.text(why));
  }

  // ---- reading

  Optional<Entry> get(String key) {
    return last(key).filter(last -> !isGone(last.getHeaders()))
        .map(last -> new Entry(key, Optional.of(bytes(last.getData())), last.getSeq()));
  }

  private Optional<MessageInfo> last(String key) {
    try {
      return Optional.of(management.getLastMessage(name, subjects + key));
    } catch (JetStreamApiException none) {
      if (none.getApiErrorCode() == NOT_FOUND) return Optional.empty();
      throw unknown("read", key, none);
    } catch (IOException | IllegalStateException cut) {
      throw unknown("read", key, cut);
    }
  }

  private static boolean isGone(Headers headers) {
    return headers != null && (headers.containsKey(OPERATION) || headers.containsKey(EXPIRED));
  }

  private static byte[] bytes(byte[] data) {
    return data == null ? new byte[0] : data;
  }

  Subscription watch(String prefix, Consumer<Entry> reader) {
    var options =
        PushSubscribeOptions.builder().stream(name).ordered(true).messageAlarmTime(3 * HEARTBEAT_INTERVAL.toMillis())
            .configuration(ConsumerConfiguration.builder().deliverPolicy(DeliverPolicy.LastPerSubject)
                .idleHeartbeat(HEARTBEAT_INTERVAL)
                .build())
            .build();
    boolean begun = false;
    var dispatcher = dispatcher(prefix);
    var watch = watches.open(reader);
    try {
      stream.subscribe(subjects + prefix + ">", dispatcher, message -> watch.accept(entry(message)), false, options);
      begun = true;
      return () -> {
        watches.close(watch);
        NatsNetwork.close(connection, dispatcher);
      };
    } catch (JetStreamApiException | IOException | IllegalStateException cut) {
      throw unknown("watched", prefix, cut);
    } finally {
      if (!begun) {
        watches.close(watch);
        NatsNetwork.close(connection, dispatcher);
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
      var all = StreamInfoOptions.filterSubjects(subjects + ">");
      var state = management.getStreamInfo(name, all).getStreamState();
      return new KeyListing(state.getSubjectMap().keySet().stream().map(one -> one.substring(subjects.length()))
          .collect(Collectors.toSet()), state.getLastSequence());
    } catch (JetStreamApiException | IOException | IllegalStateException cut) {
      throw unknown("listed", "*", cut);
    }
  }

  private Dispatcher dispatcher(String prefix) {
    try {
      return connection.createDispatcher();
    } catch (IllegalStateException cut) {
      throw unknown("watched", prefix, cut);
    }
  }

  private Entry entry(Message message) {
    String key = message.getSubject().substring(subjects.length());
    var value = isGone(message.getHeaders()) ? Optional.<byte[]>empty() : Optional.of(bytes(message.getData()));
    return new Entry(key, value, message.metaData().streamSequence());
  }

  /** Lists the keys again, after a reconnection. */
  void onReconnected() {
    watches.checkSoon();
  }

  @Override
  public void close() {
    watches.close();
  }
}
