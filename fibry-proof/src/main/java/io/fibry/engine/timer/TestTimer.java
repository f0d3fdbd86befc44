package io.fibry.engine.timer;

/** A timer that counts its runs. */
final class TestTimer extends TimerNode {
  private final TimerQueue queue;
  int runs; // written by the thread that fires the timer

  TestTimer(TimerQueue queue, long dueAt) {
    super(dueAt);
    this.queue = queue;
  }

  boolean cancel() {
    return cancelIn(queue);
  }

  @Override
  protected void fire() {
    if (close()) runs++;
  }

  /** Cancels the timer, and returns its previous state. */
  int cancelFrom() {
    int openState = closeFrom();
    if (openState < CLOSED) queue.onCancel(this, openState == SORTED);
    return openState;
  }

  /** Runs as a repeated timer. */
  void runAgain(long period) {
    if (!beginRun()) return;
    runs++;
    dueAt += period;
    startAgainIn(queue);
  }
}
