package io.fibry.stereotype;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ExitReason;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.Handler;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Clock;
import io.fibry.testing.Gate;
import io.fibry.testing.LeakProbe;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.Variants;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests when repeating tasks run, and how they fail and end. */
class ScheduleTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  private static final class CountingClock extends Clock {
    final AtomicInteger pendingTimers = new AtomicInteger();

    @Override
    public Timer schedule(Duration delay, Runnable task) {
      pendingTimers.incrementAndGet();
      var timer = super.schedule(delay, () -> {
        pendingTimers.decrementAndGet();
        task.run();
      });
      return () -> {
        boolean isCancelled = timer.cancel();
        if (isCancelled) pendingTimers.decrementAndGet();
        return isCancelled;
      };
    }
  }

  private final CountingClock clock = new CountingClock();
  private final RecordedLetters letters = new RecordedLetters();
  private final ActorScope scope = ActorSystem.openScope("schedules",
      o -> o.withScheduler(clock).withDeadLetterListener(letters).withStrategy(Strategy.CALLER));
  private final Stereotypes recipes = Stereotypes.of(scope.anonymous());
  private final List<Long> runTimes = new CopyOnWriteArrayList<>(); // the times of the runs, in milliseconds

  static List<String> strategies() {
    return List.copyOf(Variants.STRATEGIES.keySet());
  }

  @AfterEach
  void close() {
    Gate.openAll();
    scope.closeWithin(Duration.ZERO);
  }

  private void recordRun() {
    runTimes.add(clock.nanoTime() / 1_000_000);
  }

  private void advance(long millis) {
    clock.manual.advance(Duration.ofMillis(millis));
  }

  // ---- times of the runs

  @ParameterizedTest
  @MethodSource("strategies")
  void schedulesRunOnAnyStrategyUntilEnded(String strategy) {
    var recipesOnStrategy = Stereotypes.of(scope.anonymous().strategy(Variants.STRATEGIES.get(strategy)));
    var rateRuns = new AtomicInteger();
    var delayRuns = new AtomicInteger();
    var rateSchedule = recipesOnStrategy.scheduleAtFixedRate(Duration.ZERO, SECOND, rateRuns::incrementAndGet);
    var delaySchedule = recipesOnStrategy.scheduleWithFixedDelay(SECOND, SECOND, delayRuns::incrementAndGet);

    for (int i = 1; i <= 3; i++) {
      int expectedRuns = i;
      Patience.eventually(() -> {
        if (clock.pendingTimers.get() == 2) advance(1_000);
        return rateRuns.get() >= expectedRuns && delayRuns.get() >= expectedRuns;
      });
    }
    rateSchedule.close();
    delaySchedule.close();

    assertEquals(0, clock.pendingTimers.get());
    assertEquals(new ExitReason.Finished(), rateSchedule.onExit().resultNow());
  }

  @Test
  void fixedRateTaskRunsAtBeginningOfEachPeriod() {
    recipes.scheduleAtFixedRate(Duration.ofMillis(300), SECOND, this::recordRun);

    advance(3_500);

    assertEquals(List.of(300L, 1_300L, 2_300L, 3_300L), runTimes);
  }

  @Test
  void fixedDelayTaskRunsAfterDelayFromEndOfPreviousRun() {
    recipes.scheduleWithFixedDelay(Duration.ofMillis(300), SECOND, () -> {
      recordRun();
      advance(500);
    });

    advance(4_000);

    assertEquals(List.of(300L, 1_800L, 3_300L), runTimes);
  }

  @Promise("22.14")
  @Test
  void missedRunsAreReplacedBySingleLateRun() {
    recipes.scheduleAtFixedRate(Duration.ZERO, SECOND, () -> {
      recordRun();
      if (runTimes.size() == 1) advance(3_500);
    });

    advance(0);
    advance(2_500);

    assertEquals(List.of(0L, 3_500L, 4_000L, 5_000L, 6_000L), runTimes);
  }

  @Test
  void nextRunBeginsAtOnceWhenRunTakesWholePeriod() {
    recipes.scheduleAtFixedRate(Duration.ZERO, SECOND, () -> {
      recordRun();
      if (runTimes.size() < 4) advance(1_000);
    });

    for (int i = 0; i < 4; i++) advance(0);

    assertEquals(List.of(0L, 1_000L, 2_000L, 3_000L), runTimes);
  }

  @Test
  void maxDurationAsDelayOrPeriodNeverElapses() {
    recipes.scheduleAtFixedRate(Duration.ofSeconds(Long.MAX_VALUE), SECOND, this::recordRun);
    recipes.scheduleAtFixedRate(Duration.ZERO, Duration.ofSeconds(Long.MAX_VALUE), this::recordRun);
    recipes.scheduleWithFixedDelay(Duration.ZERO, Duration.ofSeconds(Long.MAX_VALUE), this::recordRun);

    clock.manual.advance(Duration.ofDays(10_000));

    assertEquals(List.of(0L, 0L), runTimes);
  }

  // ---- tasks that end themselves

  @Test
  void taskMayEndItselfAfterItsFirstRun() {
    var schedule = recipes.scheduleWithFixedDelay(SECOND, SECOND, self -> {
      recordRun();
      self.askExit();
    });

    advance(10_000);

    assertEquals(List.of(1_000L), runTimes);
    assertEquals(new ExitReason.Stopped(), schedule.onExit().resultNow());
    assertEquals(List.of(), letters.all);
    assertEquals(0, clock.pendingTimers.get());
  }

  @Test
  void taskMayEndItselfAfterThreeRuns() {
    recipes.scheduleAtFixedRate(SECOND, SECOND, self -> {
      recordRun();
      if (runTimes.size() == 3) self.sendPoisonPill();
    });

    advance(10_000);

    assertEquals(List.of(1_000L, 2_000L, 3_000L), runTimes);
    assertEquals(List.of(), letters.all);
  }

  @Test
  void taskReceivesActorOfItsSchedule() {
    var argument = new AtomicReference<Exitable>();

    var schedule = recipes.scheduleAtFixedRate(Duration.ZERO, SECOND, argument::set);
    advance(0);

    assertSame(schedule, argument.get());
  }

  // ---- failures

  @Promise("22.14")
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void failedRunIsHandledByPolicyAndNextRunFollows(boolean isFixedRate) {
    try (var logged = new Logged()) {
      Handler.Task task = () -> {
        recordRun();
        if (runTimes.size() == 2) throw new IOException("no");
      };

      if (isFixedRate) Stereotypes.of(scope.named("ticker")).scheduleAtFixedRate(Duration.ZERO, SECOND, task);
      else Stereotypes.of(scope.named("ticker")).scheduleWithFixedDelay(Duration.ZERO, SECOND, task);
      advance(3_000);

      assertEquals(List.of(0L, 1_000L, 2_000L, 3_000L), runTimes);
      assertTrue(logged.text().contains("actor 'ticker' failed at run 2; it continues"), logged.text());
    }
  }

  @Test
  void retryOfFailedRunDoesNotShiftNextRun() {
    Stereotypes.of(scope.anonymous().onFailure(FailurePolicy.resume().withRetries(1))).scheduleAtFixedRate(
        Duration.ZERO,
        SECOND, () -> {
          recordRun();
          if (runTimes.size() % 2 == 1) throw new IOException("no");
        });

    advance(1_000);

    assertEquals(List.of(0L, 0L, 1_000L, 1_000L), runTimes);
    assertEquals(1, clock.pendingTimers.get());
  }

  @Test
  void stopPolicyEndsSchedule() {
    var failure = new IOException("no");
    var schedule = Stereotypes.of(scope.anonymous().onFailure(FailurePolicy.stop().withoutLog()))
        .scheduleAtFixedRate(Duration.ZERO, SECOND, () -> {
          throw failure;
        });

    advance(5_000);

    assertEquals(new ExitReason.Failed(failure), schedule.onExit().resultNow());
    assertEquals(1, letters.all.size());
    assertEquals(0, clock.pendingTimers.get());
  }

  // ---- ends

  @ParameterizedTest
  @ValueSource(strings = {"close", "askExit", "kill"})
  void endOfScheduleCancelsItsTimer(String operation) {
    var schedule = recipes.scheduleAtFixedRate(SECOND, SECOND, this::recordRun);
    advance(1_000);
    assertEquals(1, clock.pendingTimers.get());

    if (operation.equals("close")) schedule.close();
    else if (operation.equals("askExit")) schedule.askExit();
    else schedule.kill();
    advance(10_000);

    assertTrue(schedule.onExit().isDone());
    assertEquals(List.of(1_000L), runTimes);
    assertEquals(0, clock.pendingTimers.get());
    assertEquals(List.of(), letters.all);
  }

  @Test
  void killInterruptsRun() {
    var gate = new Gate();
    var schedule = Stereotypes.of(scope.anonymous().strategy(Strategy.FIBER)).scheduleWithFixedDelay(Duration.ZERO,
        SECOND, gate::pass);
    advance(0);
    Patience.await(gate.entered);

    schedule.kill();
    Patience.awaitEnd(schedule::waitForExit);

    assertEquals(new ExitReason.Killed(), schedule.onExit().resultNow());
    Patience.eventually(() -> clock.pendingTimers.get() == 0); // the timer of the kill grace must be cancelled, too
  }

  @Test
  void cutOffRunThatReturnsStartsNoNextRun() {
    var gate = new Gate();
    var schedule =
        Stereotypes.of(scope.anonymous().strategy(Strategy.FIBER)).scheduleWithFixedDelay(Duration.ZERO, SECOND, () -> {
          gate.passUninterruptibly();
          recordRun();
        });
    advance(0);
    Patience.await(gate.entered);
    schedule.kill();
    clock.manual.advance(Duration.ofDays(1));
    Patience.awaitEnd(schedule::waitForExit);

    gate.open();
    Patience.eventually(() -> runTimes.size() == 1 && scope.report().unresponsive().isEmpty());

    assertEquals(List.of(), letters.all);
  }

  @Test
  void closeOfScopeEndsSchedule() {
    var schedule = recipes.scheduleAtFixedRate(SECOND, SECOND, this::recordRun);

    scope.close();

    assertTrue(schedule.onExit().isDone());
    assertEquals(0, clock.pendingTimers.get());
  }

  @Test
  void taskOnSystemClockDoesNotRunOnTimerThread() {
    var threads = new CopyOnWriteArrayList<String>();
    try (var systemScope = ActorSystem.openScope("real")) {
      Stereotypes.of(systemScope.anonymous().strategy(Strategy.CALLER))
          .scheduleAtFixedRate(Duration.ZERO, Duration.ofMillis(1), self -> {
            threads.add(Thread.currentThread().getName());
            if (threads.size() == 3) self.askExit();
          }).waitForExit();
    }

    assertEquals(3, threads.size());
    assertFalse(threads.contains("fibry-timer"));
  }

  @Test
  void endedScheduleIsGarbage() {
    var schedule =
        new AtomicReference<>(Stereotypes.fibers().scheduleAtFixedRate(Duration.ofHours(1), SECOND, this::recordRun));
    schedule.get().close();
    var reference = new WeakReference<Object>(schedule.getAndSet(null));

    assertTrue(LeakProbe.collected(reference));
  }

  // ---- the builder, and invalid arguments

  @Test
  void mailboxOfBuilderIsIgnored() {
    Stereotypes.of(scope.anonymous().mailbox(Mailbox.<Integer>priority(Integer::compare)))
        .scheduleAtFixedRate(Duration.ZERO, SECOND, this::recordRun);

    advance(1_000);

    assertEquals(List.of(0L, 1_000L), runTimes);
  }

  @Test
  void invalidTimesAreRefused() {
    Handler.Task task = this::recordRun;

    var negativeDelay =
        assertThrows(IllegalArgumentException.class, () -> recipes.scheduleAtFixedRate(SECOND.negated(), SECOND, task));
    var zeroPeriod =
        assertThrows(IllegalArgumentException.class, () -> recipes.scheduleAtFixedRate(SECOND, Duration.ZERO, task));
    var zeroDelay =
        assertThrows(IllegalArgumentException.class, () -> recipes.scheduleWithFixedDelay(SECOND, Duration.ZERO, task));

    assertEquals("an initial delay of -1 s is negative; give zero or more", negativeDelay.getMessage());
    assertEquals("a period of 0 s is not positive; give more than zero", zeroPeriod.getMessage());
    assertEquals("a delay of 0 s between two runs leaves no time for anything else; give more than zero",
        zeroDelay.getMessage());
  }

  @Test
  void exceptionNamesNullArgument() {
    Handler.Task task = this::recordRun;

    refusesNull("task", () -> recipes.scheduleAtFixedRate(SECOND, SECOND, (Handler.Task) null));
    refusesNull("task", () -> recipes.scheduleAtFixedRate(SECOND, SECOND, (Handler<Exitable>) null));
    refusesNull("task", () -> recipes.scheduleWithFixedDelay(SECOND, SECOND, (Handler.Task) null));
    refusesNull("initial", () -> recipes.scheduleAtFixedRate(null, SECOND, task));
    refusesNull("period", () -> recipes.scheduleAtFixedRate(SECOND, null, task));
    refusesNull("delay", () -> recipes.scheduleWithFixedDelay(SECOND, null, task));
  }

  private static void refusesNull(String name, Executable call) {
    assertEquals(name, assertThrows(NullPointerException.class, call).getMessage());
  }
}
