package io.fibry.durable;

import io.fibry.store.Store;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** What is being given to an actor. Under the monitor of its {@link Delivery}. */
final class Hand {
  boolean courier; // there is one
  boolean again; // it looks again before it goes; if there is none, one is to come
  Instant looked = Instant.MIN; // the courier has seen all that was due then
  Instant until = Instant.MIN; // then a courier tries again
  int failures; // since the last success

  private final Set<String> ids = new HashSet<>(2);
  private final Set<String> requests = new HashSet<>(0); // of these: an asker waits, perhaps for long
  private final Set<String> halted = new HashSet<>(0); // of these
  private final Set<String> unreadable = new HashSet<>(0); // they wait for another version of the program

  void take(String id, boolean asked) {
    ids.add(id);
    if (asked) requests.add(id);
  }

  boolean has(String id) {
    return ids.contains(id);
  }

  /** It is out of hand. Behind the last of those that were halted, a courier is to come. */
  void drop(String id) {
    ids.remove(id);
    requests.remove(id);
    again |= halted.remove(id) && halted.isEmpty();
  }

  void dropUnreadable(String id) {
    drop(id);
    unreadable.add(id);
  }

  boolean isReadable(String id) {
    return !unreadable.contains(id);
  }

  /** None of them is to be handled now. Requests are, since their askers would hear of it. */
  void halt() {
    for (var id : ids) if (!requests.contains(id)) halted.add(id);
  }

  boolean isHalted(String id) {
    return halted.contains(id);
  }

  boolean isHalted() {
    return !halted.isEmpty();
  }

  /** A message that is given now would overtake none. */
  boolean isFree() {
    return !courier && !again && failures == 0 && halted.isEmpty();
  }

  boolean isOfNoUse() {
    return ids.isEmpty() && unreadable.isEmpty() && !courier && !again && failures == 0;
  }

  /** How many messages may wait that are not to be given. */
  int size() {
    return ids.size() + unreadable.size();
  }

  /** Takes those that are not in hand yet. */
  List<Store.Waiting> takeNew(List<Store.Waiting> found, int most) {
    var taken = found.stream().filter(one -> !ids.contains(one.id()) && !unreadable.contains(one.id())).limit(most)
        .toList();
    for (var one : taken) ids.add(one.id());
    return taken;
  }
}
