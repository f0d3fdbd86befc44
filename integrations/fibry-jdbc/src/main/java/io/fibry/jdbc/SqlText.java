package io.fibry.jdbc;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Texts of users in tables: Postgres takes no character 0, so that is {@code \0} there, and a
 * backslash is two.
 */
final class SqlText {
  private static final Pattern ESCAPED = Pattern.compile("\\\\(.)");

  private SqlText() {}

  static String encode(String text) {
    return text.replace("\\", "\\\\").replace("\0", "\\0");
  }

  static String decode(String stored) {
    if (stored.indexOf('\\') < 0) return stored;
    return ESCAPED.matcher(stored)
        .replaceAll(found -> Matcher.quoteReplacement(found.group(1).equals("0") ? "\0" : found.group(1)));
  }
}
