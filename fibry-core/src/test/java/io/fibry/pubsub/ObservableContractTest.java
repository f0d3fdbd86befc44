package io.fibry.pubsub;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter.Reason;
import io.fibry.FailurePolicy;
import io.fibry.pubsub.ObservableMap.Change;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.Variants;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests followers of observable values and maps on every strategy. */
class ObservableContractTest {
  private final RecordedLetters letters = new RecordedLetters();
  private final ActorScope scope = ActorSystem.openScope("test", o -> o.withDeadLetterListener(letters));
  private final List<Object> received = new CopyOnWriteArrayList<>();

  static Stream<String> strategies() {
    return Variants.STRATEGIES.keySet().stream();
  }

  private ActorBuilder<Object> builder(String strategy) {
    return scope.anonymous().strategy(Variants.STRATEGIES.get(strategy)).onFailure(FailurePolicy.resume().withoutLog());
  }

  private void assertReceived(Object... expected) {
    Patience.eventually(() -> received.size() >= expected.length);
    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertEquals(List.of(expected), received);
  }

  @AfterEach
  void cleanUp() {
    Gate.openAll();
    scope.closeWithin(Patience.LONG);
  }

  // ---- a value

  @Promise("21.5")
  @ParameterizedTest
  @MethodSource("strategies")
  void followerGetsCurrentValueThenEachChange(String strategy) {
    var value = ObservableValue.of(builder(strategy), 0);
    value.subscribe(received::add);
    assertReceived(0);

    value.set(1);
    assertReceived(0, 1);
    value.update(current -> current + 1);

    assertReceived(0, 1, 2);
  }

  @Promise("21.5")
  @ParameterizedTest
  @MethodSource("strategies")
  void slowFollowerGetsOnlyLatestValue(String strategy) {
    var value = ObservableValue.of(builder(strategy), 0);
    var gate = new Gate();
    Patience.startFiber(() -> value.subscribe(current -> {
      if (current == 0) gate.pass();
      received.add(current);
    }));
    Patience.await(gate.entered);

    for (int i = 1; i <= 1_000; i++) value.set(i);
    long queuedCount = scope.report().queued();
    gate.open();

    assertReceived(0, 1_000);
    assertTrue(queuedCount <= 1, () -> "queued: " + queuedCount);
    assertEquals(List.of(), letters.all);
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void followerMayChangeObservedValue(String strategy) {
    var value = ObservableValue.of(builder(strategy), 0);
    value.subscribe(current -> {
      received.add(current);
      if (current < 5) value.set(current + 1);
    });

    assertReceived(0, 1, 2, 3, 4, 5);
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void valueWhoseHandlingFailedIsDeadLetterAndNotRedelivered(String strategy) {
    var value = ObservableValue.of(builder(strategy), 0);
    value.subscribe(current -> {
      received.add(current);
      if (current == 1) throw new IllegalStateException("no");
    });
    assertReceived(0);

    value.set(1);
    assertReceived(0, 1);
    value.set(2);

    assertReceived(0, 1, 2);
    assertEquals(List.of(1), letters.messages(Reason.FAILED));
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void closedFollowerGetsNoMoreValues(String strategy) {
    var value = ObservableValue.of(builder(strategy), 0);
    var subscription = new CompletableFuture<Subscription>();
    subscription.complete(value.subscribe(current -> {
      received.add(current);
      if (current == 1) subscription.join().close();
    }));
    assertReceived(0);

    value.set(1);
    assertReceived(0, 1);
    value.set(2);

    assertReceived(0, 1);
    assertEquals(List.of(), letters.all);
  }

  private static Change<String, Integer> change(String key, Integer value) {
    return new Change<>(key, Optional.ofNullable(value));
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void mapFollowerGetsCurrentEntriesThenEachChange(String strategy) {
    ObservableMap<String, Integer> map = ObservableMap.of(builder(strategy));
    map.put("a", 1);
    map.subscribe(received::add);
    assertReceived(change("a", 1));

    map.put("b", 1);
    assertReceived(change("a", 1), change("b", 1));
    map.remove("a");

    assertReceived(change("a", 1), change("b", 1), change("a", null));
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void keyFollowerGetsOnlyChangesOfItsKey(String strategy) {
    ObservableMap<String, Integer> map = ObservableMap.of(builder(strategy));
    map.subscribe("a", received::add);
    assertReceived(Optional.empty());

    map.put("b", 1);
    map.put("a", 2);
    assertReceived(Optional.empty(), Optional.of(2));
    map.remove("a");

    assertReceived(Optional.empty(), Optional.of(2), Optional.empty());
  }

  @Promise("21.7")
  @ParameterizedTest
  @MethodSource("strategies")
  void slowMapFollowerGetsOnlyLatestValueOfEachKey(String strategy) {
    ObservableMap<String, Integer> map = ObservableMap.of(builder(strategy));
    map.put("gate", 0);
    var gate = new Gate();
    Patience.startFiber(() -> map.subscribe(change -> {
      if (change.key().equals("gate")) gate.pass();
      received.add(change);
    }));
    Patience.await(gate.entered);

    for (int i = 1; i <= 1_000; i++) map.put(i % 2 == 0 ? "even" : "odd", i);
    map.put("removed before delivery", 1);
    map.remove("removed before delivery");
    gate.open();

    assertReceived(change("gate", 0), change("odd", 999), change("even", 1_000));
    assertEquals(List.of(), letters.all);
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void subscriberMayUpdateMapThatNotifiesIt(String strategy) {
    ObservableMap<String, Integer> map = ObservableMap.of(builder(strategy));
    map.subscribe("a", current -> {
      received.add(current.orElse(0));
      if (current.orElse(0) < 3) map.update("a", value -> Optional.of(value.orElse(0) + 1));
    });

    assertReceived(0, 1, 2, 3);
  }
}
