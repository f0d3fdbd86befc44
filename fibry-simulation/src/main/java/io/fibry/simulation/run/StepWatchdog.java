package io.fibry.simulation.run;

import java.util.concurrent.TimeUnit;

/**
 * Finds out whether a step holds its carrier for too long, or only gets little processor time. The
 * thread that waits for the run calls {@link #check} once a second.
 *
 * <p>The limit is {@code patience}: a number of seconds, and of checks. A step that computes counts
 * as holding the carrier after that many seconds of processor time, however long these take on a
 * busy machine. A step that waits without leaving the carrier counts as holding it if it waited at
 * that many checks in a row. Some threads count as running although they wait: in native code, or
 * while another thread initializes a class. Such a thread uses no processor time, and counts as
 * holding the carrier after six times as many checks in a row. Fewer checks are not enough, because
 * on a busy machine a running thread may get no processor time for seconds.
 */
final class StepWatchdog {

  enum StepVerdict {
    CONTINUES, COMPUTES, WAITS
  }

  private static final int STARVATION_FACTOR = 6; // checks without processor time, as a multiple of the patience

  private final int patience; // s of processor time, and number of checks
  private long lastStep = -1; // the step at the last check; -1: none
  private long startProcessorTime; // processor time of the carrier at the first check of the step, in ns
  private long lastProcessorTime; // processor time of the carrier at the last check, in ns
  private int waitingChecks; // checks in a row at which the thread waited
  private int idleChecks; // checks in a row at which the thread waited, or had used no further processor time

  StepWatchdog(int patience) {
    this.patience = patience;
  }

  /**
   * {@return whether the step holds its carrier, and how}
   *
   * @param step the number of the step
   * @param processorTime ns that the carrier has used since it began; always the same if unknown
   * @param isWaiting whether the thread of the step waits now
   */
  StepVerdict check(long step, long processorTime, boolean isWaiting) {
    if (step != lastStep) {
      lastStep = step;
      startProcessorTime = lastProcessorTime = processorTime;
      waitingChecks = idleChecks = 0;
      return StepVerdict.CONTINUES;
    }
    waitingChecks = isWaiting ? waitingChecks + 1 : 0;
    idleChecks = isWaiting || processorTime == lastProcessorTime ? idleChecks + 1 : 0;
    lastProcessorTime = processorTime;
    if (waitingChecks >= patience || idleChecks >= STARVATION_FACTOR * patience) return StepVerdict.WAITS;
    return processorTime - startProcessorTime >= TimeUnit.SECONDS.toNanos(patience) ? StepVerdict.COMPUTES
        : StepVerdict.CONTINUES;
  }
}
