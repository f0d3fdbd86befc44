package io.fibry.dashboard;

import io.fibry.text.Escapes;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Writes maps, collections, strings, numbers and booleans as JSON in ASCII. An infinite or
 * undefined number is written as null.
 */
final class JsonText {
  private final StringBuilder text = new StringBuilder();

  private JsonText() {}

  static String of(Object value) {
    var json = new JsonText();
    json.add(value);
    return json.text.toString();
  }

  /** Returns a map of alternating names and values, in the given order. */
  static Map<String, Object> object(Object... namesAndValues) {
    var map = new LinkedHashMap<String, Object>();
    for (int i = 0; i < namesAndValues.length; i += 2) map.put((String) namesAndValues[i], namesAndValues[i + 1]);
    return map;
  }

  private void add(Object value) {
    switch (value) {
      case Map<?, ?> map -> addMap(map);
      case Collection<?> elements -> addAll(elements);
      case Double number when !Double.isFinite(number) -> text.append("null");
      case Float number when !Float.isFinite(number) -> text.append("null");
      case Number number -> text.append(number);
      case Boolean flag -> text.append(flag.booleanValue());
      default -> addString(value.toString());
    }
  }

  private void addMap(Map<?, ?> map) {
    char separator = '{';
    for (var entry : map.entrySet()) {
      text.append(separator);
      addString(entry.getKey().toString());
      text.append(':');
      add(entry.getValue());
      separator = ',';
    }
    text.append(separator == '{' ? "{}" : "}");
  }

  private void addAll(Collection<?> elements) {
    char separator = '[';
    for (Object element : elements) {
      text.append(separator);
      add(element);
      separator = ',';
    }
    text.append(separator == '[' ? "[]" : "]");
  }

  /** Adds a string, and escapes also the characters that HTML or a script would interpret. */
  private void addString(String value) {
    Escapes.appendJson(value, "<>&'", text);
  }
}
