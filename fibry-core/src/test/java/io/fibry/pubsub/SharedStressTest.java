package io.fibry.pubsub;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.Promise;
import io.fibry.Strategy;
import io.fibry.StressHarness;
import io.fibry.Variants;
import io.fibry.pubsub.ObservableMap.Change;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Followers never see an old value after a new one, and always see the last. */
class SharedStressTest {
  private static final int CHANGERS = 3;
  private static final int CHANGES = 300;
  private static final long MILLIS = Soak.ON ? 1_000 : 250;

  private final long seed = StressHarness.seed();

  private interface Round {
    void play(SplittableRandom random, Strategy strategy) throws Exception;
  }

  private void play(String what, Round round) {
    System.out.println(what + ": -Dfibry.seed=" + seed);
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

  private interface Changing {
    void make(int changer, int number, SplittableRandom random);
  }

  private static void changeAtOnce(SplittableRandom random, Changing change) {
    var changers = new ArrayList<Thread>();
    for (int c = 1; c <= CHANGERS; c++) {
      int changer = c;
      var own = random.split();
      changers.add(Patience.startFiber(() -> {
        for (int i = 1; i <= CHANGES; i++) change.make(changer, i, own);
      }));
    }
    changers.forEach(Patience::joined);
  }

  private static void jitter(SplittableRandom random) {
    for (int spins = random.nextInt(200); spins > 0; spins--) Thread.onSpinWait();
  }

  @Promise("21.5")
  @Test
  void aValueIsToldInOrderAndTheLastAlways() {
    play("values", SharedStressTest::values);
  }

  static void values(SplittableRandom random, Strategy strategy) {
    try (var scope = ActorSystem.openScope("stress")) {
      var value = ObservableValue.of(scope.anonymous().strategy(strategy), 0);
      var told = new ArrayList<ConcurrentLinkedQueue<Integer>>();
      for (int i = 0; i < 3; i++) told.add(new ConcurrentLinkedQueue<>());
      told.forEach(one -> value.subscribe(now -> one.add(now)));

      changeAtOnce(random, (changer, number, own) -> {
        value.update(now -> now + 1);
        if (own.nextInt(50) == 0) value.subscribe(now -> jitter(new SplittableRandom(now))).close();
        jitter(own);
      });

      assertEquals(CHANGERS * CHANGES, value.value());
      assertTrue(scope.awaitQuiescence(Patience.LONG));
      for (var one : told) {
        var all = List.copyOf(one);
        assertEquals(all.stream().sorted().distinct().toList(), all);
        assertEquals(CHANGERS * CHANGES, all.getLast());
      }
    }
  }

  /** The change comes just as the follower, through with the one before, comes to rest. */
  @Promise("21.5")
  @Test
  void noChangeIsLostAsTheFollowerComesToRest() {
    play("rests", (random, strategy) -> {
      var value = ObservableValue.of(ActorSystem.anonymous().strategy(strategy), 0);
      var told = new AtomicInteger();
      var subscription = value.subscribe(told::set);
      for (int i = 1; i <= 2_000; i += 2) {
        value.set(i);
        for (int spins = random.nextInt(100); told.get() != i && spins >= 0; spins--) Thread.onSpinWait();
        for (int spins = random.nextInt(20); spins > 0; spins--) Thread.onSpinWait();
        int last = i + 1;
        value.set(last);
        Patience.eventually(() -> told.get() == last);
      }
      subscription.close();
    });
  }

  @Promise("21.7")
  @Test
  void aMapIsToldInTheOrderOfEachKeyAndTheLastAlways() {
    play("maps", SharedStressTest::maps);
  }

  static void maps(SplittableRandom random, Strategy strategy) {
    try (var scope = ActorSystem.openScope("stress")) {
      ObservableMap<Integer, Integer> map = ObservableMap.of(scope.anonymous().strategy(strategy));
      var ofAll = new ConcurrentLinkedQueue<Change<Integer, Integer>>();
      var ofOne = new ConcurrentLinkedQueue<Change<Integer, Integer>>();
      map.subscribe(change -> ofAll.add(change));
      map.subscribe(0, now -> ofOne.add(new Change<>(0, now)));

      changeAtOnce(random, (changer, number, own) -> {
        map.update(0, now -> Optional.of(now.orElse(0) + 1)); // all of them
        if (own.nextInt(3) == 0) map.remove(changer); // its own key
        else map.put(changer, number);
        if (own.nextInt(50) == 0) map.subscribe(change -> {}).close();
        jitter(own);
      });

      assertTrue(scope.awaitQuiescence(Patience.LONG));
      var last = check(ofAll);
      last.values().removeIf(Optional::isEmpty);
      var there = new HashMap<Integer, Optional<Integer>>();
      map.snapshot().forEach((key, value) -> there.put(key, Optional.of(value)));
      assertEquals(there, last);
      assertEquals(Optional.of(CHANGERS * CHANGES), map.value(0));
      assertEquals(map.value(0), check(ofOne).get(0));
    }
  }

  /** Checks the order of each key, and returns the last values. */
  private static Map<Integer, Optional<Integer>> check(Iterable<Change<Integer, Integer>> told) {
    var last = new HashMap<Integer, Optional<Integer>>();
    var highest = new HashMap<Integer, Integer>();
    for (var change : told) {
      var before = last.put(change.key(), change.value());
      assertTrue(!change.value().equals(before), () -> "told twice: " + change);
      int value = change.value().orElse(Integer.MAX_VALUE);
      if (change.value().isPresent() && highest.getOrDefault(change.key(), 0) >= value)
        throw new AssertionError("told " + change + " after " + highest);
      change.value().ifPresent(v -> highest.put(change.key(), v));
    }
    return last;
  }
}
