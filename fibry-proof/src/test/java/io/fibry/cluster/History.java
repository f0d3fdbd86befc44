package io.fibry.cluster;

import io.fibry.DeadLetter;
import io.fibry.MailboxFullException;
import io.fibry.Outcome;
import io.fibry.cluster.Ledgers.Tell;
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
 * The requests, answers, messages and handled messages of a run, and the promises about them.
 * Thread-safe.
 */
final class History {
  /** How a request, or a message, ended, as its sender knows. */
  enum End {
    DONE, UNKNOWN, NOT_HANDLED
  }

  /** An answer of a durable actor: how much it had handled. */
  private record Seen(String key, long begun, long ended, long count) {}

  static final String NAMED = "named"; // all nodes share its messages

  private final Map<Long, String> sent = new ConcurrentHashMap<>(); // ids: what
  private final Map<Long, End> ends = new ConcurrentHashMap<>();
  private final Set<Long> endedWithNode = ConcurrentHashMap.newKeySet(); // in a mailbox
  private final Map<Long, Integer> handled = new ConcurrentHashMap<>(); // by actors that keep nothing
  private final Map<String, Map<Long, Long>> places = new ConcurrentHashMap<>(); // of answered ids, by key
  private final Map<String, Queue<Long>> orders = new ConcurrentHashMap<>(); // of what these handled, by key
  private final Map<String, String> homes = new ConcurrentHashMap<>(); // the node of each ledger that lives now, by key
  private final Set<String> twice = ConcurrentHashMap.newKeySet(); // lived at two homes at once
  private final ConcurrentLinkedQueue<Seen> seen = new ConcurrentLinkedQueue<>();
  private final List<String> faults = new ArrayList<>();

  // ---- what happens

  void sent(long id, String what) {
    sent.put(id, what);
  }

  void ended(long id, End how) {
    var before = ends.put(id, how);
    if (before != null) fail(id, "ended twice, " + before + " and " + how);
  }

  /** A message that was accepted may become a dead letter. */
  void died(long id, End how) {
    ends.put(id, how);
  }

  /** At the sender's node. */
  void died(DeadLetter letter) {
    if (letter.message() instanceof RemoteOutbox.LostMessage lost && lost.tell().message() instanceof Tell tell)
      died(tell.id(), end(lost.reason()));
  }

  /** At a home that lost its keys while the message was in a mailbox. */
  void diedAtHome(DeadLetter letter) {
    if (letter.message() instanceof Tell tell) endedWithNode.add(tell.id());
  }

  /** Messages in the mailboxes of a node end with it, and nobody tells their senders. */
  void crashed(String node) {
    homes.values().removeIf(node::equals);
    sent.forEach((id, what) -> {
      String actor = what.substring(what.lastIndexOf(' ') + 1);
      if (what.startsWith("plain Tell") && !handled.containsKey(id) && !homes.containsKey(actor)) endedWithNode.add(id);
    });
  }

  static End end(Throwable failure) {
    return switch (failure) {
      case UnreachableException far when far.outcome() == Outcome.NOT_DONE -> End.NOT_HANDLED;
      case MailboxFullException full -> End.NOT_HANDLED;
      default -> End.UNKNOWN;
    };
  }

  boolean isOpen(long id) {
    return !ends.containsKey(id);
  }

  void handled(String key, long id) {
    handled.merge(id, 1, Integer::sum);
    orders.computeIfAbsent(key, none -> new ConcurrentLinkedQueue<>()).add(id);
  }

  /** An entity that keeps nothing. */
  void lives(String key, String node) {
    var other = homes.put(key, node);
    if (other != null && !other.equals(node)) twice.add(key + " at " + other + " and " + node);
  }

  void livesNoMore(String key, String node) {
    homes.remove(key, node);
  }

  void answered(long id, String key, long begun, long ended, long count) {
    if (id != 0) places.computeIfAbsent(key, none -> new ConcurrentHashMap<>()).put(id, count);
    seen.add(new Seen(key, begun, ended, count));
  }

