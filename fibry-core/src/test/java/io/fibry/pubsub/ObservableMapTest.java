package io.fibry.pubsub;

import static io.fibry.pubsub.ObservableValueTest.nullPointerMessage;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.Handler;
import io.fibry.Strategy;
import io.fibry.pubsub.ObservableMap.Change;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ObservableMapTest {
  private final ActorScope scope = ActorSystem.openScope("test");
  private final ObservableMap<String, Integer> map = ObservableMap.of(scope.named("stock").strategy(Strategy.CALLER));
  private final List<Object> received = new CopyOnWriteArrayList<>();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
    scope.closeWithin(Patience.LONG);
  }

  @Test
  void valueReturnsLastValueOfKey() {
    map.put("a", 1);
    map.put("a", 2);

    assertEquals(Optional.of(2), map.value("a"));
    assertEquals(Optional.empty(), map.value("b"));
    assertEquals(Map.of("a", 2), map.snapshot());
  }

  @Test
  void removeReturnsRemovedValue() {
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
  void updateMayAddChangeAndRemoveValue() {
    assertEquals(Optional.of(1), map.update("a", current -> current.or(() -> Optional.of(1))));
    assertEquals(Optional.of(2), map.update("a", current -> current.map(a -> a + 1)));
    assertEquals(Optional.empty(), map.update("a", current -> Optional.empty()));
    assertEquals(Map.of(), map.snapshot());
  }

  @Test
  void updateFunctionRunsAgainWhenKeyChangedMeanwhile() {
    var runs = new AtomicInteger();

    var result = map.update("a", current -> {
      map.put("b", runs.get());
      if (runs.incrementAndGet() == 1) map.put("a", 10);
      return Optional.of(current.orElse(0) + 1);
    });

    assertEquals(Optional.of(11), result);
    assertEquals(2, runs.get());
  }

  @Test
  void otherFollowersGetChangeThatOneFollowerCannotTake() {
    ObservableMap<BrittleKey, Integer> brittleMap = ObservableMap.of(
        scope.named("brittle").strategy(Strategy.CALLER).onFailure(FailurePolicy.resume().withoutLog()));
    var key = new BrittleKey();
    brittleMap.subscribe(change -> key.failuresLeft = 1); // the second follower cannot take the change
    brittleMap.subscribe(change -> received.add(-1));
    brittleMap.subscribe(change -> received.add(change.value().orElseThrow()));

    assertThrows(IllegalStateException.class, () -> brittleMap.put(key, 1));

    assertEquals(List.of(1), received);
  }

  private static final class BrittleKey {
    private boolean fails;
    private int failuresLeft;

    @Override
    public int hashCode() {
      if (fails || failuresLeft-- > 0) throw new IllegalStateException("thrown by a test");
      return 1;
    }
  }

  @Test
  void followerGetsAllChangesWhenHashCodeOfKeyFailsOnce() {
    ObservableMap<BrittleKey, Integer> brittleMap = ObservableMap.of(
        scope.named("brittle").strategy(Strategy.CALLER).onFailure(FailurePolicy.resume().withoutLog()));
    var first = new BrittleKey();
    var second = new BrittleKey();
    brittleMap.subscribe(change -> {
      received.add(change.value().orElseThrow());
      if (change.key() != first) return;
      brittleMap.put(second, 2);
      second.fails = true;
    });
    brittleMap.put(first, 1);

    second.fails = false;
    brittleMap.put(new BrittleKey(), 3);

    assertEquals(List.of(1, 2, 3), received);
  }

  @Test
  void changeToEqualValueNotifiesNoFollower() {
    map.put("a", 1_000);
    map.subscribe(received::add);

    map.put("a", Integer.parseInt("1000"));
    map.update("a", current -> current);
    map.remove("b");

    assertEquals(List.of(new Change<>("a", Optional.of(1_000))), received);
  }

  @Test
  void snapshotDoesNotChangeAndIsReadOnly() {
    map.put("a", 1);
    var snapshot = map.snapshot();
    map.put("a", 2);

    assertEquals(Map.of("a", 1), snapshot);
    assertThrows(UnsupportedOperationException.class, snapshot::clear);
  }

  @Test
  void followerGetsKeysInOrderOfTheirFirstChange() {
    ObservableMap<String, Integer> fiberMap = ObservableMap.of(scope.anonymous());
    var gate = new Gate();
    fiberMap.put("gate", 0);
    fiberMap.subscribe(change -> {
      gate.pass();
      received.add(change.key() + change.value().orElse(0));
    });
    Patience.await(gate.entered);

    for (var key : List.of("c", "a", "b", "c")) fiberMap.update(key, current -> Optional.of(current.orElse(0) + 1));
    gate.open();

    Patience.eventually(() -> received.size() == 4);
    assertEquals(List.of("gate0", "c2", "a1", "b1"), received);
  }

  @Test
  void keysAddedAndRemovedMeanwhileAreNotQueuedForSlowFollower() {
    ObservableMap<Integer, Integer> fiberMap = ObservableMap.of(scope.anonymous());
    var gate = new Gate();
    fiberMap.put(-1, 0);
    fiberMap.subscribe(change -> {
      gate.pass();
      received.add(change.key());
    });
    Patience.await(gate.entered);

    for (int i = 0; i < 10_000; i++) {
      fiberMap.put(i, i);
      fiberMap.remove(i);
    }
    fiberMap.put(-2, 0);
    gate.open();

    Patience.eventually(() -> received.contains(-2));
    assertEquals(List.of(-1, -2), received);
  }

  @Test
  void followersOfOtherKeysAreNotCalled() {
    map.subscribe("a", received::add);
    map.subscribe("b", received::add).close();

    map.put("b", 1);

    assertEquals(List.of(Optional.empty(), Optional.empty()), received);
  }

  @Test
  void exceptionNamesNullArgument() {
    Handler<Optional<Integer>> follower = received::add;

    assertEquals("builder", nullPointerMessage(() -> ObservableMap.of(null)));
    assertEquals("key", nullPointerMessage(() -> map.value(null)));
    assertEquals("key", nullPointerMessage(() -> map.put(null, 1)));
    assertEquals("value", nullPointerMessage(() -> map.put("a", null)));
    assertEquals("key", nullPointerMessage(() -> map.remove(null)));
    assertEquals("key", nullPointerMessage(() -> map.compareAndSet(null, 1, 2)));
    assertEquals("expected", nullPointerMessage(() -> map.compareAndSet("a", null, 2)));
    assertEquals("value", nullPointerMessage(() -> map.compareAndSet("a", 1, null)));
    assertEquals("key", nullPointerMessage(() -> map.update(null, current -> current)));
    assertEquals("change", nullPointerMessage(() -> map.update("a", null)));
    assertEquals("the changed value is null; for nothing, answer Optional.empty()",
        nullPointerMessage(() -> map.update("a", current -> null)));
    assertEquals("follower", nullPointerMessage(() -> map.subscribe(null)));
    assertEquals("key", nullPointerMessage(() -> map.subscribe(null, follower)));
    assertEquals("follower", nullPointerMessage(() -> map.subscribe("a", null)));
  }
}
