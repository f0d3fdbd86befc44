package io.fibry.net.http;

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
 * @param text the fields in encoded form
 */
record UrlEncodedFields(String text) {

  /** Returns the first value of this name, decoded; null if there is none. */
  String first(String name) {
    for (int start = 0; start < text.length();) {
      int end = fieldEnd(start);
      int nameEnd = nameEnd(start, end);
      if (decoded(start, nameEnd).equals(name)) return decoded(Math.min(nameEnd + 1, end), end);
      start = end + 1;
    }
    return null;
  }

  boolean hasMoreThan(int maxFields) {
    int fields = 0;
    for (int start = 0; start < text.length() && fields <= maxFields; start = fieldEnd(start) + 1) fields++;
    return fields > maxFields;
  }

  /** Returns all fields, decoded, with their values in order. */
  Map<String, List<String>> all() {
    if (text.isEmpty()) return Map.of();
    var fields = new LinkedHashMap<String, List<String>>();
    for (int start = 0; start < text.length();) {
      int end = fieldEnd(start);
      int nameEnd = nameEnd(start, end);
      if (end > start)
        fields.computeIfAbsent(decoded(start, nameEnd), name -> new ArrayList<>(1))
            .add(decoded(Math.min(nameEnd + 1, end), end));
      start = end + 1;
    }
    fields.replaceAll((name, values) -> Collections.unmodifiableList(values));
    return Collections.unmodifiableMap(fields);
  }

  private int fieldEnd(int start) {
    int end = text.indexOf('&', start);
    return end < 0 ? text.length() : end;
  }

  private int nameEnd(int start, int end) {
    int index = text.indexOf('=', start);
    return index < 0 || index > end ? end : index;
  }

  private String decoded(int start, int end) {
    var bytes = new byte[end - start];
    int length = 0;
    for (int i = start; i < end; i++) {
      char c = text.charAt(i);
      if (c == '%') {
        int high = i + 2 < end ? Character.digit(text.charAt(i + 1), 16) : -1;
        int low = i + 2 < end ? Character.digit(text.charAt(i + 2), 16) : -1;
        if (high < 0 || low < 0) throw new IllegalArgumentException("a percent sign without two hexadecimal digits");
        c = (char) (high << 4 | low);
        i += 2;
      } else if (c == '+') c = ' ';
      bytes[length++] = (byte) c;
    }
    return new String(bytes, 0, length, StandardCharsets.UTF_8);
  }
}
