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
import io.fibry.Handler;
import io.fibry.Strategy;
import io.fibry.engine.scope.Scopes;
import io.fibry.flow.Generator.Output;
import io.fibry.mailbox.Mailbox;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.Spliterator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class GeneratorTest {
  private final ActorScope scope = ActorSystem.openScope("generators");

  @AfterEach
  void awaitActorsAndCloseScope() {
    Gate.openAll();
    Scopes.awaitNoActors(scope);
    scope.close();
  }

  private static Handler<Output<Integer>> numbersBelow(int end) {
    return out -> {
      for (int i = 0; i < end; i++) out.yield(i);
    };
  }

  private static <T> List<T> readAll(Iterable<T> elements) {
    var list = new ArrayList<T>();
    elements.forEach(list::add);
    return list;
  }

  @Test
  void elementsComeInTheOrderInWhichTheyWereYielded() {
    for (int bufferSize : new int[] {1, 2, 3, 4, 7, 100, Integer.MAX_VALUE}) {
      var elements = readAll(Generator.of(scope.anonymous(), bufferSize, numbersBelow(1_000)));

      assertEquals(IntStream.range(0, 1_000).boxed().toList(), elements, "buffer size " + bufferSize);
    }
  }

  @Test
  void everyIterationStartsTheProducersAgain() {
    var startCount = new AtomicInteger();
    Generator<Integer> generator = Generator.of(scope.anonymous(), 10, out -> out.yield(startCount.incrementAndGet()));

    var iterations = List.of(readAll(generator), readAll(generator), generator.stream().toList());

    assertEquals(List.of(List.of(1), List.of(2), List.of(3)), iterations);
  }

  @Test
  void producersDoNotStartBeforeStreamIsRead() {
    var startCount = new AtomicInteger();
    Generator<Integer> generator = Generator.of(scope.anonymous(), 10, out -> startCount.incrementAndGet());

    generator.stream().map(i -> i + 1).close();

    assertEquals(0, startCount.get());
    assertEquals(1, scope.dump().lines().count());
  }

  @Test
  void elementsOfSeveralProducersKeepOrderOfEachProducer() {
    Generator<Integer> generator =
        Generator.of(scope.anonymous(), 5, numbersBelow(1_000), numbersBelow(1_000), numbersBelow(1_000));

    var elements = readAll(generator);

    var counts = new int[1_000]; // how often each number has been read
    for (int i : elements) {
      if (i > 0) assertTrue(counts[i] < counts[i - 1], "a producer yielded " + i + " before " + (i - 1));
      counts[i]++;
    }
    assertEquals(3_000, elements.size());
  }

  @Test
  void producersOfConcurrentIterationsHaveDifferentNames() {
    Generator<Integer> generator = Generator.of(scope.named("squares"), 1, numbersBelow(3), numbersBelow(3));

    try (var firstIterator = generator.iterator(); var secondIterator = generator.iterator()) {
      firstIterator.next();
      secondIterator.next();
      var names = scope.dump().lines().filter(line -> line.contains("squares/producer-"))
          .map(line -> line.strip().split(" ")[0]).toList();

      assertEquals(4, new HashSet<>(names).size(), names::toString);
    }
  }

  @Promise("22.5")
  @Test
  void producersRunAheadUpToBufferSize() {
    var yieldCount = new AtomicInteger();
    var producer = new CompletableFuture<Thread>();
    Generator<Integer> generator = Generator.of(scope.anonymous(), 8, out -> {
      producer.complete(Thread.currentThread());
      for (int i = 0; i < 100; i++) {
        out.yield(i);
        yieldCount.incrementAndGet();
      }
    });

    try (var iterator = generator.iterator()) {
      Patience.awaitParked(Patience.value(producer));
      int countBeforeReading = yieldCount.get();
      iterator.hasNext();
      Patience.awaitParked(producer.join());
      int countAfterHasNext = yieldCount.get();
      for (int i = 0; i < 4; i++) iterator.next();
      Patience.eventually(() -> yieldCount.get() == 12);
      Patience.awaitParked(producer.join());

      assertEquals(List.of(8, 8, 12), List.of(countBeforeReading, countAfterHasNext, yieldCount.get()));
    }
  }

  @Test
  void unreadElementsNeverExceedBufferSize() {
    var yieldCount = new AtomicInteger();
    int readCount = 0;
    int maxUnread = 0;
    Generator<Integer> generator = Generator.of(scope.anonymous(), 64, out -> {
      for (int i = 0; i < 20_000; i++) {
        out.yield(i);
        yieldCount.incrementAndGet();
      }
    });

    for (int i : generator) {
      if (i % 64 == 0) Thread.yield();
      maxUnread = Math.max(maxUnread, yieldCount.get() - ++readCount);
    }

    assertTrue(maxUnread <= 64, maxUnread + " elements were yielded and not read");
  }

  @Test
  void waitingProducersContinueWhenHalfOfBufferIsFree() {
    var threads = new CopyOnWriteArrayList<Thread>();
    var yieldCount = new AtomicInteger();
    var gate = new Gate();
    Handler<Output<Integer>> producer = out -> {
      threads.add(Thread.currentThread());
      out.yield(1);
      yieldCount.incrementAndGet();
      gate.pass();
    };
    Generator<Integer> generator =
        Generator.of(scope.anonymous(), 8,
            IntStream.range(0, 12).mapToObj(i -> producer).toArray(GeneratorTest::newHandlerArray));

    try (var iterator = generator.iterator()) {
      // waits until all producers have yielded or wait for capacity: a producer that started later
      // would take the capacity that the reader frees
      Patience.eventually(() -> threads.size() == 12 && threads.stream().allMatch(Patience::isParked));
      assertEquals(8, yieldCount.get());
      for (int i = 0; i < 4; i++) iterator.next();

      Patience.eventually(() -> yieldCount.get() == 12);
    }
  }

  @Test
  void manyWaitingProducersDeliverAllElements() {
    Generator<Integer> generator = Generator.of(scope.anonymous(), 1,
        IntStream.range(0, 50).mapToObj(i -> numbersBelow(20)).toArray(GeneratorTest::newHandlerArray));

    assertEquals(1_000, generator.stream().count());
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  private static Handler<Output<Integer>>[] newHandlerArray(int size) {
    return new Handler[size];
  }

  @Test
  void otherThreadsMayYieldWhileProducerRuns() {
    Generator<Integer> generator = Generator.of(scope.anonymous(), 2, out -> {
      var helpers = IntStream.range(0, 4).mapToObj(i -> Patience.startFiber(() -> out.yield(i))).toList();
      helpers.forEach(Patience::awaitEnd);
    });

    assertEquals(Set.of(0, 1, 2, 3), new HashSet<>(readAll(generator)));
  }

  @Test
  void yieldIsRefusedAfterProducerHasReturned() {
    var output = new AtomicReference<Output<Integer>>();
    var helperFailure = new CompletableFuture<Throwable>();
    Generator<Integer> generator = Generator.of(scope.anonymous(), 1, out -> {
      output.set(out);
      out.yield(1);
      // the producer returns while this call waits for capacity
      var helper =
          Patience.startFiber(() -> assertThrows(IllegalStateException.class,
              () -> out.yield(2)), helperFailure);
      Patience.awaitParked(helper);
    });

    try (var iterator = generator.iterator()) {
      var failureOfWaitingCall = Patience.value(helperFailure);
      var element = iterator.next();
      var failureOfLaterCall = assertThrows(IllegalStateException.class, () -> output.get().yield(3));

      assertEquals(1, element);
      assertFalse(iterator.hasNext());
      assertEquals(
          "the producer has returned, so nothing more can be yielded; let it wait for the threads that yield for it",
          failureOfLaterCall.getMessage());
      assertEquals(failureOfLaterCall.getMessage(), failureOfWaitingCall.getMessage());
    }
  }

  @Test
  void yieldingNullIsRefused() {
    try (var logged = new Logged()) {
      Generator<Integer> generator = Generator.of(scope.anonymous(), 1, out -> out.yield(null));

      var refusal = assertThrows(NullPointerException.class, () -> readAll(generator));

      assertEquals("element", refusal.getMessage());
      Patience.eventually(() -> logged.text().contains("failed at the output of a producer"));
    }
  }

  @Test
  void readingPastTheEndIsRefused() {
    var iterator = Generator.of(scope.anonymous(), 1, numbersBelow(1)).iterator();

    iterator.next();

    assertThrows(NoSuchElementException.class, iterator::next);
    assertFalse(iterator.hasNext());
  }

  @Test
  void handlerMayReadGenerator() {
    Generator<Integer> generator = Generator.of(scope.anonymous(), 1, numbersBelow(10));
    try (var summingActor =
        scope.anonymous().newActorWithReturn((String question) -> generator.stream().mapToInt(i -> i).sum())) {

      assertEquals(45, summingActor.ask("sum?"));
    }
  }

  @Test
  void streamIsOrderedOnlyWithSingleProducer() {
    try (var streamOfOneProducer = Generator.of(scope.anonymous(), 1, numbersBelow(3)).stream();
        var streamOfTwoProducers = Generator.of(scope.anonymous(), 1, numbersBelow(3), numbersBelow(3)).stream()) {
      var orderedSpliterator = streamOfOneProducer.spliterator();
      var unorderedSpliterator = streamOfTwoProducers.spliterator();

      assertTrue(orderedSpliterator.hasCharacteristics(Spliterator.ORDERED | Spliterator.NONNULL));
      assertFalse(orderedSpliterator.hasCharacteristics(Spliterator.SIZED));
      assertFalse(unorderedSpliterator.hasCharacteristics(Spliterator.ORDERED));
    }
  }

  @Test
  void parallelStreamReadsAllElements() {
    long sum = Generator.of(scope.anonymous(), 100, numbersBelow(10_000)).stream().parallel().mapToLong(i -> i).sum();

    assertEquals(49_995_000, sum);
  }

  @Test
  void mailboxOfBuilderIsIgnored() {
    var builder = scope.anonymous().mailbox(Mailbox.priority((Integer a, Integer b) -> a - b));

    assertEquals(List.of(0, 1, 2), readAll(Generator.of(builder, 1, numbersBelow(3))));
  }

  @Test
  void readerFailsIfProducerOnItsOwnThreadFillsBuffer() {
    var builder = scope.anonymous().strategy(Runnable::run).onFailure(FailurePolicy.resume().withoutLog());
    Generator<Integer> generator = Generator.of(builder, 2, numbersBelow(3));

    var iterator = generator.iterator();
    var elements = List.of(iterator.next(), iterator.next());
    var failure = assertThrows(IllegalStateException.class, iterator::next);

    assertEquals(List.of(0, 1), elements);
    assertEquals(
        "a producer would have to wait for its reader on the reader's own thread, after 2 elements; give the "
            + "generator a strategy that has threads, such as Strategy.FIBER",
        failure.getMessage());
  }

  @Test
  void producersOfCallerStrategyRunOnFibers() {
    var producerThread = new CompletableFuture<Thread>();
    Generator<Integer> generator = Generator.of(scope.anonymous().strategy(Strategy.CALLER), 1, out -> {
      producerThread.complete(Thread.currentThread());
      for (int i = 0; i < 10; i++) out.yield(i);
    });

    var elements = readAll(generator);

    assertEquals(10, elements.size());
    assertTrue(Patience.value(producerThread).isVirtual());
  }

  @Test
  void invalidGeneratorArgumentsAreRefused() {
    var builder = scope.anonymous();

    var noCapacity = assertThrows(IllegalArgumentException.class, () -> Generator.of(builder, 0, numbersBelow(1)));
    var noProducer = assertThrows(IllegalArgumentException.class, () -> Generator.<Integer>of(builder, 1));

    assertEquals("a buffer of 0 elements could never hold the next element; give at least 1",
        noCapacity.getMessage());
    assertEquals("a generator without a producer makes nothing; give at least one", noProducer.getMessage());
    assertNullRefused("builder", () -> Generator.of(null, 1, numbersBelow(1)));
    assertNullRefused("a producer", () -> Generator.of(builder, 1, numbersBelow(1), null));
  }

  @Test
  void closedScopeRefusesIteration() {
    var closedScope = ActorSystem.openScope("closed");
    var generator = Generator.of(closedScope.anonymous(), 1, numbersBelow(1));
    closedScope.close();

    assertInstanceOf(IllegalStateException.class, assertThrows(RuntimeException.class, generator::iterator));
  }

  @Test
  void startedProducerEndsWhenOtherProducerGetsNoThread() {
    var startLatch = new CountDownLatch(1);
    var endLatch = new CountDownLatch(1);
    var threadCount = new AtomicInteger();
    var oneThreadStrategy = new Strategy() {
      @Override
      public void activate(Runnable activation) {
        if (threadCount.incrementAndGet() == 1) {
          Strategy.RESIDENT_FIBER.activate(activation);
          return;
        }
        Patience.await(startLatch);
        throw new IllegalStateException("no thread (planned by the test)");
      }

      @Override
      public boolean isResident() {
        return true;
      }
    };
    Generator<Integer> generator = Generator.of(scope.anonymous().strategy(oneThreadStrategy), 1, out -> {
      startLatch.countDown();
      try {
        for (int i = 0;; i++) out.yield(i);
      } finally {
        endLatch.countDown();
      }
    }, numbersBelow(1));

    assertThrows(IllegalStateException.class, generator::iterator);

    Patience.await(endLatch);
  }
}
