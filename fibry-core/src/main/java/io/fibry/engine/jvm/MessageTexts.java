package io.fibry.engine.jvm;

import io.fibry.text.Lines;
import java.util.concurrent.atomic.AtomicInteger;

/** Writes messages as texts for people, on one line, whatever characters they contain. */
public final class MessageTexts {
  /**
   * Stands in the text of an exception for that of its request, which is made when somebody reads
   * the exception. No name and no text of a message has this character, so none can ask for that
   * text.
   */
  public static final String REQUEST = "\1";
  /** Stands for the text of the reason why an actor ended. */
  public static final String REASON = "\2";

  private static final int MAX_UNFINISHED = 4; // per class of messages
  // texts being made
  private static final ClassValue<AtomicInteger> UNFINISHED = new ClassValue<>() {
    @Override
    protected AtomicInteger computeValue(Class<?> type) {
      return new AtomicInteger();
    }
  };

  /** Exceptions that override nothing which makes their text: most. */
  private static final ClassValue<Boolean> SHOWN_BY_JDK = new ClassValue<>() {
    @Override
    protected Boolean computeValue(Class<?> type) {
      try {
        return isOfJdk(type, "toString") && isOfJdk(type, "getLocalizedMessage") && isOfJdk(type, "getMessage");
      } catch (Throwable unknown) {
        return false;
      }
    }
  };

  private MessageTexts() {}

  /**
   * The text of a message, cut if long, strings in quotes; throws nothing. A {@code toString} is
   * user code, and may want a lock that a handler holds for ever. So it has a thread of its own and
   * 50 ms, or a second if it computes.
   */
  public static String describe(Object message) {
    return isSafeToPrint(message) ? Lines.text(message) : describeBounded(message);
  }

  /** Writes the text of a message, or only its class. */
  public static String describe(Object message, boolean whole) {
    return whole ? describe(message) : typeName(message);
  }

  /**
   * How an exception names a request: by a place for its text, which is made when somebody reads
   * the exception, or by its class.
   */
  public static String describeRequest(Object request, boolean whole) {
    return whole ? REQUEST : typeName(request);
  }

  /** For where a message must not be read. */
  public static String typeName(Object message) {
    if (message == null) return "null";
    String name = message.getClass().getSimpleName();
    return name.isEmpty() ? message.getClass().getName() : name;
  }

  private static boolean isSafeToPrint(Object message) {
    return message == null || message instanceof String || message instanceof Boolean || message instanceof Character
        || message instanceof Class
        || message instanceof Number && message.getClass().getName().startsWith("java.lang.")
        || message instanceof Throwable && SHOWN_BY_JDK.get(message.getClass());
  }

  private static boolean isOfJdk(Class<?> type, String method) throws NoSuchMethodException {
    var loader = type.getMethod(method).getDeclaringClass().getClassLoader();
    return loader == null || loader == ClassLoader.getPlatformClassLoader();
  }

  private static String describeBounded(Object message) {
    var unfinished = UNFINISHED.get(message.getClass());
    if (unfinished.get() >= MAX_UNFINISHED) return late(message);
    unfinished.incrementAndGet();
    String made = BoundedCall.run(() -> Lines.text(message), unfinished::decrementAndGet).getNow(null);
    return made == null ? late(message) : made;
  }

  private static String late(Object message) {
    return message.getClass().getName() + " (its toString did not return in time)";
  }
}
