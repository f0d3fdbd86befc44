package io.fibry.engine.scope;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Strategy;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.Clock;
import io.fibry.testing.Gate;
import io.fibry.testing.LeakProbe;
import io.fibry.testing.Promise;
import io.fibry.testing.Variants;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests the watchdog with a manual clock. While a test advances the clock, the watchdog logs its
 * reports on the thread of the test.
 */
class WatchdogTest {
  private static final class CountingClock extends Clock {
    final Set<Timer> periodicTimers = ConcurrentHashMap.newKeySet();

    @Override
    public Timer scheduleAtFixedRate(Duration initial, Duration period, Runnable task) {
      var timer = super.scheduleAtFixedRate(initial, period, task);
      periodicTimers.add(timer);
      return () -> periodicTimers.remove(timer) & timer.cancel();
    }
  }

  private static final int ROUNDS = Soak.ON ? 100 : 30;
  private static final Duration LIMIT = Duration.ofSeconds(4);

  private final Queue<Thread> handlerThreads = new ConcurrentLinkedQueue<>();
  private final CountingClock clock = new CountingClock();
  private final ActorScope scope =
      ActorSystem.openScope("watched", o -> o.withScheduler(clock).withWatchdog(LIMIT, 10));

  @AfterEach
  void cleanUp() {
    Gate.openAll();
    clock.manual.advance(Duration.ofDays(1));
    scope.closeWithin(Duration.ZERO);
  }

  private Actor<Object> actor(ActorScope owner, String name) {
    return owner.named(name).newActor((Object m) -> {
      handlerThreads.add(Thread.currentThread());
      if (m instanceof Gate gate) gate.pass();
    });
  }

  private static int count(String text, String part) {
    return text.split(part, -1).length - 1;
  }

  @Promise("19.8")
  @Test
  void slowActorIsLoggedWithStack() {
    Gate.occupy(actor(scope, "slow"));
    handlerThreads.forEach(Patience::awaitParked); // so that the first report has the stack of the waiting handler

    String text = clock.logged(LIMIT.multipliedBy(2));

    assertTrue(text.contains("actor 'slow' has been handling"), text);
    assertTrue(text.contains("Gate.pass"), text);
  }

  @Promise("19.8")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#strategiesAlone")
  void slowActorIsLoggedOnEveryStrategy(Variants.Variant variant) {
    var gate = Gate.occupy(variant.named(scope, "slow").newActor((Object m) -> ((Gate) m).pass()));

    String text = clock.logged(LIMIT.multipliedBy(2));

    assertTrue(text.contains("actor 'slow' has been handling"), text);
    gate.open();
  }

  @Promise("19.8")
  @Test
  void slowActorIsLoggedOncePerMessage() {
    var actor = actor(scope, "slow");
    var first = Gate.occupy(actor);
    String firstText = clock.logged(LIMIT.multipliedBy(10));
    var second = new Gate();
    actor.sendMessage(second);
    first.open();
    Patience.await(second.entered);

    String secondText = clock.logged(LIMIT.multipliedBy(10));

    assertEquals(1, count(firstText, "'slow' has been handling"), firstText);
    assertEquals(1, count(secondText, "'slow' has been handling"), secondText);
  }

  private record GateMessage(Gate gate) {}

  private static WeakReference<Object> occupy(Actor<Object> actor, Gate gate) {
    var message = new GateMessage(gate);
    actor.sendMessage(message);
    Patience.await(gate.entered);
    return new WeakReference<>(message);
  }

  @Test
  void watchdogKeepsNoReferenceToEarlierSlowMessage() {
    Actor<Object> actor = scope.named("busy").newActor((Object m) -> ((GateMessage) m).gate.pass());
    var first = new Gate();
    var slowMessage = occupy(actor, first);
    String text = clock.logged(LIMIT.multipliedBy(2));
    var second = new Gate();
    actor.sendMessage(new GateMessage(second));
    first.open();
    Patience.await(second.entered);

    assertEquals(1, count(text, "'busy' has been handling"), text);
    assertTrue(LeakProbe.collected(slowMessage));
  }

  @Promise("19.8")
  @Test
  void quickActorIsNotLogged() {
    var actor = actor(scope, "quick");
    var text = new StringBuilder();

    for (int i = 0; i < 20; i++) {
      var gate = Gate.occupy(actor);
      text.append(clock.logged(LIMIT.dividedBy(2)));
      gate.open();
      assertTrue(scope.awaitQuiescence(Patience.LONG));
    }

    assertFalse(text.toString().contains("'quick'"), text::toString);
  }

  @Promise("19.8")
  @Test
  void longMailboxIsLoggedOnceUntilHalfEmpty() {
    var actor = actor(scope, "full");
    var reportCounts = new ArrayList<Integer>();
    for (int round = 0; round < 2; round++) {
      var gate = Gate.occupy(actor);
      var halfwayGate = new Gate();
      for (int i = 0; i < 10; i++) actor.sendMessage(i);
      actor.sendMessage(halfwayGate);
      for (int i = 0; i < 5; i++) actor.sendMessage(i); // 16 messages wait, more than 10
      reportCounts.add(reportsDuring(Duration.ofSeconds(3)));
      gate.open();
      Patience.await(halfwayGate.entered); // 5 messages wait, which is half of 10
      for (int i = 0; i < 3; i++) actor.sendMessage(i);
      reportCounts.add(reportsDuring(Duration.ofSeconds(1))); // 8 wait: the mailbox is neither long nor half empty
      for (int i = 0; i < 6; i++) actor.sendMessage(i);
      reportCounts.add(reportsDuring(Duration.ofSeconds(1))); // 14 wait: long, but reported before
      halfwayGate.open();
      assertTrue(scope.awaitQuiescence(Patience.LONG));
      reportCounts.add(reportsDuring(Duration.ofSeconds(2)));
    }

    assertEquals(List.of(1, 0, 0, 0, 1, 0, 0, 0), reportCounts);
  }

