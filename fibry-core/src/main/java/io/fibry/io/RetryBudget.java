package io.fibry.io;

/** One retry for every ten downloads; ten at first, and at most. Thread-safe. */
final class RetryBudget {
  private static final int EACH = 10; // downloads per retry
  private static final int MOST = 10 * EACH;

  private int saved = MOST; // guarded by this

  synchronized void pay() {
    saved = Math.min(MOST, saved + 1);
  }

  synchronized boolean spend() {
    if (saved < EACH) return false;
    saved -= EACH;
    return true;
  }
}
