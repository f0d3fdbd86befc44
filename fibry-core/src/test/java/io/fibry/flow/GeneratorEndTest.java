package io.fibry.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorStoppedException;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.Handler;
import io.fibry.Strategy;
import io.fibry.engine.scope.Scopes;
import io.fibry.flow.Generator.Output;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests how a failure or a close ends an iteration; see also {@link GeneratorLeakTest}. */
class GeneratorEndTest {
  private final RecordedLetters letters = new RecordedLetters();
  private final ActorScope scope =
      ActorSystem.openScope("generators", o -> o.withDeadLetterListener(letters).withKillGrace(Duration.ofHours(1)));
  private final FailurePolicy silentPolicy = FailurePolicy.resume().withoutLog();

  @AfterEach
  void awaitActorsAndCloseScope() {
    Gate.openAll();
    Scopes.awaitNoActors(scope);
    assertEquals(List.of(), letters.messages(), "dead letters");
    scope.close();
  }

  private static Handler<Output<Integer>> endlessProducer(CountDownLatch endLatch) {
    return endlessProducer(new CountDownLatch(1), endLatch);
  }

  /**
   * Returns a producer that yields forever, and counts the latches down at its start and at its
   * end.
   */
  private static Handler<Output<Integer>> endlessProducer(CountDownLatch startLatch, CountDownLatch endLatch) {
    return out -> {
      startLatch.countDown();
      try {
        for (int i = 0;; i++) out.yield(i);
      } finally {
        endLatch.countDown();
      }
    };
  }

  // ---- failures

  @Promise("22.5")
  @Test
  void readerGetsElementsAndThenExceptionOfProducerOnce() {
    var failure = new IOException("no more");
    Generator<Integer> generator = Generator.of(scope.anonymous().onFailure(silentPolicy), 10, out -> {
      out.yield(1);
      out.yield(2);
      throw failure;
    });

    try (var iterator = generator.iterator()) {
      var elements = List.of(iterator.next(), iterator.next());
      var thrown = assertThrows(Exception.class, iterator::hasNext);

      assertEquals(List.of(1, 2), elements);
      assertSame(failure, thrown);
      assertEquals("read here", thrown.getSuppressed()[0].getMessage());
      assertFalse(iterator.hasNext());
    }
  }

  @Test
  void jdkExceptionsOfProducersAreThrownUnchanged() {
    for (var exception : List.of(new CancellationException("mine"),
        new java.util.concurrent.CompletionException("mine", new IOException()))) {
      Generator<Integer> generator = Generator.of(scope.anonymous().onFailure(silentPolicy), 10, out -> {
        throw exception;
      });

      assertSame(exception, assertThrows(RuntimeException.class, generator.iterator()::next));
    }
  }

  @Test
  void exceptionThrownToManyReadersKeepsFourReaderStacks() {
    var exception = new IllegalStateException("always");
    Generator<Integer> generator = Generator.of(scope.anonymous().onFailure(silentPolicy), 10, out -> {
      throw exception;
    });

    for (int i = 0; i < 10; i++) assertThrows(IllegalStateException.class, generator.iterator()::next);

    assertEquals(4, exception.getSuppressed().length);
  }

  @Test
  void firstFailureEndsOtherProducers() {
    var startLatch = new CountDownLatch(2);
    var endLatch = new CountDownLatch(2);
    try (var logged = new Logged()) {
      Generator<Integer> generator =
          Generator.of(scope.anonymous(), 1, endlessProducer(startLatch, endLatch),
              endlessProducer(startLatch, endLatch), out -> {
                startLatch.await();
                throw new IOException("the first");
              });
      var iterator = generator.iterator();

      var thrown = assertThrows(IOException.class, () -> {
        while (iterator.hasNext()) iterator.next();
      });
      Patience.await(endLatch);
      Scopes.awaitNoActors(scope);

      assertEquals("the first", thrown.getMessage());
      assertEquals(1,
          logged.entriesAbout("GeneratorEndTest").lines().filter(line -> line.contains("failed at")).count(),
          logged::text);
    }
  }

