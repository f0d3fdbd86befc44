package io.fibry.cluster.remote;

import io.fibry.cluster.spi.WireMessage;
import io.fibry.cluster.wire.Destination;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;

/**
 * Requests that are not answered yet: requests of other nodes that this node has, and requests that
 * this node has sent. A request waits in a gate until its actor can take it: the
 * {@code PartitionGate} of its partition, or the gate of an {@link ExposedActor}. A request that
 * needs no gate counts as waiting while the thread of the transport decodes it. Askers may cancel
 * their requests; {@link RequestKeepAlive} tells askers which nodes have their requests.
 * Thread-safe.
 */
public final class RequestRegistry {
  /** A request of this node that is not completed yet. */
  interface OpenRequest {
    CompletableFuture<?> answer();

    /** Records that the node has named this request in a keep-alive. */
    void onKeepAlive(String node);

    /** Measures the time without a keep-alive from now on. */
    void restartSilence();

    /** Fails this request if no node has named it for longer than {@code maxSilence}. */
    void failIfSilent(long now, Duration maxSilence);
  }

  private final Map<String, InboundMessage> waitingMessages = new ConcurrentHashMap<>(); // in a gate, by id
  private final Map<String, CompletableFuture<?>> pendingAnswers = new ConcurrentHashMap<>(); // of asked actors, by id
  private final AtomicInteger unsentCount = new AtomicInteger(); // answers that wait for the transport
  private volatile CompletableFuture<Void> sentWaiter; // of the node that leaves; null before
  private final Map<String, OpenRequest> sentRequests = new ConcurrentHashMap<>(); // by this node, by id

  // ---- requests of other nodes

  /**
   * Adds a request that waits here for its actor. Keep-alives name it from now on. A copy that the
   * previous owner of the partition forwards has the same id, and changes nothing.
   */
  public void addWaiting(InboundMessage message) {
    if (message.wire().replyTo().isPresent())
      message.wire().header(Destination.MESSAGE_ID).ifPresent(id -> waitingMessages.putIfAbsent(id, message));
  }

  /** Called when a message was given to its actor, forwarded to another node, or dropped. */
  public void removeWaiting(InboundMessage message) {
    message.wire().header(Destination.MESSAGE_ID).ifPresent(id -> waitingMessages.remove(id, message));
  }

  /**
   * Called when a gate has ended. The messages that waited in it are dropped.
   *
   * @param holder the PartitionGate or ExposedActor
   */
  public void removeAllOf(Object holder) {
    waitingMessages.values().removeIf(message -> message.holder() == holder);
  }

  /**
   * Adds a request that was passed to its actor. Keep-alives name it until
   * {@link #removeDelivered}. Its message may have been cancelled while it was decoded, or while
   * the actor's mailbox was full. The message is still among the waiting messages when this method
   * is called. This method adds the answer, and then reads whether the message is cancelled.
   * {@link #cancel} cancels the message, and then searches for the answer. So no cancellation is
   * missed.
   */
  public void addDelivered(WireMessage request, CompletableFuture<?> answer) {
    var id = request.header(Destination.MESSAGE_ID);
    if (id.isEmpty()) return; // a request of another program
    pendingAnswers.put(id.get(), answer);
    var waitingMessage = waitingMessages.get(id.get());
    if (waitingMessage != null && waitingMessage.isCancelled()) answer.cancel(false);
  }

  /** Called when the answer was sent, or will not be sent. */
  void removeDelivered(WireMessage request, CompletableFuture<?> answer) {
    request.header(Destination.MESSAGE_ID).ifPresent(id -> pendingAnswers.remove(id, answer));
  }

  /**
   * Passes code that sends an answer to an executor that never runs it on this thread.
   *
   * @throws RejectedExecutionException if the executor has ended
   */
  void send(Executor executor, Runnable sending) {
    unsentCount.incrementAndGet();
    boolean isAccepted = false;
    try {
      executor.execute(() -> {
        try {
          sending.run();
        } finally {
          onSent();
        }
      });
      isAccepted = true;
    } finally {
      if (!isAccepted) onSent();
    }
  }

  private void onSent() {
    if (unsentCount.decrementAndGet() > 0) return;
    var waiter = sentWaiter;
    if (waiter != null) waiter.complete(null);
  }

  /**
   * Waits until the answers that were passed to {@link #send} are sent. Called once, by the leaving
   * node. The waiter is published before the count is read here, and the last sender changes the
   * count before it reads the waiter. So one of the two threads sees the other.
   *
   * @return false if answers are still unsent after the limit
   */
  public boolean awaitSent(Duration limit) throws InterruptedException {
    var waiter = new CompletableFuture<Void>();
    sentWaiter = waiter;
    if (unsentCount.get() == 0) return true;
    try {
      waiter.get(limit.toNanos(), TimeUnit.NANOSECONDS);
      return true;
    } catch (TimeoutException | ExecutionException stillUnsent) {
      return false;
    }
  }

  /** {@return how many requests of other nodes this node has, and must still answer} */
  public int unansweredCount() {
    return inboundIds(InboundMessage::isRequest).size();
  }

  /** {@return the ids of the requests that this node has, and will answer unless it ends} */
  public Set<String> inboundIds() {
    return inboundIds(message -> true);
  }

  private Set<String> inboundIds(Predicate<InboundMessage> condition) {
    var ids = new HashSet<String>();
    waitingMessages.forEach((id, message) -> {
      if (!message.isCancelled() && condition.test(message)) ids.add(id);
    });
    ids.addAll(pendingAnswers.keySet()); // second, because requests move from the first map to this one
    return ids;
  }

  /**
   * Cancels a request whose asker has stopped waiting. If the request waits in a gate, its actor
   * does not get it. A handler that has not begun does not begin, with one exception. If
   * the request has waited for capacity in the actor's mailbox, its handler may begin before the
   * cancellation is noticed. A handler that has begun can see the cancellation. Called on a thread
   * of the transport.
   */
  public void cancel(WireMessage wire) {
    var id = wire.header(Destination.MESSAGE_ID);
    id.map(waitingMessages::get).ifPresent(InboundMessage::cancel);
    id.map(pendingAnswers::get).ifPresent(answer -> answer.cancel(false));
  }

  // ---- requests of this node

  /** Adds a request of this node. The request is removed when it is completed. */
  void addSent(String id, OpenRequest request) {
    sentRequests.put(id, request);
    request.answer().whenComplete((value, failure) -> sentRequests.remove(id, request));
  }

  /** Records that another node has named a request of this node in a keep-alive. */
  void onKeepAlive(String id, String node) {
    var request = sentRequests.get(id);
    if (request != null) request.onKeepAlive(node);
  }

  Collection<OpenRequest> sentRequests() {
    return Collections.unmodifiableCollection(sentRequests.values());
  }
}
