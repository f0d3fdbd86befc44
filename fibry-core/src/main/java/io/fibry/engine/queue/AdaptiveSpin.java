package io.fibry.engine.queue;

/**
 * Whether it pays to look on for a moment before one goes to sleep. It does where the other side is
 * at work on another processor; where both share one, each look is in vain. So it is done as long
 * as it helped of late, and else tried again every now and then. It decides nothing but time, so
 * races may lose a count.
 */
final class AdaptiveSpin {
  private static final int MAX_FAILURES = 4; // in a row
  private static final int SKIPPED = 32; // left out then

  // in a row; from PATIENCE on, and how many were left out. Written by whoever waits
  private int failures;

  boolean isWorthwhile() {
    if (failures >= MAX_FAILURES + SKIPPED) failures = MAX_FAILURES - 1;
    if (failures < MAX_FAILURES) return true;
    failures++;
    return false;
  }

  /** Whether it helped; answers just that. */
  boolean record(boolean helped) {
    if (!helped) failures++;
    else if (failures > 0) failures = 0;
    return helped;
  }
}
