package io.fibry.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorStoppedException;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.Gate;
import io.fibry.Handler;
import io.fibry.LeakProbe;
import io.fibry.Letters;
import io.fibry.Promise;
import io.fibry.Strategy;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A map-reduce that fails, is cancelled, or loses actors stops and tells it. */
class MapReduceEndTest {
  private final Letters letters = new Letters();
  private final ActorScope scope = ActorSystem.openScope("map-reduce", o -> o.withDeadLetters(letters));
  private final FailurePolicy silent = FailurePolicy.resume().withoutLog();
  private final Iterable<Integer> endless = () -> IntStream.iterate(0, i -> i + 1).iterator();

  @AfterEach
  void nothingIsLeft() {
    Gate.openAll();
    try (scope) {
      Patience.eventually(() -> scope.dump().lines().count() == 1);
      assertEquals(List.of(), letters.messages(), "dead letters");
    }
  }

  /** Maps until it is interrupted. */
  private static Handler.Returning<Integer, Integer> standing(CountDownLatch entered, CountDownLatch interrupted) {
    return i -> {
      entered.countDown();
      try {
        new Gate().pass();
      } catch (InterruptedException told) {
        interrupted.countDown();
        throw told;
      }
      return i;
    };
  }

  @Promise("22.7")
  @Test
  void failureInMapFailsFutureAndInterruptsOtherActors() {
    var failure = new IOException("the last");
    var entered = new CountDownLatch(3);
    var interrupted = new CountDownLatch(3);
    try (var logged = new Logged()) {
      var sum = MapReduce.start(scope.anonymous(), 4, endless, i -> {
        if (i < 3) return standing(entered, interrupted).handle(i);
        entered.await();
        throw failure;
      }, 0, Integer::sum);

      assertSame(failure, Patience.failure(sum));
      Patience.await(interrupted);
      Patience.eventually(() -> scope.dump().lines().count() == 1);
      assertEquals(1, logged.about("MapReduceEndTest").lines().filter(line -> line.contains("failed at")).count(),
          logged::text);
    }
  }

  @Test
  void failureInMapIsForFailurePolicy() {
    var escalated = ActorSystem.openScope("around", o -> o.withFailurePolicy(FailurePolicy.stop()));
    var below = escalated.openScope("below", o -> o.withFailurePolicy(FailurePolicy.escalate()));
    try (var logged = new Logged()) {
      var sum = MapReduce.start(below.anonymous().onFailure(FailurePolicy.escalate()), 1, endless, i -> {
        throw new IOException("up");
      }, 0, Integer::sum);

      assertEquals("up", Patience.failure(sum).getMessage());
      Patience.eventually(() -> logged.text().contains("decides: it stops"));
    }
    escalated.close();
  }

  @Test
  void interceptorThatSkipsItemFailsFuture() {
    var builder = scope.anonymous().onFailure(silent).intercept((Integer item, Handler.Task next) -> {
      if (item < 3) next.run();
    });

    assertInstanceOf(io.fibry.NoReplyException.class,
        Patience.failure(MapReduce.start(builder, 2, endless, i -> i, 0, Integer::sum)));
  }

  @Test
  void failureInReduceFailsFuture() {
    var sum = MapReduce.start(scope.anonymous(), 4, endless, i -> i, 0, (a, b) -> {
      if (a == 100 || b == 100) throw new IllegalStateException("a hundred");
      return b;
    });

    assertEquals("a hundred", Patience.failure(sum).getMessage());
  }

  @Test
  void failureInItemsFailsFuture() {
    Iterable<Integer> noIterator = () -> {
      throw new IllegalStateException("iterator");
    };
    Iterable<Integer> noNext = () -> new Iterator<>() {
      private int next;

      @Override
      public boolean hasNext() {
        return true;
      }

      @Override
      public Integer next() {
        if (next == 10) throw new IllegalStateException("next");
        return next++;
      }
    };

    var failures = List.of(MapReduce.start(scope.anonymous(), 2, noIterator, i -> i, 0, Integer::sum),
        MapReduce.start(scope.anonymous(), 2, noNext, i -> i, 0, Integer::sum));

    assertEquals(List.of("iterator", "next"),
        failures.stream().map(Patience::failure).map(Throwable::getMessage).toList());
  }

  // ---- from outside

  @Promise("22.7")
  @Test
  void completingTheFutureInAnyWayInterruptsThoseAtWork() {
    for (Consumer<CompletableFuture<Integer>> way : List.<Consumer<CompletableFuture<Integer>>>of(f -> f.cancel(false),
        f -> f.complete(1), f -> f.completeExceptionally(new IOException()))) {
      var entered = new CountDownLatch(2);
      var interrupted = new CountDownLatch(2);
      try (var logged = new Logged()) {
        var sum = MapReduce.start(scope.anonymous(), 2, endless, standing(entered, interrupted), 0, Integer::sum);
        Patience.await(entered);

        way.accept(sum);

        Patience.await(interrupted);
        Patience.eventually(() -> scope.dump().lines().count() == 1);
        assertEquals("", logged.about("map-reduce", "MapReduce"));
      }
    }
  }

  @Test
  void aTimeOutOfTheFutureInterruptsThoseAtWork() {
    var entered = new CountDownLatch(1);
    var interrupted = new CountDownLatch(1);
    var sum = MapReduce.start(scope.anonymous(), 1, endless, standing(entered, interrupted), 0, Integer::sum);
    Patience.await(entered);

    sum.orTimeout(1, TimeUnit.MILLISECONDS);

    Patience.await(interrupted);
    assertInstanceOf(TimeoutException.class, Patience.failure(sum));
  }

