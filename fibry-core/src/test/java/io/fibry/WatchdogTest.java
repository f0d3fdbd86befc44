package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.engine.scope.Scopes;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The watchdog, by a clock that the test moves. A report that becomes due is logged on the test's
 * thread.
 */
class WatchdogTest {
  private static final class Counting extends Clock {
    final Set<Timer> periodic = ConcurrentHashMap.newKeySet();

    @Override
    public Timer scheduleAtFixedRate(Duration initial, Duration period, Runnable task) {
      var timer = super.scheduleAtFixedRate(initial, period, task);
      periodic.add(timer);
      return () -> periodic.remove(timer) & timer.cancel();
    }
  }

  private static final int ROUNDS = Soak.ON ? 100 : 30;
  private static final Duration LIMIT = Duration.ofSeconds(4);

  private final Queue<Thread> busy = new ConcurrentLinkedQueue<>();
  private final Counting time = new Counting();
  private final ActorScope scope =
      ActorSystem.openScope("watched", o -> o.withScheduler(time).withWatchdog(LIMIT, 10));

  @AfterEach
  void cleanUp() {
    Gate.openAll();
    time.manual.advance(Duration.ofDays(1));
    scope.closeWithin(Duration.ZERO);
  }

  private Actor<Object> actor(ActorScope where, String name) {
    return where.named(name).newActor((Object m) -> {
      busy.add(Thread.currentThread());
      if (m instanceof Gate gate) gate.pass();
    });
  }

  private static int count(String text, String what) {
    return text.split(what, -1).length - 1;
  }

  @Promise("19.8")
  @Test
  void slowActorIsLoggedWithStack() {
    Gate.occupy(actor(scope, "slow"));
    busy.forEach(Patience::parked); // so that its stack is found at once

    String text = time.logged(LIMIT.multipliedBy(2));

    assertTrue(text.contains("actor 'slow' has been handling"), text);
    assertTrue(text.contains("Gate.pass"), text);
  }

  @Promise("19.8")
  @ParameterizedTest
  @MethodSource("io.fibry.Variants#strategiesAlone")
  void slowActorIsLoggedOnEveryStrategy(Variants.Variant variant) {
    var gate = Gate.occupy(variant.named(scope, "slow").newActor((Object m) -> ((Gate) m).pass()));

    String text = time.logged(LIMIT.multipliedBy(2));

    assertTrue(text.contains("actor 'slow' has been handling"), text);
    gate.open();
  }

  @Promise("19.8")
  @Test
  void slowActorIsLoggedOncePerMessage() {
    var actor = actor(scope, "slow");
    var first = Gate.occupy(actor);
    String text = time.logged(LIMIT.multipliedBy(10));
    var second = new Gate();
    actor.sendMessage(second);
    first.open();
    Patience.await(second.entered);

    String next = time.logged(LIMIT.multipliedBy(10));

    assertEquals(1, count(text, "'slow' has been handling"), text);
    assertEquals(1, count(next, "'slow' has been handling"), next);
  }

  private record Held(Gate gate) {}

  private static WeakReference<Object> occupied(Actor<Object> actor, Gate gate) {
    var message = new Held(gate);
    actor.sendMessage(message);
    Patience.await(gate.entered);
    return new WeakReference<>(message);
  }

  @Test
  void slowMessageIsNotKeptDuringNextMessage() {
    Actor<Object> actor = scope.named("busy").newActor((Object m) -> ((Held) m).gate.pass());
    var first = new Gate();
    var slow = occupied(actor, first);
    String text = time.logged(LIMIT.multipliedBy(2));
    var second = new Gate();
    actor.sendMessage(new Held(second));
    first.open();
    Patience.await(second.entered);

    assertEquals(1, count(text, "'busy' has been handling"), text);
    assertTrue(LeakProbe.collected(slow));
  }

  @Promise("19.8")
  @Test
  void aQuickActorIsNotLogged() {
    var actor = actor(scope, "quick");
    var text = new StringBuilder();

    for (int i = 0; i < 20; i++) {
      var gate = Gate.occupy(actor);
      text.append(time.logged(LIMIT.dividedBy(2)));
      gate.open();
      assertTrue(scope.awaitQuiescence(Patience.LONG));
    }

    assertFalse(text.toString().contains("'quick'"), text::toString);
  }

