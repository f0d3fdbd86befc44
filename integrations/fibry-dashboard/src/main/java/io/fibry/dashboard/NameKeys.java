package io.fibry.dashboard;

import java.util.HashMap;
import java.util.Map;

/**
 * Keys of the actors of one scope on the page. Scopes with the same names are shown as one scope,
 * and may have actors with the same name, whose counts must not be compared. The first actor of a
 * name has the name as its key, the others have a number in it. Used by one thread at a time.
 */
final class NameKeys {
  private final Map<String, Integer> counts = new HashMap<>(); // the actors so far, by name

  /** Returns the key of the next actor with this name. */
  String next(String name) {
    int number = counts.merge(name, 1, Integer::sum);
    return number == 1 ? name : name + "\n" + number; // few names have lines, so the keys of names differ
  }
}
