package io.fibry.jdbc;

import io.fibry.text.Lines;
import java.sql.SQLException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Removes users, passwords and parameters from JDBC URLs, for logs and exceptions. */
final class JdbcUrls {
  private static final int MAX_CAUSES = 20; // causes of a failure that are searched; they may form a cycle
  // The driver, the address, and all text after it: a password may contain any character.
  private static final Pattern URL =
      Pattern.compile("(jdbc:[a-z0-9]+:)([^\\s?;]*)([?;].*)?", Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

  private JdbcUrls() {}

  /** {@return the URL without its user, password and parameters} */
  static String address(String url) {
    return URL.matcher(url).replaceAll(match -> Matcher.quoteReplacement(match.group(1)
        + addressOf(match.group(2), match.group(3))));
  }

  private static String addressOf(String address, String parameters) {
    int userEnd = address.lastIndexOf('@');
    if (userEnd >= 0) return "***" + address.substring(userEnd);
    boolean isAmbiguous = parameters != null && parameters.contains("@"); // a ? or ; may be part of a password
    return isAmbiguous ? "***" : address;
  }

  /**
   * Returns the failure, or a copy without the secrets of URLs if a text of the failure or of its
   * causes has any. Drivers show the whole URL, for example if they cannot parse it.
   */
  static SQLException redact(SQLException failure) {
    if (!hasSecrets(failure)) return failure;
    var copy = new SQLException(address(Lines.message(failure)), failure.getSQLState(), failure.getErrorCode());
    copy.setStackTrace(failure.getStackTrace()); // no cause: its text may have the same URL
    return copy;
  }

  private static boolean hasSecrets(SQLException failure) {
    Throwable cause = failure;
    for (int i = 0; cause != null && i < MAX_CAUSES; i++, cause = cause.getCause()) {
      String text = Lines.message(cause);
      if (!address(text).equals(text)) return true;
    }
    return failure.getNextException() != null && failure.getNextException() != failure
        && hasSecrets(failure.getNextException());
  }
}
