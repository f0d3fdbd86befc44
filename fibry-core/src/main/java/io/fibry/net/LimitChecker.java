package io.fibry.net;

import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongConsumer;

/** Checks the limits of a listener's clients, by one timer. */
final class LimitChecker implements Runnable {

  private final Scheduler clock;
  private final Duration period;
  private final Collection<?> subjects;
  private final LongConsumer check; // of all, at a time
  // false -> true when a subject is added; true -> false by a check that finds none
  private final AtomicBoolean ticking = new AtomicBoolean();
  private volatile Scheduler.Timer timer; // written by the thread that set `ticking`, read by `stop`
  private volatile boolean stopped;

  LimitChecker(Scheduler clock, Duration period, Collection<?> subjects, LongConsumer check) {
    this.clock = clock;
    this.period = period;
    this.subjects = subjects;
    this.check = check;
  }

  void begin() {
    if (!ticking.get() && ticking.compareAndSet(false, true)) schedule();
  }

  private void schedule() {
    Scheduler.Timer next = null;
    try {
      next = clock.schedule(period, this);
    } finally {
      if (next == null) ticking.set(false); // it threw: the next subject tries again
    }
    timer = next;
    if (stopped) next.cancel();
  }

  @Override
  public void run() {
    try {
      check.accept(clock.nanoTime());
    } finally {
      scheduleNext(); // also after an Error: without it no limit would hold any more
    }
  }

  private void scheduleNext() {
    if (subjects.isEmpty()) {
      timer = null;
      ticking.set(false);
      // a subject is added before `begin` looks at `ticking`
      if (subjects.isEmpty() || !ticking.compareAndSet(false, true)) return;
    }
    schedule();
  }

  void stop() {
    stopped = true;
    var pending = timer;
    if (pending != null) pending.cancel();
  }
}
