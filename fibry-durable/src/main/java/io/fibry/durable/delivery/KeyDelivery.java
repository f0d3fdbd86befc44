package io.fibry.durable.delivery;

import io.fibry.durable.storage.StoredMessage;
import io.fibry.store.spi.StoreBackend;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * The messages of one actor that are being delivered: reserved by senders, queued in memory, or
 * begun. Guarded by the monitor of its {@link PendingDelivery}.
 */
final class KeyDelivery {
  static final CompletableFuture<Void> DONE = CompletableFuture.completedFuture(null);

  boolean hasCourier; // a courier of this actor runs, or is parked
  boolean needsCourier; // the courier must read again before it ends; if none runs, one must be started
  private boolean isReading; // the courier reads messages, or has not yet delivered all that it has read
  private boolean hasRequestsToRelease; // the courier has delivered its messages, and held requests may be sent
  private boolean isReleasing; // a thread is sending held requests
  private boolean hasReadAll; // the courier's last read returned all messages that were due
  private boolean isBehind; // messages that were due at the last read are not delivered yet
  private boolean hasLeftovers; // messages wait for the courier: left by senders, or begun and not done
  private boolean hasNewLeftovers; // a sender left a message since the courier's read began
  Instant lastReadAt = Instant.MIN; // time of the courier's last read
  Instant retryAt = Instant.MIN; // when a courier tries again after a failure
  int consecutiveFailures; // of couriers

  // The sets and the list are immutable while they are empty.
  private Set<String> reservedIds = Set.of(); // ids of messages being stored, and of open requests
  private OrderedMessages queue = OrderedMessages.NONE; // in the order in which they will be handled
  // in the order in which they were begun; their turns are not stored yet
  private OrderedMessages startedMessages = OrderedMessages.NONE;
  // Completing a future sends its request. The futures are completed when the courier has delivered
  // its messages.
  private List<CompletableFuture<Void>> heldRequests = List.of();
  private Set<String> unreadableIds = Set.of(); // only another version of the program can read them
  private int openCalls; // calls that the actor has not answered
  // Set if a message that was begun still waits at the store. No message is handled until all open
  // calls have ended and a courier delivers the messages again.
  private boolean isHalted;

  // ---- senders

  void reserve(String id) {
    if (reservedIds.isEmpty()) reservedIds = new HashSet<>(2);
    reservedIds.add(id);
  }

  /** Ends a reservation. Returns false if the message was not reserved. */
  boolean unreserve(String id) {
    boolean wasReserved = !reservedIds.isEmpty() && reservedIds.remove(id);
    if (reservedIds.isEmpty()) reservedIds = Set.of();
    return wasReserved;
  }

  /** Queues a message, or returns false if a courier must deliver it, after earlier messages. */
  boolean tryAdd(StoredMessage<Object> message) {
    hasLeftovers |= hasCourier && isBehind || consecutiveFailures > 0 || isHalted;
    hasNewLeftovers |= hasLeftovers;
    if (!hasLeftovers) add(message);
    return !hasLeftovers;
  }

  /** Queues a message. The caller must then call the actor to handle all messages up to it. */
  void add(StoredMessage<Object> message) {
    queue = queue.with(message);
    openCalls++;
  }

  /**
   * Ends a call that was answered or has failed. Returns whether a courier must read the remaining
   * messages.
   */
  boolean endCall() {
    if (--openCalls > 0) return false;
    hasLeftovers |= isHalted || !queue.isEmpty() || !startedMessages.isEmpty();
    isHalted = false;
    return needsCourier || hasLeftovers;
  }

  // ---- the actor

  /** Begins and returns the first queued message, if {@code lastMessage} is queued, too. */
  Optional<StoredMessage<Object>> beginNextUpTo(StoredMessage<?> lastMessage) {
    if (isHalted || !queue.has(lastMessage.id())) return Optional.empty();
    var message = queue.removeFirst();
    queue = queue.orNone(); // a handler may sleep for days
    startedMessages = startedMessages.with(message);
    return Optional.of(message);
  }

  /** Forgets a message that does not wait any more. */
  void complete(String id, Instant due) {
    unreserve(id);
    remove(queue, id, due);
    remove(startedMessages, id, due);
  }

  /** Removes the message, unless its due time differs: a reminder that was set again stays. */
  private static void remove(OrderedMessages messages, String id, Instant due) {
    var message = messages.get(id);
    if (message != null && message.due().equals(due)) messages.remove(id);
  }

  /** Stops the handling: a message that was begun still waits at the store, and must come first. */
  void halt() {
    isHalted = openCalls > 0;
  }

  boolean isHalted() {
    return isHalted;
  }

