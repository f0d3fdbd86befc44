package io.fibry.codec.text;

/** Texts of users, fit for a log, as the core writes them. */
public final class Lines {
  private static final int LONGEST = 200; // characters
  private static final int CUT = 20; // what says that a text was cut
  private static final int LINE_SEPARATOR = 0x2028;
  private static final int PARAGRAPH_SEPARATOR = 0x2029;

  private Lines() {}

  /** In one line, cut if long. */
  public static String line(String text) {
    return text.length() <= LONGEST + CUT ? escaped(text)
        : escaped(text.substring(0, LONGEST)) + "… (" + text.length() + " characters)";
  }

  /** In one line, so that nothing of a user's can forge a line of a log. */
  public static String escaped(String text) {
    if (text.chars().noneMatch(Lines::breaksLines)) return text;
    var line = new StringBuilder(text.length());
    text.chars().forEach(c -> line.append(breaksLines(c) ? escape(c) : Character.toString(c)));
    return line.toString();
  }

  private static String escape(int c) {
    return c == '\n' ? "\\n" : c == '\r' ? "\\r" : c == '\t' ? "\\t" : String.format("\\u%04x", c);
  }

  private static boolean breaksLines(int c) {
    return Character.isISOControl(c) || c == LINE_SEPARATOR || c == PARAGRAPH_SEPARATOR;
  }
}
