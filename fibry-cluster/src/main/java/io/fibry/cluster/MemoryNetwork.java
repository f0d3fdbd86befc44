package io.fibry.cluster;

import io.fibry.Actor;
import io.fibry.ActorSystem;
import io.fibry.AskCycleException;
import io.fibry.FailurePolicy;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.pubsub.Subscription;
import io.fibry.spi.BlockBuilder;
import io.fibry.spi.PromptReceiver;
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
  private static final Duration DRAIN_TIMEOUT = Duration.ofSeconds(5); // for a closed subscriber to read its messages
  private static final BlockBuilder<?> LIMITS = BlockBuilder.of(ActorSystem.anonymous()); // starts limits of requests
  private static final String REPLY_PREFIX = "_answer.";

  /** A subscriber, whose messages wait in the mailbox of an actor. Thread-safe. */
  private static final class MemorySubscriber {
    private final Optional<String> group;
    private final Actor<WireMessage> actor;
    private boolean isClosed; // guarded by the monitor

    MemorySubscriber(Optional<String> group, Actor<WireMessage> actor) {
      this.group = group;
      this.actor = actor;
    }

    /**
     * Accepts a message, which is then read even if the subscriber is closed afterwards. Returns
     * false if the subscriber is closed already.
     */
    synchronized boolean acceptIfOpen(WireMessage message) {
      return !isClosed && actor.sendMessage(message);
    }

    /** Returns whether the subscriber has read all messages that it has accepted. */
    boolean isIdle() {
      return ((PromptReceiver) actor).isIdle();
    }

    void close() {
      synchronized (this) {
        isClosed = true;
      }
      actor.sendPoisonPill();
      try {
        actor.waitForExit(DRAIN_TIMEOUT);
      } catch (AskCycleException ownWait) {} // the reader waits for this thread, and then reads its messages
    }
  }

  private final Scheduler clock;
  private final boolean isForOneNode; // whether no second node can connect
  private final Map<String, List<MemorySubscriber>> subscribers = new ConcurrentHashMap<>(); // by subject
  // requests without an answer, by the subject of the answer
  private final Map<String, CompletableFuture<WireMessage>> pendingRequests = new ConcurrentHashMap<>();
  private final AtomicLong lastRequestNumber = new AtomicLong();
  private final AtomicLong groupCounter = new AtomicLong(); // number of messages to groups
  private final Map<String, MemoryQueue> queues = new ConcurrentHashMap<>(); // by subject
  private final MemoryTable table;
  private final MemoryStore store = MemoryStore.open();

  private MemoryNetwork(Scheduler clock, boolean isForOneNode) {
    this.clock = clock;
    this.isForOneNode = isForOneNode;
    this.table = new MemoryTable(clock);
  }

  /** {@return a network without nodes} */
  public static MemoryNetwork create() {
    return create(Scheduler.system());
  }

  /**
   * Makes a network with a clock of its own.
   *
   * @param clock measures limits and leases
   * @return a network without nodes
   */
  public static MemoryNetwork create(Scheduler clock) {
    return new MemoryNetwork(Objects.requireNonNull(clock, "clock"), false);
  }

  /** Returns a network whose first node is its only node. */
  static MemoryNetwork ofOneNode() {
    return new MemoryNetwork(Scheduler.system(), true);
  }

  boolean isForOneNode() {
    return isForOneNode;
  }

  @Override
  public ClusterTransport connect(String app, String node) {
    return openTransport();
  }

  ClusterTransport openTransport() {
    return new MemoryTransport(this, table, store);
  }

  MemoryQueue queue(String subject) {
    return queues.computeIfAbsent(subject, key -> new MemoryQueue(clock));
  }

  int maxBytes() {
    return MAX_BYTES;
  }

  /**
   * Sends a message, or completes the request that it answers. Returns false if the message has no
   * receiver.
   */
  boolean send(WireMessage message) {
    var pendingAnswer = pendingRequests.remove(message.subject());
    if (pendingAnswer != null) return pendingAnswer.complete(message);
    var groups = new LinkedHashMap<String, List<MemorySubscriber>>();
    boolean isSent = false;
    for (var subscriber : subscribers.getOrDefault(message.subject(), List.of()))
      if (subscriber.group.isPresent())
        groups.computeIfAbsent(subscriber.group.get(), key -> new ArrayList<>()).add(subscriber);
      else isSent |= subscriber.acceptIfOpen(message);
    for (var group : groups.values()) isSent |= sendToOne(group, message);
    return isSent;
  }

  private boolean sendToOne(List<MemorySubscriber> group, WireMessage message) {
    int firstIndex = (int) (groupCounter.incrementAndGet() % group.size());
    for (int i = 0; i < group.size(); i++)
      if (group.get((firstIndex + i) % group.size()).acceptIfOpen(message)) return true;
    return false; // no subscriber of the group is open
  }

  void request(WireMessage message, Duration limit, CompletableFuture<WireMessage> answer) {
    String subject = REPLY_PREFIX + lastRequestNumber.incrementAndGet();
    pendingRequests.put(subject, answer);
    var timer = LIMITS.startTimeout(clock, limit,
        () -> answer.completeExceptionally(new TransportException(TransportException.Failure.TIMED_OUT,
            "no answer from " + message.subject() + " came in time")));
    answer.whenComplete((value, failure) -> {
      pendingRequests.remove(subject);
      timer.cancel();
    });
    if (!send(message.withReplyTo(subject))) answer.completeExceptionally(
        new TransportException(TransportException.Failure.NO_RECEIVER,
            "no node receives messages to " + message.subject()));
  }

  /** Returns whether all messages to the subject were read. */
  boolean isRead(String subject) {
    for (var subscriber : subscribers.getOrDefault(subject, List.of())) if (!subscriber.isIdle()) return false;
    return true;
  }

  Subscription subscribe(String subject, Optional<String> group, Consumer<WireMessage> reader) {
    Actor<WireMessage> actor = ActorSystem.anonymous().onFailure(FailurePolicy.resume()).newActor(reader::accept);
    var subscriber = new MemorySubscriber(group, actor);
    subscribers.computeIfAbsent(subject, key -> new CopyOnWriteArrayList<>()).add(subscriber);
    return () -> {
      subscribers.computeIfPresent(subject, (key, list) -> list.remove(subscriber) && list.isEmpty() ? null : list);
      subscriber.close();
    };
  }
}
