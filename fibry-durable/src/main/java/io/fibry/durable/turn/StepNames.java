package io.fibry.durable.turn;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * Counts how often a turn has used each name of a step. Many handlers may sleep at the same time,
 * and most have few steps, so the first names are in an array, which is much smaller than a map.
 * Used by the handler's thread.
 */
final class StepNames {
  private static final int MAX_LISTED = 8; // names in the array; the map has the names of a longer turn
  private static final String[] NONE = {};

  private String[] names = NONE; // one element for each use
  private Map<String, Integer> counts; // null while the array suffices

  /** Counts a use of the name, and returns how often the turn has used the name. */
  int countUse(String name) {
    if (counts != null) return counts.merge(name, 1, Integer::sum);
    int uses = 1;
    for (var earlier : names) if (earlier.equals(name)) uses++;
    if (names.length < MAX_LISTED) {
      names = Arrays.copyOf(names, names.length + 1);
      names[names.length - 1] = name;
      return uses;
    }
    counts = new HashMap<>();
    for (var earlier : names) counts.merge(earlier, 1, Integer::sum);
    names = NONE;
    return counts.merge(name, 1, Integer::sum);
  }
}
