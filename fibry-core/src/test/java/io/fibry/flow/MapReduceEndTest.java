package io.fibry.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorStoppedException;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.Handler;
import io.fibry.Strategy;
import io.fibry.engine.scope.Scopes;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.LeakProbe;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
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

/** Tests map-reduces that fail, are cancelled, or lose actors; see also {@link MapReduceTest}. */
class MapReduceEndTest {
  private final RecordedLetters letters = new RecordedLetters();
  private final ActorScope scope = ActorSystem.openScope("map-reduce", o -> o.withDeadLetterListener(letters));
  private final FailurePolicy silentPolicy = FailurePolicy.resume().withoutLog();
  private final Iterable<Integer> endlessItems = () -> IntStream.iterate(0, i -> i + 1).iterator();

  @AfterEach
  void awaitActorsAndCloseScope() {
    Gate.openAll();
    try (scope) {
      Scopes.awaitNoActors(scope);
      assertEquals(List.of(), letters.messages(), "dead letters");
    }
  }

  /** Returns a mapper that blocks until it is interrupted. */
  private static Handler.Returning<Integer, Integer> blockingMapper(CountDownLatch entryLatch,
      CountDownLatch interruptLatch) {
    return i -> {
      entryLatch.countDown();
      try {
        new Gate().pass();
      } catch (InterruptedException interrupt) {
        interruptLatch.countDown();
        throw interrupt;
      }
      return i;
    };
  }

  @Promise("22.7")
  @Test
  void failureOfMapFunctionFailsFutureAndInterruptsOtherActors() {
    var failure = new IOException("the last");
    var entryLatch = new CountDownLatch(3);
    var interruptLatch = new CountDownLatch(3);
    try (var logged = new Logged()) {
      var sum = MapReduce.start(scope.anonymous(), 4, endlessItems, i -> {
        if (i < 3) return blockingMapper(entryLatch, interruptLatch).handle(i);
        entryLatch.await();
        throw failure;
      }, 0, Integer::sum);

      assertSame(failure, Patience.failure(sum));
      Patience.await(interruptLatch);
      Scopes.awaitNoActors(scope);
      assertEquals(1,
          logged.entriesAbout("MapReduceEndTest").lines().filter(line -> line.contains("failed at")).count(),
          logged::text);
    }
  }

  @Test
  void escalatedMapFailureReachesOuterScope() {
    var escalatedScope = ActorSystem.openScope("around", o -> o.withFailurePolicy(FailurePolicy.stop()));
    var childScope = escalatedScope.openScope("below", o -> o.withFailurePolicy(FailurePolicy.escalate()));
    try (var logged = new Logged()) {
      var sum = MapReduce.start(childScope.anonymous().onFailure(FailurePolicy.escalate()), 1, endlessItems, i -> {
        throw new IOException("up");
      }, 0, Integer::sum);

      assertEquals("up", Patience.failure(sum).getMessage());
      Patience.eventually(() -> logged.text().contains("decides: it stops"));
    }
    escalatedScope.close();
  }

  @Test
  void interceptorThatSkipsItemFailsFuture() {
    var builder = scope.anonymous().onFailure(silentPolicy).intercept((Integer item, Handler.Task next) -> {
      if (item < 3) next.run();
    });

    assertInstanceOf(io.fibry.NoReplyException.class,
        Patience.failure(MapReduce.start(builder, 2, endlessItems, i -> i, 0, Integer::sum)));
  }

  @Test
  void failureOfReduceFunctionFailsFuture() {
    var sum = MapReduce.start(scope.anonymous(), 4, endlessItems, i -> i, 0, (a, b) -> {
      if (a == 100 || b == 100) throw new IllegalStateException("a hundred");
      return b;
    });

    assertEquals("a hundred", Patience.failure(sum).getMessage());
  }

