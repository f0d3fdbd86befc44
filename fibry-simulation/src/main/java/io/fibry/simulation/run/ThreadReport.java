package io.fibry.simulation.run;

import io.fibry.text.StackFrames;
import java.util.ArrayList;
import java.util.List;

/**
 * Describes threads as text: one line for each, with its actor, and the place in the program at
 * which it waits.
 */
public final class ThreadReport {
  private static final int MAX_FRAMES = 2; // stack frames shown of each thread

  private ThreadReport() {}

  public static String of(List<SimulatedThread> threads) {
    var text = new StringBuilder();
    for (var thread : threads) {
      text.append("  ").append(thread.actor == null ? thread.toString() : thread.actor.name());
      var frames = shownFrames(thread.thread.getStackTrace());
      for (int i = 0; i < frames.size(); i++) text.append(i == 0 ? " at " : " < ").append(frames.get(i));
      text.append('\n');
    }
    return text.toString();
  }

  /** Returns the newest frames of the user's code or, if the stack has none, of Fibry. */
  static List<StackTraceElement> shownFrames(StackTraceElement[] stack) {
    var frames = frames(stack, false);
    return frames.isEmpty() ? frames(stack, true) : frames;
  }

  private static List<StackTraceElement> frames(StackTraceElement[] stack, boolean withLibrary) {
    var shownFrames = new ArrayList<StackTraceElement>();
    for (var frame : stack)
      if (shownFrames.size() < MAX_FRAMES && !isHiddenFrame(frame) && (withLibrary || !isLibraryFrame(frame)))
        shownFrames.add(frame);
    return shownFrames;
  }

  /** Returns whether a frame belongs to the JDK, or to a class that redirects its calls. */
  private static boolean isHiddenFrame(StackTraceElement frame) {
    return StackFrames.isOfJdk(frame) || frame.getClassName().startsWith("io.fibry.simulation.tap.");
  }

  /** Returns whether a frame belongs to Fibry; Fibry's examples count as user code. */
  private static boolean isLibraryFrame(StackTraceElement frame) {
    return frame.getClassName().startsWith("io.fibry.") && !frame.getClassName().startsWith("io.fibry.examples.");
  }
}
