package io.fibry.nats;

import java.util.regex.Pattern;

/** URLs of servers as people may read them. */
final class Addresses {
  private static final Pattern SECRET = Pattern.compile("//[^/\\s,]*@");

  private Addresses() {}

  /** {@return the text, in which each URL is without the user, password or token that it has} */
  static String withoutSecrets(String text) {
    return SECRET.matcher(text).replaceAll("//***@");
  }
}
