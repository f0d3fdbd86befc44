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
import io.fibry.Gate;
import io.fibry.Handler;
import io.fibry.Letters;
import io.fibry.Promise;
import io.fibry.Strategy;
import io.fibry.flow.Generator.Output;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
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

/** An iteration ends by failure or by close, and leaves nothing; see {@link GeneratorLeakTest}. */
class GeneratorEndTest {
  private final Letters letters = new Letters();
  private final ActorScope scope =
      ActorSystem.openScope("generators", o -> o.withDeadLetters(letters).withKillGrace(Duration.ofHours(1)));
  private final FailurePolicy silent = FailurePolicy.resume().withoutLog();

  @AfterEach
  void nothingIsLeft() {
    Gate.openAll();
    awaitNobody();
    assertEquals(List.of(), letters.messages(), "dead letters");
    scope.close();
  }

  private void awaitNobody() {
    Patience.eventually(() -> scope.dump().lines().count() == 1);
  }

  private static Handler<Output<Integer>> endless(CountDownLatch ended) {
    return endless(new CountDownLatch(1), ended);
  }

  /** Tells its begin and end. */
  private static Handler<Output<Integer>> endless(CountDownLatch begun, CountDownLatch ended) {
    return out -> {
      begun.countDown();
      try {
        for (int i = 0;; i++) out.yield(i);
      } finally {
        ended.countDown();
      }
    };
  }

  // ---- failures

  @Promise("22.5")
  @Test
  void aFailureComesAfterTheElementsBeforeItAsItselfAndOnce() {
    var checked = new IOException("no more");
    Generator<Integer> generator = Generator.of(scope.anonymous().onFailure(silent), 10, out -> {
      out.yield(1);
      out.yield(2);
      throw checked;
    });

    try (var reading = generator.iterator()) {
      var read = List.of(reading.next(), reading.next());
      var thrown = assertThrows(Exception.class, reading::hasNext);

      assertEquals(List.of(1, 2), read);
      assertSame(checked, thrown);
      assertEquals("read here", thrown.getSuppressed()[0].getMessage());
      assertFalse(reading.hasNext());
    }
  }

  @Test
  void theJdksOwnExceptionsComeAsTheyWereThrown() {
    for (var own : List.of(new CancellationException("mine"),
        new java.util.concurrent.CompletionException("mine", new IOException()))) {
      Generator<Integer> generator = Generator.of(scope.anonymous().onFailure(silent), 10, out -> {
        throw own;
      });

      assertSame(own, assertThrows(RuntimeException.class, generator.iterator()::next));
    }
  }

  @Test
  void exceptionThrownAgainAndAgainKeepsFourReaders() {
    var always = new IllegalStateException("always");
    Generator<Integer> generator = Generator.of(scope.anonymous().onFailure(silent), 10, out -> {
      throw always;
    });

    for (int i = 0; i < 10; i++) assertThrows(IllegalStateException.class, generator.iterator()::next);

    assertEquals(4, always.getSuppressed().length);
  }

  @Test
  void theFirstFailureEndsTheOtherProducers() {
    var begun = new CountDownLatch(2);
    var ended = new CountDownLatch(2);
    try (var logged = new Logged()) {
      Generator<Integer> generator =
          Generator.of(scope.anonymous(), 1, endless(begun, ended), endless(begun, ended), out -> {
            begun.await();
            throw new IOException("the first");
          });
      var reading = generator.iterator();

      var thrown = assertThrows(IOException.class, () -> {
        while (reading.hasNext()) reading.next();
      });
      Patience.await(ended);
      awaitNobody();

      assertEquals("the first", thrown.getMessage());
      assertEquals(1, logged.about("GeneratorEndTest").lines().filter(line -> line.contains("failed at")).count(),
          logged::text);
    }
  }

  @Test
  void retriedProducerBeginsAnew() {
    var tries = new AtomicInteger();
    Generator<Integer> generator = Generator.of(scope.anonymous().onFailure(silent.withRetries(1)), 10, out -> {
      out.yield(1);
      if (tries.incrementAndGet() == 1) throw new IOException("once");
      out.yield(2);
    });

    assertEquals(List.of(1, 1, 2), generator.stream().toList());
  }

  @Test
  void theReaderIsToldWhenOthersEndAProducer() {
    var started = new CountDownLatch(1);
    var below = scope.openScope("below", o -> o.withStrategy(Strategy.FIBER).withDrainLimit(Duration.ZERO));
    Generator<Integer> generator = Generator.of(below.anonymous(), 2, out -> {
      out.yield(1);
      started.countDown();
      for (;;) out.yield(2);
    });

    var reading = generator.iterator();
    Patience.await(started);
    below.close();

    assertEquals(1, reading.next());
    assertThrows(CancellationException.class, () -> {
      while (reading.hasNext()) reading.next();
    });
  }

  @Test
  void theReaderIsToldWhenAProducerNeverRuns() {
    var pool = Executors.newSingleThreadExecutor();
    pool.shutdown();
    Generator<Integer> generator = Generator.of(scope.anonymous().strategy(Strategy.of(pool)), 1, out -> out.yield(1));

    assertThrows(ActorStoppedException.class, generator.iterator()::hasNext);
  }

  // ---- close

  @Promise("22.6")
  @Test
  void closeEndsProducersThatWaitForRoomAndWaitsForThem() {
    for (var strategy : List.of(Strategy.FIBER, Strategy.THREAD, Strategy.RESIDENT_FIBER)) {
      var begun = new CountDownLatch(2);
      var ended = new CountDownLatch(2);
      try (var logged = new Logged()) {
        var reading = Generator
            .of(scope.named("endless").strategy(strategy), 1, endless(begun, ended), endless(begun, ended)).iterator();
        reading.next();
        Patience.await(begun);
        reading.close();

        assertEquals(0, ended.getCount());
        awaitNobody();
        assertEquals("", logged.about("endless", "Generator"));
      }
    }
  }

