package io.fibry.pubsub;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.Strategy;
import io.fibry.pubsub.ObservableMap.Change;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.Promise;
import io.fibry.testing.StressRuns;
import io.fibry.testing.Variants;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Tests that followers get values in the order of their changes, and always get the last value. */
class ObservableStressTest {
  private static final int CHANGERS = 3;
  private static final int CHANGES = 300;
  private static final long MILLIS = Soak.ON ? 1_000 : 250;

  private final long seed = StressRuns.seed();

  private interface Round {
    void play(SplittableRandom random, Strategy strategy) throws Exception;
  }

  private void play(String subject, Round round) {
    System.out.println(subject + ": -Dfibry.seed=" + seed);
    var strategies = List.copyOf(Variants.STRATEGIES.values());
    long end = System.nanoTime() + MILLIS * 1_000_000;
    for (int i = 0; i < strategies.size() || System.nanoTime() < end; i++) {
      var strategy = strategies.get(i % strategies.size());
      try {
        round.play(new SplittableRandom(seed + i), strategy);
      } catch (Throwable failure) {
        throw new AssertionError(
            "round " + i + " on " + strategy + ", -Dfibry.seed=" + seed + ": " + failure.getMessage(), failure);
      }
    }
  }

  private interface ChangeCode {
    void make(int changer, int number, SplittableRandom random);
  }

  private static void changeConcurrently(SplittableRandom random, ChangeCode change) {
    var changers = new ArrayList<Thread>();
    for (int c = 1; c <= CHANGERS; c++) {
      int changer = c;
      var ownRandom = random.split();
      changers.add(Patience.startFiber(() -> {
        for (int i = 1; i <= CHANGES; i++) change.make(changer, i, ownRandom);
      }));
    }
    changers.forEach(Patience::awaitEnd);
  }

  private static void spinAtRandom(SplittableRandom random) {
    for (int spins = random.nextInt(200); spins > 0; spins--) Thread.onSpinWait();
  }

  @Promise("21.5")
  @Test
  void followersGetValuesInOrderAndNeverMissLastValue() {
    play("values", ObservableStressTest::playValues);
  }

  static void playValues(SplittableRandom random, Strategy strategy) {
    try (var scope = ActorSystem.openScope("stress")) {
      var value = ObservableValue.of(scope.anonymous().strategy(strategy), 0);
      var receivedLists = new ArrayList<ConcurrentLinkedQueue<Integer>>();
      for (int i = 0; i < 3; i++) receivedLists.add(new ConcurrentLinkedQueue<>());
      receivedLists.forEach(received -> value.subscribe(current -> received.add(current)));

      changeConcurrently(random, (changer, number, ownRandom) -> {
        value.update(current -> current + 1);
        if (ownRandom.nextInt(50) == 0) value.subscribe(current -> spinAtRandom(new SplittableRandom(current))).close();
        spinAtRandom(ownRandom);
      });

      assertEquals(CHANGERS * CHANGES, value.value());
      assertTrue(scope.awaitQuiescence(Patience.LONG));
      for (var received : receivedLists) {
        var values = List.copyOf(received);
        assertEquals(values.stream().sorted().distinct().toList(), values);
        assertEquals(CHANGERS * CHANGES, values.getLast());
      }
    }
  }

  /**
   * Makes the next change at about the moment when the follower becomes idle after the previous
   * change.
   */
  @Promise("21.5")
  @Test
  void noChangeIsLostWhileFollowerBecomesIdle() {
    play("idle followers", (random, strategy) -> {
      var value = ObservableValue.of(ActorSystem.anonymous().strategy(strategy), 0);
      var latestReceived = new AtomicInteger();
      var subscription = value.subscribe(latestReceived::set);
      for (int i = 1; i <= 2_000; i += 2) {
        value.set(i);
        for (int spins = random.nextInt(100); latestReceived.get() != i && spins >= 0; spins--) Thread.onSpinWait();
        for (int spins = random.nextInt(20); spins > 0; spins--) Thread.onSpinWait();
        int last = i + 1;
        value.set(last);
        Patience.eventually(() -> latestReceived.get() == last);
      }
      subscription.close();
    });
  }

  @Promise("21.7")
  @Test
  void mapFollowersGetOrderedChangesAndLastValueOfEachKey() {
    play("maps", ObservableStressTest::playMaps);
  }

  static void playMaps(SplittableRandom random, Strategy strategy) {
    try (var scope = ActorSystem.openScope("stress")) {
      ObservableMap<Integer, Integer> map = ObservableMap.of(scope.anonymous().strategy(strategy));
      var changesOfAllKeys = new ConcurrentLinkedQueue<Change<Integer, Integer>>();
      var changesOfKey0 = new ConcurrentLinkedQueue<Change<Integer, Integer>>();
      map.subscribe(change -> changesOfAllKeys.add(change));
      map.subscribe(0, current -> changesOfKey0.add(new Change<>(0, current)));

      changeConcurrently(random, (changer, number, ownRandom) -> {
        map.update(0, current -> Optional.of(current.orElse(0) + 1)); // the common key of all changers
        if (ownRandom.nextInt(3) == 0) map.remove(changer); // the changer's own key
        else map.put(changer, number);
        if (ownRandom.nextInt(50) == 0) map.subscribe(change -> {}).close();
        spinAtRandom(ownRandom);
      });

      assertTrue(scope.awaitQuiescence(Patience.LONG));
      var lastValues = check(changesOfAllKeys);
      lastValues.values().removeIf(Optional::isEmpty);
      var expected = new HashMap<Integer, Optional<Integer>>();
      map.snapshot().forEach((key, value) -> expected.put(key, Optional.of(value)));
      assertEquals(expected, lastValues);
      assertEquals(Optional.of(CHANGERS * CHANGES), map.value(0));
      assertEquals(map.value(0), check(changesOfKey0).get(0));
    }
  }

  /** Checks the order of the values of each key, and returns the last value of each key. */
  private static Map<Integer, Optional<Integer>> check(Iterable<Change<Integer, Integer>> changes) {
    var lastValues = new HashMap<Integer, Optional<Integer>>();
    var highestValues = new HashMap<Integer, Integer>();
    for (var change : changes) {
      var before = lastValues.put(change.key(), change.value());
      assertTrue(!change.value().equals(before), () -> "received twice: " + change);
      int value = change.value().orElse(Integer.MAX_VALUE);
      if (change.value().isPresent() && highestValues.getOrDefault(change.key(), 0) >= value)
        throw new AssertionError("received " + change + " after " + highestValues);
      change.value().ifPresent(v -> highestValues.put(change.key(), v));
    }
    return lastValues;
  }
}
