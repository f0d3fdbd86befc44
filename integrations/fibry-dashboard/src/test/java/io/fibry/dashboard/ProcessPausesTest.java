package io.fibry.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorStats;
import io.fibry.ActorStats.ActorState;
import io.fibry.ActorSystem;
import io.fibry.dashboard.ProcessStats.QueuedThreads;
import io.fibry.support.Patience;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** Tests that a pause of the whole process is found, and makes no actor a problem. */
class ProcessPausesTest {
  private static final Duration LIMIT = Duration.ofSeconds(10);
  private static final long SECOND = 1_000_000_000;

  private final StoppableClock clock = new StoppableClock();
  private long queuedThreads; // that wait for a carrier
  private final ProcessPauses pauses = new ProcessPauses(clock);

  @Test
  void pauseBeginsOneBeatAfterProcessWasSeen() {
    clock.stop(Duration.ofSeconds(3).minusNanos(1));
    assertEquals(Optional.empty(), pauses.observe().recent());

    clock.stop(Duration.ofSeconds(36));
    var history = pauses.observe();

    assertEquals("Optional[{millis=35000, millisAgo=0}]", "" + history.recent());
    assertEquals(List.of(35 * SECOND, 35 * SECOND, 20 * SECOND),
        List.of(history.pausedNanos(100 * SECOND), history.pausedNanos(36 * SECOND), history.pausedNanos(20 * SECOND)));
  }

  @Test
  void pauseIsShownForOneMinute() {
    clock.stop(Duration.ofSeconds(11));
    pauses.observe();
    for (int second = 1; second < 60; second++) {
      clock.stop(Duration.ofSeconds(1));
      assertEquals("Optional[{millis=10000, millisAgo=" + 1_000 * second + "}]", "" + pauses.observe().recent());
    }
    clock.stop(Duration.ofSeconds(1));
    assertEquals(Optional.empty(), pauses.observe().recent());
  }

  @Test
  void pageThatOpensKnowsPausesOfLastMinutes() {
    clock.stop(Duration.ofSeconds(11));
    pauses.observe();
    for (int second = 0; second < 100; second++) {
      clock.stop(Duration.ofSeconds(1));
      pauses.observe();
    }
    assertEquals("[{millis=10000, millisAgo=100000}]", "" + pauses.observe().within(101 * SECOND));
    assertEquals("[]", "" + pauses.observe().within(100 * SECOND));
  }

  @Test
  void pausesAreSubtractedFromTimeThatContainsThem() {
    for (int i = 0; i < 3; i++) { // 10 s of work, 4 s of pause, 1 s of work
      for (int second = 0; second < 10; second++) {
        clock.stop(Duration.ofSeconds(1));
        pauses.observe();
      }
      clock.stop(Duration.ofSeconds(5));
      pauses.observe();
    }
    clock.stop(Duration.ofSeconds(1));
    var history = pauses.observe();

    assertEquals(List.of(33, 12, 12, 1), List.of(45, 17, 16, 1).stream()
        .map(seconds -> (int) history.withoutPauses(Duration.ofSeconds(seconds)).toSeconds()).toList());
  }

  @Test
  void oldestPausesAreForgotten() {
    for (int i = 0; i < 1_000; i++) {
      clock.stop(Duration.ofSeconds(5));
      pauses.observe();
    }
    assertEquals(64, pauses.observe().pauses().size());
  }

  @Test
  void actorsAreNoProblemBecauseOfPause() {
    var paused = Stats.of("till").withQueued(1).withBusyFor(Duration.ofSeconds(40))
        .withOldestWaiting(Duration.ofSeconds(60)).get();
    assertEquals(List.of(ActorProblem.STUCK, ActorProblem.BACKLOGGED), problems(paused, ActorTrend.first(paused)));
    clock.stop(Duration.ofSeconds(36));
    assertEquals(List.of(), problems(paused, ActorTrend.first(paused)));
  }

  @Test
  void pauseIsNeitherSuspensionNorLackOfThread() {
    for (var state : List.of(ActorState.SUSPENDED, ActorState.READY)) {
      var before = ActorTrend.first(Stats.of("till").get());
      var stats = Stats.of("till").withState(state).withFailed(state == ActorState.SUSPENDED ? 1 : 0).get();
      var trend = before.next(stats, SECOND).next(stats, 36 * SECOND, 35 * SECOND);
      assertFalse(problems(stats, trend).contains(ActorProblem.RESTARTING), "" + state);
      assertFalse(problems(stats, trend).contains(ActorProblem.WITHOUT_THREAD), "" + state);
    }
  }

