package io.fibry.durable.delivery;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class DueTimesTest {
  private final ManualScheduler clock = new ManualScheduler();
  private final AtomicLong offset = new AtomicLong(); // added to the time of the clock, in seconds
  private final List<String> dueKeys = new ArrayList<>();
  private final DueTimes calendar =
      new DueTimes(() -> Instant.EPOCH.plusNanos(clock.nanoTime()).plusSeconds(offset.get()), clock, dueKeys::add);

  private void add(String key, long seconds) {
    calendar.add(key, Instant.EPOCH.plusSeconds(seconds));
  }

  private List<String> dueKeysAfter(long seconds) {
    dueKeys.clear();
    clock.advance(Duration.ofSeconds(seconds));
    return List.copyOf(dueKeys);
  }

  @Test
  void keyIsDueAtEarliestOfItsTimes() {
    add("b", 20);
    add("a", 30);
    add("a", 10);
    add("a", 40);

    assertEquals(List.of("a"), dueKeysAfter(10));
    assertEquals(List.of("b"), dueKeysAfter(10));
    assertEquals(List.of(), dueKeysAfter(100));
  }

  @Test
  void keyAddedAgainAfterItWasDueBecomesDueAgain() {
    add("a", 10);
    dueKeysAfter(10);
    add("a", 15);

    assertEquals(List.of("a"), dueKeysAfter(5));
  }

  @Test
  void clockSetForwardIsNoticedWithinOneMinute() {
    add("a", 36_000);
    dueKeysAfter(30);
    offset.set(36_000);

    assertEquals(List.of("a"), dueKeysAfter(30));
  }

  @Test
  void dueKeysAreDelayedWhenClockIsSetBack() {
    add("a", 10);
    offset.set(-100);

    assertEquals(List.of(), dueKeysAfter(10));
    assertEquals(List.of("a"), dueKeysAfter(100));
  }

  /**
   * Returns the time. After the first call has read it, the call advances the clock by these
   * seconds. For the caller, the clock thus moves between this call and its next statement.
   */
  private Instant readBeforeMove(AtomicLong seconds) {
    var now = Instant.EPOCH.plusNanos(clock.nanoTime());
    clock.advance(Duration.ofSeconds(seconds.getAndSet(0)));
    return now;
  }

  private Instant readOrFail(AtomicBoolean isBroken) {
    if (isBroken.get()) throw new IllegalStateException("made up");
    return Instant.EPOCH.plusNanos(clock.nanoTime());
  }

  @Test
  void keyIsDueAtItsTimeThoughTimePassesDuringAdd() {
    var move = new AtomicLong(4);
    var calendar = new DueTimes(() -> readBeforeMove(move), clock, dueKeys::add);

    calendar.add("a", Instant.EPOCH.plusSeconds(10));

    assertEquals(List.of(), dueKeysAfter(5));
    assertEquals(List.of("a"), dueKeysAfter(1));
  }

  @Test
  void keyIsDueAtOnceIfItsTimePassesDuringAdd() {
    var move = new AtomicLong(10);
    var calendar = new DueTimes(() -> readBeforeMove(move), clock, dueKeys::add);

    calendar.add("a", Instant.EPOCH.plusSeconds(10));
    calendar.add("b", Instant.EPOCH.plusSeconds(30));

    assertEquals(List.of("a"), dueKeys);
    assertEquals(List.of(), dueKeysAfter(19));
    assertEquals(List.of("b"), dueKeysAfter(1));
  }

  @Test
  void sleepEndsOnTimeThoughTimePassesAsItBegins() {
    var move = new AtomicLong(4);
    var calendar = new DueTimes(() -> readBeforeMove(move), clock, dueKeys::add);
    var ended = new CompletableFuture<Void>();
    var sleeper = Patience.startFiber(() -> {
      calendar.sleepUntil(Instant.EPOCH.plusSeconds(10));
      return null;
    }, ended);
    Patience.eventually(() -> clock.isAsleep(sleeper));

    clock.advance(Duration.ofSeconds(6));

    Patience.value(ended);
  }

  @Test
  void keyWithPastTimeIsDueAtOnce() {
    calendar.add("a", Instant.MIN);

    assertEquals(List.of("a"), dueKeys);
  }

  @Test
  void noKeyIsDueAfterClose() {
    add("a", 10);
    calendar.close();
    add("b", 10);

    assertEquals(List.of(), dueKeysAfter(20));
  }

  /** A scheduler may be a user's code, which may throw. */
  @Test
  void dueTimesSurviveFailureOfScheduler() {
    var isBroken = new AtomicBoolean();
    var scheduler = Intercepted.of(Scheduler.class, clock, (method, arguments, call) -> {
      if (method.getName().equals("scheduleAt") && isBroken.get()) throw new IllegalStateException("made up");
      return call.pass();
    });
    var brokenCalendar = new DueTimes(() -> Instant.EPOCH.plusNanos(clock.nanoTime()), scheduler, dueKeys::add);
    brokenCalendar.add("a", Instant.EPOCH.plusSeconds(10));
    brokenCalendar.add("b", Instant.EPOCH.plusSeconds(20));

    isBroken.set(true);
    assertEquals(List.of("a"), dueKeysAfter(10));
    assertThrows(IllegalStateException.class, () -> brokenCalendar.add("c", Instant.EPOCH.plusSeconds(15)));
    isBroken.set(false);
    brokenCalendar.add("d", Instant.EPOCH.plusSeconds(30));

    assertEquals(List.of("c", "b", "d"), dueKeysAfter(20));
  }

  @Test
  void overdueKeyIsDueWhenAddedAgainAfterClockFailure() {
    var isBroken = new AtomicBoolean();
    var calendar = new DueTimes(() -> readOrFail(isBroken), clock, dueKeys::add);
    calendar.add("a", Instant.EPOCH.plusSeconds(10));

    isBroken.set(true);
    assertEquals(List.of(), dueKeysAfter(10));
    isBroken.set(false);
    calendar.add("a", Instant.EPOCH.plusSeconds(15));

    assertEquals(List.of("a"), dueKeys);
  }

  @Test
  void keyIsKeptWhenClockFailsDuringAdd() {
    var isBroken = new AtomicBoolean();
    var calendar = new DueTimes(() -> readOrFail(isBroken), clock, dueKeys::add);
    calendar.add("a", Instant.EPOCH.plusSeconds(10));
    assertEquals(List.of("a"), dueKeysAfter(10));

    isBroken.set(true);
    assertThrows(IllegalStateException.class, () -> calendar.add("b", Instant.EPOCH.plusSeconds(20)));
    isBroken.set(false);
    calendar.add("c", Instant.EPOCH.plusSeconds(30));

    assertEquals(List.of("b", "c"), dueKeysAfter(20));
  }
}
