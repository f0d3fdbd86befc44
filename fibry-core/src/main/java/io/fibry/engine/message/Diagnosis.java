package io.fibry.engine.message;

import io.fibry.engine.jvm.StackTraces;
import io.fibry.text.StackFrames;

/**
 * Says why an answer is late. {@code stack} shows where the handler of the actor was; null if no
 * handler ran.
 */
public record Diagnosis(String text, HandlerStack stack) {

  /** The cause of a time-out exception. Several exceptions may share this cause. */
  public static final class HandlerStack extends Exception {
    private static final long serialVersionUID = 1;
    private static final int MAX_FRAMES = 4;

    public HandlerStack(String actor, StackTraceElement[] stack) {
      super("actor '" + actor + "' was here", null, false, true);
      setStackTrace(stack);
    }

    @Override
    public Throwable fillInStackTrace() {
      return this; // the stack is the handler's, not this thread's
    }

    /**
     * Returns a sentence with at most four frames of the stack. The first frame is the user's code,
     * or the method of the JDK that the user's code has called. If all frames are of the JDK, the
     * first frame is the newest call.
     */
    public String describePlace() {
      var stack = getStackTrace();
      int userFrame = 0;
      while (userFrame < stack.length && isLibrary(stack[userFrame])) userFrame++;
      if (userFrame == stack.length) userFrame = 0;
      int firstFrame = userFrame > 0 && !isEngine(stack[userFrame - 1]) ? userFrame - 1 : userFrame;
      var text = new StringBuilder();
      for (int i = firstFrame; i < Math.min(firstFrame + MAX_FRAMES, stack.length); i++)
        text.append(i == firstFrame ? ". The handler is at " : " < ").append(stack[i]);
      return text.toString();
    }

    private static boolean isLibrary(StackTraceElement frame) {
      return isEngine(frame) || StackFrames.isOfJdk(frame);
    }

    private static boolean isEngine(StackTraceElement frame) {
      return frame.getClassName().startsWith("io.fibry.engine.");
    }

    /**
     * Returns how many frames are the handler's, and of code that it has called. Between them and
     * the delivery are frames of the engine.
     *
     * @param delivery the index of the handler's {@linkplain StackTraces#isDelivery delivery}
     */
    public static int countHandlerFrames(StackTraceElement[] stack, int delivery) {
      int count = delivery;
      while (count > 0 && isEngine(stack[count - 1])) count--;
      return count;
    }
  }
}
