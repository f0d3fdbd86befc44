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

  void startAgain() {
    startAgainIn(queue);
  }
}
