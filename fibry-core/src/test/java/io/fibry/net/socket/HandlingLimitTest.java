package io.fibry.net.socket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/**
 * Tests that the interrupt of a time limit reaches neither the socket nor the code after the
 * handler.
 */
class HandlingLimitTest {
  private static final int ROUNDS = 2_000;

  /** The timer of another thread races with each step of the handler's thread. */
  @Test
  void limitNeverInterruptsSocketCallOrThreadAfterHandler() {
    var clock = new ManualScheduler();
    var current = new AtomicReference<HandlingLimit>();
    var isOver = new AtomicBoolean();
    var failure = new AtomicReference<String>();
    var timer = Patience.startFiber(() -> {
      while (!isOver.get()) {
        var limit = current.getAndSet(null);
        if (limit == null) Thread.yield();
        else limit.run();
      }
    });
    int passed = 0;
    for (int round = 0; round < ROUNDS && failure.get() == null; round++) {
      var limit = HandlingLimit.begin(clock, Duration.ofSeconds(1));
      current.set(limit);
      for (int left = round % 4; left > 0 || current.get() != null;) {
        if (current.get() == null) left--; // the timer has taken the limit, and runs it about now
        limit.pause();
        if (Thread.currentThread().isInterrupted()) failure.set("interrupted inside the socket, round " + round);
        limit.resume();
      }
      if (limit.end()) passed++;
      if (Thread.interrupted()) failure.set("interrupted after the handler, round " + round);
    }
    isOver.set(true);
    Patience.awaitEnd(timer);

    System.out.println("limits passed: " + passed + " of " + ROUNDS);
    assertEquals(null, failure.get());
    assertEquals(Optional.empty(), clock.untilNext());
  }

  @Test
  void ignoredInterruptIsHiddenDuringSocketCallAndRestored() {
    var limit = HandlingLimit.begin(new ManualScheduler(), Duration.ofSeconds(1));
    limit.run();

    limit.pause();
    assertFalse(Thread.currentThread().isInterrupted());
    limit.resume();
    assertEquals(true, Thread.currentThread().isInterrupted());
    limit.end();
    assertFalse(Thread.currentThread().isInterrupted());
  }
}
