package io.fibry.cluster;

import io.fibry.DeadLetter;
import io.fibry.RequestException;
import io.fibry.cluster.Ledgers.Tell;
import io.fibry.cluster.remote.RemoteOutbox;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.ToLongFunction;

/**
 * Records the requests, answers, messages and handled messages of a run, and checks the promises
 * about them. Thread-safe.
 */
final class History {
  /** The outcome of a request or a message, as far as its sender knows. */
  enum End {
    DONE, UNKNOWN, NOT_HANDLED
  }

  /** An answer of a durable actor; the count says how many messages the actor had handled. */
  private record Answer(String key, long start, long ended, long count) {}

  static final String NAMED = "named"; // each node exposes an actor with this name

  private final Map<Long, String> descriptions = new ConcurrentHashMap<>(); // by id
  private final Map<Long, End> ends = new ConcurrentHashMap<>();
  // Ids of messages that were in mailboxes of nodes that crashed or moved their actors
  private final Set<Long> endedWithNode = ConcurrentHashMap.newKeySet();
  // How often actors without a store handled a message, by id
  private final Map<Long, Integer> handled = new ConcurrentHashMap<>();
  private final Map<String, Map<Long, Long>> positions = new ConcurrentHashMap<>(); // positions of answered ids, by key
  private final Map<String, Queue<Long>> handledIds = new ConcurrentHashMap<>(); // in the order of handling, by key
  // The node of each active entity without a store, by key
  private final Map<String, String> owners = new ConcurrentHashMap<>();
  // Entities without a store that were active on two nodes at once
  private final Set<String> duplicates = ConcurrentHashMap.newKeySet();
  private final ConcurrentLinkedQueue<Answer> answers = new ConcurrentLinkedQueue<>();
  private final List<String> errors = new ArrayList<>();

  // ---- events

  void sent(long id, String description) {
    descriptions.put(id, description);
  }

  void ended(long id, End end) {
    var previous = ends.put(id, end);
    if (previous != null) fail(id, "ended twice, " + previous + " and " + end);
  }

  /** Replaces the outcome of a message that was refused or has become a dead letter. */
  void deadLetter(long id, End end) {
    ends.put(id, end);
  }

  /** Called for a dead letter at the sender's node. */
  void deadLetter(DeadLetter letter) {
    if (letter.message() instanceof RemoteOutbox.LostMessage lost && lost.tell().message() instanceof Tell tell)
      deadLetter(tell.id(), end(lost.reason()));
  }

  /** Called for a dead letter at a node that lost the key while the message was in a mailbox. */
  void deadLetterAtOwner(DeadLetter letter) {
    if (letter.message() instanceof Tell tell) endedWithNode.add(tell.id());
  }

  /**
   * Called when a node crashes: messages in its mailboxes end with it, without notice to their
   * senders.
   */
  void crashed(String node) {
    owners.values().removeIf(node::equals);
    descriptions.forEach((id, description) -> {
      String actor = description.substring(description.lastIndexOf(' ') + 1);
      if (description.startsWith("plain Tell") && !handled.containsKey(id) && !owners.containsKey(actor))
        endedWithNode.add(id);
    });
  }

  /** {@return the outcome that a failure reports to the sender of its request} */
  static End end(Throwable failure) {
    return failure instanceof RequestException unanswered ? switch (unanswered.outcome()) {
      case NOT_DONE -> End.NOT_HANDLED;
      case WILL_BE_DONE -> End.DONE;
      case UNKNOWN -> End.UNKNOWN;
    } : End.UNKNOWN;
  }

  boolean isOpen(long id) {
    return !ends.containsKey(id);
  }

  void handled(String key, long id) {
    handled.merge(id, 1, Integer::sum);
    handledIds.computeIfAbsent(key, absent -> new ConcurrentLinkedQueue<>()).add(id);
  }

  /** Called when an entity without a store becomes active. */
  void entityActivated(String key, String node) {
    var previous = owners.put(key, node);
    if (previous != null && !previous.equals(node)) duplicates.add(key + " on " + previous + " and " + node);
  }

  void entityEnded(String key, String node) {
    owners.remove(key, node);
  }

  void answered(long id, String key, long start, long ended, long count) {
    if (id != 0) positions.computeIfAbsent(key, absent -> new ConcurrentHashMap<>()).put(id, count);
    answers.add(new Answer(key, start, ended, count));
  }