  /**
   * Queues all messages for a new life, begun messages first. A message that was not pending when
   * the life began counts as read from the store: the store must be asked whether that message
   * still waits.
   */
  void restart(List<String> pendingIds) {
    var pending = Set.copyOf(pendingIds);
    var messages = new ArrayList<>(startedMessages.removeAll());
    messages.addAll(queue.removeAll());
    for (var message : messages) queue = queue.with(pending.contains(message.id()) ? message : message.asRead());
  }

  // ---- couriers

  void beginReading() {
    isReading = true;
    isBehind = true;
    hasReadAll = false;
    hasLeftovers = false;
    hasNewLeftovers = false;
  }

  /**
   * Holds a request that would overtake messages of the courier, or other held requests. Returns
   * false if the request may be sent at once.
   */
  boolean holdRequest(CompletableFuture<Void> request) {
    boolean mustWait = isReading || hasRequestsToRelease;
    if (mustWait) hold(request);
    return mustWait;
  }

  /**
   * Returns a future that is done when all requests that are held now are sent. The end of the
   * actor waits for this future.
   */
  CompletableFuture<Void> holdEnd() {
    if (heldRequests.isEmpty() && !hasRequestsToRelease) return DONE;
    var end = new CompletableFuture<Void>();
    hold(end);
    return end;
  }

  private void hold(CompletableFuture<Void> request) {
    if (heldRequests.isEmpty()) heldRequests = new ArrayList<>(1);
    heldRequests.add(request);
  }

  /**
   * Returns whether the courier can add to its batch messages that senders left during its read.
   */
  boolean shouldReadOnceMore() {
    return hasReadAll && hasNewLeftovers && !isHalted;
  }

  boolean shouldReadAgain() {
    return (needsCourier || hasLeftovers || !hasReadAll) && !isHalted;
  }

  void endReading() {
    isReading = false;
    isBehind = !hasReadAll;
    hasRequestsToRelease |= !heldRequests.isEmpty();
  }

  /**
   * Takes the held requests that may be sent now. Only one thread at a time sends them. A second
   * thread could overtake the first while a full mailbox makes the first wait.
   *
   * @param isFirstCall whether this is the thread's first call; false while it sends held requests
   * @return the requests; empty if all are sent, if the courier reads, or if another thread sends
   */
  List<CompletableFuture<Void>> takeReleased(boolean isFirstCall) {
    if (isFirstCall && isReleasing) return List.of();
    hasRequestsToRelease = !isReading && !heldRequests.isEmpty();
    isReleasing = hasRequestsToRelease;
    if (!hasRequestsToRelease) return List.of();
    var released = heldRequests;
    heldRequests = List.of();
    return released;
  }

  /** Queues messages, or returns false if the courier must first read earlier messages again. */
  boolean tryAddAll(List<StoredMessage<Object>> batch) {
    // If all calls ended while the courier was reading, their messages are still in this object.
    boolean hasLostMessages = openCalls == 0 && !(queue.isEmpty() && startedMessages.isEmpty());
    if (isHalted || hasLostMessages) {
      hasReadAll = false;
      return false;
    }
    batch.forEach(this::add);
    return true;
  }

  /** If no call is open, removes messages whose calls were lost: the courier reads them again. */
  void removeLost() {
    if (openCalls > 0) return;
    queue = OrderedMessages.NONE;
    startedMessages = OrderedMessages.NONE;
  }

  boolean has(String id) {
    return reservedIds.contains(id) || queue.has(id) || startedMessages.has(id);
  }

  void addUnreadable(String unreadableId) {
    if (unreadableIds.isEmpty()) unreadableIds = new HashSet<>(2);
    unreadableIds.add(unreadableId);
  }

  /** Returns at most {@code capacity} messages that are neither in delivery nor unreadable. */
  List<StoreBackend.PendingMessage> filterNew(List<StoreBackend.PendingMessage> dueMessages, int maxRead,
      int capacity) {
    var newMessages =
        dueMessages.stream().filter(message -> !has(message.id()) && !unreadableIds.contains(message.id())).toList();
    hasReadAll = dueMessages.size() < maxRead && newMessages.size() <= capacity;
    return newMessages.size() <= capacity ? newMessages : newMessages.subList(0, capacity);
  }

  /** Returns how many messages a courier may have to skip when it reads. */
  int skippedCount() {
    return reservedIds.size() + queue.size() + startedMessages.size() + unreadableIds.size();
  }

  boolean isIdle() {
    return skippedCount() == 0 && openCalls == 0 && heldRequests.isEmpty() && !hasRequestsToRelease && !hasCourier
        && !needsCourier && !hasLeftovers && consecutiveFailures == 0;
  }
}
