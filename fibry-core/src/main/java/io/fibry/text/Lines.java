package io.fibry.text;

/** Texts of users, fit for a log. */
public final class Lines {
  private static final int MAX_LENGTH = 200; // characters
  private static final int CUT = 20; // the length of the text that marks a cut
  private static final int LINE_SEPARATOR = 0x2028;
  private static final int PARAGRAPH_SEPARATOR = 0x2029;

  private Lines() {}

  /** An object in one line, cut if long; a string in quotes. Its toString runs on this thread. */
  public static String text(Object object) {
    try {
      return object instanceof CharSequence text ? '"' + line(text.toString()).replace("\"", "\\\"") + '"'
          : line(String.valueOf(object));
    } catch (Throwable unprintable) { // a ring of toStrings overflows the stack
      return without(object, "toString", unprintable);
    }
  }

  /** In one line, cut if long. */
  public static String line(String text) {
    return text.length() <= MAX_LENGTH + CUT ? escaped(text)
        : escaped(text.substring(0, MAX_LENGTH)) + "… (" + text.length() + " characters)";
  }

  /** In one line, so that nothing of a user's can forge a line of a log. */
  public static String escaped(String text) {
    var line = new StringBuilder(text.length());
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (breaksLines(c)) line.append(escape(c));
      else line.append(c);
    }
    return line.toString();
  }

  /** The message of a failure, in one line; its class if it has none. */
  public static String message(Throwable failure) {
    try {
      String said = failure.getMessage();
      return said == null ? failure.getClass().getName() : escaped(said);
    } catch (Throwable unreadable) { // a getMessage of the user's
      return without(failure, "getMessage", unreadable);
    }
  }

  /** A failure in one line: its class and its message. */
  public static String thrown(Throwable failure) {
    try {
      return escaped(failure.toString());
    } catch (Throwable unreadable) { // a toString of the user's
      return without(failure, "toString", unreadable);
    }
  }

  /** For an object whose own text cannot be had. */
  private static String without(Object object, String method, Throwable thrown) {
    return object.getClass().getName() + " (its " + method + " threw " + thrown.getClass().getName() + ")";
  }

  private static String escape(char c) {
    return c == '\n' ? "\\n" : c == '\r' ? "\\r" : c == '\t' ? "\\t" : String.format("\\u%04x", (int) c);
  }

  private static boolean breaksLines(char c) {
    return Character.isISOControl(c) || c == LINE_SEPARATOR || c == PARAGRAPH_SEPARATOR;
  }
}
