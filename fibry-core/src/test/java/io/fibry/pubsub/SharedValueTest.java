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
import io.fibry.Gate;
import io.fibry.Letters;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Pools;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SharedValueTest {
  private final Letters letters = new Letters();
  private final ActorScope scope =
      ActorSystem.openScope("test", o -> o.withDeadLetters(letters).withKillGrace(Duration.ofMillis(50)));
  private final ObservableValue<Integer> value = ObservableValue.of(scope.named("level").strategy(Strategy.CALLER), 0);
  private final List<Object> seen = new CopyOnWriteArrayList<>();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
    scope.closeWithin(Patience.LONG);
  }

  @Test
  void valueIsWhatWasSetLast() {
    value.set(5);

    assertEquals(5, value.value());
  }

  @Test
  void updateReturnsNewValue() {
    assertEquals(1, value.update(now -> now + 1));
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
  void anEqualValueIsNoChange() {
    ObservableValue<String> text = ObservableValue.of(scope.anonymous().strategy(Strategy.CALLER), "a");
    text.subscribe(seen::add);
    var before = text.value();

    text.set(new String("a"));
    text.update(now -> new String("a"));
    assertTrue(text.compareAndSet("a", new String("a")));

    assertEquals(List.of("a"), seen);
    assertSame(before, text.value());
  }

  @Test
  void aFunctionIsRunAgainWhereAnotherChangeCameFirst() {
    var runs = new AtomicInteger();

    int now = value.update(before -> {
      if (runs.incrementAndGet() == 1) value.set(10);
      return before + 1;
    });

    assertEquals(11, now);
    assertEquals(2, runs.get());
  }

  @Test
  void aFunctionThatThrowsChangesNothing() {
    assertThrows(IllegalStateException.class, () -> value.update(now -> {
      throw new IllegalStateException("no");
    }));

    assertEquals(0, value.value());
  }

  @Test
  void followersAreNamedBelowTheirValue() {
    value.subscribe(seen::add);

    assertTrue(scope.dump().contains("level/1"), scope::dump);
  }

  @Test
  void theActorOfAFollowerThatLeftEnds() {
    value.subscribe(seen::add).close();

    Patience.eventually(() -> !scope.dump().contains("level"));
  }

  @Test
  void followersIgnoreMailboxOfScopeAndBuilder() {
    var full = ObservableValue.of(scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.REJECT)), 0);
    var gate = new Gate();
    full.subscribe(now -> {
      gate.pass();
      seen.add(now);
    });
    Patience.await(gate.entered);

    for (int i = 1; i < 10; i++) full.set(i);
    gate.open();

    Patience.eventually(() -> seen.size() == 2);
    assertEquals(List.of(0, 9), seen);
    assertEquals(List.of(), letters.all);
  }

  @Test
  void interceptorMayKeepValuesFromFollower() {
    var even = ObservableValue.of(scope.anonymous().strategy(Strategy.CALLER).<Integer>intercept((now, next) -> {
      if (now % 2 == 0) next.run();
    }), 0);
    even.subscribe(seen::add);

    for (int i = 1; i <= 4; i++) even.set(i);

    assertEquals(List.of(0, 2, 4), seen);
  }

  @Test
  void aPolicyThatTriesAgainTellsTheSameValueAgain() {
    var thrice = ObservableValue
        .of(scope.anonymous().strategy(Strategy.CALLER).onFailure(FailurePolicy.resume().withRetries(2).withoutLog()),
            0);
    var tries = new AtomicInteger();
    thrice.subscribe(now -> {
      seen.add(now);
      if (now > 0) return;
      thrice.set(tries.incrementAndGet());
      if (tries.get() < 3) throw new IllegalStateException("no");
    });

    assertEquals(List.of(0, 0, 0, 1, 3), seen); // 1 was being delivered when 2 and 3 came
    assertEquals(List.of(), letters.all);
  }

  @Test
  void aFollowerThatRestsBeforeItsRestartIsToldTheLatest() {
    var clock = new io.fibry.time.ManualScheduler();
    try (var inner = scope.openScope("inner", o -> o.withScheduler(clock))) {
      var restarts = ObservableValue.of(inner.anonymous().strategy(Strategy.CALLER).onFailure(
          FailurePolicy.restart().withBackoff(Duration.ofSeconds(1), Duration.ofSeconds(1)).withoutLog()), 0);
      restarts.subscribe(now -> {
        seen.add(now);
        if (now == 1) throw new IllegalStateException("no");
      });
      for (int i = 1; i <= 5; i++) restarts.set(i);

      clock.advance(Duration.ofSeconds(2));

      assertEquals(0, seen.getFirst());
      assertEquals(5, seen.getLast());
    }
  }

  @Test
  void aFollowerThatItsPolicyStoppedIsForgotten() {
    var stops =
        ObservableValue.of(scope.anonymous().strategy(Strategy.CALLER).onFailure(FailurePolicy.stop().withoutLog()), 0);
    stops.subscribe(now -> {
      throw new IllegalStateException("no");
    });

    for (int i = 1; i < 10; i++) stops.set(i);

    assertEquals(List.of(0), letters.messages());
  }

  @Test
  void valueOutlivesScopeOfItsFollowers() {
    ObservableValue<Integer> outside;
    try (var inner = scope.openScope("inner")) {
      outside = ObservableValue.of(inner.anonymous(), 0);
      outside.subscribe(seen::add);
    }

    outside.set(1);

    assertEquals(1, outside.value());
    assertEquals(List.of(0), seen);
    assertEquals(List.of(), letters.all);
    assertThrows(IllegalStateException.class, () -> outside.subscribe(seen::add));
  }

  @Test
  void valueUnderWayToClosedFollowerIsUndelivered() {
    var fibers = ObservableValue.of(scope.anonymous(), 0);
    var gate = new Gate();
    var subscription = fibers.subscribe(now -> gate.pass());
    Patience.await(gate.entered);
    fibers.set(1);

    subscription.close();
    gate.open();
    assertTrue(scope.awaitQuiescence(Patience.LONG));

    assertTrue(letters.messages(Reason.UNDELIVERED).size() <= 1, letters.messages()::toString);
    assertEquals(List.of(), seen);
  }

  @Test
  void aKilledFollowerHarmsNobody() {
    try (var inner = scope.openScope("inner"); var log = new Logged()) {
      var fibers = ObservableValue.of(inner.anonymous(), 0);
      var gate = new Gate();
      fibers.subscribe(now -> gate.pass());
      Patience.await(gate.entered);

      inner.closeWithin(Duration.ZERO);
      fibers.set(1);

      assertEquals(1, fibers.value());
      assertFalse(log.about("inner", "follower", "SharedValueTest").contains("ERROR"), log::text);
    }
  }

  @Test
  void aFollowerMayBeAPool() {
    var pooled = ObservableValue.of(Pools.weighted(scope.anonymous(), 2, (Integer now) -> now), 1);
    try (var log = new Logged()) {
      pooled.subscribe(seen::add);
      Patience.eventually(() -> seen.size() == 1);
      assertTrue(scope.awaitQuiescence(Patience.LONG)); // else it may be told the 2 only

      pooled.set(3); // too heavy
      pooled.set(2);
      Patience.eventually(() -> seen.size() == 2);

      assertEquals(List.of(1, 2), seen);
      assertTrue(log.text().contains("did not take 3"), log::text);
    }
  }

  @Test
  void nullIsRefusedByName() {
    assertEquals("builder", refused(() -> ObservableValue.of(null, 0)));
    assertEquals("initial", refused(() -> ObservableValue.of(scope.anonymous(), null)));
    assertEquals("value", refused(() -> value.set(null)));
    assertEquals("expected", refused(() -> value.compareAndSet(null, 1)));
    assertEquals("value", refused(() -> value.compareAndSet(0, null)));
    assertEquals("change", refused(() -> value.update(null)));
    assertEquals("the changed value is null", refused(() -> value.update(now -> null)));
    assertEquals("follower", refused(() -> value.subscribe(null)));
  }

  static String refused(Runnable call) {
    return assertThrows(NullPointerException.class, call::run).getMessage();
  }
}