  @Test
  void retriedProducerStartsFromTheBeginning() {
    var tries = new AtomicInteger();
    Generator<Integer> generator = Generator.of(scope.anonymous().onFailure(silentPolicy.withRetries(1)), 10, out -> {
      out.yield(1);
      if (tries.incrementAndGet() == 1) throw new IOException("once");
      out.yield(2);
    });

    assertEquals(List.of(1, 1, 2), generator.stream().toList());
  }

  @Test
  void readerGetsCancellationWhenScopeEndsProducer() {
    var startLatch = new CountDownLatch(1);
    var childScope = scope.openScope("below", o -> o.withStrategy(Strategy.FIBER).withDrainLimit(Duration.ZERO));
    Generator<Integer> generator = Generator.of(childScope.anonymous(), 2, out -> {
      out.yield(1);
      startLatch.countDown();
      for (;;) out.yield(2);
    });

    var iterator = generator.iterator();
    Patience.await(startLatch);
    childScope.close();

    assertEquals(1, iterator.next());
    assertThrows(CancellationException.class, () -> {
      while (iterator.hasNext()) iterator.next();
    });
  }

  @Test
  void readerFailsWhenProducerGetsNoThread() {
    var executor = Executors.newSingleThreadExecutor();
    executor.shutdown();
    Generator<Integer> generator =
        Generator.of(scope.anonymous().strategy(Strategy.of(executor)), 1, out -> out.yield(1));

    assertThrows(ActorStoppedException.class, generator.iterator()::hasNext);
  }

  // ---- close

  @Promise("22.6")
  @Test
  void closeEndsProducersWaitingForCapacityAndAwaitsTheirEnd() {
    for (var strategy : List.of(Strategy.FIBER, Strategy.THREAD, Strategy.RESIDENT_FIBER)) {
      var startLatch = new CountDownLatch(2);
      var endLatch = new CountDownLatch(2);
      try (var logged = new Logged()) {
        var iterator = Generator
            .of(scope.named("endless").strategy(strategy), 1, endlessProducer(startLatch, endLatch),
                endlessProducer(startLatch, endLatch))
            .iterator();
        iterator.next();
        Patience.await(startLatch);
        iterator.close();

        assertEquals(0, endLatch.getCount());
        Scopes.awaitNoActors(scope);
        assertEquals("", logged.entriesAbout("endless", "Generator"));
      }
    }
  }

  @Test
  void closeEndsExecutorProducersWaitingForCapacity() {
    var endLatch = new CountDownLatch(1);
    try (var executor = Executors.newSingleThreadExecutor(); var logged = new Logged()) {
      var iterator = Generator.of(scope.anonymous().strategy(Strategy.of(executor)), 1, endlessProducer(endLatch))
          .iterator();
      iterator.next();
      iterator.close();

      assertEquals(0, endLatch.getCount());
      assertEquals("", logged.entriesAbout("endless", "Generator"));
    }
  }

  @Test
  void closeInterruptsProducerThatIsWorking() {
    var gate = new Gate();
    var interruptLatch = new CountDownLatch(1);
    Generator<Integer> generator = Generator.of(scope.anonymous(), 1, out -> {
      try {
        gate.pass();
      } catch (InterruptedException interrupt) {
        interruptLatch.countDown();
        throw interrupt;
      }
    });
    var iterator = generator.iterator();
    Patience.await(gate.entered);

    iterator.close();

    assertEquals(0, interruptLatch.getCount());
  }

  @Test
  void closeOfIterationWaitsNoLongerThanKillGrace() {
    var gate = new Gate();
    var hastyScope = scope.openScope("hasty", o -> o.withKillGrace(Duration.ofMillis(1)));
    Generator<Integer> generator = Generator.of(hastyScope.anonymous(), 1, out -> gate.passUninterruptibly());
    try (var logged = new Logged()) {
      var iterator = generator.iterator();
      Patience.await(gate.entered);

      iterator.close();

      Patience.eventually(() -> logged.text().contains("it is cut off"));
    }
    gate.open();
    hastyScope.close();
  }

