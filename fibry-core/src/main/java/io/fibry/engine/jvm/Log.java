package io.fibry.engine.jvm;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The engine's log, and messages as text. */
public final class Log {
  public static final Logger LOG = LoggerFactory.getLogger("io.fibry.ActorSystem");
  private static final int LONGEST = 200;

  private Log() {}

  /** The text of a message, cut if long; throws nothing. */
  public static String shown(Object message) {
    try {
      String text = String.valueOf(message);
      return text.length() <= LONGEST ? text
          : text.substring(0, LONGEST) + "… (" + text.length() + " characters)";
    } catch (Throwable unprintable) { // a ring of toStrings overflows the stack
      return message.getClass().getName() + " (its toString threw " + unprintable.getClass().getName() + ")";
    }
  }
}
