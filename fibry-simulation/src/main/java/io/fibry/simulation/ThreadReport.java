package io.fibry.simulation;

import java.util.ArrayList;
import java.util.List;

/** Threads as text: each with its actor, and where in the program it waits. */
final class ThreadReport {
  private static final int FRAMES = 2;

  private ThreadReport() {}

  static String of(List<SimulatedThread> tasks) {
    var text = new StringBuilder();
    for (var task : tasks) {
      text.append("  ").append(task.actor == null ? task.toString() : task.actor.name());
      var stack = task.thread.getStackTrace();
      var frames = frames(stack, false);
      if (frames.isEmpty()) frames = frames(stack, true);
      for (int i = 0; i < frames.size(); i++) text.append(i == 0 ? " at " : " < ").append(frames.get(i));
      text.append('\n');
    }
    return text.toString();
  }

  private static List<StackTraceElement> frames(StackTraceElement[] stack, boolean ours) {
    var found = new ArrayList<StackTraceElement>();
    for (var frame : stack)
      if (found.size() < FRAMES && !isOfJdk(frame) && (ours || !isSimulatorFrame(frame))) found.add(frame);
    return found;
  }

  private static boolean isOfJdk(StackTraceElement frame) {
    return frame.getClassName().startsWith("java.") || frame.getClassName().startsWith("jdk.")
        || frame.getClassName().startsWith("io.fibry.simulation.tap.");
  }

  /** Our examples are as a program of a user. */
  private static boolean isSimulatorFrame(StackTraceElement frame) {
    return frame.getClassName().startsWith("io.fibry.") && !frame.getClassName().startsWith("io.fibry.examples.");
  }
}
