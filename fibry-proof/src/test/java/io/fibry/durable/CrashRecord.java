package io.fibry.durable;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;

/**
 * Records the outcomes of requests of a {@link CrashRound}, and checks that the stored states agree
 * with them. An operation is identified by its text.
 */
final class CrashRecord {
  // Operations that were answered or are confirmed as stored
  private final TreeSet<String> answeredOps = new TreeSet<>();
  private final Map<String, Integer> positions = new TreeMap<>(); // position of each operation, as answered
  private final Map<String, List<String>> longest = new TreeMap<>(); // the longest state that was read, by key
  private final Map<String, List<String>> latest = new TreeMap<>(); // the state that was read last, by key
  private final Map<String, Integer> results = new TreeMap<>(); // results of stored steps
  private final List<String> errors = new ArrayList<>(); // errors in handlers
  private final TreeSet<String> reminders = new TreeSet<>(); // operations that set a reminder
  private final TreeSet<String> maybeCancelled = new TreeSet<>(); // operations whose reminder may have been cancelled
  private final TreeSet<String> cancelled = new TreeSet<>(); // operations whose reminder was cancelled in time
  private final TreeSet<String> forwarding = new TreeSet<>(); // operations that send a message

  void setsReminder(String op) {
    reminders.add(op);
  }

  void cancelsReminder(String op) {
    maybeCancelled.add(op);
  }

  void cancelledReminder(String op) {
    cancelled.add(op);
  }

  void forwards(String op) {
    forwarding.add(op);
  }

  void acceptedMessage(String op) {
    answeredOps.add(op);
  }

  void answered(String op, int position) {
    var previous = positions.put(op, position);
    check(previous == null || previous == position, () -> op + " was answered " + previous + ", then " + position);
    answeredOps.add(op);
  }

  /** Called when a step has returned, because by then its result is stored. */
  void stored(String op, int result) {
    var previous = results.putIfAbsent(op, result);
    if (previous == null || previous == result) return;
    errors.add("the step of " + op + " answered " + previous + ", and now " + result);
    throw new AssertionError(errors.getLast());
  }

  void readState(String key, List<String> state) {
    var previous = longest.getOrDefault(key, List.of());
    var shorter = state.size() < previous.size() ? state : previous;
    var longer = shorter == state ? previous : state;
    check(longer.subList(0, shorter.size()).equals(shorter), () -> key + " was " + previous + ", and is " + state);
    longest.put(key, longer);
    latest.put(key, state);
  }

  private static void check(boolean isKept, Supplier<String> message) {
    if (!isKept) throw new AssertionError(message.get());
  }

  /** Checks the record, after all work is done and each key was read. */
  void checkAll() {
    check(errors.isEmpty(), errors::toString);
    var stored = new ArrayList<String>();
    latest.forEach((key, state) -> {
      check(state.size() >= longest.get(key).size(),
          () -> key + " was read as " + longest.get(key) + ", and is " + state);
      check(new TreeSet<>(state).size() == state.size(), () -> "twice at " + key + ": " + state);
      positions.forEach((op, position) -> check(!state.contains(op) || state.indexOf(op) + 1 == position,
          () -> op + " was answered with position " + position + ", but is stored at " + (state.indexOf(op) + 1)
              + " of " + state));
      stored.addAll(state);
    });
    for (var op : answeredOps) check(stored.contains(op), () -> op + " was answered, but is not stored: " + stored);
    for (var op : reminders) check(!stored.contains(op) || stored.contains("r" + op) || maybeCancelled.contains(op),
        () -> "the reminder of " + op + " never arrived: " + stored);
    for (var op : cancelled) check(!stored.contains("r" + op),
        () -> "the reminder of " + op + " was cancelled, but arrived: " + stored);
    for (var op : forwarding) check(!stored.contains(op) || stored.contains("f" + op),
        () -> "the message of " + op + " is not stored: " + stored);
    for (var op : stored) check("ab".indexOf(op.charAt(0)) >= 0 || stored.contains(op.substring(1)),
        () -> op + " is of a turn that is not stored: " + stored);
  }
}
