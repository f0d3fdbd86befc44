package io.fibry.net;

import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One timer for all links of a listener, set while there are any: looks whose time is over, which
 * is noticed an eighth of the shortest limit late at most, or a second.
 */
final class LimitCheck implements Runnable {

  /** What has limits. */
  interface Subject {
    void check(long now);
  }

  private final Scheduler clock;
  private final Duration period;
  private final Collection<? extends Subject> open;
  // false -> true, by who adds a link; -> false, by a look that finds none
  private final AtomicBoolean ticking = new AtomicBoolean();
  private volatile Scheduler.Timer timer; // written by who has made `ticking` true; read by `stop`
  private volatile boolean stopped;

  LimitCheck(Scheduler clock, Duration period, Collection<? extends Subject> open) {
    this.clock = clock;
    this.period = period;
    this.open = open;
  }

  /** After a link was added. */
  void begin() {
    if (!ticking.get() && ticking.compareAndSet(false, true)) again();
  }

  private void again() {
    Scheduler.Timer next = null;
    try {
      next = clock.after(period, this);
    } finally {
      if (next == null) ticking.set(false); // it threw: the next link that is added tries again
    }
    timer = next;
    if (stopped) next.cancel();
  }

  @Override
  public void run() {
    try {
      long now = clock.nanoTime();
      for (var subject : open) subject.check(now);
    } finally {
      // whatever it threw, for want of memory perhaps: without another look no limit would ever
      // hold again
      goOn();
    }
  }

  private void goOn() {
    if (open.isEmpty()) {
      timer = null;
      ticking.set(false);
      // who adds one adds it before it looks here
      if (open.isEmpty() || !ticking.compareAndSet(false, true)) return;
    }
    again();
  }

  void stop() {
    stopped = true;
    var pending = timer;
    if (pending != null) pending.cancel();
  }
}
