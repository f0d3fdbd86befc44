package io.fibry.io;

/**
 * How many retries there may be: one for ten downloads, and ten to begin with, which is also the
 * most that is saved. Thread-safe.
 */
final class RetryBudget {
  private static final int EACH = 10; // downloads that pay for a retry
  private static final int MOST = 10 * EACH;

  private int saved = MOST; // guarded by this

  /** A download pays in. */
  synchronized void pay() {
    saved = Math.min(MOST, saved + 1);
  }

  /** Whether there may be one retry more. */
  synchronized boolean spend() {
    if (saved < EACH) return false;
    saved -= EACH;
    return true;
  }
}
