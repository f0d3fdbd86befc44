package io.fibry.io;

/**
 * The two seconds in which a program must end, and its children must close the output. The time is
 * counted in steps of the waiting thread. A machine that is too busy for the program, or for the
 * thread that reads its output, is too busy for these steps, too. So the output of a program is not
 * cut off because the thread that reads it got no processor time. The time must be limited, because
 * children of a program that has ended are unknown, and may keep the output open forever.
 */
final class ExitGrace {
  static final int STEPS = 100;
  private static final long STEP_MILLIS = 20;

  private ExitGrace() {}

  @FunctionalInterface
  interface GraceStep {
    /**
     * {@return whether the awaited event has happened, after a wait of at most {@code millis} ms}
     */
    boolean await(long millis) throws InterruptedException;
  }

  /** {@return whether the awaited event has happened in one of the steps} */
  static boolean await(GraceStep step) throws InterruptedException {
    for (int count = 0; count < STEPS; count++) if (step.await(STEP_MILLIS)) return true;
    return false;
  }
}
