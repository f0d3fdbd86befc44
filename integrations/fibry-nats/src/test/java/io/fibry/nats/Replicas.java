package io.fibry.nats;

import io.fibry.store.Store;
import io.fibry.store.StoreClosedException;
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
 * A stream in memory, with a leader and two replicas that are behind it, by a seed. The leader
 * stores, and reads single messages. A page is read from any of the three, as {@code DIRECT.GET}
 * does, and is short, so that much happens between two pages. While leaders change, writes are not
 * answered: some of them were stored. Thread-safe.
 */
public final class Replicas {
  private static final int REPLICAS = 3; // the first one is the leader
  private static final int MOST_OF_PAGE = 3; // messages
  private static final String TIME = "2026-01-01T00:00:00Z";

  private record Kept(long seq, String subject, Headers headers, byte[] body) {
    MessageInfo info() {
      var more = new Headers(headers).put("Nats-Stream", "replicas").put("Nats-Subject", subject)
          .put("Nats-Sequence", Long.toString(seq)).put("Nats-Time-Stamp", TIME);
      return new MessageInfo(NatsMessage.builder().subject("answer").headers(more).data(body).build(), "replicas",
          true);
    }
  }

  /** A change as the leader has decided it, in its order. */
  private interface Change {
    void apply(NavigableMap<Long, Kept> messages);
  }

  private static final class Replica {
    private final TreeMap<Long, Kept> messages = new TreeMap<>(); // by number
    private int applied; // changes
  }

  private final Random random;
  private final List<Change> changes = new ArrayList<>();
  private final List<Replica> replicas = IntStream.range(0, REPLICAS).mapToObj(none -> new Replica()).toList();
  private final Map<String, Long> ids = new HashMap<>(); // of messages that were stored once
  private long last; // number
  private int lostInHundred; // answers to writes
  private int held = -1; // the most changes that the two others have; -1 for any number

  public Replicas(long seed) {
    random = new Random(seed);
  }