  @Test
  void closeEndsProducersOnAnExecutorThatWaitForRoom() {
    var ended = new CountDownLatch(1);
    try (var pool = Executors.newSingleThreadExecutor(); var logged = new Logged()) {
      var reading = Generator.of(scope.anonymous().strategy(Strategy.of(pool)), 1, endless(ended)).iterator();
      reading.next();
      reading.close();

      assertEquals(0, ended.getCount());
      assertEquals("", logged.about("endless", "Generator"));
    }
  }

  @Test
  void closeInterruptsAProducerAtItsWork() {
    var gate = new Gate();
    var interrupted = new CountDownLatch(1);
    Generator<Integer> generator = Generator.of(scope.anonymous(), 1, out -> {
      try {
        gate.pass();
      } catch (InterruptedException told) {
        interrupted.countDown();
        throw told;
      }
    });
    var reading = generator.iterator();
    Patience.await(gate.entered);

    reading.close();

    assertEquals(0, interrupted.getCount());
  }

  @Test
  void closeDoesNotWaitLongerThanTheGrace() {
    var gate = new Gate();
    var hasty = scope.openScope("hasty", o -> o.withKillGrace(Duration.ofMillis(1)));
    Generator<Integer> generator = Generator.of(hasty.anonymous(), 1, out -> gate.passDeaf());
    try (var logged = new Logged()) {
      var reading = generator.iterator();
      Patience.await(gate.entered);

      reading.close();

      Patience.eventually(() -> logged.text().contains("it is cut off"));
    }
    gate.open();
    hasty.close();
  }

  @Test
  void readingWhatWasClosedIsRefused() {
    var reading = Generator.of(scope.anonymous(), 100, endless(new CountDownLatch(1))).iterator();
    reading.next();
    reading.close();
    reading.close();

    var refused = assertThrows(CancellationException.class, reading::hasNext);

    assertEquals("the iteration was closed before its end", refused.getMessage());
    assertThrows(CancellationException.class, reading::next);
  }

  @Test
  void closeAfterTheEndDoesNothing() {
    var reading = Generator.of(scope.anonymous(), 1, out -> {}).iterator();
    var over = reading.hasNext();
    reading.close();

    assertFalse(over);
    assertFalse(reading.hasNext());
  }

  @Test
  void aReaderThatWaitsIsToldOfTheClose() {
    var gate = new Gate();
    var told = new CompletableFuture<Throwable>();
    var reading = Generator.<Integer>of(scope.anonymous(), 1, out -> gate.pass()).iterator();
    var reader = Patience.startFiber(() -> told.complete(assertThrows(CancellationException.class, reading::hasNext)));
    Patience.await(gate.entered);
    Patience.parked(reader);

    reading.close();

    assertEquals("the iteration was closed before its end", Patience.value(told).getMessage());
  }

  @Test
  void anInterruptedCloserWaitsNoLongerAndTheProducersEndAllTheSame() {
    var ended = new CountDownLatch(1);
    var reading = Generator.of(scope.anonymous(), 1, endless(ended)).iterator();
    reading.next();

    Thread.currentThread().interrupt();
    try {
      reading.close();
    } catch (CancellationException interrupted) {
      // unless they ended before
    }

    assertTrue(Thread.interrupted());
    Patience.await(ended);
  }

  @Test
  void aStreamEndsItsProducersWhenItIsClosed() {
    var ended = new CountDownLatch(1);
    List<Integer> first;

    try (var stream = Generator.of(scope.anonymous(), 1, endless(ended)).stream()) {
      first = stream.limit(3).toList();
    }

    assertEquals(List.of(0, 1, 2), first);
    assertEquals(0, ended.getCount());
  }

  // ---- waiting

  @Promise("22.6")
  @Test
  void aReaderThatWaitsIsParked() {
    var gate = new Gate();
    var read = new CompletableFuture<Integer>();
    Generator<Integer> generator = Generator.of(scope.anonymous(), 1, out -> {
      gate.pass();
      out.yield(1);
    });
    var reader = Thread.ofPlatform().daemon().start(() -> read.complete(generator.iterator().next()));
    Patience.await(gate.entered);

    Patience.parked(reader);
    gate.open();

    assertEquals(1, Patience.value(read));
  }

  @Test
  void anInterruptedReaderKeepsTheFlagAndMayReadOn() {
    var gate = new Gate();
    Generator<Integer> generator = Generator.of(scope.anonymous(), 1, out -> {
      gate.pass();
      out.yield(1);
    });
    var reading = generator.iterator();

    Thread.currentThread().interrupt();
    var told = assertThrows(CancellationException.class, reading::hasNext);

    assertEquals("interrupted while waiting for an element of a generator", told.getMessage());
    assertTrue(Thread.interrupted());
    gate.open();
    assertEquals(1, reading.next());
  }

  @Test
  void aSecondReaderIsRefused() {
    var gate = new Gate();
    var reading = Generator.<Integer>of(scope.anonymous(), 1, out -> gate.pass()).iterator();
    var reader = Patience.startFiber(() -> assertFalse(reading.hasNext()));
    Patience.await(gate.entered);
    Patience.parked(reader);

    var refused = assertThrows(IllegalStateException.class, reading::hasNext);

    assertTrue(refused.getMessage().startsWith("an iteration is read by two threads at once"), refused::getMessage);
    gate.open();
    Patience.joined(reader);
  }
}
