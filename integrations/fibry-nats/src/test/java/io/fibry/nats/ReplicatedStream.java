package io.fibry.nats;

import io.fibry.nats.connection.AppClient;
import io.fibry.nats.connection.ConnectionErrors;
import io.fibry.nats.connection.NatsConnection;
import io.fibry.nats.connection.StoreSubjects;
import io.fibry.nats.stream.JetStreamLog;
import io.fibry.nats.stream.WriteOutcome;
import io.fibry.store.StoreClosedException;
import io.fibry.store.spi.StoreBackend;
import io.nats.client.Connection;
import io.nats.client.Dispatcher;
import io.nats.client.api.MessageInfo;
import io.nats.client.impl.Headers;
import io.nats.client.impl.NatsMessage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * A stream in memory with a leader and two replicas; a seed decides how far the replicas are behind
 * the leader. The leader stores messages. A single message is read from the leader, and a page from
 * any of the three servers, as with {@code DIRECT.GET}. Pages are short, so that much changes
 * between two of them. During an election, some writes get no answer, although they may be stored.
 * Thread-safe.
 */
public final class ReplicatedStream {
  private static final int REPLICAS = 3; // the first one is the leader
  private static final int MAX_PAGE = 3; // messages
  private static final String TIME = "2026-01-01T00:00:00Z";

  private record StoredMessage(long seq, String subject, Headers headers, byte[] body) {
    MessageInfo info() {
      var allHeaders = new Headers(headers).put("Nats-Stream", "replicas").put("Nats-Subject", subject)
          .put("Nats-Sequence", Long.toString(seq)).put("Nats-Time-Stamp", TIME);
      return new MessageInfo(NatsMessage.builder().subject("answer").headers(allHeaders).data(body).build(), "replicas",
          true);
    }
  }

  /** A change of the stream; replicas apply changes in the order of the leader. */
  private interface Change {
    void apply(NavigableMap<Long, StoredMessage> messages);
  }

  private static final class Replica {
    private final TreeMap<Long, StoredMessage> messages = new TreeMap<>(); // by number
    private int appliedCount; // number of changes
  }

  private final Random random;
  private final List<Change> changes = new ArrayList<>();
  private final List<Replica> replicas = IntStream.range(0, REPLICAS).mapToObj(i -> new Replica()).toList();
  private final Map<String, Long> ids = new HashMap<>(); // numbers of messages by their id, against duplicates
  private long lastNumber; // of the newest message
  private int lossPercent; // of the answers to writes
  private int replicatedChanges = -1; // number of changes that both replicas have while stopped; -1 if not stopped

  public ReplicatedStream(long seed) {
    random = new Random(seed);
  }

