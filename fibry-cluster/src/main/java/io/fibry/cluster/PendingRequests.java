package io.fibry.cluster;

import io.fibry.cluster.spi.WireMessage;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Requests that are not answered yet: requests of other nodes that this node has, and requests that
 * this node has sent. Askers may cancel their requests; {@link RequestClaims} tells askers which
 * nodes have them. Thread-safe.
 */
final class PendingRequests {
  private final Map<String, InboundMessage> waitingMessages = new ConcurrentHashMap<>(); // in a gate or an offer, by id
  private final Map<String, CompletableFuture<?>> pendingAnswers = new ConcurrentHashMap<>(); // of asked actors, by id
  private final Map<String, RemoteRequest<?>> sentRequests = new ConcurrentHashMap<>(); // by this node, by id

  // ---- requests of other nodes

  /**
   * Begins to claim a request that waits here for its actor. A copy that the previous owner
   * forwards has the same id, and changes nothing.
   */
  void addWaiting(InboundMessage message) {
    if (message.wire().replyTo().isPresent())
      message.wire().header(Route.ID).ifPresent(id -> waitingMessages.putIfAbsent(id, message));
  }

  /** Called when a message was given to its actor, forwarded to another node, or dropped. */
  void removeWaiting(InboundMessage message) {
    message.wire().header(Route.ID).ifPresent(id -> waitingMessages.remove(id, message));
  }

  /** Called when a gate or an offer has ended; the messages that waited in it are dropped. */
  void removeAllOf(Object holder) {
    waitingMessages.values().removeIf(message -> message.holder() == holder);
  }

  /** Adds a request that an actor is asked, until it is answered. */
  void addAsked(WireMessage request, CompletableFuture<?> answer) {
    var id = request.header(Route.ID);
    if (id.isEmpty()) return; // a request of another program
    pendingAnswers.put(id.get(), answer);
    answer.whenComplete((value, failure) -> pendingAnswers.remove(id.get(), answer));
  }

  /** {@return how many actors of this node are asked} */
  int size() {
    return pendingAnswers.size();
  }

  /** {@return the ids of all requests that this node has, and will answer unless it ends} */
  Set<String> localIds() {
    var ids = new HashSet<>(waitingMessages.keySet());
    ids.addAll(pendingAnswers.keySet());
    return ids;
  }

  /**
   * Cancels a request whose asker has stopped waiting. If its handler has not begun, it does not
   * begin; a handler that has begun can see the cancellation. Called on a thread of the transport.
   */
  void cancel(WireMessage wire) {
    var answer = wire.header(Route.ID).map(pendingAnswers::get);
    answer.ifPresent(pendingAnswer -> pendingAnswer.cancel(false));
  }

  // ---- requests of this node

  /** Adds a request of this node, until it is completed. */
  void addSent(String id, RemoteRequest<?> request) {
    sentRequests.put(id, request);
    request.answer().whenComplete((value, failure) -> sentRequests.remove(id, request));
  }

  /** Records that a node has a request. */
  void onClaimed(String id, String node) {
    var request = sentRequests.get(id);
    if (request != null) request.onClaimed(node);
  }

  Collection<RemoteRequest<?>> sentRequests() {
    return Collections.unmodifiableCollection(sentRequests.values());
  }
}