  private synchronized void fail(long id, String error) {
    errors.add("#" + id + " " + descriptions.getOrDefault(id, "?") + ": " + error);
  }

  // ---- checks

  /** Checks all requests and messages to actors without a store. */
  void checkPlain() {
    handled.forEach((id, times) -> {
      if (times > 1) fail(id, "was handled " + times + " times");
      if (ends.get(id) == End.NOT_HANDLED) fail(id, "was handled, although its sender was notified of the opposite");
    });
    descriptions.forEach((id, description) -> {
      if (!description.startsWith("plain")) return;
      if (isOpen(id)) fail(id, "has no outcome");
      else if (ends.get(id) == End.DONE && !handled.containsKey(id) && !endedWithNode.contains(id))
        fail(id, "is done, but was never handled");
    });
  }

  /** Checks the final states of durable actors, by key. */
  void checkDurable(Map<String, List<Long>> ledgers) {
    var keysById = new HashMap<Long, String>();
    ledgers.forEach((key, ids) -> {
      Set<Long> uniqueIds = new HashSet<>();
      for (var id : ids) {
        if (!uniqueIds.add(id)) fail(id, "is stored twice at " + key);
        keysById.put(id, key);
        if (ends.get(id) == End.NOT_HANDLED)
          fail(id, "is stored, although its sender was notified that it was not handled");
      }
      positions.getOrDefault(key, Map.of()).forEach((id, position) -> {
        if (position > ids.size() || ids.get((int) (position - 1)) != (long) id)
          fail(id, "was answered as number " + position + " of " + key + ", which has " + ids);
      });
    });
    descriptions.forEach((id, description) -> {
      if (!description.startsWith("durable")) return;
      if (isOpen(id)) fail(id, "has no outcome");
      else if (ends.get(id) == End.DONE && !keysById.containsKey(id)) fail(id, "is done, but is not stored");
    });
  }

  /** Returns whether a durable actor still has to handle a message with the outcome DONE. */
  boolean isAnyPending(Set<Long> stored) {
    return descriptions.entrySet().stream().anyMatch(entry -> entry.getValue().startsWith("durable")
        && ends.get(entry.getKey()) == End.DONE && !stored.contains(entry.getKey()));
  }

  /** Checks that a turn and the message that it sends are both stored, or neither. */
  void checkTransfer(long turnId, long messageId, Set<Long> stored) {
    if (stored.contains(turnId) != stored.contains(messageId))
      fail(turnId, stored.contains(turnId) ? "its message is missing"
          : "its message is stored, but its turn is missing");
  }

  /**
   * Checks that counts do not decrease: a request that was sent after an answer of the same actor
   * must not get a smaller count than this answer.
   */
  void checkOrder() {
    var byKey = new TreeMap<String, List<Answer>>();
    answers.forEach(answer -> byKey.computeIfAbsent(answer.key, absent -> new ArrayList<>()).add(answer));
    byKey.forEach((key, answersOfKey) -> {
      for (var second : answersOfKey) for (var first : answersOfKey)
        if (first.ended < second.start && first.count > second.count)
          fail(0, key + " answered " + first.count + " at " + first.ended + ", and " + second.count
              + " to a request sent at " + second.start);
    });
  }

  /**
   * Checks runs in which nodes only leave and join: a key has one owner at a time, no message is
   * lost, and messages keep their order.
   */
  void checkMoves(Set<Long> stored) {
    for (var entity : duplicates) fail(0, entity + ": active on both at once");
    descriptions.forEach((id, description) -> {
      if (!description.endsWith(NAMED) && ends.get(id) != End.DONE && !stored.contains(id))
        fail(id, "is lost: " + ends.get(id));
    });
    handledIds.forEach((key, ids) -> {
      if (!key.equals(NAMED)) checkIncreasing(ids, id -> id);
    });
    positions.values().forEach(byId -> checkIncreasing(new TreeMap<>(byId).keySet(), byId::get));
  }

  private void checkIncreasing(Collection<Long> ids, ToLongFunction<Long> position) {
    long previous = 0;
    for (var id : ids) {
      if (position.applyAsLong(id) < previous) fail(id, "was not handled in the order of sending");
      previous = position.applyAsLong(id);
    }
  }

  synchronized List<String> faults() {
    return List.copyOf(errors);
  }

  @Override
  public String toString() {
    var counts = new TreeMap<End, Integer>();
    ends.values().forEach(end -> counts.merge(end, 1, Integer::sum));
    return descriptions.size() + " sent, " + counts;
  }
}
