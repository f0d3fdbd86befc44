package io.fibry.io;

/**
 * The two seconds that a program gets to end, and its children to let go of the output. They are
 * counted in steps of the thread that waits: a machine that is too busy for the program, or for the
 * thread that reads its output, is too busy for these steps, too. So what a program has written is
 * not cut off because its reader got no processor. No limit at all is not possible: the children of
 * a program that has ended are unknown.
 */
final class Grace {
  static final int STEPS = 100;
  private static final long STEP = 20; // ms

  private Grace() {}

  @FunctionalInterface
  interface Step {
    /** True: that for which it waits has come. */
    boolean await(long millis) throws InterruptedException;
  }

  /** False: no step brought it. */
  static boolean await(Step step) throws InterruptedException {
    for (int done = 0; done < STEPS; done++) if (step.await(STEP)) return true;
    return false;
  }
}
