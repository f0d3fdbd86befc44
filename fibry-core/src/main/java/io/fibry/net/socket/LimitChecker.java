package io.fibry.net.socket;

import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongConsumer;

/** Checks the limits of all clients of a listener periodically, with a single timer. */
final class LimitChecker implements Runnable {

  private final Scheduler clock;
  private final Duration period;
  private final Collection<?> subjects;
  private final LongConsumer check; // checks all subjects; gets the time of the clock
  // false -> true when a subject is added; true -> false by a check without subjects
  private final AtomicBoolean isTimerSet = new AtomicBoolean();
  // written by the thread that set `isTimerSet`, and then by the threads of the timers; read by
  // `stop`
  private volatile Scheduler.Timer timer;
  private volatile boolean isStopped;

  LimitChecker(Scheduler clock, Duration period, Collection<?> subjects, LongConsumer check) {
    this.clock = clock;
    this.period = period;
    this.subjects = subjects;
    this.check = check;
  }

  /** Called after a subject was added. Starts the timer if it is not running. */
  void ensureTimer() {
    if (!isTimerSet.get() && isTimerSet.compareAndSet(false, true)) schedule();
  }

  private void schedule() {
    Scheduler.Timer newTimer = null;
    try {
      newTimer = clock.schedule(period, this);
    } finally {
      if (newTimer == null) isTimerSet.set(false); // clock.schedule threw; the next added subject tries again
    }
    timer = newTimer;
    if (isStopped) newTimer.cancel();
  }

  @Override
  public void run() {
    try {
      check.accept(clock.nanoTime());
    } finally {
      scheduleNext(); // also called after an Error, because otherwise no limit would be checked any more
    }
  }

  private void scheduleNext() {
    if (subjects.isEmpty()) {
      timer = null;
      isTimerSet.set(false);
      // checked again, because a subject may have been added after the first check, and its
      // `ensureTimer` may have seen the timer as set
      if (subjects.isEmpty() || !isTimerSet.compareAndSet(false, true)) return;
    }
    schedule();
  }

  void stop() {
    isStopped = true;
    var currentTimer = timer;
    if (currentTimer != null) currentTimer.cancel();
  }
}
