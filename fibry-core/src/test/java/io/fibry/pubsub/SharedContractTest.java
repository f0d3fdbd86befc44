package io.fibry.pubsub;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter.Reason;
import io.fibry.FailurePolicy;
import io.fibry.Gate;
import io.fibry.Letters;
import io.fibry.Promise;
import io.fibry.Variants;
import io.fibry.pubsub.ObservableMap.Change;
import io.fibry.support.Patience;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Followers on every strategy. */
class SharedContractTest {
  private final Letters letters = new Letters();
  private final ActorScope scope = ActorSystem.openScope("test", o -> o.withDeadLetters(letters));
  private final List<Object> seen = new CopyOnWriteArrayList<>();

  static Stream<String> strategies() {
    return Variants.STRATEGIES.keySet().stream();
  }

  private ActorBuilder<Object> builder(String strategy) {
    return scope.anonymous().strategy(Variants.STRATEGIES.get(strategy)).onFailure(FailurePolicy.resume().withoutLog());
  }

  private void sees(Object... all) {
    Patience.eventually(() -> seen.size() >= all.length);
    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertEquals(List.of(all), seen);
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
  void aFollowerIsToldThePresentValueThenEachChange(String strategy) {
    var value = ObservableValue.of(builder(strategy), 0);
    value.subscribe(seen::add);
    sees(0);

    value.set(1);
    sees(0, 1);
    value.update(now -> now + 1);

    sees(0, 1, 2);
  }

  @Promise("21.5")
  @ParameterizedTest
  @MethodSource("strategies")
  void aSlowFollowerIsToldTheLatestOnly(String strategy) {
    var value = ObservableValue.of(builder(strategy), 0);
    var gate = new Gate();
    Patience.startFiber(() -> value.subscribe(now -> {
      if (now == 0) gate.pass();
      seen.add(now);
    }));
    Patience.await(gate.entered);

    for (int i = 1; i <= 1_000; i++) value.set(i);
    long waiting = scope.report().queued();
    gate.open();

    sees(0, 1_000);
    assertTrue(waiting <= 1, () -> "waiting: " + waiting);
    assertEquals(List.of(), letters.all);
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void aFollowerMayChangeTheValueItself(String strategy) {
    var value = ObservableValue.of(builder(strategy), 0);
    value.subscribe(now -> {
      seen.add(now);
      if (now < 5) value.set(now + 1);
    });

    sees(0, 1, 2, 3, 4, 5);
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void valueThatFailedFollowerIsDeadLetterAndNotToldAgain(String strategy) {
    var value = ObservableValue.of(builder(strategy), 0);
    value.subscribe(now -> {
      seen.add(now);
      if (now == 1) throw new IllegalStateException("no");
    });
    sees(0);

    value.set(1);
    sees(0, 1);
    value.set(2);

    sees(0, 1, 2);
    assertEquals(List.of(1), letters.messages(Reason.FAILED));
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void closedFollowerIsToldNothingMore(String strategy) {
    var value = ObservableValue.of(builder(strategy), 0);
    var subscription = new CompletableFuture<Subscription>();
    subscription.complete(value.subscribe(now -> {
      seen.add(now);
      if (now == 1) subscription.join().close();
    }));
    sees(0);

    value.set(1);
    sees(0, 1);
    value.set(2);

    sees(0, 1);
    assertEquals(List.of(), letters.all);
  }

  private static Change<String, Integer> change(String key, Integer value) {
    return new Change<>(key, Optional.ofNullable(value));
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void mapFollowerIsToldPresentEntriesThenEachChange(String strategy) {
    ObservableMap<String, Integer> map = ObservableMap.of(builder(strategy));
    map.put("a", 1);
    map.subscribe(seen::add);
    sees(change("a", 1));

    map.put("b", 1);
    sees(change("a", 1), change("b", 1));
    map.remove("a");

    sees(change("a", 1), change("b", 1), change("a", null));
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void keyFollowerIsToldOfItsKeyOnly(String strategy) {
    ObservableMap<String, Integer> map = ObservableMap.of(builder(strategy));
    map.subscribe("a", seen::add);
    sees(Optional.empty());

    map.put("b", 1);
    map.put("a", 2);
    sees(Optional.empty(), Optional.of(2));
    map.remove("a");

    sees(Optional.empty(), Optional.of(2), Optional.empty());
  }

  @Promise("21.7")
  @ParameterizedTest
  @MethodSource("strategies")
  void aSlowFollowerOfAMapIsToldTheLatestOfEachKey(String strategy) {
    ObservableMap<String, Integer> map = ObservableMap.of(builder(strategy));
    map.put("gate", 0);
    var gate = new Gate();
    Patience.startFiber(() -> map.subscribe(change -> {
      if (change.key().equals("gate")) gate.pass();
      seen.add(change);
    }));
    Patience.await(gate.entered);

    for (int i = 1; i <= 1_000; i++) map.put(i % 2 == 0 ? "even" : "odd", i);
    map.put("came and went", 1);
    map.remove("came and went");
    gate.open();

    sees(change("gate", 0), change("odd", 999), change("even", 1_000));
    assertEquals(List.of(), letters.all);
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void aFollowerMayChangeTheMapItself(String strategy) {
    ObservableMap<String, Integer> map = ObservableMap.of(builder(strategy));
    map.subscribe("a", now -> {
      seen.add(now.orElse(0));
      if (now.orElse(0) < 3) map.update("a", any -> Optional.of(any.orElse(0) + 1));
    });

    sees(0, 1, 2, 3);
  }
}
