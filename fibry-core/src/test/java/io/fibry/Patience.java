package io.fibry;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;

/** How tests wait: long enough for any machine, never for ever. */
public final class Patience {
  public static final Duration LONG = Duration.ofSeconds(Integer.getInteger("fibry.patience", 10));

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

  /** What the future failed with. */
  public static Throwable failure(Future<?> future) {
    return assertThrows(ExecutionException.class, () -> future.get(LONG.toSeconds(), TimeUnit.SECONDS)).getCause();
  }

  public static void eventually(BooleanSupplier fact) {
    long end = System.nanoTime() + LONG.toNanos();
    while (!fact.getAsBoolean()) {
      assertTrue(System.nanoTime() < end, "it never came true");
      Thread.onSpinWait();
      Thread.yield();
    }
  }

  /**
   * Runs it on a thread of its own: what it sends may be handled there, where the strategy is
   * CALLER.
   */
  public static Thread elsewhere(Runnable code) {
    return Thread.ofVirtual().start(code);
  }

  /** Waits until this thread waits for something. */
  public static void parked(Thread thread) {
    eventually(() -> thread.getState() == Thread.State.WAITING || thread.getState() == Thread.State.TIMED_WAITING);
  }
}
