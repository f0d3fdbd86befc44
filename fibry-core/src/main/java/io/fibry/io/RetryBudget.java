package io.fibry.io;

/** One retry for every ten downloads; ten at first, and at most. Thread-safe. */
final class RetryBudget {
  private static final int EACH = 10; // downloads per retry
  private static final int MAX = 10 * EACH;

  private int saved = MAX; // guarded by this

  synchronized void pay() {
    saved = Math.min(MAX, saved + 1);
  }

  synchronized boolean spend() {
    if (saved < EACH) return false;
    saved -= EACH;
    return true;
  }
}
