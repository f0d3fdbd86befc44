package io.fibry.io;

/**
 * The two seconds in which a program must end, and its children must close the output. The waiting
 * thread counts this time in steps of 20 ms. On a busy machine these steps take longer, so a thread
 * that gets little processor time can still read the whole output. The time must be limited,
 * because children of a program that has ended are unknown, and may keep the output open forever.
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