  @Test
  void actorThatWaitsForItemIsInterruptedByCancel() {
    var gate = new Gate();
    var interrupted = new CountDownLatch(1);
    Iterable<Integer> slow = () -> new Iterator<>() {
      @Override
      public boolean hasNext() {
        try {
          gate.pass();
        } catch (InterruptedException told) {
          interrupted.countDown();
        }
        return false;
      }

      @Override
      public Integer next() {
        throw new AssertionError();
      }
    };
    var sum = MapReduce.start(scope.anonymous(), 1, slow, i -> i, 0, Integer::sum);
    Patience.await(gate.entered);

    sum.cancel(true);

    Patience.await(interrupted);
  }

  @Test
  void mappedGeneratorEndsWithMapReduce() {
    for (var strategy : List.of(Strategy.FIBER,
        Strategy.of(Executors.newFixedThreadPool(2, Thread.ofPlatform().daemon().factory())))) {
      var begun = new CountDownLatch(1);
      var ended = new CountDownLatch(1);
      Generator<Integer> never = Generator.of(scope.anonymous(), 1, out -> {
        begun.countDown();
        try {
          new Gate().pass();
        } finally {
          ended.countDown();
        }
      });
      var sum = MapReduce.start(scope.anonymous().strategy(strategy), 2, never, i -> i, 0, Integer::sum);
      Patience.await(begun);

      sum.cancel(true);

      Patience.await(ended);
    }
  }

  @Test
  void itemsThatCanBeClosedAreClosedOnce() {
    class Lines implements Iterator<Integer>, AutoCloseable {
      private int next;
      private volatile int closed;

      @Override
      public boolean hasNext() {
        return next < 10;
      }

      @Override
      public Integer next() {
        return next++;
      }

      @Override
      public void close() {
        closed++;
      }
    }
    var toTheEnd = new Lines();
    var failing = new Lines();

    Patience.value(MapReduce.start(scope.anonymous(), 2, () -> toTheEnd, i -> i, 0, Integer::sum));
    Patience.failure(MapReduce.start(scope.anonymous().onFailure(silent), 2, () -> failing, i -> Integer.parseInt("?"),
        0, Integer::sum));

    Patience.eventually(() -> toTheEnd.closed == 1 && failing.closed == 1);
  }

  @Test
  void futureFailsWhenScopeEndsActors() {
    var entered = new CountDownLatch(1);
    var below = scope.openScope("below", o -> o.withDrainLimit(Duration.ZERO));
    var sum = MapReduce.start(below.anonymous(), 1, endless, standing(entered, new CountDownLatch(1)), 0, Integer::sum);
    Patience.await(entered);

    below.close();

    var failure = Patience.failure(sum);
    assertTrue(failure instanceof InterruptedException || failure instanceof ActorStoppedException, failure::toString);
  }

  @Test
  void futureFailsWhenActorThatWaitsForItemIsKilled() {
    var gate = new Gate();
    var below = scope.openScope("below", o -> o.withDrainLimit(Duration.ZERO));
    Generator<Integer> never = Generator.of(scope.anonymous(), 1, out -> gate.pass());
    var sum = MapReduce.start(below.anonymous(), 1, never, i -> i, 0, Integer::sum);
    Patience.await(gate.entered);

    below.close();

    assertInstanceOf(CancellationException.class, cause(sum));
  }

  @Test
  void futureFailsWhenActorIsCutOff() {
    var gate = new Gate();
    var below = scope.openScope("below", o -> o.withDrainLimit(Duration.ZERO).withKillGrace(Duration.ofMillis(1)));
    Iterable<Integer> deaf = () -> {
      gate.passDeaf();
      return List.<Integer>of().iterator();
    };
    try (var logged = new Logged()) {
      var sum = MapReduce.start(below.anonymous(), 1, deaf, i -> i, 0, Integer::sum);
      Patience.await(gate.entered);

      below.close();

      assertTrue(cause(sum).getMessage().contains("of a map-reduce ended before its work did: "),
          () -> "" + cause(sum));
      Patience.eventually(() -> logged.text().contains("is cut off"));
    }
    gate.open();
  }

  /** A CancellationException makes a future cancelled. */
  private static Throwable cause(CompletableFuture<?> future) {
    return Patience.value(future.handle((value, failure) -> failure));
  }

  @Test
  void futureFailsWhenActorsGetNoThread() {
    var pool = Executors.newSingleThreadExecutor();
    pool.shutdown();

    var sum = MapReduce.start(scope.anonymous().strategy(Strategy.of(pool)), 1, endless, i -> i, 0, Integer::sum);

    assertInstanceOf(RejectedExecutionException.class, Patience.failure(sum));
    letters.all.clear(); // the task that begins
  }

  @Test
  void mapThatIgnoresInterruptsDelaysNoOne() {
    var gate = new Gate();
    var sum = MapReduce.start(scope.anonymous().onFailure(silent), 2, endless, i -> {
      if (i == 0) {
        gate.passDeaf();
        return i;
      }
      Patience.await(gate.entered);
      throw new IOException("the other one");
    }, 0, Integer::sum);

    assertEquals("the other one", Patience.failure(sum).getMessage());
    gate.open();
  }

  @Test
  void nothingIsKeptAfterwards() {
    var item = new Object();
    var reference = new WeakReference<>(item);
    var sum = MapReduce.start(scope.anonymous(), 2, List.of(item), i -> 1, 0, Integer::sum);
    item = null;

    assertEquals(1, Patience.value(sum));
    assertTrue(LeakProbe.collected(reference));
    assertEquals(1, sum.join());
  }
}
