package io.fibry.stereotype;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Clock;
import io.fibry.ExitReason;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.Gate;
import io.fibry.Handler;
import io.fibry.LeakProbe;
import io.fibry.Letters;
import io.fibry.Promise;
import io.fibry.Strategy;
import io.fibry.Variants;
import io.fibry.mailbox.Mailbox;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
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

/** Repeating tasks. */
class ScheduleTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  private static final class Timers extends Clock {
    final AtomicInteger due = new AtomicInteger();

    @Override
    public Timer schedule(Duration delay, Runnable task) {
      due.incrementAndGet();
      var timer = super.schedule(delay, () -> {
        due.decrementAndGet();
        task.run();
      });
      return () -> {
        boolean was = timer.cancel();
        if (was) due.decrementAndGet();
        return was;
      };
    }
  }

  private final Timers clock = new Timers();
  private final Letters letters = new Letters();
  private final ActorScope scope = ActorSystem.openScope("schedules",
      o -> o.withScheduler(clock).withDeadLetters(letters).withStrategy(Strategy.CALLER));
  private final Stereotypes recipes = Stereotypes.of(scope.anonymous());
  private final List<Long> times = new CopyOnWriteArrayList<>(); // in ms

  static List<String> strategies() {
    return List.copyOf(Variants.STRATEGIES.keySet());
  }

  @AfterEach
  void close() {
    Gate.openAll();
    scope.closeWithin(Duration.ZERO);
  }

  private void runs() {
    times.add(clock.nanoTime() / 1_000_000);
  }

  private void advance(long millis) {
    clock.manual.advance(Duration.ofMillis(millis));
  }

  // ---- when they run

  @ParameterizedTest
  @MethodSource("strategies")
  void schedulesRunOnAnyStrategyUntilEnded(String strategy) {
    var of = Stereotypes.of(scope.anonymous().strategy(Variants.STRATEGIES.get(strategy)));
    var rate = new AtomicInteger();
    var delay = new AtomicInteger();
    var first = of.scheduleAtFixedRate(Duration.ZERO, SECOND, rate::incrementAndGet);
    var second = of.scheduleWithFixedDelay(SECOND, SECOND, delay::incrementAndGet);

    for (int i = 1; i <= 3; i++) {
      int runs = i;
      Patience.eventually(() -> {
        if (clock.due.get() == 2) advance(1_000);
        return rate.get() >= runs && delay.get() >= runs;
      });
    }
    first.close();
    second.close();

    assertEquals(0, clock.due.get());
    assertEquals(new ExitReason.Finished(), first.onExit().resultNow());
  }

  @Test
  void fixedRateTaskRunsAtBeginningOfEachPeriod() {
    recipes.scheduleAtFixedRate(Duration.ofMillis(300), SECOND, this::runs);

    advance(3_500);

    assertEquals(List.of(300L, 1_300L, 2_300L, 3_300L), times);
  }

  @Test
  void fixedDelayTaskRunsAfterDelayFromEndOfPreviousRun() {
    recipes.scheduleWithFixedDelay(Duration.ofMillis(300), SECOND, () -> {
      runs();
      advance(500);
    });

    advance(4_000);

    assertEquals(List.of(300L, 1_800L, 3_300L), times);
  }

  /** The earlier library sent them all at once. */
  @Promise("22.14")
  @Test
  void runLongerThanPeriodMakesSingleLateRunAndNoBurst() {
    recipes.scheduleAtFixedRate(Duration.ZERO, SECOND, () -> {
      runs();
      if (times.size() == 1) advance(3_500);
    });

    advance(0);
    advance(2_500);

    assertEquals(List.of(0L, 3_500L, 4_000L, 5_000L, 6_000L), times);
  }

  @Test
  void aRunThatIsJustAsLongAsThePeriodFollowsTheOneBefore() {
    recipes.scheduleAtFixedRate(Duration.ZERO, SECOND, () -> {
      runs();
      if (times.size() < 4) advance(1_000);
    });

    for (int i = 0; i < 4; i++) advance(0);

    assertEquals(List.of(0L, 1_000L, 2_000L, 3_000L), times);
  }

  @Test
  void timesWithoutAnEndAreWaitedFor() {
    recipes.scheduleAtFixedRate(Duration.ofSeconds(Long.MAX_VALUE), SECOND, this::runs);
    recipes.scheduleAtFixedRate(Duration.ZERO, Duration.ofSeconds(Long.MAX_VALUE), this::runs);
    recipes.scheduleWithFixedDelay(Duration.ZERO, Duration.ofSeconds(Long.MAX_VALUE), this::runs);

    clock.manual.advance(Duration.ofDays(10_000));

    assertEquals(List.of(0L, 0L), times);
  }

  // ---- once, so many times, until

  @Test
  void aTaskMayEndItselfAfterItsFirstRun() {
    var once = recipes.scheduleWithFixedDelay(SECOND, SECOND, self -> {
      runs();
      self.askExit();
    });

    advance(10_000);

    assertEquals(List.of(1_000L), times);
    assertEquals(new ExitReason.Stopped(), once.onExit().resultNow());
    assertEquals(List.of(), letters.all);
    assertEquals(0, clock.due.get());
  }

  @Test
  void aTaskMayEndItselfAfterSoManyRuns() {
    recipes.scheduleAtFixedRate(SECOND, SECOND, self -> {
      runs();
      if (times.size() == 3) self.sendPoisonPill();
    });

    advance(10_000);

    assertEquals(List.of(1_000L, 2_000L, 3_000L), times);
    assertEquals(List.of(), letters.all);
  }

  @Test
  void aTaskIsHandedItsOwnActor() {
    var handed = new AtomicReference<Exitable>();

    var schedule = recipes.scheduleAtFixedRate(Duration.ZERO, SECOND, handed::set);
    advance(0);

    assertSame(schedule, handed.get());
  }

  // ---- failing

  /** The earlier library ended at the first exception, or threw it at the sender. */
  @Promise("22.14")
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void failedRunIsForPolicyAndNextRunStillComes(boolean rate) {
    try (var logged = new Logged()) {
      Handler.Task task = () -> {
        runs();
        if (times.size() == 2) throw new IOException("no");
      };

      if (rate) Stereotypes.of(scope.named("ticker")).scheduleAtFixedRate(Duration.ZERO, SECOND, task);
      else Stereotypes.of(scope.named("ticker")).scheduleWithFixedDelay(Duration.ZERO, SECOND, task);
      advance(3_000);

      assertEquals(List.of(0L, 1_000L, 2_000L, 3_000L), times);
      assertTrue(logged.text().contains("actor 'ticker' failed at run 2; it goes on"), logged.text());
    }
  }

  @Test
  void aRetryIsPartOfItsRun() {
    Stereotypes.of(scope.anonymous().onFailure(FailurePolicy.resume().withRetries(1))).scheduleAtFixedRate(
        Duration.ZERO,
        SECOND, () -> {
          runs();
          if (times.size() % 2 == 1) throw new IOException("no");
        });

    advance(1_000);

    assertEquals(List.of(0L, 0L, 1_000L, 1_000L), times);
    assertEquals(1, clock.due.get());
  }

  @Test
  void aPolicyThatStopsEndsIt() {
    var failure = new IOException("no");
    var schedule = Stereotypes.of(scope.anonymous().onFailure(FailurePolicy.stop().withoutLog()))
        .scheduleAtFixedRate(Duration.ZERO, SECOND, () -> {
          throw failure;
        });

    advance(5_000);

    assertEquals(new ExitReason.Failed(failure), schedule.onExit().resultNow());
    assertEquals(1, letters.all.size());
    assertEquals(0, clock.due.get());
  }

  // ---- ending

  @ParameterizedTest
  @ValueSource(strings = {"close", "askExit", "kill"})
  void endingItCancelsItsTimer(String how) {
    var schedule = recipes.scheduleAtFixedRate(SECOND, SECOND, this::runs);
    advance(1_000);
    assertEquals(1, clock.due.get());

    if (how.equals("close")) schedule.close();
    else if (how.equals("askExit")) schedule.askExit();
    else schedule.kill();
    advance(10_000);

    assertTrue(schedule.onExit().isDone());
    assertEquals(List.of(1_000L), times);
    assertEquals(0, clock.due.get());
    assertEquals(List.of(), letters.all);
  }

  @Test
  void aKillInterruptsTheRun() {
    var gate = new Gate();
    var schedule = Stereotypes.of(scope.anonymous().strategy(Strategy.FIBER)).scheduleWithFixedDelay(Duration.ZERO,
        SECOND, gate::pass);
    advance(0);
    Patience.await(gate.entered);

    schedule.kill();
    Patience.ended(schedule::waitForExit);

    assertEquals(new ExitReason.Killed(), schedule.onExit().resultNow());
    Patience.eventually(() -> clock.due.get() == 0); // of the grace, too
  }

  @Test
  void cutOffRunHasNoFurtherEffect() {
    var gate = new Gate();
    var schedule =
        Stereotypes.of(scope.anonymous().strategy(Strategy.FIBER)).scheduleWithFixedDelay(Duration.ZERO, SECOND, () -> {
          gate.passDeaf();
          runs();
        });
    advance(0);
    Patience.await(gate.entered);
    schedule.kill();
    clock.manual.advance(Duration.ofDays(1));
    Patience.ended(schedule::waitForExit);

    gate.open();
    Patience.eventually(() -> times.size() == 1 && scope.report().unresponsive().isEmpty());

    assertEquals(List.of(), letters.all);
  }

  @Test
  void theScopeEndsIt() {
    var schedule = recipes.scheduleAtFixedRate(SECOND, SECOND, this::runs);

    scope.close();

    assertTrue(schedule.onExit().isDone());
    assertEquals(0, clock.due.get());
  }

  @Test
  void taskOnSystemClockRunsOffTimerThread() {
    var threads = new CopyOnWriteArrayList<String>();
    try (var real = ActorSystem.openScope("real")) {
      Stereotypes.of(real.anonymous().strategy(Strategy.CALLER))
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
        new AtomicReference<>(Stereotypes.fibers().scheduleAtFixedRate(Duration.ofHours(1), SECOND, this::runs));
    schedule.get().close();
    var reference = new WeakReference<Object>(schedule.getAndSet(null));

    assertTrue(LeakProbe.collected(reference));
  }

  // ---- bad input, and the builder

  @Test
  void theMailboxOfTheBuilderDoesNotMatter() {
    Stereotypes.of(scope.anonymous().mailbox(Mailbox.<Integer>priority(Integer::compare)))
        .scheduleAtFixedRate(Duration.ZERO, SECOND, this::runs);

    advance(1_000);

    assertEquals(List.of(0L, 1_000L), times);
  }

  @Test
  void timesWithoutAMeaningAreRefused() {
    Handler.Task task = this::runs;

    var past =
        assertThrows(IllegalArgumentException.class, () -> recipes.scheduleAtFixedRate(SECOND.negated(), SECOND, task));
    var busy =
        assertThrows(IllegalArgumentException.class, () -> recipes.scheduleAtFixedRate(SECOND, Duration.ZERO, task));
    var breathless =
        assertThrows(IllegalArgumentException.class, () -> recipes.scheduleWithFixedDelay(SECOND, Duration.ZERO, task));

    assertEquals("an initial delay of -1 s lies in the past; give zero or more", past.getMessage());
    assertEquals("a period of 0 s never ends; give more than zero", busy.getMessage());
    assertEquals("a delay of 0 s between two runs leaves no time for anything else; give more than zero",
        breathless.getMessage());
  }

  @Test
  void nullIsRefusedByItsName() {
    Handler.Task task = this::runs;

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