  /** Many actors that wait at the same line of code must not fill the log. */
  @Promise("19.8")
  @Test
  void slowActorsAtSameLineAreLoggedOncePerSecond() {
    for (int i = 0; i < 50; i++) Gate.occupy(actor(scope, "slow" + i));
    handlerThreads.forEach(Patience::awaitParked); // so that all handlers wait at the same line

    String firstText = clock.logged(LIMIT.multipliedBy(2));
    Gate.occupy(actor(scope, "later"));
    handlerThreads.forEach(Patience::awaitParked);
    String secondText = clock.logged(LIMIT.multipliedBy(2));

    assertEquals(1, count(firstText, "has been handling"), firstText);
    assertEquals(1, count(secondText, "; not logged: 49 more at the same place"), secondText);
  }

  private int reportsDuring(Duration time) {
    return count(clock.logged(time), "more than 10 messages wait for actor 'full'");
  }

  @Promise("19.9")
  @Test
  void childScopeUsesItsOwnWatchdogOptions() {
    var strictScope = scope.openScope("strict", o -> o.withWatchdog(Duration.ofSeconds(1), 10));
    Gate.occupy(actor(strictScope, "below"));
    Gate.occupy(actor(scope, "above"));

    String text = clock.logged(Duration.ofSeconds(3));

    assertTrue(text.contains("'below'") && !text.contains("'above'"), text);
  }

  @Promise("19.9")
  @Test
  void watchdogEndsWithItsScopeOrParentScope() {
    scope.openScope("a").openScope("b");
    scope.openScope("closed").close();
    int timerCount = clock.periodicTimers.size();

    scope.close();

    assertEquals(3, timerCount);
    assertEquals(Set.of(), clock.periodicTimers);
  }

  @Promise("19.9")
  @Test
  void scopeOpenedDuringParentCloseLeavesNoWatchdog() {
    for (int round = 0; round < ROUNDS; round++) {
      var parent = ActorSystem.openScope("outer", o -> o.withWatchdog(Duration.ofHours(1), 10).withScheduler(clock));
      CompletableFuture<IllegalStateException> refusal =
          Patience.callOnFiber(() -> assertThrows(IllegalStateException.class, () -> {
            while (true) parent.openScope("inner");
          }));
      if (round % 2 == 0) Thread.yield();

      parent.close();

      Patience.value(refusal);
    }
    assertEquals(1, clock.periodicTimers.size());
  }

  @Test
  void closedScopeStartsNoWatchdogWhenConfigured() {
    scope.close();

    Scopes.configure(scope, o -> o.withWatchdog(LIMIT, 20));

    assertEquals(Set.of(), clock.periodicTimers);
  }

  @Promise("19.9")
  @Test
  void watchdogCanBeReconfiguredWhileScopeIsOpen() {
    var root = Variants.scope(o -> o.withScheduler(clock));
    Gate.occupy(actor(root, "slow"));
    String textWithoutWatchdog = clock.logged(LIMIT.multipliedBy(2));
    Scopes.configure(root, o -> o.withWatchdog(LIMIT, 10));
    String textWithWatchdog = clock.logged(LIMIT.multipliedBy(2));
    int timersAfterStart = clock.periodicTimers.size();
    Scopes.configure(root, o -> o.withWatchdog(LIMIT.multipliedBy(2), 10));
    int timersAfterChange = clock.periodicTimers.size();
    Scopes.configure(root, o -> o.withStrategy(Strategy.THREAD));

    assertFalse(textWithoutWatchdog.contains("'slow'"), textWithoutWatchdog);
    assertTrue(textWithWatchdog.contains("'slow'"), textWithWatchdog);
    assertEquals(List.of(2, 2, 2), List.of(timersAfterStart, timersAfterChange, clock.periodicTimers.size()));
  }

  @Promise("19.9")
  @Test
  void watchdogContinuesAfterCloseOfRootScope() {
    var root = Variants.scope(o -> o.withScheduler(clock));
    Scopes.configure(root, o -> o.withWatchdog(LIMIT, 10));
    root.close();
    Gate.occupy(actor(root, "slow"));

    String text = clock.logged(LIMIT.multipliedBy(2));

    assertTrue(text.contains("'slow'"), text);
  }

  @Test
  void watchdogLogsOnNamedThreadOfSystemScheduler() {
    try (var logged = new Logged();
        var realTimeScope = ActorSystem.openScope("real", o -> o.withWatchdog(Duration.ofMillis(4), 10))) {
      var gate = Gate.occupy(actor(realTimeScope, "slow"));

      Patience.eventually(() -> logged.text().contains("[fibry-watchdog] WARN io.fibry.ActorSystem - actor 'slow'"));

      gate.open();
    }
  }
}
