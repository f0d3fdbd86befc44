package io.fibry.text;

/** Makes texts of one line from objects, texts and exceptions of users, for logs and exceptions. */
public final class Lines {
  private static final int MAX_LENGTH = 200; // characters
  // characters of an exception: its text may contain texts of messages, and end with a line of code
  private static final int MAX_EXCEPTION_LENGTH = 2_000;
  private static final int CUT_MARK_LENGTH = 20; // about the length of "… (12345 characters)"
  private static final int LINE_SEPARATOR = 0x2028;
  private static final int PARAGRAPH_SEPARATOR = 0x2029;

  private Lines() {}

  /**
   * Returns an object as one line of at most about 200 characters; a string is in quotes. The text
   * of an exception may have 2,000 characters, because its end may say where the cause is. The
   * object's toString runs on the current thread.
   */
  public static String text(Object object) {
    try {
      return object instanceof CharSequence text ? '"' + line(text.toString()).replace("\"", "\\\"") + '"'
          : line(String.valueOf(object), object instanceof Throwable ? MAX_EXCEPTION_LENGTH : MAX_LENGTH);
    } catch (Throwable failure) { // also a StackOverflowError, if toString methods call each other
      return describeFailed(object, "toString", failure);
    }
  }

  /** Returns a text as one line of at most about 200 characters. */
  public static String line(String text) {
    return line(text, MAX_LENGTH);
  }

  private static String line(String text, int maxLength) {
    if (text.length() <= maxLength + CUT_MARK_LENGTH) return escaped(text);
    int end = Character.isHighSurrogate(text.charAt(maxLength - 1)) ? maxLength - 1 : maxLength;
    return escaped(text.substring(0, end)) + "… (" + text.length() + " characters)";
  }

  /** Returns a text as one line, so that a text of a user cannot forge a line of a log. */
  public static String escaped(String text) {
    var line = new StringBuilder(text.length());
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (breaksLines(c)) line.append(escape(c));
      else line.append(c);
    }
    return line.toString();
  }

  /** Returns a number and a noun, such as "1 message" or "2 messages". */
  public static String count(long number, String noun) {
    return number + " " + noun + (number == 1 ? "" : "s");
  }

  /** Returns the message of a failure as one line, or its class name if it has no message. */
  public static String message(Throwable failure) {
    try {
      String message = failure.getMessage();
      return message == null ? failure.getClass().getName() : escaped(message);
    } catch (Throwable thrown) { // getMessage may be user code
      return describeFailed(failure, "getMessage", thrown);
    }
  }

  /** Returns the class name and the message of a failure as one line. */
  public static String thrown(Throwable failure) {
    try {
      return escaped(failure.toString());
    } catch (Throwable thrown) { // toString may be user code
      return describeFailed(failure, "toString", thrown);
    }
  }

  /** Returns a text for an object whose {@code toString} or {@code getMessage} threw. */
  private static String describeFailed(Object object, String method, Throwable thrown) {
    return object.getClass().getName() + " (its " + method + " threw " + thrown.getClass().getName() + ")";
  }

  private static String escape(char c) {
    return c == '\n' ? "\\n" : c == '\r' ? "\\r" : c == '\t' ? "\\t" : String.format("\\u%04x", (int) c);
  }

  private static boolean breaksLines(char c) {
    return Character.isISOControl(c) || c == LINE_SEPARATOR || c == PARAGRAPH_SEPARATOR;
  }
}
