package io.fibry.engine.message;

/** Why an answer is late, and where the actor's handler was; null: it did not run. */
public record Diagnosis(String text, HandlerStack stack) {

  /** The cause of a time-out. Several threads may share it. */
  public static final class HandlerStack extends Exception {
    private static final long serialVersionUID = 1;
    private static final int LINES = 8;

    public HandlerStack(String actor, StackTraceElement[] stack) {
      super("actor '" + actor + "' was here", null, false, true);
      setStackTrace(stack);
    }

    @Override
    public Throwable fillInStackTrace() {
      return this; // the stack is the handler's, not this thread's
    }

    /** From where the user's code called the JDK or the library. */
    String top() {
      var stack = getStackTrace();
      int first = 0;
      while (first + 1 < stack.length && isForeign(stack[first]) && isForeign(stack[first + 1])) first++;
      var text = new StringBuilder();
      for (int i = first; i < Math.min(first + LINES, stack.length); i++) text.append("\n\tat ").append(stack[i]);
      return text.toString();
    }

    private static boolean isForeign(StackTraceElement frame) {
      String name = frame.getClassName();
      return name.startsWith("java.") || name.startsWith("jdk.") || isEngine(frame);
    }

    public static boolean isEngine(StackTraceElement frame) {
      return frame.getClassName().startsWith("io.fibry.engine.");
    }
  }
}
