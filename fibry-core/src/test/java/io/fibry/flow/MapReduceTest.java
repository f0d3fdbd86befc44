package io.fibry.flow;

import static io.fibry.flow.NullAssertion.assertNullRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.engine.scope.Scopes;
import io.fibry.mailbox.Mailbox;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests map-reduces that run to their end; see also {@link MapReduceEndTest}. */
class MapReduceTest {
  private final RecordedLetters letters = new RecordedLetters();
  private final ActorScope scope = ActorSystem.openScope("map-reduce", o -> o.withDeadLetterListener(letters));

  @AfterEach
  void awaitActorsAndCloseScope() {
    Gate.openAll();
    Scopes.awaitNoActors(scope);
    assertEquals(List.of(), letters.messages(), "dead letters");
    scope.close();
  }

  private static List<Integer> numbersBelow(int end) {
    return IntStream.range(0, end).boxed().toList();
  }

  @Test
  void mapReduceReducesResultsOfAllItems() {
    var sum = MapReduce.start(scope.anonymous(), 8, numbersBelow(10_000), i -> (long) i, 0L, Long::sum);

    assertEquals(49_995_000, Patience.value(sum));
  }

  @Test
  void mapReduceOfNoItemsReturnsZeroValue() {
    var sum = MapReduce.start(scope.anonymous(), 8, List.<Integer>of(), i -> i, 42, Integer::sum);

    assertEquals(42, Patience.value(sum));
  }

  @Promise("22.7")
  @Test
  void resultsAreReducedInOrderOfItemsStartingWithZeroValue() {
    var gates = List.of(new Gate(), new Gate(), new Gate());
    var text = MapReduce.start(scope.anonymous(), 3, numbersBelow(6), i -> {
      if (i < 3) gates.get(i).pass();
      return "" + i;
    }, ">", String::concat);

    for (var gate : gates) Patience.await(gate.entered);
    for (int index : List.of(1, 2, 0)) gates.get(index).open();

    assertEquals(">012345", Patience.value(text));
  }

  @Test
  void numberOfItemsMappedAtOnceIsLimited() {
    var gate = new Gate();
    var activeCount = new AtomicInteger();
    var sum = MapReduce.start(scope.anonymous(), 3, numbersBelow(20), i -> {
      activeCount.incrementAndGet();
      gate.pass();
      return i;
    }, 0, Integer::sum);

    Patience.eventually(() -> activeCount.get() == 3);
    boolean hasThreeActors = scope.dump().lines().count() == 4;
    gate.open();

    assertEquals(190, Patience.value(sum));
    assertTrue(hasThreeActors);
  }

  @Test
  void mapReduceOfFiveItemsUsesAtMostSixActors() {
    var workers = ConcurrentHashMap.<Thread>newKeySet();
    var gate = new Gate();
    var activeCount = new AtomicInteger();
    var sum = MapReduce.start(scope.anonymous(), Integer.MAX_VALUE, numbersBelow(5), i -> {
      workers.add(Thread.currentThread());
      activeCount.incrementAndGet();
      gate.pass();
      return i;
    }, 0, Integer::sum);
    Patience.eventually(() -> activeCount.get() == 5);

    long actors = scope.dump().lines().count() - 1;
    gate.open();

    assertEquals(10, Patience.value(sum));
    assertEquals(5, workers.size());
    assertTrue(actors <= 6, actors + " actors");
  }

  @Promise("22.7")
  @Test
  void itemsAreReadByOneActorAtATimeAndOnlyOnDemand() {
    var itemCount = new AtomicInteger();
    var activeCount = new AtomicInteger();
    var gate = new Gate();
    Iterable<Integer> endlessItems = () -> new Iterator<>() {
      @Override
      public boolean hasNext() {
        assertEquals(1, activeCount.incrementAndGet());
        Thread.yield();
        activeCount.decrementAndGet();
        return true;
      }

      @Override
      public Integer next() {
        return itemCount.incrementAndGet();
      }
    };
    var blockedLatch = new CountDownLatch(4);
    var sum = MapReduce.start(scope.anonymous(), 4, endlessItems, i -> {
      if (i <= 100) return i;
      blockedLatch.countDown();
      gate.pass();
      return i;
    }, 0, Integer::sum);

    Patience.await(blockedLatch);
    sum.cancel(true);

    assertEquals(104, itemCount.get());
  }

  @Test
  void itemIsMappedBeforeSlowSourceYieldsNextItem() {
    var gate = new Gate();
    var mappedLatch = new CountDownLatch(1);
    Generator<Integer> slowItems = Generator.of(scope.anonymous(), 1, out -> {
      out.yield(1);
      gate.pass();
      out.yield(2);
    });

    var sum = MapReduce.start(scope.anonymous(), 4, slowItems, i -> {
      mappedLatch.countDown();
      return i;
    }, 0, Integer::sum);
    Patience.await(mappedLatch);
    gate.open();

    assertEquals(3, Patience.value(sum));
  }

  @Test
  void reduceRunsOnSingleThreadAtATime() {
    var activeCount = new AtomicInteger();
    var sum = MapReduce.start(scope.anonymous(), 8, numbersBelow(1_000), i -> new ArrayList<>(List.of(i)),
        new ArrayList<Integer>(), (left, right) -> {
          assertEquals(1, activeCount.incrementAndGet());
          left.addAll(right);
          activeCount.decrementAndGet();
          return left;
        });

    assertEquals(numbersBelow(1_000), Patience.value(sum));
  }

