package io.fibry.engine.jvm;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/**
 * Runs code that may never return, such as a {@code toString}, on a thread of its own. The time
 * limit is 50 ms, or a second if the code computes or waits for a processor. The result is null if
 * the code throws.
 */
final class BoundedCall<T> extends CompletableFuture<T> implements Runnable {
  private static final int LIMIT_MILLIS = 50;
  static final int RUNNING_LIMIT_MILLIS = 1_000;
  // before Java 24, a fiber that waits for a monitor occupies its carrier
  private static final boolean USE_FIBERS = Runtime.version().feature() >= 24;
  // how long only platform threads are used after a fiber found no carrier
  private static final long STARVATION_NANOS = 1_000_000_000;

  // When a fiber last found no carrier, by System.nanoTime
  private static volatile long lastStarved = System.nanoTime() - STARVATION_NANOS - 1;

  private final Supplier<T> code;
  private final Runnable onEnd;
  // false -> true, by the first thread that runs the call, or by the caller if no thread started
  private final AtomicBoolean isBegun = new AtomicBoolean();
  private volatile Thread runner; // null until the code begins

  private BoundedCall(Supplier<T> code, Runnable onEnd) {
    this.code = code;
    this.onEnd = onEnd;
  }

  /**
   * Runs the code, and returns the call when the code has ended or its time is over. If no thread
   * can be started, the call is completed with null.
   *
   * @param onEnd runs once, when the code has returned or will not be run
   */
  static <T> BoundedCall<T> run(Supplier<T> code, Runnable onEnd) {
    var call = new BoundedCall<>(code, onEnd);
    try {
      boolean usesFiber = USE_FIBERS && System.nanoTime() - lastStarved > STARVATION_NANOS;
      if (usesFiber) EngineThreads.startFiber(call);
      else EngineThreads.startPlatformThread(call);
      call.await(LIMIT_MILLIS);
      if (!call.isBegun.get()) { // no carrier was free; the code gets its full time on another thread
        lastStarved = System.nanoTime();
        EngineThreads.startPlatformThread(call);
        call.await(LIMIT_MILLIS);
      }
      if (call.isRunning()) call.await(RUNNING_LIMIT_MILLIS - LIMIT_MILLIS);
    } catch (Throwable noThread) {
      if (call.isBegun.compareAndSet(false, true)) call.end(null);
    }
    return call;
  }

  @Override
  public void run() {
    if (!isBegun.compareAndSet(false, true)) return;
    runner = Thread.currentThread();
    T result = null;
    try {
      result = code.get();
    } catch (Throwable failure) { // the result stays null
    }
    end(result);
  }

  private void end(T result) {
    try {
      onEnd.run();
    } finally {
      complete(result);
    }
  }

  private boolean isRunning() {
    var thread = runner;
    return thread == null || thread.getState() == Thread.State.RUNNABLE;
  }

  private void await(int millis) {
    boolean wasInterrupted = Thread.interrupted();
    try {
      get(millis, TimeUnit.MILLISECONDS);
    } catch (InterruptedException interruption) {
      wasInterrupted = true;
    } catch (ExecutionException | TimeoutException noResult) { // the caller checks isDone
    } finally {
      if (wasInterrupted) Thread.currentThread().interrupt();
    }
  }
}
