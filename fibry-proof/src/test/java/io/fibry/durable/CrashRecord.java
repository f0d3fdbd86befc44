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

  private final TreeSet<String> notedOps = new TreeSet<>(); // operations that newer code has stored with a note
  private final TreeSet<String> orderedOps = new TreeSet<>(); // operations of orders that were answered
  private final TreeSet<String> endOps = new TreeSet<>(); // the operations that ended an order
  // Operations that the view got, by order and turn
  private final Map<String, Map<Long, String>> viewedOps = new TreeMap<>();
  private final Map<String, Long> lastViewed = new TreeMap<>(); // the turn that the view got last, by order
  private final TreeSet<String> viewedEnds = new TreeSet<>(); // the operations whose end of an order the view got

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
    errors.add("the step of " + op + " returned " + previous + ", and now " + result);
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

  // ---- notes, which older programs do not know

  /** Called when newer code has answered that it stored this operation. */
  void answeredWithNote(String op) {
    notedOps.add(op);
  }

  /** Returns the operations of an actor that newer code has stored or read with a note. */
  List<String> notedOps(String key) {
    return notedOps.stream().filter(op -> op.startsWith(key)).toList();
  }

  /**
   * Called when newer code has read the operations with a note of an actor.
   *
   * @param earlierOps the {@link #notedOps} before the read
   */
  void readNotes(String key, List<String> opsWithNote, List<String> earlierOps) {
    check(opsWithNote.containsAll(earlierOps),
        () -> "of the notes of " + earlierOps + ", " + key + " has only those of " + opsWithNote);
    notedOps.addAll(opsWithNote);
  }

  // ---- orders

  void answeredOrder(String op, boolean isEnd) {
    orderedOps.add(op);
    if (isEnd) endOps.add(op);
  }

  /** Called when the view gets an event. */
  void viewed(String key, long turn, String op) {
    var ops = viewedOps.computeIfAbsent(key, order -> new TreeMap<>());
    var previous = ops.putIfAbsent(turn, op);
    if (previous != null && !previous.equals(op))
      errors.add("the view got " + previous + " and then " + op + " for turn " + turn + " of " + key);
    long last = lastViewed.getOrDefault(key, 0L);
    if (turn > last + 1) errors.add("the view got turn " + turn + " of " + key + " after turn " + last);
    lastViewed.put(key, turn);
  }

  /** Called when the view gets the end of an order. */
  void viewedEnd(String key, long turn) {
    var op = viewedOps.getOrDefault(key, Map.of()).get(turn);
    if (op == null) errors.add("the view got the end of " + key + " before turn " + turn);
    else viewedEnds.add(op);
  }

  private void checkView() {
    var ops = viewedOps.values().stream().flatMap(map -> map.values().stream()).toList();
    for (var op : orderedOps) check(ops.contains(op), () -> op + " was answered, but the view never got it: " + ops);
    for (var op : endOps) check(viewedEnds.contains(op), () -> "the view never got the end of an order by " + op);
  }

  // ---- checks

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
    checkView();
    for (var op : stored) check("abt".indexOf(op.charAt(0)) >= 0 || stored.contains(op.substring(1)),
        () -> op + " is of a turn that is not stored: " + stored);
  }
}
