package io.fibry.engine.jvm;

/**
 * A time slice of a millisecond for a loop. The slice reads the clock after each step, or after
 * each 16th step if steps are quick.
 */
public class TimeSlice {
  private static final long NANOS = 1_000_000;
  private static final int QUICK_STEPS = 16; // steps between two reads of the clock

  private int stepsToRead = 1; // steps until the next read
  private int steps = 1; // steps between the last read and the next
  private long start; // the start of the slice by System.nanoTime, or 0 if the slice begins at the next read
  private long lastRead; // 0 before the first read
  private long stepNanos; // mean time of the steps between the last two reads; 0 if unknown

  /** Called after each step. Returns whether the slice is used up. */
  public final boolean isOver() {
    if (--stepsToRead > 0) return false;
    long now = System.nanoTime();
    if (start == 0) start = now;
    if (lastRead != 0) stepNanos = (now - lastRead) / steps;
    stepsToRead = steps = now - lastRead > NANOS / QUICK_STEPS ? 1 : QUICK_STEPS;
    lastRead = now;
    return now - start > NANOS;
  }

  /** Returns the mean time of the last steps and clears it, or returns 0 if it is not known. */
  public final long takeStepNanos() {
    long nanos = stepNanos;
    stepNanos = 0;
    return nanos;
  }

  public final void restart() {
    start = 0;
    lastRead = 0; // the time until now belongs to no step
  }
}