  private List<ActorProblem> problems(ActorStats stats, ActorTrend trend) {
    return trend.presentProblems(stats, LIMIT, Duration.ofSeconds(30), pauses.observe(), false);
  }

  private static Stats busy(int seconds) {
    return Stats.of("till").withState(ActorState.BUSY).withBusyFor(Duration.ofSeconds(seconds));
  }

  /** Lets beats see so many queued threads of two carriers, and returns the pauses after them. */
  private ProcessPauses withBeats(int seconds, long queued) {
    return withBeats(new ProcessPauses(clock, () -> new QueuedThreads(queuedThreads, 2)), seconds, queued);
  }

  private ProcessPauses withBeats(ProcessPauses before, int seconds, long queued) {
    queuedThreads = queued;
    for (int second = 0; second <= seconds; second++) {
      before.observe();
      clock.stop(Duration.ofSeconds(1));
    }
    return before;
  }

  @Test
  void schedulerIsSaturatedAfterFiveSecondsOfQueuedThreads() {
    assertEquals(Optional.empty(), withBeats(60, 4).observe().saturation());
    assertEquals(Optional.empty(), withBeats(3, 5).observe().saturation());
    var saturated = withBeats(4, 122);
    assertEquals("Optional[{queued=122, millis=5000}]", "" + saturated.observe().saturation());
    queuedThreads = 4;
    assertEquals(Optional.empty(), saturated.observe().saturation());
    assertEquals(Optional.empty(), withBeats(saturated, 3, 122).observe().saturation());
  }

  @Test
  void parkedHandlerIsNotStuckWhileItMayWaitForCarrier() {
    var history = withBeats(20, 122).observe();
    var parked = busy(15).at("java.lang.VirtualThread");

    assertEquals(Duration.ZERO, history.activeTime(parked.get()));
    assertEquals(Duration.ZERO, history.activeTime(busy(15).get()), "a handler whose stack is not known");
    assertEquals(Duration.ofSeconds(15), history.activeTime(busy(15).at("Shop").get()), "a handler with a carrier");
    assertEquals(Duration.ofSeconds(11), history.activeTime(busy(32).at("java.lang.VirtualThread").get()));
    assertEquals(List.of(), ActorTrend.first(parked.get()).presentProblems(parked.get(), LIMIT, LIMIT, history, false));
  }

  @Test
  void parkedHandlerNeverCeasesToBeStuckWhenSaturationBegins() {
    assertEquals(List.of(0L, 0L, 0L, 0L, 0L), activeSecondsOfParkedHandler(0, 60));
    assertEquals(List.of(4L, 6L, 6L, 6L, 6L), activeSecondsOfParkedHandler(6, 60));
    assertEquals(List.of(4L, 8L, 10L, 10L, 10L), activeSecondsOfParkedHandler(10, 60));
  }

  @Test
  void saturationOfLessThanFiveSecondsIsForgottenAtItsEnd() {
    assertEquals(List.of(4L, 6L, 6L, 12L, 16L), activeSecondsOfParkedHandler(6, 10));
    assertEquals(List.of(4L, 6L, 6L, 7L, 11L), activeSecondsOfParkedHandler(6, 11), "five seconds between beats");
  }

  /** Returns the active times after 4, 8, 10, 12 and 16 s, if the beats of some are saturated. */
  private List<Long> activeSecondsOfParkedHandler(int from, int to) {
    var beats = new ProcessPauses(clock, () -> new QueuedThreads(queuedThreads, 2));
    var times = new ArrayList<Long>();
    for (int second = 0; second <= 16; second++) {
      queuedThreads = second >= from && second <= to ? 122 : 0;
      var history = beats.observe();
      if (List.of(4, 8, 10, 12, 16).contains(second))
        times.add(history.activeTime(busy(second).at("java.lang.VirtualThread").get()).toSeconds());
      clock.stop(Duration.ofSeconds(1));
    }
    return times;
  }

  @Test
  void saturationHidesStuckActorForAtMostOneMinute() {
    var history = withBeats(600, 122).observe();
    assertEquals(List.of(0L, 0L, 10L, 540L), List.of(30, 60, 70, 600).stream()
        .map(seconds -> history.activeTime(busy(seconds).at("java.lang.VirtualThread").get()).toSeconds()).toList());
  }

