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
  boolean courier; // there is one
  boolean again; // it looks again before it goes; if there is none, one is to come
  private boolean looking; // it has not given what it sees
  private boolean freeing; // whether it has been given, and requests that waited for that are being sent
  private boolean releasing; // a thread lets them go
  private boolean seesAll; // all that was due when it looked
  private boolean behind; // it has not given all that was due then
  private boolean left; // what a sender left to it, or what was tried, comes first
  private boolean missed; // a sender left something since it began to look
  Instant looked = Instant.MIN; // the courier has seen all that was due then
  Instant until = Instant.MIN; // then a courier tries again
  int failures; // since the last success

  private final Set<String> taken = new HashSet<>(2); // being stored by senders, and requests that are not answered
  // by id; to be handled, in this order
  private final Map<String, StoredMessage<Object>> queue = new LinkedHashMap<>(2);
  // handled in this order, not stored yet
  private final Map<String, StoredMessage<Object>> begun = new LinkedHashMap<>(2);
  private final List<CompletableFuture<Void>> requests = new ArrayList<>(0); // they go when it has given
  private final Set<String> unreadable = new HashSet<>(0); // they wait for another version of the program
  private int calls; // of the actor that it has not answered
  // Whether a message that was begun continues to wait; then none is handled before a courier gives
  // all of them again
  private boolean halted;

  // ---- senders

  void take(String id) {
    taken.add(id);
  }

  /** Returns false if the message was not being given. */
  boolean drop(String id) {
    return taken.remove(id);
  }

  /** Otherwise it is left to a courier, so that it overtakes no other. */
  boolean isAdded(StoredMessage<Object> kept) {
    left |= courier && behind || failures > 0 || halted;
    missed |= left;
    if (!left) add(kept);
    return !left;
  }

  /** Its actor is called to handle all up to this one. */
  void add(StoredMessage<Object> kept) {
    queue.put(kept.id(), kept);
    calls++;
  }

  /**
   * A call was answered, or came to nothing. Returns true if a courier is to look for the other
   * messages.
   */
  boolean isOver() {
    if (--calls > 0) return false;
    left |= halted || !queue.isEmpty() || !begun.isEmpty();
    halted = false;
    return again || left;
  }

  // ---- the actor

  /** Returns the first message in order, if the last has been given. */
  Optional<StoredMessage<Object>> next(StoredMessage<?> last) {
    if (halted || !queue.containsKey(last.id())) return Optional.empty();
    var first = queue.values().iterator().next();
    queue.remove(first.id());
    begun.put(first.id(), first);
    return Optional.of(first);
  }

  /** It waits no more. */
  void done(String id, Instant due) {
    taken.remove(id);
    remove(queue, id, due);
    remove(begun, id, due);
  }

  /** A reminder that was set again is another message. */
  private static void remove(Map<String, StoredMessage<Object>> of, String id, Instant due) {
    var found = of.get(id);
    if (found != null && found.due().equals(due)) of.remove(id);
  }

  /** The message that was begun continues to wait. */
  void halt() {
    halted = calls > 0;
  }

  boolean isHalted() {
    return halted;
  }

  /** A new life handles what the one before has begun, if that was waiting at its reading. */
  void beginAnew(List<String> waiting) {
    var known = Set.copyOf(waiting);
    var all = new ArrayList<>(begun.values());
    all.addAll(queue.values());
    begun.clear();
    queue.clear();
    for (var one : all) queue.put(one.id(), known.contains(one.id()) ? one : one.again());
  }

  // ---- couriers

  void beginLooking() {
    looking = true;
    behind = true;
    seesAll = false;
    left = false;
    missed = false;
  }

  /**
   * Returns false if a request that is sent now overtakes no message that is about to be given or
   * sent.
   */
  boolean hold(CompletableFuture<Void> request) {
    boolean held = looking || freeing;
    if (held) requests.add(request);
    return held;
  }

  /** Done when the requests have gone that wait now: then their actor may end. */
  CompletableFuture<Void> holdEnd() {
    if (requests.isEmpty() && !freeing) return TurnPipeline.STORED;
    var end = new CompletableFuture<Void>();
    requests.add(end);
    return end;
  }

  /** A sender left something that it has not seen, and can give now with the rest. */
  boolean isToLookOnceMore() {
    return seesAll && missed && !halted;
  }

  boolean isToLookAgain() {
    return (again || left || !seesAll) && !halted;
  }

  void endLooking() {
    looking = false;
    behind = !seesAll;
    freeing |= !requests.isEmpty();
  }

  /**
   * For one thread at a time: another one would overtake it where a mailbox lets it wait.
   *
   * @param first the thread has let none go so far
   * @return the requests that may be sent; empty if all were sent, wait for the next look,
   * or belong to another thread.
   */
  List<CompletableFuture<Void>> freed(boolean first) {
    if (first && releasing) return List.of();
    freeing = !looking && !requests.isEmpty();
    releasing = freeing;
    if (!freeing) return List.of();
    var freed = List.copyOf(requests);
    requests.clear();
    return freed;
  }

  /** Returns false if a message before them is not in a mailbox yet. */
  boolean areAdded(List<StoredMessage<Object>> batch) {
    boolean lost = calls == 0 && !(queue.isEmpty() && begun.isEmpty()); // since the look
    if (halted || lost) {
      seesAll = false;
      return false;
    }
    batch.forEach(this::add);
    return true;
  }

  /** All that is in no mailbox can be read again. */
  void forgetLost() {
    if (calls > 0) return;
    queue.clear();
    begun.clear();
  }

  boolean has(String id) {
    return taken.contains(id) || queue.containsKey(id) || begun.containsKey(id);
  }

  void skip(String unreadableId) {
    unreadable.add(unreadableId);
  }

  /** Those that are not in hand yet, of the first that are due. */
  List<Store.PendingMessage> unknown(List<Store.PendingMessage> found, int most, int room) {
    var unknown = found.stream().filter(one -> !has(one.id()) && !unreadable.contains(one.id())).toList();
    seesAll = found.size() < most && unknown.size() <= room;
    return unknown.size() <= room ? unknown : unknown.subList(0, room);
  }

  /** How many messages may wait that are not to be given. */
  int size() {
    return taken.size() + queue.size() + begun.size() + unreadable.size();
  }

  boolean isOfNoUse() {
    return size() == 0 && calls == 0 && requests.isEmpty() && !freeing && !courier && !again && !left && failures == 0;
  }
}
