package io.fibry.engine.jvm;

/** A millisecond. It looks at the clock after each step, or after 16 if they are quick. */
public final class TimeSlice {
  private static final long NANOS = 1_000_000;
  private static final int QUICK = 16; // steps between two looks

  private int left = 1; // steps until the next look
  private long began; // 0 means that it begins at the next look
  private long seen;

  /** After a step. */
  public boolean isOver() {
    if (--left > 0) return false;
    long now = System.nanoTime();
    if (began == 0) began = now;
    left = now - seen > NANOS / QUICK ? 1 : QUICK;
    seen = now;
    return now - began > NANOS;
  }

  public void restart() {
    began = 0;
  }
}
