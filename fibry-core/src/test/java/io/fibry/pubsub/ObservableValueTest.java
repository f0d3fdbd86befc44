package io.fibry.pubsub;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter.Reason;
import io.fibry.FailurePolicy;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Pools;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.RecordedLetters;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ObservableValueTest {
  private final RecordedLetters letters = new RecordedLetters();
  private final ActorScope scope =
      ActorSystem.openScope("test", o -> o.withDeadLetterListener(letters).withKillGrace(Duration.ofMillis(50)));
  private final ObservableValue<Integer> value = ObservableValue.of(scope.named("level").strategy(Strategy.CALLER), 0);
  private final List<Object> received = new CopyOnWriteArrayList<>();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
    scope.closeWithin(Patience.LONG);
  }

  @Test
  void valueReturnsLastSetValue() {
    value.set(5);

    assertEquals(5, value.value());
  }

  @Test
  void updateReturnsNewValue() {
    assertEquals(1, value.update(current -> current + 1));
    assertEquals(1, value.value());
  }

  @Test
  void compareAndSetComparesByEquals() {
    ObservableValue<String> text = ObservableValue.of(scope.anonymous(), "a");

    assertTrue(text.compareAndSet(new String("a"), "b"));
    assertFalse(text.compareAndSet("a", "c"));
    assertEquals("b", text.value());
  }

  @Test
  void changeToEqualValueNotifiesNoFollower() {
    ObservableValue<String> text = ObservableValue.of(scope.anonymous().strategy(Strategy.CALLER), "a");
    text.subscribe(received::add);
    var originalText = text.value();

    text.set(new String("a"));
    text.update(current -> new String("a"));
    assertTrue(text.compareAndSet("a", new String("a")));

    assertEquals(List.of("a"), received);
    assertSame(originalText, text.value());
  }

  @Test
  void updateFunctionRunsAgainWhenValueChangedMeanwhile() {
    var runs = new AtomicInteger();

    int result = value.update(current -> {
      if (runs.incrementAndGet() == 1) value.set(10);
      return current + 1;
    });

    assertEquals(11, result);
    assertEquals(2, runs.get());
  }

  @Test
  void updateWithThrowingFunctionKeepsValue() {
    assertThrows(IllegalStateException.class, () -> value.update(current -> {
      throw new IllegalStateException("no");
    }));

    assertEquals(0, value.value());
  }

  @Test
  void actorsOfFollowersHaveNameOfValueAsPrefix() {
    value.subscribe(received::add);

    assertTrue(scope.dump().contains("level/1"), scope::dump);
  }

  @Test
  void actorOfClosedFollowerEnds() {
    value.subscribe(received::add).close();

    Patience.eventually(() -> !scope.dump().contains("level"));
  }

  @Test
  void followersIgnoreMailboxOfScopeAndBuilder() {
    var boundedValue = ObservableValue.of(scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.REJECT)), 0);
    var gate = new Gate();
    boundedValue.subscribe(current -> {
      gate.pass();
      received.add(current);
    });
    Patience.await(gate.entered);

    for (int i = 1; i < 10; i++) boundedValue.set(i);
    gate.open();

    Patience.eventually(() -> received.size() == 2);
    assertEquals(List.of(0, 9), received);
    assertEquals(List.of(), letters.all);
  }

  @Test
  void interceptorMayHideValuesFromFollower() {
    var evenValue = ObservableValue.of(scope.anonymous().strategy(Strategy.CALLER).<Integer>intercept((n, next) -> {
      if (n % 2 == 0) next.run();
    }), 0);
    evenValue.subscribe(received::add);

    for (int i = 1; i <= 4; i++) evenValue.set(i);

    assertEquals(List.of(0, 2, 4), received);
  }

  @Test
  void retryGivesFollowerTheSameValueAgain() {
    var retriedValue = ObservableValue
        .of(scope.anonymous().strategy(Strategy.CALLER).onFailure(FailurePolicy.resume().withRetries(2).withoutLog()),
            0);
    var tries = new AtomicInteger();
    retriedValue.subscribe(current -> {
      received.add(current);
      if (current > 0) return;
      retriedValue.set(tries.incrementAndGet());
      if (tries.get() < 3) throw new IllegalStateException("no");
    });

    // the follower misses 2, because 1 was being delivered when 2 and 3 were set
    assertEquals(List.of(0, 0, 0, 1, 3), received);
    assertEquals(List.of(), letters.all);
  }

  @Test
  void suspendedFollowerGetsLatestValueAfterRestart() {
    var clock = new io.fibry.time.ManualScheduler();
    try (var innerScope = scope.openScope("inner", o -> o.withScheduler(clock))) {
      var restartingValue = ObservableValue.of(innerScope.anonymous().strategy(Strategy.CALLER).onFailure(
          FailurePolicy.restart().withBackoff(Duration.ofSeconds(1), Duration.ofSeconds(1)).withoutLog()), 0);
      restartingValue.subscribe(current -> {
        received.add(current);
        if (current == 1) throw new IllegalStateException("no");
      });
      for (int i = 1; i <= 5; i++) restartingValue.set(i);

      clock.advance(Duration.ofSeconds(2));

      assertEquals(0, received.getFirst());
      assertEquals(5, received.getLast());
    }
  }

  @Test
  void followerStoppedByItsPolicyGetsNoMoreValues() {
    var stoppingValue =
        ObservableValue.of(scope.anonymous().strategy(Strategy.CALLER).onFailure(FailurePolicy.stop().withoutLog()), 0);
    stoppingValue.subscribe(current -> {
      throw new IllegalStateException("no");
    });

    for (int i = 1; i < 10; i++) stoppingValue.set(i);

    assertEquals(List.of(0), letters.messages());
  }

  @Test
  void valueCanBeSetAfterItsScopeHasClosed() {
    ObservableValue<Integer> outerValue;
    try (var innerScope = scope.openScope("inner")) {
      outerValue = ObservableValue.of(innerScope.anonymous(), 0);
      outerValue.subscribe(received::add);
    }

    outerValue.set(1);

    assertEquals(1, outerValue.value());
    assertEquals(List.of(0), received);
    assertEquals(List.of(), letters.all);
    assertThrows(IllegalStateException.class, () -> outerValue.subscribe(received::add));
  }

  @Test
  void closedSubscriptionGetsNoPendingValue() {
    var fiberValue = ObservableValue.of(scope.anonymous(), 0);
    var gate = new Gate();
    var subscription = fiberValue.subscribe(current -> {
      received.add(current);
      gate.pass();
    });
    Patience.await(gate.entered);
    fiberValue.set(1);

    subscription.close();
    gate.open();
    assertTrue(scope.awaitQuiescence(Patience.LONG));

    assertEquals(List.of(0), received);
    assertEquals(List.of(1), letters.messages(Reason.UNDELIVERED));
  }

  @Test
  void killedFollowerDoesNotAffectValue() {
    try (var innerScope = scope.openScope("inner"); var log = new Logged()) {
      var fiberValue = ObservableValue.of(innerScope.anonymous(), 0);
      var gate = new Gate();
      fiberValue.subscribe(current -> gate.pass());
      Patience.await(gate.entered);

      innerScope.closeWithin(Duration.ZERO);
      fiberValue.set(1);

      assertEquals(1, fiberValue.value());
      assertFalse(log.entriesAbout("inner", "follower", "ObservableValueTest").contains("ERROR"), log::text);
    }
  }

  @Test
  void followerRunsOnPoolWhenBuilderOfValueIsPool() {
    var poolValue = ObservableValue.of(Pools.weighted(scope.anonymous(), 2, (Integer current) -> current), 1);
    try (var log = new Logged()) {
      poolValue.subscribe(received::add);
      Patience.eventually(() -> received.size() == 1);
      // the follower must be idle, or it could get only the last value, 2
      assertTrue(scope.awaitQuiescence(Patience.LONG));

      poolValue.set(3); // heavier than all permits of the pool
      poolValue.set(2);
      Patience.eventually(() -> received.size() == 2);

      assertEquals(List.of(1, 2), received);
      assertTrue(log.text().contains("did not take 3"), log::text);
    }
  }

  @Test
  void exceptionNamesNullArgument() {
    assertEquals("builder", nullPointerMessage(() -> ObservableValue.of(null, 0)));
    assertEquals("initial", nullPointerMessage(() -> ObservableValue.of(scope.anonymous(), null)));
    assertEquals("value", nullPointerMessage(() -> value.set(null)));
    assertEquals("expected", nullPointerMessage(() -> value.compareAndSet(null, 1)));
    assertEquals("value", nullPointerMessage(() -> value.compareAndSet(0, null)));
    assertEquals("change", nullPointerMessage(() -> value.update(null)));
    assertEquals("the changed value is null", nullPointerMessage(() -> value.update(current -> null)));
    assertEquals("follower", nullPointerMessage(() -> value.subscribe(null)));
  }

  static String nullPointerMessage(Runnable call) {
    return assertThrows(NullPointerException.class, call::run).getMessage();
  }
}
