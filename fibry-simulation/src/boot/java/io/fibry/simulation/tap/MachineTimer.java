package io.fibry.simulation.tap;

import java.util.concurrent.Delayed;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Adapts a timer of the machine to the type that Java 21 expects. The JDK calls only
 * {@link #cancel}.
 */
record MachineTimer(Future<?> timer) implements ScheduledFuture<Object> {

  @Override
  public boolean cancel(boolean interrupt) {
    return timer.cancel(interrupt);
  }

  @Override
  public boolean isCancelled() {
    return timer.isCancelled();
  }

  @Override
  public boolean isDone() {
    return timer.isDone();
  }

  @Override
  public Object get() throws InterruptedException, ExecutionException {
    return timer.get();
  }

  @Override
  public Object get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
    return timer.get(timeout, unit);
  }

  @Override
  public long getDelay(TimeUnit unit) {
    return 0;
  }

  @Override
  public int compareTo(Delayed other) {
    return 0;
  }
}
