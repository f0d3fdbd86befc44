package io.fibry.nats.connection;

import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Removes users, passwords and tokens from URLs of servers, for logs and exceptions. */
public final class ServerUrls {
  private static final String SEPARATOR = "\\s*,\\s*";
  private static final Pattern WITHOUT_SECRETS =
      Pattern.compile("(?:[a-z]+://)?(?:[\\w.-]+|\\[[0-9a-fA-F:.]+])(?::\\d+)?/?");
  private static final Pattern USER = Pattern.compile("//[^/\\s,]*@");
  private static final Pattern QUERY = Pattern.compile("(//[^\\s,\\])?]*)\\?[^\\s,\\])]*");

  private ServerUrls() {}

  /** {@return the URLs of the list} */
  public static String[] split(String servers) {
    return servers.split(SEPARATOR);
  }

  /** {@return the scheme, host and port of each URL, with stars for user and password} */
  public static String redactAll(String servers) {
    return Stream.of(split(servers)).map(ServerUrls::redact).collect(Collectors.joining(","));
  }

  private static String redact(String url) {
    if (WITHOUT_SECRETS.matcher(url).matches()) return url;
    int schemeEnd = url.indexOf("://");
    String host =
        url.substring(Math.max(url.lastIndexOf('@') + 1, schemeEnd < 0 ? 0 : schemeEnd + 3)).replaceAll("[/?].*", "");
    return (schemeEnd < 0 ? "" : url.substring(0, schemeEnd + 3)) + "***@"
        + (WITHOUT_SECRETS.matcher(host).matches() ? host : "***");
  }

  /** {@return whether a log may show the text, because it has no URL, not even a malformed URL} */
  public static boolean isSafeToShow(String text) {
    return !text.contains("@") && !text.contains(":/");
  }

  /** {@return the text with stars for the user, password and query of each URL} */
  static String withoutSecrets(String text) {
    return QUERY.matcher(USER.matcher(text).replaceAll("//***@")).replaceAll("$1?***");
  }
}
