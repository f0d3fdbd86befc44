package io.fibry.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.engine.cell.ActorInternals;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Tests that the oldest wait is true at each read of totals, even if reads are rare. */
class OldestWaitBetweenReadsTest extends ActorTotalsSetup {
  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final int LENGTH = 120; // messages that wait, and the seconds for which each waits
  private static final int READ_SECONDS = 15;

  @Promise("19.25")
  @Test
  void boundStaysNearConstantWaitIfReadsAreRare() {
    ActorInternals.forgetWaits();
    var permits = new Semaphore(0);
    var begun = new AtomicInteger();
    var totals = totals("worker");
    var actor = scope.named("worker").newActor((Object message) -> {
      begun.incrementAndGet();
      permits.acquire();
    });
    actor.sendMessage("handled");
    Patience.eventually(() -> begun.get() == 1);
    var read = new ArrayList<Long>();

    for (int second = 0; second < 4 * LENGTH; second++) {
      actor.sendMessage(second);
      if (second >= LENGTH) {
        int before = begun.get();
        permits.release();
        Patience.eventually(() -> begun.get() == before + 1); // `scope.actors()` would observe the mailbox
      }
      if (second % READ_SECONDS == 0) {
        long seconds = totals.read().getFirst().oldestWaiting().toSeconds();
        if (second >= 2 * LENGTH) read.add(seconds);
      }
      clock.advance(SECOND);
    }

    long min = LENGTH - LENGTH / 32 - 2; // a gap between sightings, and the time between two observations
    assertTrue(read.stream().allMatch(seconds -> seconds >= min && seconds <= LENGTH), read::toString);
  }

  @Test
  void observationsEndWithMessagesOrReads() {
    var totals = totals("worker");
    var actor = newActor(scope, "worker");
    assertEquals("Optional.empty", "" + clock.untilNext());
    var gate = Gate.occupy(actor);
    totals.read();
    assertEquals("Optional.empty", "" + clock.untilNext());
    actor.sendMessage("waits");

    totals.read();
    assertEquals("Optional[PT1S]", "" + clock.untilNext());
    for (int i = 0; i < 119; i++) clock.advance(SECOND);
    assertEquals("Optional[PT1S]", "" + clock.untilNext());
    clock.advance(SECOND);
    assertEquals("Optional.empty", "" + clock.untilNext(), "two minutes without a read");

    assertEquals(List.of(Duration.ofMinutes(2)), totals.read().stream().map(ActorTotals.Total::oldestWaiting).toList());
    gate.open();
    awaitQuiet();
    clock.advance(SECOND);
    assertEquals("Optional.empty", "" + clock.untilNext(), "no message waits");
  }

  @Test
  void closedTotalsObserveNothing() {
    var totals = totals("worker");
    var actor = newActor(scope, "worker");
    Gate.occupy(actor);
    actor.sendMessage("waits");
    totals.read();

    totals.close();

    assertEquals("Optional.empty", "" + clock.untilNext());
  }
}
