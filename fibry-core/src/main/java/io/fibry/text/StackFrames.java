package io.fibry.text;

/** Distinguishes the frames of a stack, so that a text can show the user's code. */
public final class StackFrames {
  private StackFrames() {}

  /** Returns whether a frame belongs to the JDK, by the name of its class or of its module. */
  public static boolean isOfJdk(StackTraceElement frame) {
    return isOfJdk(frame.getClassName()) || isOfJdk(frame.getModuleName());
  }

  /** Returns whether the name of a class or module is the JDK's. A name may be null. */
  private static boolean isOfJdk(String name) {
    return name != null && (name.startsWith("java.") || name.startsWith("jdk.") || name.startsWith("sun.")
        || name.startsWith("com.sun."));
  }
}
