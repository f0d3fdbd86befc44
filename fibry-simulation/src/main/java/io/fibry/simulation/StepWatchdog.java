package io.fibry.simulation;

import java.util.concurrent.TimeUnit;

/**
 * Distinguishes a step that holds its carrier from a step that gets little processor time. The
 * thread that waits for the run looks once a second.
 *
 * <p>A step that computes is held after some seconds of processor time, however long a busy machine
 * takes to give them. A step that waits where its thread cannot be taken from it is held after as
 * many looks in a row. A thread in native code, and a thread that waits for another to initialize a
 * class, count as running although they wait. They use no processor time, and count as held only
 * after more looks, because a running thread may get no processor for seconds on a busy machine.
 */
final class StepWatchdog {

  enum StepVerdict {
    GOES_ON, COMPUTES, WAITS
  }

  private static final int STARVATION_FACTOR = 6; // times the patience, without processor time

  private final int patience; // s of processor time, and looks
  private long step = -1; // the step that was seen last
  private long before; // ns of processor time that the carrier had used when the step was first seen
  private long last; // ns of processor time, at the last look
  private int waitingChecks; // looks in a row at which the thread waited
  private int idleChecks; // looks in a row at which it waited, or had used no processor time

  StepWatchdog(int patience) {
    this.patience = patience;
  }

  /**
   * {@return whether the step holds its carrier}
   *
   * @param number of the step
   * @param processor ns that the carrier has used since it began; always the same if unknown
   * @param waiting whether the thread of the step waits now
   */
  StepVerdict check(long number, long processor, boolean waiting) {
    if (number != step) {
      step = number;
      before = last = processor;
      waitingChecks = idleChecks = 0;
      return StepVerdict.GOES_ON;
    }
    waitingChecks = waiting ? waitingChecks + 1 : 0;
    idleChecks = waiting || processor == last ? idleChecks + 1 : 0;
    last = processor;
    if (waitingChecks >= patience || idleChecks >= STARVATION_FACTOR * patience) return StepVerdict.WAITS;
    return processor - before >= TimeUnit.SECONDS.toNanos(patience) ? StepVerdict.COMPUTES : StepVerdict.GOES_ON;
  }
}
