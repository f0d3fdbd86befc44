package io.fibry.text;

import java.nio.charset.StandardCharsets;

/** Writes texts as parts of JSON and of URIs, in printable ASCII. */
public final class Escapes {
  private Escapes() {}

  /**
   * Adds a text as a JSON string, with its quotes.
   *
   * @param alsoEscaped characters that JSON permits, and that are escaped nevertheless
   */
  public static void appendJson(String text, String alsoEscaped, StringBuilder json) {
    json.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') json.append('\\').append(c);
      else if (c >= ' ' && c < 0x7f && alsoEscaped.indexOf(c) < 0) json.append(c);
      else {
        json.append("\\u");
        for (int shift = 12; shift >= 0; shift -= 4) json.append(Character.forDigit(c >> shift & 0xf, 16));
      }
    }
    json.append('"');
  }

  /**
   * Adds a text as a part of a URI.
   *
   * @param unescaped characters that stay as they are, beside letters and digits
   */
  public static void appendPercentEncoded(String text, String unescaped, StringBuilder uri) {
    for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
      if (b > 0 && (Character.isLetterOrDigit(b) || unescaped.indexOf(b) >= 0)) uri.append((char) b);
      else uri.append(String.format("%%%02X", b));
    }
  }
}
