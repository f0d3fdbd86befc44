package io.fibry.durable;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;

/**
 * The outcomes that the programs of a {@link CrashRound} were told, and the consequences that must
 * follow.
 */
final class CrashRecord {
  private final TreeSet<String> answered = new TreeSet<>(); // ops, or said to be kept
  private final Map<String, Integer> places = new TreeMap<>(); // as answered
  private final Map<String, List<String>> seen = new TreeMap<>(); // of each key, the longest answer
  private final Map<String, List<String>> last = new TreeMap<>(); // of each key
  private final Map<String, Integer> results = new TreeMap<>(); // of steps that were stored
  private final List<String> faults = new ArrayList<>(); // seen by handlers
  private final TreeSet<String> reminders = new TreeSet<>(); // ops that set one
  private final TreeSet<String> forgotten = new TreeSet<>(); // perhaps
  private final TreeSet<String> takenBack = new TreeSet<>(); // in time
  private final TreeSet<String> forwards = new TreeSet<>(); // ops that send something

  void sets(String op) {
    reminders.add(op);
  }

  void forgets(String op) {
    forgotten.add(op);
  }

  void tookBack(String op) {
    takenBack.add(op);
  }

  void forwards(String op) {
    forwards.add(op);
  }

  void kept(String op) {
    answered.add(op);
  }

  void answered(String op, int place) {
    var before = places.put(op, place);
    check(before == null || before == place, () -> op + " was answered " + before + ", then " + place);
    answered.add(op);
  }

  /** A step has returned, so its result is stored. */
  void stored(String op, int result) {
    var known = results.putIfAbsent(op, result);
    if (known == null || known == result) return;
    faults.add("the step of " + op + " answered " + known + ", and now " + result);
    throw new AssertionError(faults.getLast());
  }

  void saw(String key, List<String> now) {
    var before = seen.getOrDefault(key, List.of());
    var less = now.size() < before.size() ? now : before;
    var more = less == now ? before : now;
    check(more.subList(0, less.size()).equals(less), () -> key + " was " + before + ", and is " + now);
    seen.put(key, more);
    last.put(key, now);
  }

  private static void check(boolean holds, Supplier<String> what) {
    if (!holds) throw new AssertionError(what.get());
  }

  /** When all is settled, and each key was looked at. */
  void judge() {
    check(faults.isEmpty(), faults::toString);
    var all = new ArrayList<String>();
    last.forEach((key, list) -> {
      check(list.size() >= seen.get(key).size(), () -> key + " was seen as " + seen.get(key) + ", and is " + list);
      check(new TreeSet<>(list).size() == list.size(), () -> "twice at " + key + ": " + list);
      places.forEach((op, place) -> check(!list.contains(op) || list.indexOf(op) + 1 == place,
          () -> op + " was answered " + place + ", and is at " + (list.indexOf(op) + 1) + " of " + list));
      all.addAll(list);
    });
    for (var op : answered) check(all.contains(op), () -> op + " was answered, and is not there: " + all);
    for (var op : reminders) check(!all.contains(op) || all.contains("r" + op) || forgotten.contains(op),
        () -> "the reminder of " + op + " never came: " + all);
    for (var op : takenBack) check(!all.contains("r" + op),
        () -> "the reminder of " + op + " was taken back, and came: " + all);
    for (var op : forwards) check(!all.contains(op) || all.contains("f" + op),
        () -> "what " + op + " sent is not there: " + all);
    for (var op : all) check("ab".indexOf(op.charAt(0)) >= 0 || all.contains(op.substring(1)),
        () -> op + " is of a turn that is not there: " + all);
  }
}
