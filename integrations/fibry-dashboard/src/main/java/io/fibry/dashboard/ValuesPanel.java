package io.fibry.dashboard;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;

/**
 * A panel with values of the user's own.
 *
 * @param values called for each snapshot, by the dashboard's actor
 */
record ValuesPanel(String title, Supplier<? extends Map<String, ?>> values) {

  /** Returns a JSON object. If the user's code throws, it has the class of the exception. */
  Map<String, Object> asMap() {
    var shownValues = new LinkedHashMap<String, Object>();
    try {
      values.get().forEach((name, value) -> shownValues.put(Objects.requireNonNull(name),
          value instanceof Number || value instanceof Boolean ? value : String.valueOf(value)));
    } catch (Throwable userError) {
      shownValues.put("failed", userError.getClass().getSimpleName());
    }
    return JsonText.object("title", title, "values", shownValues);
  }
}
