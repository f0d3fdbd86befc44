package io.fibry.durable;

import io.fibry.store.Store;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * The messages that are being given to an actor. Under the monitor of its {@link PendingDelivery}.
 */
final class KeyDelivery {
  boolean hasCourier; // there is one
  boolean needsCourier; // it looks again before it goes; if there is none, one is to come
  private boolean isReading; // it has not given what it sees
  private boolean hasRequestsToRelease; // whether it has been given, and requests that waited for that are being sent
  private boolean isReleasing; // a thread lets them go
  private boolean hasReadAll; // all that was due when it looked
  private boolean isBehind; // it has not given all that was due then
  private boolean hasLeftovers; // what a sender left to it, or what was tried, comes first
  private boolean hasMissed; // a sender left something since it began to look
  Instant readUntil = Instant.MIN; // the courier has seen all that was due then
  Instant retryAt = Instant.MIN; // then a courier tries again
  int failures; // since the last success

  private final Set<String> reserved = new HashSet<>(2); // being stored by senders, and requests that are not answered
  // by id; to be handled, in this order
  private final Map<String, StoredMessage<Object>> queue = new LinkedHashMap<>(2);
  // handled in this order, not stored yet
  private final Map<String, StoredMessage<Object>> started = new LinkedHashMap<>(2);
  private final List<CompletableFuture<Void>> requests = new ArrayList<>(0); // they go when it has given
  private final Set<String> unreadable = new HashSet<>(0); // they wait for another version of the program
  private int openCalls; // of the actor that it has not answered
  // Whether a message that was begun continues to wait; then none is handled before a courier gives
  // all of them again
  private boolean isHalted;

  // ---- senders

  void reserve(String id) {
    reserved.add(id);
  }

  /** Returns false if the message was not being given. */
  boolean unreserve(String id) {
    return reserved.remove(id);
  }

  /** Otherwise it is left to a courier, so that it overtakes no other. */
  boolean tryAdd(StoredMessage<Object> kept) {
    hasLeftovers |= hasCourier && isBehind || failures > 0 || isHalted;
    hasMissed |= hasLeftovers;
    if (!hasLeftovers) add(kept);
    return !hasLeftovers;
  }

  /** Its actor is called to handle all up to this one. */
  void add(StoredMessage<Object> kept) {
    queue.put(kept.id(), kept);
    openCalls++;
  }

  /**
   * A call was answered, or came to nothing. Returns true if a courier is to look for the other
   * messages.
   */
  boolean endCall() {
    if (--openCalls > 0) return false;
    hasLeftovers |= isHalted || !queue.isEmpty() || !started.isEmpty();
    isHalted = false;
    return needsCourier || hasLeftovers;
  }

  // ---- the actor

  /** Returns the first message in order, if the last has been given. */
  Optional<StoredMessage<Object>> nextAfter(StoredMessage<?> last) {
    if (isHalted || !queue.containsKey(last.id())) return Optional.empty();
    var first = queue.values().iterator().next();
    queue.remove(first.id());
    started.put(first.id(), first);
    return Optional.of(first);
  }

  /** It waits no more. */
  void complete(String id, Instant due) {
    reserved.remove(id);
    remove(queue, id, due);
    remove(started, id, due);
  }

  /** A reminder that was set again is another message. */
  private static void remove(Map<String, StoredMessage<Object>> of, String id, Instant due) {
    var found = of.get(id);
    if (found != null && found.due().equals(due)) of.remove(id);
  }

  /** The message that was begun continues to wait. */
  void halt() {
    isHalted = openCalls > 0;
  }

  boolean isHalted() {
    return isHalted;
  }

  /** A new life handles what the one before has begun, if that was waiting at its reading. */
  void restart(List<String> waiting) {
    var known = Set.copyOf(waiting);
    var all = new ArrayList<>(started.values());
    all.addAll(queue.values());
    started.clear();
    queue.clear();
    for (var one : all) queue.put(one.id(), known.contains(one.id()) ? one : one.asRead());
  }

  // ---- couriers

  void beginReading() {
    isReading = true;
    isBehind = true;
    hasReadAll = false;
    hasLeftovers = false;
    hasMissed = false;
  }

  /**
   * Returns false if a request that is sent now overtakes no message that is about to be given or
   * sent.
   */
  boolean holdRequest(CompletableFuture<Void> request) {
    boolean held = isReading || hasRequestsToRelease;
    if (held) requests.add(request);
    return held;
  }

  /** Done when the requests have gone that wait now: then their actor may end. */
  CompletableFuture<Void> holdEnd() {
    if (requests.isEmpty() && !hasRequestsToRelease) return TurnPipeline.DONE;
    var end = new CompletableFuture<Void>();
    requests.add(end);
    return end;
  }

  /** A sender left something that it has not seen, and can give now with the rest. */
  boolean shouldReadOnceMore() {
    return hasReadAll && hasMissed && !isHalted;
  }

  boolean shouldReadAgain() {
    return (needsCourier || hasLeftovers || !hasReadAll) && !isHalted;
  }

  void endReading() {
    isReading = false;
    isBehind = !hasReadAll;
    hasRequestsToRelease |= !requests.isEmpty();
  }

  /**
   * For one thread at a time: another one would overtake it where a mailbox lets it wait.
   *
   * @param first the thread has let none go so far
   * @return the requests that may be sent; empty if all were sent, wait for the next look,
   * or belong to another thread.
   */
  List<CompletableFuture<Void>> takeReleased(boolean first) {
    if (first && isReleasing) return List.of();
    hasRequestsToRelease = !isReading && !requests.isEmpty();
    isReleasing = hasRequestsToRelease;
    if (!hasRequestsToRelease) return List.of();
    var freed = List.copyOf(requests);
    requests.clear();
    return freed;
  }

  /** Returns false if a message before them is not in a mailbox yet. */
  boolean tryAddAll(List<StoredMessage<Object>> batch) {
    boolean lost = openCalls == 0 && !(queue.isEmpty() && started.isEmpty()); // since the look
    if (isHalted || lost) {
      hasReadAll = false;
      return false;
    }
    batch.forEach(this::add);
    return true;
  }

  /** All that is in no mailbox can be read again. */
  void removeLost() {
    if (openCalls > 0) return;
    queue.clear();
    started.clear();
  }

  boolean has(String id) {
    return reserved.contains(id) || queue.containsKey(id) || started.containsKey(id);
  }

  void addUnreadable(String unreadableId) {
    unreadable.add(unreadableId);
  }

  /** Those that are not in hand yet, of the first that are due. */
  List<Store.PendingMessage> filterUnknown(List<Store.PendingMessage> found, int max, int room) {
    var unknown = found.stream().filter(one -> !has(one.id()) && !unreadable.contains(one.id())).toList();
    hasReadAll = found.size() < max && unknown.size() <= room;
    return unknown.size() <= room ? unknown : unknown.subList(0, room);
  }

  /** How many messages may wait that are not to be given. */
  int size() {
    return reserved.size() + queue.size() + started.size() + unreadable.size();
  }

  boolean isIdle() {
    return size() == 0 && openCalls == 0 && requests.isEmpty() && !hasRequestsToRelease && !hasCourier && !needsCourier
        && !hasLeftovers && failures == 0;
  }
}
