package io.fibry.engine.jvm;

import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Checks all objects of a collection by one timer of the system's clock, not by a timer for each
 * object.
 *
 * <p>No object is missed. A thread adds an object, and then calls {@link #schedule}, which reads
 * {@code isScheduled}. The timer clears {@code isScheduled}, and the check then reads the objects.
 */
public class SharedCheck implements Runnable, Rescuable {
  private final Duration delay;
  private final Runnable check;
  private final AtomicBoolean isScheduled = new AtomicBoolean(); // whether the timer is set

  public SharedCheck(Duration delay, Runnable check) {
    this.delay = delay;
    this.check = check;
  }

  /**
   * Sets the timer, unless it is set. If this method throws, the timer is set later, because
   * another thread may rely on it.
   */
  public final void schedule() {
    if (isScheduled.get()) return;
    StackProbe.probe(); // an error after `isScheduled` is set would leave no timer set
    if (!isScheduled.compareAndSet(false, true)) return;
    try {
      clock().schedule(delay, this);
    } catch (Throwable noMemory) {
      isScheduled.set(false);
      EngineThreads.rescue(this); // another thread may have seen that `isScheduled` is set
      throw noMemory;
    }
  }

  Scheduler clock() {
    return Scheduler.system();
  }

  /** Sets the timer now, or later if stack or memory is exhausted. Throws nothing. */
  public final void scheduleEventually() {
    EngineThreads.runOrRetry(this);
  }

  @Override
  public final void rescue() {
    schedule();
  }

  @Override
  public final void run() {
    isScheduled.set(false);
    check.run();
  }
}
