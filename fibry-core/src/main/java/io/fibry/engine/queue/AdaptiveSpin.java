package io.fibry.engine.queue;

/**
 * Whether it pays to spin before a park. It does when the other side runs on another processor;
 * when both share one, it is in vain, and after some failures most spins are skipped. Races may
 * lose a count.
 */
final class AdaptiveSpin {
  private static final int MAX_FAILURES = 4; // in a row
  private static final int SKIPPED = 32;

  // in a row, then plus spins skipped; written and read by all that spin
  private int failures;

  boolean isWorthwhile() {
    if (failures >= MAX_FAILURES + SKIPPED) failures = MAX_FAILURES - 1;
    if (failures < MAX_FAILURES) return true;
    failures++;
    return false;
  }

  boolean record(boolean helped) {
    if (!helped) failures++;
    else if (failures > 0) failures = 0;
    return helped;
  }
}
