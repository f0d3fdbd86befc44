package io.fibry.durable.delivery;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/**
 * Tests sleeps by clocks that pass by themselves. The sleepers see the manual clock of this test as
 * such a clock.
 */
class SleepUntilTest {
  private static final Instant END = Instant.EPOCH.plusSeconds(600);
  private static final int SLEEPERS = 2_000;

  private final ManualScheduler clock = new ManualScheduler();
  private final Scheduler scheduler = Intercepted.of(Scheduler.class, clock,
      (method, arguments, call) -> method.getName().equals("isManual") ? false : call.pass());
  private final AtomicLong offset = new AtomicLong(); // added to the time of the clock, in seconds
  private final AtomicBoolean isBroken = new AtomicBoolean();
  private final AtomicInteger readsBySleeper = new AtomicInteger();
  private final DueTimes calendar = new DueTimes(this::now, scheduler, key -> {});
  private final CompletableFuture<Void> ended = new CompletableFuture<>();

  private Instant now() {
    if (Thread.currentThread().isVirtual()) readsBySleeper.incrementAndGet();
    if (isBroken.get()) throw new IllegalStateException("made up");
    return Instant.EPOCH.plusNanos(clock.nanoTime()).plusSeconds(offset.get());
  }

  private Thread startSleeper() {
    var sleeper = Patience.startFiber(() -> {
      calendar.sleepUntil(END);
      return null;
    }, ended);
    Patience.awaitParked(sleeper);
    return sleeper;
  }

  @Test
  void sleeperStaysParkedDuringClockChecks() {
    startSleeper();
    int readsBefore = readsBySleeper.get();

    clock.advance(Duration.ofSeconds(599));
    assertEquals(readsBefore, readsBySleeper.get());
    assertTrue(!ended.isDone());

    clock.advance(Duration.ofSeconds(1));
    Patience.value(ended);
  }

  @Test
  void clockSetForwardWakesSleeperWithinOneMinute() {
    startSleeper();
    offset.set(600);

    clock.advance(Duration.ofMinutes(1));

    Patience.value(ended);
  }

  @Test
  void interruptedSleeperLeavesNoTimer() {
    var sleeper = startSleeper();

    sleeper.interrupt();

    assertInstanceOf(InterruptedException.class, Patience.failure(ended));
    assertEquals(Optional.empty(), clock.untilNext());
  }

  @Test
  void sleeperGetsFailureOfClock() {
    startSleeper();
    isBroken.set(true);

    clock.advance(Duration.ofMinutes(1));

    assertInstanceOf(IllegalStateException.class, Patience.failure(ended));
  }

  /** A sleep that gets no wake-up would not end. */
  @Test
  void manySleepersWakeOrAreInterrupted() {
    long seed = Long.getLong("fibry.seed", System.nanoTime());
    System.out.println("sleepers: -Dfibry.seed=" + seed);
    var random = new Random(seed);
    var system = Scheduler.system();
    long start = system.nanoTime();
    // the clock of the store runs at half the speed, so most sleepers are checked several times
    var slowCalendar =
        new DueTimes(() -> Instant.EPOCH.plusNanos((system.nanoTime() - start) / 2), system, key -> {});
    var sleepers = new ArrayList<Thread>();
    for (int i = 0; i < SLEEPERS; i++) {
      var end = Instant.EPOCH.plusNanos((system.nanoTime() - start) / 2 + random.nextInt(2_000_000));
      sleepers.add(Patience.startFiber(() -> {
        slowCalendar.sleepUntil(end);
        return null;
      }, new CompletableFuture<Void>()));
      if (random.nextBoolean()) sleepers.get(random.nextInt(sleepers.size())).interrupt();
    }

    for (var sleeper : sleepers) Patience.awaitEnd(sleeper);
  }
}
