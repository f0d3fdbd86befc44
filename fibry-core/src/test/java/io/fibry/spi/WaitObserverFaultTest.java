package io.fibry.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.testing.Clock;
import io.fibry.testing.Gate;
import io.fibry.testing.LeakProbe;
import io.fibry.testing.Promise;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests observations between reads of totals with a clock that jumps or fails. */
class WaitObserverFaultTest {
  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final Duration MAX_PAUSE = Duration.ofSeconds(15);

  private final FaultyClock clock = new FaultyClock();
  private final ActorScope scope = ActorSystem.openScope("app", options -> options.withScheduler(clock));
  private final ActorTotals totals = ActorTotals.of(scope, ActorNames.of(List.of("*")));

  /** A clock whose time can jump at each reading, and whose timers can fail. */
  private static final class FaultyClock extends Clock {
    private volatile Duration jump = Duration.ZERO; // at each reading
    private volatile boolean refusesTimers;
    private volatile boolean refusesCancels;
    private long jumped;

    @Override
    public synchronized long nanoTime() {
      jumped += jump.toNanos();
      return super.nanoTime() + jumped;
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
      if (refusesTimers) throw new IllegalStateException("planned");
      var timer = super.schedule(delay, task);
      return () -> {
        if (refusesCancels) throw new IllegalStateException("planned");
        return timer.cancel();
      };
    }
  }

  @AfterEach
  void close() {
    clock.refusesTimers = false;
    clock.refusesCancels = false;
    Gate.openAll();
    scope.closeWithin(Duration.ZERO);
  }

  private Gate occupyWithWaiting() {
    var actor = ActorTotalsSetup.newActor(scope, "worker");
    var gate = Gate.occupy(actor);
    actor.sendMessage("waits");
    return gate;
  }

  private String untilNext() {
    return "" + clock.manual.untilNext();
  }

  @Promise("19.25")
  @Test
  void nextObservationIsAtMost15SecondsAfterLongOne() {
    occupyWithWaiting();
    totals.read();
    for (int jumpMillis : List.of(1, 100, 500, 17_000)) {
      clock.jump = Duration.ofMillis(jumpMillis); // as a long observation, or a pause of the process within it
      clock.manual.advance(MAX_PAUSE);
      clock.jump = Duration.ZERO;
      var next = clock.manual.untilNext().orElseThrow();
      assertTrue(next.compareTo(SECOND) >= 0 && next.compareTo(MAX_PAUSE) <= 0, next + " after " + jumpMillis);
      totals.read();
    }
  }

  @Test
  void readAndCloseWorkIfTimersAreRefused() {
    occupyWithWaiting();
    clock.refusesTimers = true;
    assertEquals(1, totals.read().getFirst().queued());
    assertEquals("Optional.empty", untilNext());

    clock.refusesTimers = false;
    assertEquals(1, totals.read().getFirst().queued());
    assertEquals("Optional[PT1S]", untilNext());

    clock.refusesTimers = true;
    clock.manual.advance(SECOND); // its observation cannot schedule the next one
    assertEquals("Optional.empty", untilNext());
    totals.close();
    assertEquals(1, totals.read().getFirst().queued());
  }

  @Test
  void closeEndsObservationsIfTimerCannotBeCancelled() {
    occupyWithWaiting();
    totals.read();
    clock.refusesCancels = true;

    totals.close();

    clock.manual.advance(SECOND);
    assertEquals("Optional.empty", untilNext());
  }

  @Test
  void endedActorIsCollectedBeforeNextObservation() {
    var ended = endActorAfterRead();
    assertEquals("Optional[PT1S]", untilNext());
    assertTrue(LeakProbe.collected(ended));
  }

  /** Returns the actor that waited at the last read, and has ended since then. */
  private WeakReference<Object> endActorAfterRead() {
    var actor = ActorTotalsSetup.newActor(scope, "worker");
    var gate = Gate.occupy(actor);
    actor.sendMessage("waits");
    totals.read();
    gate.open();
    actor.close();
    return new WeakReference<>(actor);
  }
}
