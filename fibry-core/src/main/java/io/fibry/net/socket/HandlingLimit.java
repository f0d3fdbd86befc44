package io.fibry.net.socket;

import io.fibry.time.Scheduler;
import java.time.Duration;

/**
 * Interrupts a handler that takes too long. The monitor guards all fields but the timer: the thread
 * of the timer interrupts the handler only between {@code begin} and {@link #end}, so no interrupt
 * reaches the code that follows the handler. An interrupt would close the socket that a virtual
 * thread reads or writes. Therefore the thread is never interrupted between {@link #pause} and
 * {@link #resume}; the interrupt then follows in {@code resume}.
 */
final class HandlingLimit implements Runnable {
  private final Thread thread;
  private Scheduler.Timer timer; // used by the handler's thread
  private boolean isEnded;
  private boolean isPaused; // whether the thread reads or writes the socket
  private boolean isInterruptDue; // whether resume() has to interrupt the thread
  private boolean isPassed; // whether the limit was exceeded while the handler ran

  private HandlingLimit(Thread thread) {
    this.thread = thread;
  }

  /** Begins to limit the handler that the current thread is about to call. */
  static HandlingLimit begin(Scheduler clock, Duration duration) {
    var limit = new HandlingLimit(Thread.currentThread());
    limit.timer = clock.schedule(duration, limit);
    return limit;
  }

  @Override
  public synchronized void run() {
    if (isEnded) return;
    isPassed = true;
    if (isPaused) isInterruptDue = true;
    else thread.interrupt();
  }

  /** Called by the handler's thread before it reads or writes the socket. */
  synchronized void pause() {
    isPaused = true;
    // the handler may have ignored the interrupt, which would close the socket now
    if (isPassed && Thread.interrupted()) isInterruptDue = true;
  }

  /** Called by the handler's thread after it has read or written the socket. */
  synchronized void resume() {
    isPaused = false;
    if (isInterruptDue) thread.interrupt();
    isInterruptDue = false;
  }

  /**
   * Called once by the handler's thread, when the handler has returned. Returns whether the limit
   * was exceeded.
   */
  synchronized boolean end() {
    isEnded = true;
    timer.cancel();
    // a platform thread would keep the interrupt for its next exchange; a kill is not lost with it,
    // because a kill has closed the socket
    if (isPassed) Thread.interrupted();
    return isPassed;
  }
}
