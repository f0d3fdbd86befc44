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
import io.fibry.Gate;
import io.fibry.Letters;
import io.fibry.Promise;
import io.fibry.mailbox.Mailbox;
import io.fibry.support.Patience;
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

/** See also {@link MapReduceEndTest}. */
class MapReduceTest {
  private final Letters letters = new Letters();
  private final ActorScope scope = ActorSystem.openScope("map-reduce", o -> o.withDeadLetters(letters));

  @AfterEach
  void nothingIsLeft() {
    Gate.openAll();
    Patience.eventually(() -> scope.dump().lines().count() == 1);
    assertEquals(List.of(), letters.messages(), "dead letters");
    scope.close();
  }

  private static List<Integer> upTo(int end) {
    return IntStream.range(0, end).boxed().toList();
  }

  @Test
  void allResultsAreFolded() {
    var sum = MapReduce.start(scope.anonymous(), 8, upTo(10_000), i -> (long) i, 0L, Long::sum);

    assertEquals(49_995_000, Patience.value(sum));
  }

  @Test
  void resultOfNoItemsIsZero() {
    var sum = MapReduce.start(scope.anonymous(), 8, List.<Integer>of(), i -> i, 42, Integer::sum);

    assertEquals(42, Patience.value(sum));
  }

  @Promise("22.7")
  @Test
  void theOrderOfTheItemsIsKeptAndZeroIsFirst() {
    var gates = List.of(new Gate(), new Gate(), new Gate());
    var text = MapReduce.start(scope.anonymous(), 3, upTo(6), i -> {
      if (i < 3) gates.get(i).pass();
      return "" + i;
    }, ">", String::concat);

    for (var gate : gates) Patience.await(gate.entered);
    for (int last : List.of(1, 2, 0)) gates.get(last).open();

    assertEquals(">012345", Patience.value(text));
  }

  @Test
  void parallelItemsAreLimited() {
    var gate = new Gate();
    var inside = new AtomicInteger();
    var sum = MapReduce.start(scope.anonymous(), 3, upTo(20), i -> {
      inside.incrementAndGet();
      gate.pass();
      return i;
    }, 0, Integer::sum);

    Patience.eventually(() -> inside.get() == 3);
    boolean quiet = scope.dump().lines().count() == 4;
    gate.open();

    assertEquals(190, Patience.value(sum));
    assertTrue(quiet);
  }

  @Test
  void actorsAreAtMostItemsPlusOne() {
    var workers = ConcurrentHashMap.<Thread>newKeySet();
    var gate = new Gate();
    var inside = new AtomicInteger();
    var sum = MapReduce.start(scope.anonymous(), Integer.MAX_VALUE, upTo(5), i -> {
      workers.add(Thread.currentThread());
      inside.incrementAndGet();
      gate.pass();
      return i;
    }, 0, Integer::sum);
    Patience.eventually(() -> inside.get() == 5);

    long actors = scope.dump().lines().count() - 1;
    gate.open();

    assertEquals(10, Patience.value(sum));
    assertEquals(5, workers.size());
    assertTrue(actors <= 6, actors + " actors");
  }

  @Promise("22.7")
  @Test
  void itemsAreTakenOneAtATimeAsTheyAreNeeded() {
    var taken = new AtomicInteger();
    var inside = new AtomicInteger();
    var gate = new Gate();
    Iterable<Integer> endless = () -> new Iterator<>() {
      @Override
      public boolean hasNext() {
        assertEquals(1, inside.incrementAndGet());
        Thread.yield();
        inside.decrementAndGet();
        return true;
      }

      @Override
      public Integer next() {
        return taken.incrementAndGet();
      }
    };
    var reached = new CountDownLatch(4);
    var sum = MapReduce.start(scope.anonymous(), 4, endless, i -> {
      if (i <= 100) return i;
      reached.countDown();
      gate.pass();
      return i;
    }, 0, Integer::sum);

    Patience.await(reached);
    sum.cancel(true);

    assertEquals(104, taken.get());
  }

  @Test
  void availableItemIsMappedWhileSourceIsSlow() {
    var source = new Gate();
    var first = new CountDownLatch(1);
    Generator<Integer> slow = Generator.of(scope.anonymous(), 1, out -> {
      out.yield(1);
      source.pass();
      out.yield(2);
    });

    var sum = MapReduce.start(scope.anonymous(), 4, slow, i -> {
      first.countDown();
      return i;
    }, 0, Integer::sum);
    Patience.await(first);
    source.open();

    assertEquals(3, Patience.value(sum));
  }

  @Test
  void reduceRunsOnSingleThreadAtATime() {
    var inside = new AtomicInteger();
    var sum = MapReduce.start(scope.anonymous(), 8, upTo(1_000), i -> new ArrayList<>(List.of(i)),
        new ArrayList<Integer>(), (left, right) -> {
          assertEquals(1, inside.incrementAndGet());
          left.addAll(right);
          inside.decrementAndGet();
          return left;
        });

    assertEquals(upTo(1_000), Patience.value(sum));
  }

