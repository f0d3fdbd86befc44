package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What ends together ends in the order in which it came, not by identity hash: runs repeat. */
class BirthOrderTest {
  private static final List<Integer> NUMBERS = IntStream.range(0, 40).boxed().toList();

  /** Notes which timers are cancelled. */
  private static final class Noting extends Clock {
    final List<Integer> cancelled = new CopyOnWriteArrayList<>();
    private int made;

    @Override
    public Timer after(Duration delay, Runnable task) {
      int number = made++;
      return () -> cancelled.add(number);
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