  @Promise("19.8")
  @Test
  void longMailboxIsLoggedOnceUntilHalfEmpty() {
    var actor = actor(scope, "full");
    var barks = new ArrayList<Integer>();
    for (int round = 0; round < 2; round++) {
      var gate = Gate.occupy(actor);
      var half = new Gate();
      for (int i = 0; i < 10; i++) actor.sendMessage(i);
      actor.sendMessage(half);
      for (int i = 0; i < 5; i++) actor.sendMessage(i); // 16 wait, more than 10
      barks.add(barks(Duration.ofSeconds(3)));
      gate.open();
      Patience.await(half.entered); // 5 wait, which is half
      for (int i = 0; i < 3; i++) actor.sendMessage(i);
      barks.add(barks(Duration.ofSeconds(1))); // 8: neither long nor half empty
      for (int i = 0; i < 6; i++) actor.sendMessage(i);
      barks.add(barks(Duration.ofSeconds(1))); // 14 again
      half.open();
      assertTrue(scope.awaitQuiescence(Patience.LONG));
      barks.add(barks(Duration.ofSeconds(2)));
    }

    assertEquals(List.of(1, 0, 0, 0, 1, 0, 0, 0), barks);
  }

  /** Many wait for one: the log is no place to count them. */
  @Promise("19.8")
  @Test
  void slowActorsAtSamePlaceAreLoggedOncePerSecond() {
    for (int i = 0; i < 50; i++) Gate.occupy(actor(scope, "slow" + i));
    busy.forEach(Patience::parked); // so that all are at one line

    String text = time.logged(LIMIT.multipliedBy(2));
    Gate.occupy(actor(scope, "later"));
    busy.forEach(Patience::parked);
    String next = time.logged(LIMIT.multipliedBy(2));

    assertEquals(1, count(text, "has been handling"), text);
    assertEquals(1, count(next, "; 49 more at the same place were not logged"), next);
  }

  private int barks(Duration by) {
    return count(time.logged(by), "more than 10 messages wait for actor 'full'");
  }

  @Promise("19.9")
  @Test
  void childScopeUsesItsOwnWatchdogOptions() {
    var strict = scope.openScope("strict", o -> o.withWatchdog(Duration.ofSeconds(1), 10));
    Gate.occupy(actor(strict, "below"));
    Gate.occupy(actor(scope, "above"));

    String text = time.logged(Duration.ofSeconds(3));

    assertTrue(text.contains("'below'") && !text.contains("'above'"), text);
  }

  @Promise("19.9")
  @Test
  void watchdogEndsWithItsScopeOrParentScope() {
    scope.openScope("a").openScope("b");
    scope.openScope("closed").close();
    int watched = time.periodic.size();

    scope.close();

    assertEquals(3, watched);
    assertEquals(Set.of(), time.periodic);
  }

  @Promise("19.9")
  @Test
  void scopeOpenedDuringParentCloseLeavesNoWatchdog() {
    for (int round = 0; round < ROUNDS; round++) {
      var outer = ActorSystem.openScope("outer", o -> o.withWatchdog(Duration.ofHours(1), 10).withScheduler(time));
      var opener = Patience.startFiber(() -> assertThrows(IllegalStateException.class, () -> {
        while (true) outer.openScope("inner");
      }));
      if (round % 2 == 0) Thread.yield();

      outer.close();

      Patience.joined(opener);
    }
    assertEquals(1, time.periodic.size());
  }

  @Test
  void aClosedScopeIsNotWatched() {
    scope.close();

    Scopes.configure(scope, o -> o.withWatchdog(LIMIT, 20));

    assertEquals(Set.of(), time.periodic);
  }

  @Promise("19.9")
  @Test
  void watchdogCanBeReconfiguredWhileScopeIsOpen() {
    var root = Variants.scope(o -> o.withScheduler(time));
    Gate.occupy(actor(root, "slow"));
    String off = time.logged(LIMIT.multipliedBy(2));
    Scopes.configure(root, o -> o.withWatchdog(LIMIT, 10));
    String on = time.logged(LIMIT.multipliedBy(2));
    int timers = time.periodic.size();
    Scopes.configure(root, o -> o.withWatchdog(LIMIT.multipliedBy(2), 10));
    int changed = time.periodic.size();
    Scopes.configure(root, o -> o.withStrategy(Strategy.THREAD));

    assertFalse(off.contains("'slow'"), off);
    assertTrue(on.contains("'slow'"), on);
    assertEquals(List.of(2, 2, 2), List.of(timers, changed, time.periodic.size()));
  }

  @Promise("19.9")
  @Test
  void theRootIsWatchedAgainAfterItsClose() {
    var root = Variants.scope(o -> o.withScheduler(time));
    Scopes.configure(root, o -> o.withWatchdog(LIMIT, 10));
    root.close();
    Gate.occupy(actor(root, "slow"));

    String text = time.logged(LIMIT.multipliedBy(2));

    assertTrue(text.contains("'slow'"), text);
  }

  @Test
  void watchdogRunsOnOwnThreadWithSystemScheduler() {
    try (var logged = new Logged();
        var real = ActorSystem.openScope("real", o -> o.withWatchdog(Duration.ofMillis(4), 10))) {
      var gate = Gate.occupy(actor(real, "slow"));

      Patience.eventually(() -> logged.text().contains("'slow'"));

      gate.open();
    }
  }
}
