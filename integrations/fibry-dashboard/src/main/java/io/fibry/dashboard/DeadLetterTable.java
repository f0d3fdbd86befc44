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
 * The last dead letters, in groups with the same actor, reason, type of message and type of cause,
 * and the ask cycles among their causes. The group with the newest letter comes first.
 *
 * @param groups a JSON object for each group
 * @param cycles a JSON object for each cycle, with the number of dead letters that it caused
 * @param texts the text of the newest letter of each group, if texts are shown; the next table
 *     reuses it, because a text may be costly to make
 */
record DeadLetterTable(List<Map<String, Object>> groups, List<Map<String, Object>> cycles,
    Map<DeadLetter, String> texts) {
  static final DeadLetterTable NONE = new DeadLetterTable(List.of(), List.of(), Map.of());
  private static final int MAX_CAUSE_DEPTH = 20; // a chain of causes may be a cycle

  private record DeadLetterKey(String actor, DeadLetter.Reason reason, String message, String cause) {}

  static DeadLetterTable of(List<DeadLetter> deadLetters, boolean showsMessages, DeadLetterTable previous) {
    var lettersByKey = new LinkedHashMap<DeadLetterKey, List<DeadLetter>>();
    var cycleCounts = new LinkedHashMap<List<String>, Integer>();
    for (var letter : deadLetters.reversed()) {
      lettersByKey.computeIfAbsent(new DeadLetterKey(letter.actor(), letter.reason(), typeName(letter.message()),
          letter.cause().map(DeadLetterTable::typeName).orElse("")), key -> new ArrayList<>()).add(letter);
      findCycle(letter).ifPresent(names -> cycleCounts.merge(names, 1, Integer::sum));
    }
    var texts = new IdentityHashMap<DeadLetter, String>();
    var groups = new ArrayList<Map<String, Object>>();
    lettersByKey.forEach((key, letters) -> {
      var newest = letters.getFirst();
      if (showsMessages)
        texts.put(newest, previous.texts.containsKey(newest) ? previous.texts.get(newest) : text(newest));
      groups.add(JsonText.object("actor", key.actor, "reason", key.reason.name().toLowerCase(Locale.ROOT),
          "message", texts.getOrDefault(newest, key.message), "cause", key.cause, "count", letters.size(),
          "last", newest.time()));
    });
    return new DeadLetterTable(groups, cycleCounts.entrySet().stream()
        .map(entry -> JsonText.object("names", entry.getKey(), "count", entry.getValue())).toList(), texts);
  }

  private static String typeName(Object value) {
    var name = value.getClass().getSimpleName();
    return name.isEmpty() ? value.getClass().getName() : name;
  }

  /**
   * Returns the text that the scope permits for the message, without the actor and the reason,
   * which the page shows separately.
   */
  private static String text(DeadLetter letter) {
    var text = letter.toString();
    var prefix = "dead letter to '" + letter.actor() + "', " + letter.reason() + ": ";
    return text.startsWith(prefix) ? text.substring(prefix.length()) : text;
  }

  /**
   * Returns the names of the actors in the ask cycle that caused the dead letter; empty if no cycle
   * did. The list begins and ends with the alphabetically first name, so that all letters of a
   * cycle have equal lists.
   */
  private static Optional<List<String>> findCycle(DeadLetter letter) {
    var cause = letter.cause().orElse(null);
    for (int depth = 0; cause != null && depth < MAX_CAUSE_DEPTH; depth++, cause = cause.getCause())
      if (cause instanceof AskCycleException failure && failure.cycle() != null && failure.cycle().size() > 1) {
        var names = new ArrayList<>(failure.cycle().subList(1, failure.cycle().size()));
        Collections.rotate(names, -names.indexOf(Collections.min(names)));
        names.add(names.getFirst());
        return Optional.of(names);
      }
    return Optional.empty();
  }
}
