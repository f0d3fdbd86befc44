package io.fibry.engine.jvm;

/**
 * A time slice of a millisecond for a loop. The slice reads the clock after each step, or after
 * each 16th step if steps are quick.
 */
public final class TimeSlice {
  private static final long NANOS = 1_000_000;
  private static final int QUICK_STEPS = 16; // steps between two reads of the clock

  private int stepsToRead = 1; // steps until the next read
  private long start; // the start of the slice by System.nanoTime, or 0 if the slice begins at the next read
  private long lastRead;

  /** Called after each step. Returns whether the slice is used up. */
  public boolean isOver() {
    if (--stepsToRead > 0) return false;
    long now = System.nanoTime();
    if (start == 0) start = now;
    stepsToRead = now - lastRead > NANOS / QUICK_STEPS ? 1 : QUICK_STEPS;
    lastRead = now;
    return now - start > NANOS;
  }

  public void restart() {
    start = 0;
  }
}
