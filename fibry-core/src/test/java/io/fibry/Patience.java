package io.fibry;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits in tests: long enough for any machine, never forever. */
public final class Patience {
  public static final Duration LONG = Duration.ofSeconds(Integer.getInteger("fibry.patience", 10));
  private static final int SOON = 1_000; // looks without a pause
  private static final long PAUSE = 100_000; // ns

  private Patience() {}

  public static void await(CountDownLatch latch) {
    try {
      assertTrue(latch.await(LONG.toSeconds(), TimeUnit.SECONDS), "waited in vain");
    } catch (InterruptedException interrupted) {
      throw new AssertionError("interrupted while waiting", interrupted);
    }
  }

  public static void ended(Exitable actor) {
    assertTrue(actor.waitForExit(LONG), () -> actor + " did not end");
  }

  public static void joined(Thread thread) {
    try {
      assertTrue(thread.join(LONG), () -> thread + " did not end");
    } catch (InterruptedException interrupted) {
      throw new AssertionError("interrupted while waiting", interrupted);
    }
  }

  public static <T> T value(Future<T> future) {
    try {
      return future.get(LONG.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException | ExecutionException | TimeoutException none) {
      throw new AssertionError("no value", none);
    }
  }

  public static Throwable failure(Future<?> future) {
    return assertThrows(ExecutionException.class, () -> future.get(LONG.toSeconds(), TimeUnit.SECONDS)).getCause();
  }

  public static void eventually(BooleanSupplier fact) {
    long end = System.nanoTime() + LONG.toNanos();
    for (int looks = 0; !fact.getAsBoolean(); looks++) {
      assertTrue(System.nanoTime() < end, "it never came true");
      if (looks < SOON) Thread.yield();
      else LockSupport.parkNanos(PAUSE); // others need the processor
    }
  }

  /** Runs the code on a new thread. On CALLER, what it sends is handled there. */
  public static Thread elsewhere(Runnable code) {
    return Thread.ofVirtual().start(code);
  }

  /** Waits until this thread is parked or blocked. */
  public static void parked(Thread thread) {
    eventually(() -> isParked(thread));
  }

  public static boolean isParked(Thread thread) {
    var state = thread.getState();
    return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
  }
}
