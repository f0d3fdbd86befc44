package io.fibry.cluster;

import io.fibry.Actor;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.pubsub.Subscription;
import io.fibry.store.MemoryStore;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * A network in the memory of one process, without a server: for development and tests. It loses no
 * message. Thread-safe.
 */
public final class MemoryNetwork implements ClusterNetwork {
  private static final int MAX_BYTES = 1 << 20;
  private static final Duration LAST_MESSAGES = Duration.ofSeconds(5); // to be read at the end
  private static final String REPLY_PREFIX = "_answer.";

  /** A subscriber. Its messages wait in an actor's mailbox. Thread-safe. */
  private static final class MemorySubscriber {
    private final Optional<String> group;
    private final Actor<WireMessage> actor;
    private boolean closed; // under this object's monitor

    MemorySubscriber(Optional<String> group, Actor<WireMessage> actor) {
      this.group = group;
      this.actor = actor;
    }

    /** Returns false if it gets no more messages. Messages that it takes come before its end. */
    synchronized boolean tryDeliver(WireMessage message) {
      return !closed && actor.sendMessage(message);
    }

    void close() {
      synchronized (this) {
        closed = true;
      }
      actor.sendPoisonPill();
      actor.waitForExit(LAST_MESSAGES);
    }
  }

  private final Scheduler clock;
  private final Map<String, List<MemorySubscriber>> readers = new ConcurrentHashMap<>(); // by subject
  // By where answers go.
  private final Map<String, CompletableFuture<WireMessage>> pendingRequests = new ConcurrentHashMap<>();
  private final AtomicLong lastRequest = new AtomicLong(); // of requests
  private final AtomicLong groupCounter = new AtomicLong(); // of those in a group
  private final Map<String, MemoryQueue> queues = new ConcurrentHashMap<>(); // by subject
  private final MemoryTable table;
  private final MemoryStore store = MemoryStore.open();

  private MemoryNetwork(Scheduler clock) {
    this.clock = clock;
    this.table = new MemoryTable(clock);
  }

  /** {@return a network without nodes} */
  public static MemoryNetwork create() {
    return create(Scheduler.system());
  }

  /**
   * A network with a clock of its own.
   *
   * @param clock for limits and leases
   * @return without nodes
   */
  public static MemoryNetwork create(Scheduler clock) {
    return new MemoryNetwork(Objects.requireNonNull(clock, "clock"));
  }

  @Override
  public ClusterTransport connect(String app, String node) {
    return engine();
  }

  ClusterTransport engine() {
    return new MemoryTransport(this, table, store);
  }

  MemoryQueue queue(String subject) {
    return queues.computeIfAbsent(subject, none -> new MemoryQueue(clock));
  }

  int maxBytes() {
    return MAX_BYTES;
  }

  /** Returns false if the message has no receiver. */
  boolean send(WireMessage message) {
    var waiting = pendingRequests.remove(message.subject());
    if (waiting != null) return waiting.complete(message);
    var groups = new LinkedHashMap<String, List<MemorySubscriber>>();
    boolean sent = false;
    for (var reader : readers.getOrDefault(message.subject(), List.of()))
      if (reader.group.isPresent())
        groups.computeIfAbsent(reader.group.get(), none -> new ArrayList<>()).add(reader);
      else sent |= reader.tryDeliver(message);
    for (var group : groups.values()) sent |= sendToOne(group, message);
    return sent;
  }

  private boolean sendToOne(List<MemorySubscriber> group, WireMessage message) {
    int first = (int) (groupCounter.incrementAndGet() % group.size());
    for (int i = 0; i < group.size(); i++)
      if (group.get((first + i) % group.size()).tryDeliver(message)) return true; // others have ended
    return false;
  }

  void request(WireMessage message, Duration limit, CompletableFuture<WireMessage> answer) {
    String subject = REPLY_PREFIX + lastRequest.incrementAndGet();
    pendingRequests.put(subject, answer);
    var timer = clock.schedule(limit,
        () -> answer.completeExceptionally(new TransportException(TransportException.Failure.TIMED_OUT,
            "no answer from " + message.subject() + " came in time")));
    answer.whenComplete((value, failure) -> {
      pendingRequests.remove(subject);
      timer.cancel();
    });
    if (!send(message.withReplyTo(subject))) answer.completeExceptionally(
        new TransportException(TransportException.Failure.NO_RECEIVER, "nobody gets messages to " + message.subject()));
  }

  Subscription subscribe(String subject, Optional<String> group, Consumer<WireMessage> reader) {
    Actor<WireMessage> actor = ActorSystem.anonymous().onFailure(FailurePolicy.resume()).newActor(reader::accept);
    var one = new MemorySubscriber(group, actor);
    readers.computeIfAbsent(subject, none -> new CopyOnWriteArrayList<>()).add(one);
    return () -> {
      readers.computeIfPresent(subject, (same, all) -> all.remove(one) && all.isEmpty() ? null : all);
      one.close();
    };
  }
}
