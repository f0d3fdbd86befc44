package io.fibry.dashboard;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Maps, collections, strings, numbers and booleans as JSON, in ASCII; an infinite or undefined
 * number is null.
 */
final class JsonText {
  private final StringBuilder text = new StringBuilder();

  private JsonText() {}

  static String of(Object value) {
    var json = new JsonText();
    json.add(value);
    return json.text.toString();
  }

  /** A map of names and values, in their order. */
  static Map<String, Object> object(Object... namesAndValues) {
    var map = new LinkedHashMap<String, Object>();
    for (int i = 0; i < namesAndValues.length; i += 2) map.put((String) namesAndValues[i], namesAndValues[i + 1]);
    return map;
  }

  private void add(Object value) {
    switch (value) {
      case Map<?, ?> map -> addMap(map);
      case Collection<?> all -> addAll(all);
      case Double number when !Double.isFinite(number) -> text.append("null");
      case Number number -> text.append(number);
      case Boolean truth -> text.append(truth.booleanValue());
      default -> addString(value.toString());
    }
  }

  private void addMap(Map<?, ?> map) {
    char before = '{';
    for (var entry : map.entrySet()) {
      text.append(before);
      addString(entry.getKey().toString());
      text.append(':');
      add(entry.getValue());
      before = ',';
    }
    text.append(before == '{' ? "{}" : "}");
  }

  private void addAll(Collection<?> all) {
    char before = '[';
    for (Object one : all) {
      text.append(before);
      add(one);
      before = ',';
    }
    text.append(before == '[' ? "[]" : "]");
  }

  /**
   * Escapes characters that HTML or a script would interpret, and single halves of surrogate pairs,
   * too.
   */
  private void addString(String value) {
    text.append('"');
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      switch (c) {
        case '"', '\\' -> text.append('\\').append(c);
        case '<', '>', '&', '\'', 0x7f -> addEscaped(c);
        default -> {
          if (c >= ' ' && c < 0x7f) text.append(c);
          else addEscaped(c);
        }
      }
    }
    text.append('"');
  }

  private void addEscaped(char c) {
    text.append("\\u");
    for (int shift = 12; shift >= 0; shift -= 4) text.append(Character.forDigit(c >> shift & 0xf, 16));
  }
}
