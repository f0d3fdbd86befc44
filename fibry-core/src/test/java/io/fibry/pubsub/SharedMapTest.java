package io.fibry.pubsub;

import static io.fibry.pubsub.SharedValueTest.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Gate;
import io.fibry.Handler;
import io.fibry.Strategy;
import io.fibry.pubsub.ObservableMap.Change;
import io.fibry.support.Patience;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SharedMapTest {
  private final ActorScope scope = ActorSystem.openScope("test");
  private final ObservableMap<String, Integer> map = ObservableMap.of(scope.named("stock").strategy(Strategy.CALLER));
  private final List<Object> seen = new CopyOnWriteArrayList<>();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
    scope.closeWithin(Patience.LONG);
  }

  @Test
  void aKeyHasWhatWasPutLast() {
    map.put("a", 1);
    map.put("a", 2);

    assertEquals(Optional.of(2), map.value("a"));
    assertEquals(Optional.empty(), map.value("b"));
    assertEquals(Map.of("a", 2), map.snapshot());
  }

  @Test
  void removeAnswersWhatWasThere() {
    map.put("a", 1);

    assertEquals(Optional.of(1), map.remove("a"));
    assertEquals(Optional.empty(), map.remove("a"));
    assertEquals(Optional.empty(), map.value("a"));
  }

  @Test
  void compareAndSetComparesByEquals() {
    map.put("a", 1_000);

    assertTrue(map.compareAndSet("a", Integer.parseInt("1000"), 2));
    assertFalse(map.compareAndSet("a", 1_000, 3));
    assertFalse(map.compareAndSet("b", 1_000, 3));
    assertEquals(Map.of("a", 2), map.snapshot());
  }

  @Test
  void updateMayMakeChangeAndTakeAway() {
    assertEquals(Optional.of(1), map.update("a", now -> now.or(() -> Optional.of(1))));
    assertEquals(Optional.of(2), map.update("a", now -> now.map(a -> a + 1)));
    assertEquals(Optional.empty(), map.update("a", now -> Optional.empty()));
    assertEquals(Map.of(), map.snapshot());
  }

  @Test
  void aFunctionIsRunAgainWhereAnotherChangeOfTheKeyCameFirst() {
    var runs = new AtomicInteger();

    var now = map.update("a", before -> {
      map.put("b", runs.get());
      if (runs.incrementAndGet() == 1) map.put("a", 10);
      return Optional.of(before.orElse(0) + 1);
    });

    assertEquals(Optional.of(11), now);
    assertEquals(2, runs.get());
  }

  @Test
  void anEqualValueIsNoChange() {
    map.put("a", 1_000);
    map.subscribe(seen::add);

    map.put("a", Integer.parseInt("1000"));
    map.update("a", now -> now);
    map.remove("b");

    assertEquals(List.of(new Change<>("a", Optional.of(1_000))), seen);
  }

  @Test
  void aSnapshotIsOfOneMomentAndCannotBeChanged() {
    map.put("a", 1);
    var before = map.snapshot();
    map.put("a", 2);

    assertEquals(Map.of("a", 1), before);
    assertThrows(UnsupportedOperationException.class, before::clear);
  }

  @Test
  void longestWaitingKeyIsToldFirst() {
    ObservableMap<String, Integer> fibers = ObservableMap.of(scope.anonymous());
    var gate = new Gate();
    fibers.put("gate", 0);
    fibers.subscribe(change -> {
      gate.pass();
      seen.add(change.key() + change.value().orElse(0));
    });
    Patience.await(gate.entered);

    for (var key : List.of("c", "a", "b", "c")) fibers.update(key, now -> Optional.of(now.orElse(0) + 1));
    gate.open();

    Patience.eventually(() -> seen.size() == 4);
    assertEquals(List.of("gate0", "c2", "a1", "b1"), seen);
  }

  @Test
  void keysThatComeAndGoDoNotPileUpForASlowFollower() {
    ObservableMap<Integer, Integer> fibers = ObservableMap.of(scope.anonymous());
    var gate = new Gate();
    fibers.put(-1, 0);
    fibers.subscribe(change -> {
      gate.pass();
      seen.add(change.key());
    });
    Patience.await(gate.entered);

    for (int i = 0; i < 10_000; i++) {
      fibers.put(i, i);
      fibers.remove(i);
    }
    fibers.put(-2, 0);
    gate.open();

    Patience.eventually(() -> seen.contains(-2));
    assertEquals(List.of(-1, -2), seen);
  }

  @Test
  void followersOfOtherKeysAreNotAsked() {
    map.subscribe("a", seen::add);
    map.subscribe("b", seen::add).close();

    map.put("b", 1);

    assertEquals(List.of(Optional.empty(), Optional.empty()), seen);
  }

  @Test
  void nullIsRefusedByName() {
    Handler<Optional<Integer>> follower = seen::add;

    assertEquals("builder", refused(() -> ObservableMap.of(null)));
    assertEquals("key", refused(() -> map.value(null)));
    assertEquals("key", refused(() -> map.put(null, 1)));
    assertEquals("value", refused(() -> map.put("a", null)));
    assertEquals("key", refused(() -> map.remove(null)));
    assertEquals("key", refused(() -> map.compareAndSet(null, 1, 2)));
    assertEquals("expected", refused(() -> map.compareAndSet("a", null, 2)));
    assertEquals("value", refused(() -> map.compareAndSet("a", 1, null)));
    assertEquals("key", refused(() -> map.update(null, now -> now)));
    assertEquals("change", refused(() -> map.update("a", null)));
    assertEquals("the changed value is null; for nothing, answer Optional.empty()",
        refused(() -> map.update("a", now -> null)));
    assertEquals("follower", refused(() -> map.subscribe(null)));
    assertEquals("key", refused(() -> map.subscribe(null, follower)));
    assertEquals("follower", refused(() -> map.subscribe("a", null)));
  }
}
