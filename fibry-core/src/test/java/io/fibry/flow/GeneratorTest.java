package io.fibry.flow;

import static io.fibry.flow.NullAssertion.assertNullRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.Gate;
import io.fibry.Handler;
import io.fibry.Promise;
import io.fibry.Strategy;
import io.fibry.flow.Generator.Output;
import io.fibry.mailbox.Mailbox;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.Spliterator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class GeneratorTest {
  private final ActorScope scope = ActorSystem.openScope("generators");

  @AfterEach
  void nothingIsLeft() {
    Gate.openAll();
    Patience.eventually(() -> scope.dump().lines().count() == 1);
    scope.close();
  }

  private static Handler<Output<Integer>> upTo(int end) {
    return out -> {
      for (int i = 0; i < end; i++) out.yield(i);
    };
  }

  private static <T> List<T> read(Iterable<T> elements) {
    var all = new ArrayList<T>();
    elements.forEach(all::add);
    return all;
  }

  @Test
  void elementsComeInTheOrderInWhichTheyWereMade() {
    for (int ahead : new int[] {1, 2, 3, 4, 7, 100, Integer.MAX_VALUE}) {
      var read = read(Generator.of(scope.anonymous(), ahead, upTo(1_000)));

      assertEquals(IntStream.range(0, 1_000).boxed().toList(), read, "ahead " + ahead);
    }
  }

  @Test
  void everyIterationStartsTheProducersAnew() {
    var started = new AtomicInteger();
    Generator<Integer> generator = Generator.of(scope.anonymous(), 10, out -> out.yield(started.incrementAndGet()));

    var read = List.of(read(generator), read(generator), generator.stream().toList());

    assertEquals(List.of(List.of(1), List.of(2), List.of(3)), read);
  }

  @Test
  void nothingRunsBeforeItIsRead() {
    var started = new AtomicInteger();
    Generator<Integer> generator = Generator.of(scope.anonymous(), 10, out -> started.incrementAndGet());

    generator.stream().map(i -> i + 1).close();

    assertEquals(0, started.get());
    assertEquals(1, scope.dump().lines().count());
  }

  @Test
  void elementsOfSeveralProducersKeepOrderOfEachProducer() {
    Generator<Integer> generator = Generator.of(scope.anonymous(), 5, upTo(1_000), upTo(1_000), upTo(1_000));

    var read = read(generator);

    var next = new int[1_000]; // how often each number came
    for (int i : read) {
      if (i > 0) assertTrue(next[i] < next[i - 1], "some producer made " + i + " before " + (i - 1));
      next[i]++;
    }
    assertEquals(3_000, read.size());
  }

  @Test
  void iterationsAtTheSameTimeDoNotShareNames() {
    Generator<Integer> generator = Generator.of(scope.named("squares"), 1, upTo(3), upTo(3));

    try (var one = generator.iterator(); var other = generator.iterator()) {
      one.next();
      other.next();
      var names = scope.dump().lines().filter(line -> line.contains("squares/producer-"))
          .map(line -> line.strip().split(" ")[0]).toList();

      assertEquals(4, new HashSet<>(names).size(), names::toString);
    }
  }

  @Promise("22.5")
  @Test
  void producersRunAheadUpToBufferSize() {
    var made = new AtomicInteger();
    var producer = new CompletableFuture<Thread>();
    Generator<Integer> generator = Generator.of(scope.anonymous(), 8, out -> {
      producer.complete(Thread.currentThread());
      for (int i = 0; i < 100; i++) {
        out.yield(i);
        made.incrementAndGet();
      }
    });

    try (var reading = generator.iterator()) {
      Patience.parked(Patience.value(producer));
      int unread = made.get();
      reading.hasNext();
      Patience.parked(producer.join());
      int afterALook = made.get();
      for (int i = 0; i < 4; i++) reading.next();
      Patience.eventually(() -> made.get() == 12);
      Patience.parked(producer.join());

      assertEquals(List.of(8, 8, 12), List.of(unread, afterALook, made.get()));
    }
  }

  @Test
  void elementsTakenButNotReadCountAsUnread() {
    var made = new AtomicInteger();
    int read = 0;
    int most = 0;
    Generator<Integer> generator = Generator.of(scope.anonymous(), 64, out -> {
      for (int i = 0; i < 20_000; i++) {
        out.yield(i);
        made.incrementAndGet();
      }
    });

    for (int i : generator) {
      if (i % 64 == 0) Thread.yield();
      most = Math.max(most, made.get() - ++read);
    }

    assertTrue(most <= 64, most + " were made and not read");
  }

  @Test
  void producersGoOnWhenHalfOfBufferIsFree() {
    var made = new AtomicInteger();
    var gate = new Gate();
    Handler<Output<Integer>> one = out -> {
      out.yield(1);
      made.incrementAndGet();
      gate.pass();
    };
    Generator<Integer> generator =
        Generator.of(scope.anonymous(), 8, IntStream.range(0, 12).mapToObj(i -> one).toArray(GeneratorTest::handlers));

    try (var reading = generator.iterator()) {
      Patience.eventually(() -> made.get() == 8);
      for (int i = 0; i < 4; i++) reading.next();

      Patience.eventually(() -> made.get() == 12);
    }
  }

  @Test
  void allProducersThatWaitForRoomGoOn() {
    Generator<Integer> generator = Generator.of(scope.anonymous(), 1,
        IntStream.range(0, 50).mapToObj(i -> upTo(20)).toArray(GeneratorTest::handlers));

    assertEquals(1_000, generator.stream().count());
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  private static Handler<Output<Integer>>[] handlers(int size) {
    return new Handler[size];
  }

  @Test
  void otherThreadsMayYieldWhileProducerRuns() {
    Generator<Integer> generator = Generator.of(scope.anonymous(), 2, out -> {
      var helpers = IntStream.range(0, 4).mapToObj(i -> Patience.startFiber(() -> out.yield(i))).toList();
      for (var helper : helpers) helper.join();
    });

    assertEquals(Set.of(0, 1, 2, 3), new HashSet<>(read(generator)));
  }

  @Test
  void anOutputIsClosedWhenItsProducerReturns() {
    var kept = new AtomicReference<Output<Integer>>();
    var late = new CompletableFuture<Throwable>();
    Generator<Integer> generator = Generator.of(scope.anonymous(), 1, out -> {
      kept.set(out);
      out.yield(1);
      // while it waits for room
      var helper =
          Patience.startFiber(() -> late.complete(assertThrows(IllegalStateException.class, () -> out.yield(2))));
      Patience.parked(helper);
    });

    try (var reading = generator.iterator()) {
      var waited = Patience.value(late);
      var read = reading.next();
      var afterwards = assertThrows(IllegalStateException.class, () -> kept.get().yield(3));

      assertEquals(1, read);
      assertFalse(reading.hasNext());
      assertEquals(
          "the producer has returned, so nothing more can be yielded; let it wait for the threads that yield for it",
          afterwards.getMessage());
      assertEquals(afterwards.getMessage(), waited.getMessage());
    }
  }

  @Test
  void yieldingNullIsRefused() {
    try (var logged = new Logged()) {
      Generator<Integer> generator = Generator.of(scope.anonymous(), 1, out -> out.yield(null));

      var refused = assertThrows(NullPointerException.class, () -> read(generator));

      assertEquals("element", refused.getMessage());
      Patience.eventually(() -> logged.text().contains("failed at the output of a producer"));
    }
  }

  @Test
  void readingBehindTheEndIsRefused() {
    var reading = Generator.of(scope.anonymous(), 1, upTo(1)).iterator();

    reading.next();

    assertThrows(NoSuchElementException.class, reading::next);
    assertFalse(reading.hasNext());
  }

  @Test
  void handlerMayReadGenerator() {
    Generator<Integer> generator = Generator.of(scope.anonymous(), 1, upTo(10));
    try (var sum =
        scope.anonymous().newActorWithReturn((String question) -> generator.stream().mapToInt(i -> i).sum())) {

      assertEquals(45, sum.ask("sum?"));
    }
  }

  @Test
  void streamIsOrderedOnlyWithSingleProducer() {
    try (var one = Generator.of(scope.anonymous(), 1, upTo(3)).stream();
        var two = Generator.of(scope.anonymous(), 1, upTo(3), upTo(3)).stream()) {
      var ordered = one.spliterator();
      var mixed = two.spliterator();

      assertTrue(ordered.hasCharacteristics(Spliterator.ORDERED | Spliterator.NONNULL));
      assertFalse(ordered.hasCharacteristics(Spliterator.SIZED));
      assertFalse(mixed.hasCharacteristics(Spliterator.ORDERED));
    }
  }

  @Test
  void aParallelStreamReadsAll() {
    long sum = Generator.of(scope.anonymous(), 100, upTo(10_000)).stream().parallel().mapToLong(i -> i).sum();

    assertEquals(49_995_000, sum);
  }

  @Test
  void mailboxOfBuilderIsIgnored() {
    var builder = scope.anonymous().mailbox(Mailbox.priority((Integer a, Integer b) -> a - b));

    assertEquals(List.of(0, 1, 2), read(Generator.of(builder, 1, upTo(3))));
  }

  @Test
  void directStrategyIsRefusedWhenProducerWouldWait() {
    var builder = scope.anonymous().strategy(Runnable::run).onFailure(FailurePolicy.resume().withoutLog());
    Generator<Integer> generator = Generator.of(builder, 2, upTo(3));

    var reading = generator.iterator();
    var read = List.of(reading.next(), reading.next());
    var failure = assertThrows(IllegalStateException.class, reading::next);

    assertEquals(List.of(0, 1), read);
    assertEquals(
        "a producer would have to wait for its reader on the reader's own thread, after 2 elements; give the "
            + "generator a strategy that has threads, such as Strategy.FIBER",
        failure.getMessage());
  }

  @Test
  void onCallersThreadProducersHaveFibers() {
    var where = new CompletableFuture<Thread>();
    Generator<Integer> generator = Generator.of(scope.anonymous().strategy(Strategy.CALLER), 1, out -> {
      where.complete(Thread.currentThread());
      for (int i = 0; i < 10; i++) out.yield(i);
    });

    var read = read(generator);

    assertEquals(10, read.size());
    assertTrue(Patience.value(where).isVirtual());
  }

  @Test
  void badInputIsRefused() {
    var builder = scope.anonymous();

    var noRoom = assertThrows(IllegalArgumentException.class, () -> Generator.of(builder, 0, upTo(1)));
    var nobody = assertThrows(IllegalArgumentException.class, () -> Generator.<Integer>of(builder, 1));

    assertEquals("producers that may be 0 elements ahead could never hand one over; give at least 1",
        noRoom.getMessage());
    assertEquals("a generator without a producer makes nothing; give at least one", nobody.getMessage());
    assertNullRefused("builder", () -> Generator.of(null, 1, upTo(1)));
    assertNullRefused("a producer", () -> Generator.of(builder, 1, upTo(1), null));
  }

  @Test
  void closedScopeRefusesIteration() {
    var closed = ActorSystem.openScope("closed");
    var generator = Generator.of(closed.anonymous(), 1, upTo(1));
    closed.close();

    assertInstanceOf(IllegalStateException.class, assertThrows(RuntimeException.class, generator::iterator));
  }

  @Test
  void startedProducerEndsWhenAnotherCannotStart() {
    var begun = new CountDownLatch(1);
    var ended = new CountDownLatch(1);
    var threads = new AtomicInteger();
    var onlyOne = new Strategy() {
      @Override
      public void activate(Runnable activation) {
        if (threads.incrementAndGet() == 1) {
          Strategy.RESIDENT_FIBER.activate(activation);
          return;
        }
        Patience.await(begun);
        throw new IllegalStateException("no thread (a test)");
      }

      @Override
      public boolean isResident() {
        return true;
      }
    };
    Generator<Integer> generator = Generator.of(scope.anonymous().strategy(onlyOne), 1, out -> {
      begun.countDown();
      try {
        for (int i = 0;; i++) out.yield(i);
      } finally {
        ended.countDown();
      }
    }, upTo(1));

    assertThrows(IllegalStateException.class, generator::iterator);

    Patience.await(ended);
  }
}
