package io.fibry.engine.queue;

/**
 * Decides whether a thread spins before it parks. A spin succeeds if the thread that is waited for
 * runs on another processor. If both threads share a processor, spins fail, and after some failures
 * most spins are skipped. Racing threads may lose a count. A drain also uses this class before it
 * ends, for its yields to the senders that it has woken.
 */
final class AdaptiveSpin {
  private static final int MAX_FAILURES = 4; // failures in a row
  private static final int MAX_SKIPPED = 32;

  // failed spins in a row; from MAX_FAILURES on, skipped spins count, too. Written and read by all
  // threads that spin
  private int failures;

  boolean mayStart() {
    if (failures >= MAX_FAILURES + MAX_SKIPPED) failures = MAX_FAILURES - 1;
    if (failures < MAX_FAILURES) return true;
    failures++;
    return false;
  }

  boolean record(boolean isSuccess) {
    if (!isSuccess) failures++;
    else if (failures > 0) failures = 0;
    return isSuccess;
  }
}