  @Test
  void anItemThatFailsIsTriedAgainAsThePolicySays() {
    var tries = new ConcurrentHashMap<Integer, Integer>();
    var sum = MapReduce.start(scope.anonymous().onFailure(FailurePolicy.stop().withRetries(1)), 3, upTo(50), i -> {
      if (tries.merge(i, 1, Integer::sum) == 1) throw new IllegalStateException("at first");
      return i;
    }, 0, Integer::sum);

    assertEquals(1225, Patience.value(sum));
  }

  @Test
  void codeAroundMessagesSeesEachItem() {
    var seen = new CopyOnWriteArrayList<Integer>();
    var builder = scope.anonymous().intercept((Integer item, io.fibry.Handler.Task next) -> {
      seen.add(item);
      next.run();
    });

    var sum = MapReduce.start(builder, 3, upTo(10), i -> i, 0, Integer::sum);

    assertEquals(45, Patience.value(sum));
    assertEquals(new HashSet<>(upTo(10)), new HashSet<>(seen));
  }

  @Test
  void mailboxOfBuilderIsIgnored() {
    var builder = scope.anonymous().mailbox(Mailbox.priority((String a, String b) -> 0));

    assertEquals(45, Patience.value(MapReduce.start(builder, 3, upTo(10), i -> i, 0, Integer::sum)));
  }

  @Test
  void simultaneousMapReducesDoNotShareNames() {
    var builder = scope.named("sum");
    var gate = new Gate();

    var one = MapReduce.start(builder, 2, upTo(10), i -> {
      gate.pass();
      return i;
    }, 0, Integer::sum);
    Patience.await(gate.entered);
    var other = MapReduce.start(builder, 2, upTo(10), i -> i, 0, Integer::sum);

    assertEquals(45, Patience.value(other));
    gate.open();
    assertEquals(45, Patience.value(one));
  }

  @Test
  void callbacksDoNotRunOnAnActorsThread() {
    var workers = ConcurrentHashMap.<Thread>newKeySet();
    var gate = new Gate();
    var sum = MapReduce.start(scope.anonymous(), 1, upTo(3), i -> {
      workers.add(Thread.currentThread());
      gate.pass();
      return i;
    }, 0, Integer::sum);
    var where = sum.thenApply(value -> Thread.currentThread());
    var failed = MapReduce.start(scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()), 1, upTo(3), i -> {
      workers.add(Thread.currentThread());
      gate.pass();
      throw new IllegalStateException();
    }, 0, Integer::sum).handle((value, failure) -> Thread.currentThread());

    gate.open();

    assertFalse(workers.contains(Patience.value(where)));
    assertFalse(workers.contains(Patience.value(failed)));
  }

  @Test
  void badInputIsRefused() {
    var builder = scope.anonymous();
    var items = upTo(1);

    var nobody =
        assertThrows(IllegalArgumentException.class, () -> MapReduce.start(builder, 0, items, i -> i, 0, Integer::sum));

    assertEquals("a map-reduce with 0 items at once would never begin; give at least 1", nobody.getMessage());
    assertNullRefused("builder", () -> MapReduce.start(null, 1, items, i -> i, 0, Integer::sum));
    assertNullRefused("items", () -> MapReduce.start(builder, 1, (List<Integer>) null, i -> i, 0, Integer::sum));
    assertNullRefused("map", () -> MapReduce.start(builder, 1, items, null, 0, Integer::sum));
    assertNullRefused("zero", () -> MapReduce.start(builder, 1, items, i -> i, null, Integer::sum));
    assertNullRefused("reduce", () -> MapReduce.start(builder, 1, items, i -> i, 0, null));
  }

  @Test
  void closedScopeRefusesMapReduce() {
    var closed = ActorSystem.openScope("closed");
    closed.close();

    assertThrows(IllegalStateException.class,
        () -> MapReduce.start(closed.anonymous(), 1, upTo(1), i -> i, 0, Integer::sum));
  }

  @Test
  void nullIsRefusedWhereverItComesFrom() {
    var builder = scope.anonymous().onFailure(FailurePolicy.resume().withoutLog());
    var nullItem = new ArrayList<Integer>();
    nullItem.add(null);

    var failures = List.of(MapReduce.start(builder, 1, nullItem, i -> i, 0, Integer::sum),
        MapReduce.start(builder, 1, upTo(1), i -> (Integer) null, 0, Integer::sum),
        MapReduce.start(builder, 1, upTo(1), i -> i, 0, (a, b) -> null));

    var texts = failures.stream().map(Patience::failure).map(Throwable::getMessage).toList();
    assertEquals(List.of("an item is null", "map answered null; let it answer a result",
        "reduce answered null; let it answer a result"), texts);
  }

  @Test
  void futureBelongsToUser() {
    var gate = new Gate();
    var sum = MapReduce.start(scope.anonymous(), 1, upTo(1), i -> {
      gate.pass();
      return i;
    }, 0, Integer::sum);
    Patience.await(gate.entered);

    sum.complete(7);

    assertSame(CompletableFuture.class, sum.getClass());
    assertEquals(7, sum.join());
  }
}
