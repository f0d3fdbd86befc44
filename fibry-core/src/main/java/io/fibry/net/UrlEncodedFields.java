package io.fibry.net;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The names and values of a query or a form, such as {@code a=1&b=2}. Malformed UTF-8 is replaced.
 * Decoding throws an IllegalArgumentException at a percent sign without two hexadecimal digits.
 *
 * @param text the fields, still encoded
 */
record UrlEncodedFields(String text) {

  /** Returns the first value of this name, decoded, or null. */
  String first(String name) {
    for (int from = 0; from < text.length();) {
      int to = fieldEnd(from);
      int nameEnd = nameEnd(from, to);
      if (decoded(from, nameEnd).equals(name)) return decoded(Math.min(nameEnd + 1, to), to);
      from = to + 1;
    }
    return null;
  }

  boolean hasMoreThan(int maxFields) {
    int fields = 0;
    for (int from = 0; from < text.length() && fields <= maxFields; from = fieldEnd(from) + 1) fields++;
    return fields > maxFields;
  }

  /** Returns all fields, decoded, with their values in order. */
  Map<String, List<String>> all() {
    if (text.isEmpty()) return Map.of();
    var fields = new LinkedHashMap<String, List<String>>();
    for (int from = 0; from < text.length();) {
      int to = fieldEnd(from);
      int nameEnd = nameEnd(from, to);
      if (to > from)
        fields.computeIfAbsent(decoded(from, nameEnd), name -> new ArrayList<>(1))
            .add(decoded(Math.min(nameEnd + 1, to), to));
      from = to + 1;
    }
    fields.replaceAll((name, values) -> Collections.unmodifiableList(values));
    return Collections.unmodifiableMap(fields);
  }

  private int fieldEnd(int from) {
    int to = text.indexOf('&', from);
    return to < 0 ? text.length() : to;
  }

  private int nameEnd(int from, int to) {
    int index = text.indexOf('=', from);
    return index < 0 || index > to ? to : index;
  }

  private String decoded(int from, int to) {
    var bytes = new byte[to - from];
    int length = 0;
    for (int i = from; i < to; i++) {
      char c = text.charAt(i);
      if (c == '%') {
        int high = i + 2 < to ? Character.digit(text.charAt(i + 1), 16) : -1;
        int low = i + 2 < to ? Character.digit(text.charAt(i + 2), 16) : -1;
        if (high < 0 || low < 0) throw new IllegalArgumentException("a percent sign without two hexadecimal digits");
        c = (char) (high << 4 | low);
        i += 2;
      } else if (c == '+') c = ' ';
      bytes[length++] = (byte) c;
    }
    return new String(bytes, 0, length, StandardCharsets.UTF_8);
  }
}