  private synchronized void fail(long id, String why) {
    faults.add("#" + id + " " + sent.getOrDefault(id, "?") + ": " + why);
  }

  // ---- what must hold

  /** Checks all requests and messages to actors without a store. */
  void checkPlain() {
    handled.forEach((id, times) -> {
      if (times > 1) fail(id, "was handled " + times + " times");
      if (ends.get(id) == End.NOT_HANDLED) fail(id, "was handled, and its sender was told that it was not");
    });
    sent.forEach((id, what) -> {
      if (!what.startsWith("plain")) return;
      if (isOpen(id)) fail(id, "has no end");
      else if (ends.get(id) == End.DONE && !handled.containsKey(id) && !endedWithNode.contains(id))
        fail(id, "is done, and was never handled");
    });
  }

  /** Checks the final states of durable actors, by key. */
  void checkDurable(Map<String, List<Long>> ledgers) {
    var all = new HashMap<Long, String>();
    ledgers.forEach((key, ids) -> {
      Set<Long> once = new HashSet<>();
      for (var id : ids) {
        if (!once.add(id)) fail(id, "is stored twice at " + key);
        all.put(id, key);
        if (ends.get(id) == End.NOT_HANDLED) fail(id, "is stored, and its sender was told that it was not handled");
      }
      places.getOrDefault(key, Map.of()).forEach((id, place) -> {
        if (place > ids.size() || ids.get((int) (place - 1)) != (long) id)
          fail(id, "was answered as number " + place + " of " + key + ", which has " + ids);
      });
    });
    sent.forEach((id, what) -> {
      if (!what.startsWith("kept")) return;
      if (isOpen(id)) fail(id, "has no end");
      else if (ends.get(id) == End.DONE && !all.containsKey(id)) fail(id, "is done, and is not stored");
    });
  }

  /** A turn and the message that it sends are both there, or neither. */
  void checkTransfer(long from, long to, Set<Long> stored) {
    if (stored.contains(from) != stored.contains(to))
      fail(from, stored.contains(from) ? "its message is missing" : "its message is there, and its turn is not");
  }

  /** A request that is sent after an answer sees no less than that said. */
  void checkOrder() {
    var byKey = new TreeMap<String, List<Seen>>();
    seen.forEach(one -> byKey.computeIfAbsent(one.key, none -> new ArrayList<>()).add(one));
    byKey.forEach((key, all) -> {
      for (var late : all) for (var early : all)
        if (early.ended < late.begun && early.count > late.count)
          fail(0, key + " said " + early.count + " at " + early.ended + ", and " + late.count + " to what was asked at "
              + late.begun);
    });
  }

  /**
   * Checks runs in which nodes only leave and join: a key has one home at a time, no message is
   * lost, and all keep their order.
   */
  void checkMoves(Set<Long> stored) {
    for (var one : twice) fail(0, one + ": lived there at once");
    sent.forEach((id, what) -> {
      if (!what.endsWith(NAMED) && ends.get(id) != End.DONE && !stored.contains(id))
        fail(id, "is lost: " + ends.get(id));
    });
    orders.forEach((key, ids) -> {
      if (!key.equals(NAMED)) checkRising(ids, id -> id);
    });
    places.values().forEach(of -> checkRising(new TreeMap<>(of).keySet(), of::get));
  }

  private void checkRising(Collection<Long> ids, ToLongFunction<Long> by) {
    long last = 0;
    for (var id : ids) {
      if (by.applyAsLong(id) < last) fail(id, "was not handled in the order in which all were sent");
      last = by.applyAsLong(id);
    }
  }

  synchronized List<String> faults() {
    return List.copyOf(faults);
  }

  @Override
  public String toString() {
    var counts = new TreeMap<End, Integer>();
    ends.values().forEach(end -> counts.merge(end, 1, Integer::sum));
    return sent.size() + " sent, " + counts;
  }
}
