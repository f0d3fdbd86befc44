package io.fibry.engine.jvm;

import io.fibry.text.Lines;

/** Describes messages as texts of one line, whatever characters they contain. */
public final class MessageTexts {
  /**
   * A placeholder in the text of an exception, for the text of the request that failed. The text of
   * the request is made when the exception is read. No name and no text of a message contains this
   * character, so no user can insert the placeholder.
   */
  public static final String REQUEST = "\1";
  /** A placeholder for the text of the reason why an actor ended. */
  public static final String REASON = "\2";

  private static final ClassValue<TextCalls> CALLS = new ClassValue<>() { // by the class of the message
    @Override
    protected TextCalls computeValue(Class<?> type) {
      return new TextCalls();
    }
  };

  /**
   * Whether only methods of the JDK and of {@code RequestException} make the text of an exception
   * of this class. This is true of most exception classes. A {@code RequestException} describes its
   * request by this class, so it bounds the call of user code itself.
   */
  private static final ClassValue<Boolean> SHOWN_BY_LIBRARY = new ClassValue<>() {
    @Override
    protected Boolean computeValue(Class<?> type) {
      try {
        return isOfLibrary(type, "toString") && isOfLibrary(type, "getLocalizedMessage")
            && isOfLibrary(type, "getMessage");
      } catch (Throwable lookupFailure) {
        return false;
      }
    }
  };

  private MessageTexts() {}

  /**
   * Returns the text of a message, cut if it is long, with strings in quotes; throws nothing. A
   * {@code toString} is user code, and may wait for a lock that a handler holds forever. So {@code
   * toString} runs on a thread of its own, and this method waits for the text for 50 ms, or for a
   * second while {@code toString} computes. For a class of messages, four calls run at a time.
   * Another call first waits for the end of one of them, for at most a second.
   */
  public static String describe(Object message) {
    return isSafeToPrint(message) ? Lines.text(message) : describeBounded(message);
  }

  /** Returns the text of a message, or only its class if {@code showContent} is false. */
  public static String describe(Object message, boolean showContent) {
    return showContent ? describe(message) : typeName(message);
  }

  /**
   * Returns how the text of an exception names a request: by the placeholder {@link #REQUEST}, or
   * by the class of the request if {@code showContent} is false.
   */
  public static String describeRequest(Object request, boolean showContent) {
    return showContent ? REQUEST : typeName(request);
  }

  /** A step of a message whose name says more than its class. */
  public interface NamedStep {
    /** Returns a name that contains no content of the message. */
    String typeName();
  }

  /** Returns the class of a message, where the message itself must not be shown. */
  public static String typeName(Object message) {
    if (message == null) return "null";
    if (message instanceof NamedStep step) return step.typeName();
    String name = message.getClass().getSimpleName();
    return name.isEmpty() ? message.getClass().getName() : name;
  }

  private static boolean isSafeToPrint(Object message) {
    return message == null || message instanceof String || message instanceof Boolean || message instanceof Character
        || message instanceof Class
        || message instanceof Number && message.getClass().getName().startsWith("java.lang.")
        || message instanceof Throwable && SHOWN_BY_LIBRARY.get(message.getClass());
  }

  private static boolean isOfLibrary(Class<?> type, String method) throws NoSuchMethodException {
    var owner = type.getMethod(method).getDeclaringClass();
    var loader = owner.getClassLoader();
    return loader == null || loader == ClassLoader.getPlatformClassLoader()
        || loader == MessageTexts.class.getClassLoader() && owner.getName().equals("io.fibry.RequestException");
  }

  private static String describeBounded(Object message) {
    var calls = CALLS.get(message.getClass());
    if (!calls.begin()) return unfinishedText(message);
    String text = BoundedCall.run(() -> Lines.text(message), calls::end).getNow(null);
    return text == null ? unfinishedText(message) : text;
  }

  private static String unfinishedText(Object message) {
    return message.getClass().getName() + " (its toString did not return in time)";
  }
}
