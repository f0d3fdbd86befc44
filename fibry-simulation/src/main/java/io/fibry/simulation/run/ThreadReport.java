package io.fibry.simulation.run;

import java.util.ArrayList;
import java.util.List;

/**
 * Describes threads as text: one line for each, with its actor, and the place in the program at
 * which it waits.
 */
public final class ThreadReport {
  private static final int MAX_FRAMES = 2; // stack frames shown of each thread

  private ThreadReport() {}

  public static String of(List<SimulatedThread> fibers) {
    var text = new StringBuilder();
    for (var fiber : fibers) {
      text.append("  ").append(fiber.actor == null ? fiber.toString() : fiber.actor.name());
      var stack = fiber.thread.getStackTrace();
      var frames = frames(stack, false);
      if (frames.isEmpty()) frames = frames(stack, true);
      for (int i = 0; i < frames.size(); i++) text.append(i == 0 ? " at " : " < ").append(frames.get(i));
      text.append('\n');
    }
    return text.toString();
  }

  private static List<StackTraceElement> frames(StackTraceElement[] stack, boolean withLibrary) {
    var shownFrames = new ArrayList<StackTraceElement>();
    for (var frame : stack)
      if (shownFrames.size() < MAX_FRAMES && !isJdkFrame(frame) && (withLibrary || !isLibraryFrame(frame)))
        shownFrames.add(frame);
    return shownFrames;
  }

  private static boolean isJdkFrame(StackTraceElement frame) {
    return frame.getClassName().startsWith("java.") || frame.getClassName().startsWith("jdk.")
        || frame.getClassName().startsWith("io.fibry.simulation.tap.");
  }

  /** Returns whether a frame belongs to Fibry; examples of Fibry count as code of a user. */
  private static boolean isLibraryFrame(StackTraceElement frame) {
    return frame.getClassName().startsWith("io.fibry.") && !frame.getClassName().startsWith("io.fibry.examples.");
  }
}
