package io.fibry.engine.jvm;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/**
 * Runs code that may never return, such as a {@code toString}, on a thread of its own. It has 50
 * ms, or a second if it computes or waits for a processor. Null: nothing.
 */
final class BoundedCall<T> extends CompletableFuture<T> implements Runnable {
  private static final int MILLIS = 50;
  private static final int RUNNING_MILLIS = 1_000;
  // before Java 24 a fiber that waits for a monitor holds its carrier
  private static final boolean FIBERS = Runtime.version().feature() >= 24;
  private static final long STARVATION = 1_000_000_000; // ns

  private static volatile long starved = System.nanoTime() - STARVATION - 1; // when a fiber last found no carrier

  private final Supplier<T> code;
  private final Runnable after;
  private final AtomicBoolean begun = new AtomicBoolean(); // false -> true, by the first thread that comes
  private volatile Thread runner;

  private BoundedCall(Supplier<T> code, Runnable after) {
    this.code = code;
    this.after = after;
  }

  /**
   * Returns when the code has, or its time is over; done, then also where no thread was to be had.
   *
   * @param after runs once, when the code has returned or will not be run
   */
  static <T> BoundedCall<T> run(Supplier<T> code, Runnable after) {
    var made = new BoundedCall<>(code, after);
    try {
      boolean onFiber = FIBERS && System.nanoTime() - starved > STARVATION;
      if (onFiber) EngineThreads.startFiber(made);
      else EngineThreads.startPlatformThread(made);
      made.await(MILLIS);
      if (!made.begun.get()) { // no carrier was free: not the fault of the code
        starved = System.nanoTime();
        EngineThreads.startPlatformThread(made);
        made.await(MILLIS);
      }
      if (made.isRunning()) made.await(RUNNING_MILLIS - MILLIS);
    } catch (Throwable noThread) {
      if (made.begun.compareAndSet(false, true)) made.end(null);
    }
    return made;
  }

  @Override
  public void run() {
    if (!begun.compareAndSet(false, true)) return;
    runner = Thread.currentThread();
    T result = null;
    try {
      result = code.get();
    } catch (Throwable failure) { // null tells it
    }
    end(result);
  }

  private void end(T result) {
    after.run();
    complete(result);
  }

  private boolean isRunning() {
    var thread = runner;
    return thread == null || thread.getState() == Thread.State.RUNNABLE;
  }

  private void await(int millis) {
    boolean interrupted = Thread.interrupted();
    try {
      get(millis, TimeUnit.MILLISECONDS);
    } catch (InterruptedException cut) {
      interrupted = true;
    } catch (ExecutionException | TimeoutException late) { // its caller sees
    } finally {
      if (interrupted) Thread.currentThread().interrupt();
    }
  }
}
