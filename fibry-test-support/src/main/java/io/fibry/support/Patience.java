package io.fibry.support;

import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import java.util.WeakHashMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * The waits of all tests. A wait ends as soon as its condition is true. It fails after {@link
 * #LONG}, measured by {@link Pace}, a clock that runs slower on a slow machine. The failure shows
 * the threads and actors ({@link Evidence}).
 */
public final class Patience {
  /** A limit for calls that must not time out in a test: {@code actor.ask(x, LONG)}. */
  public static final Duration LONG = Duration.ofSeconds(Integer.getInteger("fibry.patience", 60));
  // ns; Pace is used only after this time
  private static final long FIRST_WAIT =
      Pace.USES_WALL_CLOCK ? LONG.toNanos() : Math.min(LONG.toNanos() / 2, TimeUnit.SECONDS.toNanos(5));
  private static final int YIELDS = 1_000; // checks before the first pause
  private static final long PAUSE = 100_000; // ns between two checks of a condition
  private static final long SLICE = TimeUnit.MILLISECONDS.toNanos(100); // ns of one wait while Pace is used
  private static final long COUNT_PAUSE = TimeUnit.MILLISECONDS.toNanos(2); // ns between two checks of `progress`

  private static final Map<Thread, Throwable> FIBER_FAILURES = Collections.synchronizedMap(new WeakHashMap<>());

  private Patience() {}

  /** Waits at most for the given time, and returns whether the condition has come true. */
  private interface Slice {
    boolean await(long nanos) throws InterruptedException;
  }

  public static void await(CountDownLatch latch) {
    waitFor(() -> "the latch was not counted down: " + latch.getCount() + " more counts are missing",
        nanos -> latch.await(nanos, TimeUnit.NANOSECONDS), () -> -latch.getCount());
  }

  /** Waits until an actor has ended: {@code awaitEnd(actor::waitForExit)}. */
  public static void awaitEnd(Predicate<Duration> waitForExit) {
    waitFor(() -> "the actor did not end", nanos -> waitForExit.test(Duration.ofNanos(nanos)), () -> 0);
  }

  /**
   * Waits until a thread has ended. Fails if {@link #startFiber} started it and its code failed. A
   * CancellationException is no failure, because an interrupt by the test may cause it.
   */
  public static void awaitEnd(Thread thread) {
    waitFor(() -> thread + " did not end", nanos -> thread.join(Duration.ofNanos(nanos)), () -> 0);
    var failure = FIBER_FAILURES.get(thread);
    if (failure != null) throw new AssertionError(thread + " failed: " + failure, failure);
  }

  public static void awaitExit(Process process) {
    waitFor(() -> process + " did not end", nanos -> process.waitFor(nanos, TimeUnit.NANOSECONDS), () -> 0);
  }

  public static <T> T value(Future<T> future) {
    awaitDone(future);
    try {
      return future.get();
    } catch (InterruptedException | ExecutionException failure) {
      throw new AssertionError("no value: " + failure, failure);
    }
  }

  /** Waits until a future has failed, and returns the cause. */
  public static Throwable failure(Future<?> future) {
    awaitDone(future);
    try {
      throw new AssertionError("no failure, but the value " + future.get());
    } catch (InterruptedException interrupted) {
      throw new AssertionError("interrupted", interrupted);
    } catch (ExecutionException failed) {
      return failed.getCause();
    }
  }

  private static void awaitDone(Future<?> future) {
    waitFor(() -> future + " was not completed", nanos -> {
      try {
        future.get(nanos, TimeUnit.NANOSECONDS);
      } catch (ExecutionException | RuntimeException failed) {
        // The future is cancelled or has failed; the caller calls get() itself.
      } catch (TimeoutException notYet) {
        return future.isDone();
      }
      return true;
    }, () -> 0);
  }

  /** Waits for the next element of a queue, and returns it. */
  public static <T> T nextOf(BlockingQueue<T> queue) {
    var next = new AtomicReference<T>();
    waitFor(() -> "no element came into the queue", nanos -> {
      next.set(queue.poll(nanos, TimeUnit.NANOSECONDS));
      return next.get() != null;
    }, () -> 0);
    return Objects.requireNonNull(next.get());
  }

  public static void acquire(Semaphore semaphore) {
    acquire(semaphore, 1);
  }

  public static void acquire(Semaphore semaphore, int permits) {
    waitFor(() -> permits + " permits were not released, only " + semaphore.availablePermits(),
        nanos -> semaphore.tryAcquire(permits, nanos, TimeUnit.NANOSECONDS), semaphore::availablePermits);
  }

  public static void eventually(BooleanSupplier condition) {
    eventually("the condition never became true", condition);
  }

  public static void eventually(String failure, BooleanSupplier condition) {
    waitFor(() -> failure, polling(condition, PAUSE), () -> 0);
  }

  /** Waits for a condition. The limit begins again whenever the count has changed. */
  public static void progress(LongSupplier count, BooleanSupplier condition) {
    progress("no progress", count, condition);
  }

  public static void progress(String failure, LongSupplier count, BooleanSupplier condition) {
    waitFor(() -> failure, polling(condition, COUNT_PAUSE), count);
  }

  /** Waits for a condition, and returns whether it became true within {@link #LONG}. */
  public static boolean comesTrue(BooleanSupplier condition) {
    try {
      return await(polling(condition, PAUSE), () -> 0);
    } catch (InterruptedException interrupted) {
      throw new AssertionError("interrupted while waiting", interrupted);
    }
  }

  /**
   * Repeats a call while it throws exceptions of the given type, and returns its value. If no call
   * succeeds, the error contains the last of these exceptions.
   */
  public static <T> T valueDespite(Class<? extends Exception> failureType, Callable<T> code) {
    var value = new AtomicReference<T>();
    var lastFailure = new AtomicReference<Exception>();
    try {
      eventually("no call succeeded", () -> {
        try {
          value.set(code.call());
          return true;
        } catch (Exception failure) {
          if (!failureType.isInstance(failure)) throw new AssertionError("unexpected: " + failure, failure);
          lastFailure.set(failure);
          return false;
        }
      });
    } catch (AssertionError error) {
      if (lastFailure.get() != null) error.addSuppressed(lastFailure.get());
      throw error;
    }
    return value.get();
  }

  private static Slice polling(BooleanSupplier condition, long pauseNanos) {
    int[] checks = {0};
    return nanos -> {
      for (long end = System.nanoTime() + nanos; !condition.getAsBoolean();) {
        if (System.nanoTime() - end >= 0) return false;
        if (checks[0]++ < YIELDS) Thread.yield();
        else LockSupport.parkNanos(pauseNanos); // other threads need the processor
      }
      return true;
    };
  }

  /**
   * Waits until the thread waits, with or without a limit. A thread that is blocked at a monitor
   * does not count as waiting.
   */
  public static void awaitParked(Thread thread) {
    eventually(thread + " did not wait", () -> isParked(thread));
  }

  public static boolean isParked(Thread thread) {
    var state = thread.getState();
    return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
  }

  /**
   * Runs the code on a new virtual thread. If the code sends to an actor of the strategy CALLER,
   * the actor runs on this thread, too.
   */
  public static Thread startFiber(Runnable code) {
    return Thread.ofVirtual().uncaughtExceptionHandler((thread, failure) -> {
      if (!(failure instanceof CancellationException)) FIBER_FAILURES.put(thread, failure);
      thread.getThreadGroup().uncaughtException(thread, failure); // the JVM's own handling
    }).start(code);
  }

  /** Runs the code on a new virtual thread. Returns the future of its value or failure. */
  public static <T> CompletableFuture<T> callOnFiber(Callable<T> code) {
    var result = new CompletableFuture<T>();
    startFiber(code, result);
    return result;
  }

  /**
   * Runs the code on a new platform thread. Returns the future of its value or failure. For code
   * that never waits: on a fiber, it could starve the fibers that need its carrier.
   */
  public static <T> CompletableFuture<T> callOnThread(Supplier<T> code) {
    return CompletableFuture.supplyAsync(code, Thread.ofPlatform().daemon()::start);
  }

  /** Runs the code on a new virtual thread, and completes the future with its value or failure. */
  public static <T> Thread startFiber(Callable<T> code, CompletableFuture<T> result) {
    return startFiber(() -> {
      try {
        result.complete(code.call());
      } catch (Throwable failure) {
        result.completeExceptionally(failure);
      }
    });
  }

  private static void waitFor(Supplier<String> failure, Slice slice, LongSupplier count) {
    long start = System.nanoTime();
    try {
      if (await(slice, count)) return;
    } catch (InterruptedException interrupted) {
      throw new AssertionError("interrupted while waiting: " + failure.get(), interrupted);
    }
    long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
    throw new AssertionError("%s, within %d s at the speed of this machine (%d s of real time); %s".formatted(
        failure.get(), LONG.toSeconds(), seconds, Evidence.describe()));
  }

  /**
   * Waits in slices; returns false after the limit. Most waits are short, so the pace of the
   * machine is measured only after some seconds. The limit begins again whenever the count has
   * changed.
   */
  private static boolean await(Slice slice, LongSupplier count) throws InterruptedException {
    if (slice.await(FIRST_WAIT)) return true;
    long oldCount = count.getAsLong();
    long limit = LONG.toNanos() - FIRST_WAIT;
    for (long start = Pace.nanoTime(); !slice.await(SLICE);) {
      long now = Pace.nanoTime();
      long newCount = count.getAsLong();
      if (newCount != oldCount) {
        oldCount = newCount;
        start = now;
        limit = LONG.toNanos();
      } else if (now - start > limit) return false;
    }
    return true;
  }
}
