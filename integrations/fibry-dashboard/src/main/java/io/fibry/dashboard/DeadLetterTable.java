package io.fibry.dashboard;

import io.fibry.AskCycleException;
import io.fibry.DeadLetter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * The last dead letters, like ones together, the newest first; and the rings that they tell of.
 *
 * @param groups as they are shown
 * @param cycles likewise
 * @param texts of the letters that were shown by their text, which may be costly to make
 */
record DeadLetterTable(List<Map<String, Object>> groups, List<Map<String, Object>> cycles,
    Map<DeadLetter, String> texts) {
  static final DeadLetterTable NONE = new DeadLetterTable(List.of(), List.of(), Map.of());
  private static final int MAX_CAUSE_DEPTH = 20; // causes may form a ring

  private record DeadLetterKey(String actor, DeadLetter.Reason reason, String message, String cause) {}

  static DeadLetterTable of(List<DeadLetter> all, boolean shown, DeadLetterTable before) {
    var like = new LinkedHashMap<DeadLetterKey, List<DeadLetter>>();
    var rings = new LinkedHashMap<List<String>, Integer>();
    for (var letter : all.reversed()) {
      like.computeIfAbsent(new DeadLetterKey(letter.actor(), letter.reason(), type(letter.message()),
          letter.cause().map(DeadLetterTable::type).orElse("")), none -> new ArrayList<>()).add(letter);
      cycle(letter).ifPresent(names -> rings.merge(names, 1, Integer::sum));
    }
    var texts = new IdentityHashMap<DeadLetter, String>();
    var groups = new ArrayList<Map<String, Object>>();
    like.forEach((key, letters) -> {
      var newest = letters.getFirst();
      if (shown) texts.put(newest, before.texts.containsKey(newest) ? before.texts.get(newest) : text(newest));
      groups.add(JsonText.object("actor", key.actor, "reason", key.reason.name().toLowerCase(Locale.ROOT),
          "message", texts.getOrDefault(newest, key.message), "cause", key.cause, "count", letters.size()));
    });
    return new DeadLetterTable(groups, rings.entrySet().stream()
        .map(ring -> JsonText.object("names", ring.getKey(), "count", ring.getValue())).toList(), texts);
  }

  private static String type(Object message) {
    var name = message.getClass().getSimpleName();
    return name.isEmpty() ? message.getClass().getName() : name;
  }

  /**
   * Returns the text that the scope permits for the message, without the text that is shown beside
   * it.
   */
  private static String text(DeadLetter letter) {
    var text = letter.toString();
    var known = "dead letter to '" + letter.actor() + "', " + letter.reason() + ": ";
    return text.startsWith(known) ? text.substring(known.length()) : text;
  }

  /** Named from the actor that comes first by name, whichever found it. */
  private static Optional<List<String>> cycle(DeadLetter letter) {
    var cause = letter.cause().orElse(null);
    for (int depth = 0; cause != null && depth < MAX_CAUSE_DEPTH; depth++, cause = cause.getCause())
      if (cause instanceof AskCycleException cycle && cycle.cycle() != null && cycle.cycle().size() > 1) {
        var names = new ArrayList<>(cycle.cycle().subList(1, cycle.cycle().size()));
        Collections.rotate(names, -names.indexOf(Collections.min(names)));
        names.add(names.getFirst());
        return Optional.of(names);
      }
    return Optional.empty();
  }
}