  /** A store of its own, as that of another program. */
  public One open(UnaryOperator<NatsStore.Options> changes) {
    var options = changes.apply(NatsStore.Options.DEFAULT);
    var one = new One();
    try {
      var log = new MemoryLog(one, options.requestLimit());
      one.store = new StreamStore(log, new StoreSubjects("replicas"), options, () -> {});
      return one;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** A store, which can be cut off for good. */
  public static final class One {
    private Store store; // written before others know this object
    private volatile boolean cut;

    public Store store() {
      return store;
    }

    public void cut() {
      cut = true;
    }
  }

  // ---- faults

  /** Leaders change: so many of a hundred writes are not answered. */
  public synchronized void loseAnswers(int inHundred) {
    lostInHundred = inHundred;
  }

  /** Both replicas get no more; each page is read from one of them. */
  synchronized void holdReplicas() {
    held = changes.size();
    for (var replica : replicas) bring(replica, held);
  }

  synchronized void letReplicasGo() {
    held = -1;
    for (var replica : replicas) bring(replica, changes.size());
  }

  /** How many messages of a subject the leader has. */
  synchronized long messages(String subject) {
    return leader().messages.values().stream().filter(one -> one.subject.equals(subject)).count();
  }

  // ---- what the servers do; under the monitor

  private Replica leader() {
    return replicas.getFirst();
  }

  private void decide(Change change) {
    changes.add(change);
    bring(leader(), changes.size());
  }

  private void bring(Replica replica, int to) {
    for (; replica.applied < to; replica.applied++) changes.get(replica.applied).apply(replica.messages);
  }

  private long store(JetStreamLog.StreamMessage one) {
    var headers = new Headers();
    one.due().ifPresent(due -> headers.put("Fb-Due", Long.toString(due.toEpochMilli())));
    var kept = new Kept(++last, one.subject(), headers, one.body());
    decide(messages -> messages.put(kept.seq, kept));
    return kept.seq;
  }

  private void remove(String subject, long upTo) {
    decide(messages -> messages.headMap(upTo, true).values().removeIf(one -> one.subject.equals(subject)));
  }

  private long lastOf(String subject) {
    return leader().messages.descendingMap().values().stream().filter(one -> one.subject.equals(subject))
        .mapToLong(Kept::seq).findFirst().orElse(0);
  }

  /** Answers of the leader, or none. */
  private CompletableFuture<WriteOutcome> write(One by, Supplier<WriteOutcome> writing) {
    synchronized (this) {
      if (by.cut) return CompletableFuture.completedFuture(new WriteOutcome.RetryableFailure("cut off", true));
      boolean lost = random.nextInt(100) < lostInHundred;
      var stored = lost && random.nextBoolean() ? null : writing.get();
      return CompletableFuture
          .completedFuture(lost ? new WriteOutcome.RetryableFailure("a leader is elected", true) : stored);
    }
  }

  private synchronized List<Kept> read(One by, Replica replica, String filter, long from, int most) {
    check(by);
    var wanted = Pattern.compile(filter.replace(".", "\\.").replace("*", "[^.]+").replace(">", ".+"));
    return replica.messages.tailMap(from, true).values().stream()
        .filter(one -> wanted.matcher(one.subject).matches()).limit(most).toList();
  }

  private static void check(One by) {
    if (by.cut) throw new StoreClosedException("the connection to the replicas is closed");
  }

  private synchronized List<Kept> page(One by, String filter, long from, int most) {
    var replica = replicas.get(held < 0 ? random.nextInt(REPLICAS) : 1);
    int behind = changes.size() - replica.applied;
    if (held < 0 && behind > 0) bring(replica, replica.applied + random.nextInt(behind + 1));
    return read(by, replica, filter, from, Math.min(most, 1 + random.nextInt(MOST_OF_PAGE)));
  }

  /** The stream, as one program asks it. */
  private final class MemoryLog extends JetStreamLog {
    private final One by;

    MemoryLog(One by, Duration limit) throws IOException {
      super(
          new NatsConnection(connection(by),
              new ConnectionErrors(new AppClient("replicas", "test", NatsNetwork.Role.KEEPER))),
          "replicas", limit);
      this.by = by;
    }

    @Override
    int maxBytes() {
      return 1 << 20;
    }

    @Override
    CompletableFuture<WriteOutcome> addAll(List<StreamMessage> all, long before) {
      return write(by, () -> {
        if (lastOf(all.getFirst().subject()) != before) return new WriteOutcome.WriteConflict(false);
        all.forEach(Replicas.this::store);
        return new WriteOutcome.WriteSuccess(last);
      });
    }

    @Override
    CompletableFuture<WriteOutcome> add(StreamMessage one, String id) {
      return write(by, () -> {
        var known = ids.get(id);
        if (known == null) ids.put(id, store(one));
        return new WriteOutcome.WriteSuccess(ids.get(id));
      });
    }

    @Override
    CompletableFuture<WriteOutcome> replace(StreamMessage one, long before) {
      return write(by, () -> {
        if (lastOf(one.subject()) != before) return new WriteOutcome.WriteConflict(false);
        remove(one.subject(), before);
        return new WriteOutcome.WriteSuccess(store(one));
      });
    }

    @Override
    CompletableFuture<WriteOutcome> purge(String subject, long upTo) {
      return write(by, () -> {
        remove(subject, upTo);
        return new WriteOutcome.WriteSuccess(0);
      });
    }

    @Override
    List<MessageInfo> lastMessages(Collection<String> subjects) {
      synchronized (Replicas.this) {
        check(by);
        return subjects.stream().map(subject -> leader().messages.get(lastOf(subject)))
            .filter(one -> one != null).map(Kept::info).toList();
      }
    }

    @Override
    Optional<MessageInfo> nextMessage(String filter, long from) {
      return read(by, leader(), filter, from, 1).stream().map(Kept::info).findFirst();
    }

    @Override
    Map<String, Long> countBySubject(String filter) {
      var counts = new TreeMap<String, Long>();
      read(by, leader(), filter, 0, Integer.MAX_VALUE).forEach(one -> counts.merge(one.subject, 1L, Long::sum));
      return counts;
    }

    @Override
    List<MessageInfo> page(String filter, long from, int most) {
      var page = Replicas.this.page(by, filter, from, most).stream().map(Kept::info).toList();
      return page.isEmpty() ? nextMessage(filter, from).stream().toList() : page;
    }
  }

  /** Carries nothing. */
  private static Connection connection(One by) {
    return fake(Connection.class, (proxy, method, arguments) -> switch (method.getName()) {
      case "createInbox" -> "inbox";
      case "createDispatcher" -> fake(Dispatcher.class, (same, called, given) -> null);
      case "getStatus" -> by.cut ? Connection.Status.CLOSED : Connection.Status.CONNECTED;
      default -> null;
    });
  }

  private static <T> T fake(Class<T> type, InvocationHandler handler) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
  }
}