  @Test
  void failureOfItemIteratorFailsFuture() {
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

  // ---- ends from outside

  @Promise("22.7")
  @Test
  void completionOfFutureByUserInterruptsBusyActors() {
    for (Consumer<CompletableFuture<Integer>> completion : List.<Consumer<CompletableFuture<Integer>>>of(
        f -> f.cancel(false), f -> f.complete(1), f -> f.completeExceptionally(new IOException()))) {
      var entryLatch = new CountDownLatch(2);
      var interruptLatch = new CountDownLatch(2);
      try (var logged = new Logged()) {
        var sum = MapReduce.start(scope.anonymous(), 2, endlessItems, blockingMapper(entryLatch, interruptLatch), 0,
            Integer::sum);
        Patience.await(entryLatch);

        completion.accept(sum);

        Patience.await(interruptLatch);
        Scopes.awaitNoActors(scope);
        assertEquals("", logged.entriesAbout("map-reduce", "MapReduce"));
      }
    }
  }

  @Test
  void timeoutOfFutureInterruptsBusyActors() {
    var entryLatch = new CountDownLatch(1);
    var interruptLatch = new CountDownLatch(1);
    var sum = MapReduce.start(scope.anonymous(), 1, endlessItems, blockingMapper(entryLatch, interruptLatch), 0,
        Integer::sum);
    Patience.await(entryLatch);

    sum.orTimeout(1, TimeUnit.MILLISECONDS);

    Patience.await(interruptLatch);
    assertInstanceOf(TimeoutException.class, Patience.failure(sum));
  }

  @Test
  void cancelOfFutureInterruptsActorThatWaitsForItem() {
    var gate = new Gate();
    var interruptLatch = new CountDownLatch(1);
    Iterable<Integer> slowItems = () -> new Iterator<>() {
      @Override
      public boolean hasNext() {
        try {
          gate.pass();
        } catch (InterruptedException interrupt) {
          interruptLatch.countDown();
        }
        return false;
      }

      @Override
      public Integer next() {
        throw new AssertionError();
      }
    };
    var sum = MapReduce.start(scope.anonymous(), 1, slowItems, i -> i, 0, Integer::sum);
    Patience.await(gate.entered);

    sum.cancel(true);

    Patience.await(interruptLatch);
  }

  @Test
  void cancelOfMapReduceEndsItsSourceGenerator() {
    for (var strategy : List.of(Strategy.FIBER,
        Strategy.of(Executors.newFixedThreadPool(2, Thread.ofPlatform().daemon().factory())))) {
      var startLatch = new CountDownLatch(1);
      var endLatch = new CountDownLatch(1);
      Generator<Integer> generator = Generator.of(scope.anonymous(), 1, out -> {
        startLatch.countDown();
        try {
          new Gate().pass();
        } finally {
          endLatch.countDown();
        }
      });
      var sum = MapReduce.start(scope.anonymous().strategy(strategy), 2, generator, i -> i, 0, Integer::sum);
      Patience.await(startLatch);

      sum.cancel(true);

      Patience.await(endLatch);
    }
  }

  @Test
  void closeableIteratorIsClosedOnceAfterSuccessOrFailure() {
    class CloseableItems implements Iterator<Integer>, AutoCloseable {
      private int next;
      private volatile int closeCount;

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
        closeCount++;
      }
    }
    var exhaustedIterator = new CloseableItems();
    var failedIterator = new CloseableItems();

    Patience.value(MapReduce.start(scope.anonymous(), 2, () -> exhaustedIterator, i -> i, 0, Integer::sum));
    Patience.failure(MapReduce.start(scope.anonymous().onFailure(silentPolicy), 2, () -> failedIterator,
        i -> Integer.parseInt("?"), 0, Integer::sum));

    Patience.eventually(() -> exhaustedIterator.closeCount == 1 && failedIterator.closeCount == 1);
  }

  @Test
  void futureFailsWhenScopeEndsActors() {
    var entryLatch = new CountDownLatch(1);
    var childScope = scope.openScope("below", o -> o.withDrainLimit(Duration.ZERO));
    var sum = MapReduce.start(childScope.anonymous(), 1, endlessItems,
        blockingMapper(entryLatch, new CountDownLatch(1)), 0, Integer::sum);
    Patience.await(entryLatch);

    childScope.close();

    var failure = Patience.failure(sum);
    assertTrue(failure instanceof InterruptedException || failure instanceof ActorStoppedException, failure::toString);
  }

  @Test
  void futureFailsWhenActorThatWaitsForItemIsKilled() {
    var gate = new Gate();
    var childScope = scope.openScope("below", o -> o.withDrainLimit(Duration.ZERO));
    Generator<Integer> generator = Generator.of(scope.anonymous(), 1, out -> gate.pass());
    var sum = MapReduce.start(childScope.anonymous(), 1, generator, i -> i, 0, Integer::sum);
    Patience.await(gate.entered);

    childScope.close();

    assertInstanceOf(CancellationException.class, cause(sum));
  }

  @Test
  void futureFailsWhenActorIsCutOff() {
    var gate = new Gate();
    var childScope = scope.openScope("below", o -> o.withDrainLimit(Duration.ZERO).withKillGrace(Duration.ofMillis(1)));
    Iterable<Integer> deafItems = () -> {
      gate.passUninterruptibly();
      return List.<Integer>of().iterator();
    };
    try (var logged = new Logged()) {
      var sum = MapReduce.start(childScope.anonymous(), 1, deafItems, i -> i, 0, Integer::sum);
      Patience.await(gate.entered);

      childScope.close();

      assertTrue(cause(sum).getMessage().contains("of a map-reduce ended before its work did: "),
          () -> "" + cause(sum));
      Patience.eventually(() -> logged.text().contains("is cut off"));
    }
    gate.open();
  }

  /** Returns the failure of the future, or the CancellationException of a cancelled future. */
  private static Throwable cause(CompletableFuture<?> future) {
    return Patience.value(future.handle((value, failure) -> failure));
  }

  @Test
  void futureFailsWhenExecutorOfActorsIsShutDown() {
    var executor = Executors.newSingleThreadExecutor();
    executor.shutdown();

    var sum =
        MapReduce.start(scope.anonymous().strategy(Strategy.of(executor)), 1, endlessItems, i -> i, 0, Integer::sum);

    assertInstanceOf(RejectedExecutionException.class, Patience.failure(sum));
    letters.all.clear(); // the dead letter is the first task of the map-reduce, which the executor refused
  }

  @Test
  void mapFunctionThatIgnoresInterruptDoesNotDelayFailure() {
    var gate = new Gate();
    var sum = MapReduce.start(scope.anonymous().onFailure(silentPolicy), 2, endlessItems, i -> {
      if (i == 0) {
        gate.passUninterruptibly();
        return i;
      }
      Patience.await(gate.entered);
      throw new IOException("another item");
    }, 0, Integer::sum);

    assertEquals("another item", Patience.failure(sum).getMessage());
    gate.open();
  }

  @Test
  void futureOfCompletedMapReduceKeepsNoItemInMemory() {
    var item = new Object();
    var reference = new WeakReference<>(item);
    var sum = MapReduce.start(scope.anonymous(), 2, List.of(item), i -> 1, 0, Integer::sum);
    item = null;

    assertEquals(1, Patience.value(sum));
    assertTrue(LeakProbe.collected(reference));
    assertEquals(1, sum.join());
  }
}