  @Test
  void retryPolicyOfBuilderRetriesFailedItem() {
    var tries = new ConcurrentHashMap<Integer, Integer>();
    var sum =
        MapReduce.start(scope.anonymous().onFailure(FailurePolicy.stop().withRetries(1)), 3, numbersBelow(50), i -> {
          if (tries.merge(i, 1, Integer::sum) == 1) throw new IllegalStateException("at first");
          return i;
        }, 0, Integer::sum);

    assertEquals(1225, Patience.value(sum));
  }

  @Test
  void interceptorSeesEachItem() {
    var items = new CopyOnWriteArrayList<Integer>();
    var builder = scope.anonymous().intercept((Integer item, io.fibry.Handler.Task next) -> {
      items.add(item);
      next.run();
    });

    var sum = MapReduce.start(builder, 3, numbersBelow(10), i -> i, 0, Integer::sum);

    assertEquals(45, Patience.value(sum));
    assertEquals(new HashSet<>(numbersBelow(10)), new HashSet<>(items));
  }

  @Test
  void mailboxOfBuilderIsIgnored() {
    var builder = scope.anonymous().mailbox(Mailbox.priority((String a, String b) -> 0));

    assertEquals(45, Patience.value(MapReduce.start(builder, 3, numbersBelow(10), i -> i, 0, Integer::sum)));
  }

  @Test
  void concurrentMapReducesOfNamedBuilderDoNotConflict() {
    var builder = scope.named("sum");
    var gate = new Gate();

    var slowSum = MapReduce.start(builder, 2, numbersBelow(10), i -> {
      gate.pass();
      return i;
    }, 0, Integer::sum);
    Patience.await(gate.entered);
    var quickSum = MapReduce.start(builder, 2, numbersBelow(10), i -> i, 0, Integer::sum);

    assertEquals(45, Patience.value(quickSum));
    gate.open();
    assertEquals(45, Patience.value(slowSum));
  }

  @Test
  void callbacksOfFutureDoNotRunOnThreadsOfActors() {
    var workers = ConcurrentHashMap.<Thread>newKeySet();
    var gate = new Gate();
    var sum = MapReduce.start(scope.anonymous(), 1, numbersBelow(3), i -> {
      workers.add(Thread.currentThread());
      gate.pass();
      return i;
    }, 0, Integer::sum);
    var callbackThread = sum.thenApply(value -> Thread.currentThread());
    var failureCallbackThread =
        MapReduce.start(scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()), 1, numbersBelow(3), i -> {
          workers.add(Thread.currentThread());
          gate.pass();
          throw new IllegalStateException();
        }, 0, Integer::sum).handle((value, failure) -> Thread.currentThread());

    gate.open();

    assertFalse(workers.contains(Patience.value(callbackThread)));
    assertFalse(workers.contains(Patience.value(failureCallbackThread)));
  }

  @Test
  void invalidMapReduceArgumentsAreRefused() {
    var builder = scope.anonymous();
    var items = numbersBelow(1);

    var refusal =
        assertThrows(IllegalArgumentException.class, () -> MapReduce.start(builder, 0, items, i -> i, 0, Integer::sum));

    assertEquals("a map-reduce with 0 items at once would never begin; give at least 1", refusal.getMessage());
    assertNullRefused("builder", () -> MapReduce.start(null, 1, items, i -> i, 0, Integer::sum));
    assertNullRefused("items", () -> MapReduce.start(builder, 1, (List<Integer>) null, i -> i, 0, Integer::sum));
    assertNullRefused("map", () -> MapReduce.start(builder, 1, items, null, 0, Integer::sum));
    assertNullRefused("zero", () -> MapReduce.start(builder, 1, items, i -> i, null, Integer::sum));
    assertNullRefused("reduce", () -> MapReduce.start(builder, 1, items, i -> i, 0, null));
  }

  @Test
  void closedScopeRefusesMapReduce() {
    var closedScope = ActorSystem.openScope("closed");
    closedScope.close();

    assertThrows(IllegalStateException.class,
        () -> MapReduce.start(closedScope.anonymous(), 1, numbersBelow(1), i -> i, 0, Integer::sum));
  }

  @Test
  void nullItemAndNullResultsFailFuture() {
    var builder = scope.anonymous().onFailure(FailurePolicy.resume().withoutLog());
    var nullItem = new ArrayList<Integer>();
    nullItem.add(null);

    var failures = List.of(MapReduce.start(builder, 1, nullItem, i -> i, 0, Integer::sum),
        MapReduce.start(builder, 1, numbersBelow(1), i -> (Integer) null, 0, Integer::sum),
        MapReduce.start(builder, 1, numbersBelow(1), i -> i, 0, (a, b) -> null));

    var messages = failures.stream().map(Patience::failure).map(Throwable::getMessage).toList();
    assertEquals(List.of("an item is null", "map answered null; let it answer a result",
        "reduce answered null; let it answer a result"), messages);
  }

  @Test
  void futureCompletedByUserKeepsItsValue() {
    var gate = new Gate();
    var sum = MapReduce.start(scope.anonymous(), 1, numbersBelow(1), i -> {
      gate.pass();
      return i;
    }, 0, Integer::sum);
    Patience.await(gate.entered);

    sum.complete(7);

    assertSame(CompletableFuture.class, sum.getClass());
    assertEquals(7, sum.join());
  }
}
