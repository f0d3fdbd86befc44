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
 * this node has sent. Askers may take theirs back; {@link RequestClaims} tells them who has them.
 * Thread-safe.
 */
final class PendingRequests {
  private final Map<String, InboundMessage> waitingMessages = new ConcurrentHashMap<>(); // in a part or an offer, by id
  private final Map<String, CompletableFuture<?>> pendingAnswers = new ConcurrentHashMap<>(); // of asked actors, by id
  private final Map<String, RemoteRequest<?>> sentRequests = new ConcurrentHashMap<>(); // by this node, by id

  // ---- of other nodes

  /**
   * Begins to claim a request that waits here for its actor. The copy that comes by way of the node
   * before has the same id, and changes nothing.
   */
  void addWaiting(InboundMessage message) {
    if (message.wire().replyTo().isPresent())
      message.wire().header(Route.ID).ifPresent(id -> waitingMessages.putIfAbsent(id, message));
  }

  /** Called when its actor has it, or another node, or nobody. */
  void removeWaiting(InboundMessage message) {
    message.wire().header(Route.ID).ifPresent(id -> waitingMessages.remove(id, message));
  }

  /** Called when a part or an offer has ended, with all that waited in it. */
  void removeAllOf(Object holder) {
    waitingMessages.values().removeIf(message -> message.holder() == holder);
  }

  /** Until it is answered. */
  void add(WireMessage request, CompletableFuture<?> answer) {
    var id = request.header(Route.ID);
    if (id.isEmpty()) return; // of a foreign program
    pendingAnswers.put(id.get(), answer);
    answer.whenComplete((value, failure) -> pendingAnswers.remove(id.get(), answer));
  }

  /** {@return how many actors of this node are asked} */
  int size() {
    return pendingAnswers.size();
  }

  /** {@return the ids of all that this node has, and will answer unless it ends} */
  Set<String> localIds() {
    var ids = new HashSet<>(waitingMessages.keySet());
    ids.addAll(pendingAnswers.keySet());
    return ids;
  }

  /**
   * On the engine's thread. A request that has not begun is not handled; a handler that has begun
   * can see it.
   */
  void cancel(WireMessage wire) {
    var answer = wire.header(Route.ID).map(pendingAnswers::get);
    answer.ifPresent(one -> one.cancel(false));
  }

  // ---- of this node

  /** Until it has an end. */
  void addSent(String id, RemoteRequest<?> request) {
    sentRequests.put(id, request);
    request.answer().whenComplete((value, failure) -> sentRequests.remove(id, request));
  }

  /** A node has it. */
  void onClaimed(String id, String by) {
    var request = sentRequests.get(id);
    if (request != null) request.onClaimed(by);
  }

  Collection<RemoteRequest<?>> sentRequests() {
    return Collections.unmodifiableCollection(sentRequests.values());
  }
}