  /** Opens another store of this stream, like that of another program. */
  public ReplicaStore open(UnaryOperator<NatsStore.Options> configure) {
    var options = configure.apply(NatsStore.Options.DEFAULT);
    var opened = new ReplicaStore();
    try {
      var log = new MemoryLog(opened, options.requestLimit());
      opened.store = new StreamStore(log, new StoreSubjects("replicas"), options, () -> {});
      return opened;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** A store whose connection can be closed for good. */
  public static final class ReplicaStore {
    private StoreBackend store; // written before other threads know this object
    private volatile boolean isCut;

    public StoreBackend store() {
      return store;
    }

    public void closeConnection() {
      isCut = true;
    }
  }

  // ---- faults

  /** Lets elections happen, in which this percentage of the writes gets no answer. */
  public synchronized void loseAnswers(int percent) {
    lossPercent = percent;
  }

  /**
   * Brings both replicas up to date and stops them. Each later page is read from a stopped replica.
   */
  synchronized void stopReplicas() {
    replicatedChanges = changes.size();
    for (var replica : replicas) applyUpTo(replica, replicatedChanges);
  }

  synchronized void resumeReplicas() {
    replicatedChanges = -1;
    for (var replica : replicas) applyUpTo(replica, changes.size());
  }

  /** Returns the number of messages that the leader has for the subject. */
  synchronized long messages(String subject) {
    return leader().messages.values().stream().filter(message -> message.subject.equals(subject)).count();
  }

  // ---- operations of the servers, guarded by the monitor

  private Replica leader() {
    return replicas.getFirst();
  }

  private void decide(Change change) {
    changes.add(change);
    applyUpTo(leader(), changes.size());
  }

  private void applyUpTo(Replica replica, int count) {
    for (; replica.appliedCount < count; replica.appliedCount++)
      changes.get(replica.appliedCount).apply(replica.messages);
  }

  private long store(JetStreamLog.StreamMessage message) {
    var headers = new Headers();
    message.due().ifPresent(due -> headers.put("Fb-Due", Long.toString(due.toEpochMilli())));
    var storedMessage = new StoredMessage(++lastNumber, message.subject(), headers, message.body());
    decide(messages -> messages.put(storedMessage.seq, storedMessage));
    return storedMessage.seq;
  }

  private void remove(String subject, long upTo) {
    decide(messages -> messages.headMap(upTo, true).values().removeIf(message -> message.subject.equals(subject)));
  }

  private long lastOf(String subject) {
    return leader().messages.descendingMap().values().stream().filter(message -> message.subject.equals(subject))
        .mapToLong(StoredMessage::seq).findFirst().orElse(0);
  }

  /** Returns the outcome of the leader, or a failure if its answer is lost. */
  private CompletableFuture<WriteOutcome> write(ReplicaStore client, Supplier<WriteOutcome> operation) {
    synchronized (this) {
      if (client.isCut) return CompletableFuture.completedFuture(new WriteOutcome.RetryableFailure("cut off", true));
      boolean isLost = random.nextInt(100) < lossPercent;
      var outcome = isLost && random.nextBoolean() ? null : operation.get();
      return CompletableFuture
          .completedFuture(isLost ? new WriteOutcome.RetryableFailure("a leader is elected", true) : outcome);
    }
  }

  private synchronized List<StoredMessage> read(ReplicaStore client, Replica replica, String filter, long firstNumber,
      int maxMessages) {
    checkConnected(client);
    var pattern = Pattern.compile(filter.replace(".", "\\.").replace("*", "[^.]+").replace(">", ".+"));
    return replica.messages.tailMap(firstNumber, true).values().stream()
        .filter(message -> pattern.matcher(message.subject).matches()).limit(maxMessages).toList();
  }

  private static void checkConnected(ReplicaStore client) {
    if (client.isCut) throw new StoreClosedException("the connection to the replicas is closed");
  }

  private synchronized List<StoredMessage> page(ReplicaStore client, String filter, long firstNumber, int maxMessages) {
    var replica = replicas.get(replicatedChanges < 0 ? random.nextInt(REPLICAS) : 1);
    int lag = changes.size() - replica.appliedCount;
    if (replicatedChanges < 0 && lag > 0) applyUpTo(replica, replica.appliedCount + random.nextInt(lag + 1));
    return read(client, replica, filter, firstNumber, Math.min(maxMessages, 1 + random.nextInt(MAX_PAGE)));
  }

  /** The log through which a store uses this stream. */
  private final class MemoryLog extends JetStreamLog {
    private final ReplicaStore client;

    MemoryLog(ReplicaStore client, Duration limit) throws IOException {
      super(
          new NatsConnection(connection(client),
              new ConnectionErrors(new AppClient("replicas", "test", NatsNetwork.Role.KEEPER))),
          "replicas", limit);
      this.client = client;
    }

    @Override
    public int maxBytes() {
      return 1 << 20;
    }

    @Override
    public CompletableFuture<WriteOutcome> addAll(List<StreamMessage> messages, long expectedLast) {
      return write(client, () -> {
        if (lastOf(messages.getFirst().subject()) != expectedLast) return new WriteOutcome.WriteConflict(false);
        messages.forEach(ReplicatedStream.this::store);
        return new WriteOutcome.WriteSuccess(lastNumber);
      });
    }

    @Override
    public CompletableFuture<WriteOutcome> add(StreamMessage message, String id) {
      return write(client, () -> {
        var number = ids.get(id);
        if (number == null) ids.put(id, store(message));
        return new WriteOutcome.WriteSuccess(ids.get(id));
      });
    }

    @Override
    public CompletableFuture<WriteOutcome> replace(StreamMessage message, long expectedLast) {
      return write(client, () -> {
        if (lastOf(message.subject()) != expectedLast) return new WriteOutcome.WriteConflict(false);
        remove(message.subject(), expectedLast);
        return new WriteOutcome.WriteSuccess(store(message));
      });
    }

    @Override
    public CompletableFuture<WriteOutcome> purge(String subject, long upTo) {
      return write(client, () -> {
        remove(subject, upTo);
        return new WriteOutcome.WriteSuccess(0);
      });
    }

    @Override
    public List<MessageInfo> lastMessages(Collection<String> subjects) {
      synchronized (ReplicatedStream.this) {
        checkConnected(client);
        return subjects.stream().map(subject -> leader().messages.get(lastOf(subject)))
            .filter(message -> message != null).map(StoredMessage::info).toList();
      }
    }

    @Override
    public Optional<MessageInfo> nextMessage(String filter, long firstNumber) {
      return read(client, leader(), filter, firstNumber, 1).stream().map(StoredMessage::info).findFirst();
    }

    @Override
    public Map<String, Long> countBySubject(String filter) {
      var counts = new TreeMap<String, Long>();
      read(client, leader(), filter, 0, Integer.MAX_VALUE)
          .forEach(message -> counts.merge(message.subject, 1L, Long::sum));
      return counts;
    }

    @Override
    public List<MessageInfo> page(String filter, long firstNumber, int maxMessages) {
      var page = ReplicatedStream.this.page(client, filter, firstNumber, maxMessages).stream()
          .map(StoredMessage::info).toList();
      return page.isEmpty() ? nextMessage(filter, firstNumber).stream().toList() : page;
    }
  }

  /** Returns a connection that sends and receives nothing. */
  private static Connection connection(ReplicaStore client) {
    return fake(Connection.class, (proxy, method, arguments) -> switch (method.getName()) {
      case "createInbox" -> "inbox";
      case "createDispatcher" -> fake(Dispatcher.class, (dispatcher, operation, values) -> null);
      case "getStatus" -> client.isCut ? Connection.Status.CLOSED : Connection.Status.CONNECTED;
      default -> null;
    });
  }

  private static <T> T fake(Class<T> type, InvocationHandler handler) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
  }
}
