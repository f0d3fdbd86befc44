package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.time.ManualClock;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What ends together ends in the order in which it came, not by identity hash: runs repeat. */
class BirthOrderTest {
  private static final List<Integer> NUMBERS = IntStream.range(0, 40).boxed().toList();

  /** Notes which timers are cancelled. */
  private static final class Noting implements Scheduler {
    final List<Integer> cancelled = new CopyOnWriteArrayList<>();
    private final Scheduler clock = new ManualClock();
    private int made;

    @Override
    public long nanoTime() {
      return clock.nanoTime();
    }

    @Override
    public Timer after(Duration delay, Runnable task) {
      int number = made++;
      return () -> cancelled.add(number);
    }

    @Override
    public Timer atFixedRate(Duration initial, Duration period, Runnable task) {
      return after(initial, task);
    }

    @Override
    public Timer withFixedDelay(Duration initial, Duration delay, Runnable task) {
      return after(initial, task);
    }
  }

  /** A key whose hash is its identity. */
  private static final class Key {}

  @Test
  void timersOfAnActorAreCancelledAsTheyWereSet() {
    var clock = new Noting();
    var actor = Variants.scope(o -> o.withScheduler(clock)).anonymous().newActor((Object m) -> {});
    for (var number : NUMBERS) actor.sendMessageLater(new Key(), number, Duration.ofDays(1));

    actor.sendPoisonPill();
    Patience.ended(actor);

    assertEquals(NUMBERS, clock.cancelled);
  }
}
