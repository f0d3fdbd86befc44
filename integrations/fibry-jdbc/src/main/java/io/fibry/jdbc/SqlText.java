package io.fibry.jdbc;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Encodes texts of users for tables. Postgres refuses the character 0, so it becomes {@code \0},
 * and a backslash becomes two.
 */
final class SqlText {
  private static final Pattern ESCAPED = Pattern.compile("\\\\(.)");

  private SqlText() {}

  static String encode(String text) {
    return text.replace("\\", "\\\\").replace("\0", "\\0");
  }

  static String decode(String encoded) {
    if (encoded.indexOf('\\') < 0) return encoded;
    return ESCAPED.matcher(encoded)
        .replaceAll(match -> Matcher.quoteReplacement(match.group(1).equals("0") ? "\0" : match.group(1)));
  }
}