  @Test
  void readingClosedIterationIsRefused() {
    var iterator = Generator.of(scope.anonymous(), 100, endlessProducer(new CountDownLatch(1))).iterator();
    iterator.next();
    iterator.close();
    iterator.close();

    var refusal = assertThrows(CancellationException.class, iterator::hasNext);

    assertEquals("the iteration was closed before its end", refusal.getMessage());
    assertThrows(CancellationException.class, iterator::next);
  }

  @Test
  void closeOfFinishedIterationChangesNothing() {
    var iterator = Generator.of(scope.anonymous(), 1, out -> {}).iterator();
    var hasElement = iterator.hasNext();
    iterator.close();

    assertFalse(hasElement);
    assertFalse(iterator.hasNext());
  }

  @Test
  void closeOfIterationCancelsWaitingReader() {
    var gate = new Gate();
    var readerFailure = new CompletableFuture<Throwable>();
    var iterator = Generator.<Integer>of(scope.anonymous(), 1, out -> gate.pass()).iterator();
    var reader =
        Patience.startFiber(() -> assertThrows(CancellationException.class, iterator::hasNext), readerFailure);
    Patience.await(gate.entered);
    Patience.awaitParked(reader);

    iterator.close();

    assertEquals("the iteration was closed before its end", Patience.value(readerFailure).getMessage());
  }

  @Test
  void interruptedCloseReturnsAndProducersStillEnd() {
    var endLatch = new CountDownLatch(1);
    var iterator = Generator.of(scope.anonymous(), 1, endlessProducer(endLatch)).iterator();
    iterator.next();

    Thread.currentThread().interrupt();
    try {
      iterator.close();
    } catch (CancellationException cancellation) {
      // thrown if the interrupted close had to wait for the producers
    }

    assertTrue(Thread.interrupted());
    Patience.await(endLatch);
  }

  @Test
  void closedStreamEndsItsProducers() {
    var endLatch = new CountDownLatch(1);
    List<Integer> elements;

    try (var stream = Generator.of(scope.anonymous(), 1, endlessProducer(endLatch)).stream()) {
      elements = stream.limit(3).toList();
    }

    assertEquals(List.of(0, 1, 2), elements);
    assertEquals(0, endLatch.getCount());
  }

  // ---- waiting

  @Promise("22.6")
  @Test
  void readerIsParkedUntilProducerYields() {
    var gate = new Gate();
    var element = new CompletableFuture<Integer>();
    Generator<Integer> generator = Generator.of(scope.anonymous(), 1, out -> {
      gate.pass();
      out.yield(1);
    });
    var reader = Thread.ofPlatform().daemon().start(() -> element.complete(generator.iterator().next()));
    Patience.await(gate.entered);

    Patience.awaitParked(reader);
    gate.open();

    assertEquals(1, Patience.value(element));
  }

  @Test
  void interruptedReaderKeepsInterruptFlagAndMayContinue() {
    var gate = new Gate();
    Generator<Integer> generator = Generator.of(scope.anonymous(), 1, out -> {
      gate.pass();
      out.yield(1);
    });
    var iterator = generator.iterator();

    Thread.currentThread().interrupt();
    var cancellation = assertThrows(CancellationException.class, iterator::hasNext);

    assertEquals("interrupted while waiting for an element of a generator", cancellation.getMessage());
    assertTrue(Thread.interrupted());
    gate.open();
    assertEquals(1, iterator.next());
  }

  @Test
  void concurrentReaderIsRefused() {
    var gate = new Gate();
    var iterator = Generator.<Integer>of(scope.anonymous(), 1, out -> gate.pass()).iterator();
    var hasElement = new CompletableFuture<Boolean>();
    var reader = Patience.startFiber(iterator::hasNext, hasElement);
    Patience.await(gate.entered);
    Patience.awaitParked(reader);

    var refusal = assertThrows(IllegalStateException.class, iterator::hasNext);

    assertTrue(refusal.getMessage().startsWith("an iteration is read by two threads at once"), refusal::getMessage);
    gate.open();
    assertFalse(Patience.value(hasElement));
  }
}