  @Test
  void pauseWithinSaturationIsSubtractedOnce() {
    var saturated = withBeats(9, 122);
    clock.stop(Duration.ofSeconds(30)); // after the second since the last beat
    var history = withBeats(saturated, 9, 122).observe();
    assertEquals(30, history.pausedNanos(100 * SECOND) / SECOND);
    assertEquals(1, history.activeTime(busy(41).at("java.lang.VirtualThread").get()).toSeconds());
  }

  /** The rule depends on the JDK: a parked virtual thread is in a method of its own class. */
  @Test
  void parkedHandlerIsInMethodOfVirtualThread() throws Exception {
    var gate = new CountDownLatch(1);
    try (var scope = ActorSystem.openScope("app")) {
      scope.named("till").newActor((String text) -> gate.await()).sendMessage("x");
      try {
        Patience.eventually(() -> !scope.actors().getFirst().stack().isEmpty()
            && scope.actors().getFirst().stack().getFirst().getClassName().equals("java.lang.VirtualThread"));
      } finally {
        gate.countDown();
      }
    }
  }

  @Test
  void dashboardShowsPauseInPlaceOfStuckActor() throws Exception {
    var entered = new CountDownLatch(1);
    var gate = new CountDownLatch(1);
    try (var scope = ActorSystem.openScope("app", options -> options.withScheduler(clock));
        var dashboard = Dashboard.open(scope, 0, options -> options, clock)) {
      scope.named("till").newActor((String text) -> {
        entered.countDown();
        gate.await();
      }).sendMessage("x");
      Patience.await(entered);
      try {
        assertPauseInPlaceOfStuckActor(dashboard);
      } finally {
        gate.countDown(); // otherwise the scope would wait for its actor
      }
    }
  }

  private void assertPauseInPlaceOfStuckActor(Dashboard dashboard) throws Exception {
    assertFalse(statistics(dashboard).contains("\"pause\""));
    clock.stop(Duration.ofSeconds(36));

    var text = statistics(dashboard);
    assertTrue(text.contains("\"pause\":{\"millis\":35000,\"millisAgo\":0}"), text);
    assertTrue(text.contains("\"stuck\":0,"), text);
    assertTrue(text.contains("\"busyMillis\":36000,"), text);

    for (int i = 0; i < 9; i++) clock.advance(Duration.ofSeconds(1));
    text = statistics(dashboard);
    assertTrue(text.contains("\"stuck\":1,"), text);
    assertTrue(text.contains("\"pause\":{\"millis\":35000,\"millisAgo\":9000}"), text);
  }

  private static String statistics(Dashboard dashboard) throws Exception {
    return Web.get(dashboard.port(), "/statistics");
  }

  @Test
  void beatsEndWithDashboard() {
    try (var scope = ActorSystem.openScope("app")) {
      try (var dashboard = Dashboard.open(scope, 0, options -> options, clock)) {
        assertTrue(clock.hasTasks(), () -> "port " + dashboard.port());
      }
      Patience.eventually(() -> !clock.hasTasks());
    }
  }

  /** A task that blocks the only thread of the system's clock is no pause of the process. */
  @Test
  void beatsContinueWhileTaskBlocksSystemClock() {
    var entered = new CountDownLatch(1);
    var gate = new CountDownLatch(1);
    var beats = new CountDownLatch(3);
    var threads = new HashSet<Thread>();
    Scheduler.system().schedule(Duration.ZERO, () -> {
      entered.countDown();
      Patience.await(gate);
    });
    Patience.await(entered);
    var timer = ProcessPauses.startBeats(Scheduler.system(), Duration.ofMillis(1), () -> {
      if (beats.getCount() > 0) threads.add(Thread.currentThread());
      beats.countDown();
      throw new OutOfMemoryError("planned; the next beat comes");
    });
    try {
      Patience.await(beats);
    } finally {
      gate.countDown(); // the task runs on the thread of all timers of this JVM
      timer.cancel();
    }
    assertEquals(1, threads.size(), threads::toString);
    assertTrue(threads.stream().allMatch(Thread::isDaemon), threads::toString);
    Patience.eventually(() -> !threads.iterator().next().isAlive());
  }
}
