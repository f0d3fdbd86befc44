package io.fibry.jdbc;

import io.fibry.text.Lines;
import java.sql.SQLException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Removes users, passwords and parameters from JDBC URLs, for logs and exceptions. */
final class JdbcUrls {
  // Causes and next exceptions of a failure that are searched; each chain may form a cycle
  private static final int MAX_CHAIN = 20;
  // The driver, the address, and all text after it: a password may contain any character.
  private static final Pattern URL =
      Pattern.compile("(jdbc:[a-z0-9+._-]+:)([^\\s?;(]*)([\\s?;(].*)?", Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

  private JdbcUrls() {}

  /** {@return a text in which no URL has a user, a password or parameters} */
  static String address(String text) {
    return URL.matcher(text).replaceAll(match -> Matcher.quoteReplacement(match.group(1)
        + addressOf(match.group(2), match.group(3))));
  }

  /** @param rest the text after the address, which begins with a space, '?', ';' or '('; or null */
  private static String addressOf(String address, String rest) {
    // an '@' in the rest may end a password that contains the first character of the rest
    if (rest != null && rest.contains("@")) return "***";
    boolean isFollowed = rest != null && Character.isWhitespace(rest.charAt(0)); // by other text, not by parameters
    int userEnd = address.lastIndexOf('@');
    return (userEnd >= 0 ? "***" + address.substring(userEnd) : address) + (isFollowed ? address(rest) : "");
  }

  /**
   * Returns the failure, or a copy without the secrets of URLs if a text of the failure, of its
   * next exceptions or of their causes has any. Drivers show the whole URL, for example if they
   * cannot parse it.
   */
  static SQLException redact(SQLException failure) {
    if (!hasSecrets(failure)) return failure;
    var copy = new SQLException(address(Lines.message(failure)), failure.getSQLState(), failure.getErrorCode());
    copy.setStackTrace(failure.getStackTrace()); // no cause: its text may have the same URL
    return copy;
  }

  private static boolean hasSecrets(SQLException failure) {
    var next = failure;
    for (int i = 0; next != null && i < MAX_CHAIN; i++, next = next.getNextException())
      if (hasSecretsInCauses(next)) return true;
    return false;
  }

  private static boolean hasSecretsInCauses(Throwable failure) {
    var cause = failure;
    for (int i = 0; cause != null && i < MAX_CHAIN; i++, cause = cause.getCause()) {
      String text = Lines.message(cause);
      if (!address(text).equals(text)) return true;
    }
    return false;
  }
}
