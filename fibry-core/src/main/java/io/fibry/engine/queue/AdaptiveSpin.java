package io.fibry.engine.queue;

/**
 * Whether it pays to look on for a moment before one goes to sleep. It does where the other side is
 * at work on another processor; where both share one, each look is in vain. So it is done as long
 * as it helped of late, and else tried again every now and then. It decides nothing but time, so
 * races may lose a count.
 */
final class AdaptiveSpin {
  private static final int PATIENCE = 4; // in a row
  private static final int PAUSE = 32; // left out then

  // in a row; from PATIENCE on, and how many were left out. Written by whoever waits
  private int vain;

  boolean isWorthwhile() {
    if (vain >= PATIENCE + PAUSE) vain = PATIENCE - 1;
    if (vain < PATIENCE) return true;
    vain++;
    return false;
  }

  /** Whether it helped; answers just that. */
  boolean helped(boolean helped) {
    if (!helped) vain++;
    else if (vain > 0) vain = 0;
    return helped;
  }
}
