package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class CalendarTest {
  private final ManualScheduler clock = new ManualScheduler();
  private final AtomicLong ahead = new AtomicLong(); // of the clock, in seconds
  private final List<String> due = new ArrayList<>();
  private final DueTimes calendar =
      new DueTimes(() -> Instant.EPOCH.plusNanos(clock.nanoTime()).plusSeconds(ahead.get()), clock, due::add);

  private void add(String key, long seconds) {
    calendar.add(key, Instant.EPOCH.plusSeconds(seconds));
  }

  private List<String> after(long seconds) {
    due.clear();
    clock.advance(Duration.ofSeconds(seconds));
    return List.copyOf(due);
  }

  @Test
  void eachKeyComesAtItsEarliestTime() {
    add("b", 20);
    add("a", 30);
    add("a", 10);
    add("a", 40);

    assertEquals(List.of("a"), after(10));
    assertEquals(List.of("b"), after(10));
    assertEquals(List.of(), after(100));
  }

  @Test
  void aKeyMayComeAgain() {
    add("a", 10);
    after(10);
    add("a", 15);

    assertEquals(List.of("a"), after(5));
  }

  @Test
  void clockSetForwardIsNoticedWithinOneMinute() {
    add("a", 36_000);
    after(30);
    ahead.set(36_000);

    assertEquals(List.of("a"), after(30));
  }

  @Test
  void clockSetBackDelaysDueKeys() {
    add("a", 10);
    ahead.set(-100);

    assertEquals(List.of(), after(10));
    assertEquals(List.of("a"), after(100));
  }

  /** What a clock says that a program moves by so much once it has been read. */
  private Instant readBeforeMove(AtomicLong seconds) {
    var now = Instant.EPOCH.plusNanos(clock.nanoTime());
    clock.advance(Duration.ofSeconds(seconds.getAndSet(0)));
    return now;
  }

  @Test
  void keyComesAtItsTimeWhenClockMovesMeanwhile() {
    var move = new AtomicLong(4);
    var calendar = new DueTimes(() -> readBeforeMove(move), clock, due::add);

    calendar.add("a", Instant.EPOCH.plusSeconds(10));

    assertEquals(List.of(), after(5));
    assertEquals(List.of("a"), after(1));
  }

  @Test
  void keyIsDueAtOnceWhenClockMovesPastItsTime() {
    var move = new AtomicLong(10);
    var calendar = new DueTimes(() -> readBeforeMove(move), clock, due::add);

    calendar.add("a", Instant.EPOCH.plusSeconds(10));
    calendar.add("b", Instant.EPOCH.plusSeconds(30));

    assertEquals(List.of("a"), due);
    assertEquals(List.of(), after(19));
    assertEquals(List.of("b"), after(1));
  }

  @Test
  void sleepEndsAtItsTimeWhenClockMovesMeanwhile() {
    var move = new AtomicLong(4);
    var calendar = new DueTimes(() -> readBeforeMove(move), clock, due::add);
    var ended = new CompletableFuture<Void>();
    var sleeper = Thread.ofVirtual().start(() -> {
      try {
        calendar.sleepUntil(Instant.EPOCH.plusSeconds(10));
        ended.complete(null);
      } catch (Throwable failure) {
        ended.completeExceptionally(failure);
      }
    });
    Patience.eventually(() -> clock.isAsleep(sleeper));

    clock.advance(Duration.ofSeconds(6));

    Patience.value(ended);
  }

  @Test
  void timeLongPastComesAtOnce() {
    calendar.add("a", Instant.MIN);

    assertEquals(List.of("a"), due);
  }

  @Test
  void closedCalendarDeliversNothing() {
    add("a", 10);
    calendar.close();
    add("b", 10);

    assertEquals(List.of(), after(20));
  }
}
