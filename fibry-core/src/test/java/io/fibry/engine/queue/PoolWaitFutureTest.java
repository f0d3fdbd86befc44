package io.fibry.engine.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.ActorWithReturn;
import io.fibry.Strategy;
import io.fibry.flow.Generator;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.Variants;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Tests waits on a pool of one thread that gets no second thread when the wait begins. On Java 21 a
 * pool may forget to wake a thread, which has the same effect but cannot be repeated at will.
 */
class PoolWaitFutureTest {
  private static final long LONG_NANOS = Patience.LONG.toNanos();

  private interface PoolWait {
    Object await(ActorBuilder<Object> builder, ActorWithReturn<Object, Object> actor) throws Exception;
  }

  private final ActorScope scope = Variants.scope(new RecordedLetters());
  private final AtomicReference<Thread> waiter = new AtomicReference<>();
  private volatile boolean refusesThreads; // to a thread of the pool, which wants another thread in its place
  private ForkJoinPool pool = newPool();

  private ForkJoinPool newPool() {
    return new ForkJoinPool(1, this::newThread, null, false);
  }

  private ForkJoinWorkerThread newThread(ForkJoinPool pool) {
    return refusesThreads ? null : ForkJoinPool.defaultForkJoinWorkerThreadFactory.newThread(pool);
  }

  @AfterEach
  void end() {
    refusesThreads = false;
    scope.closeWithin(Patience.LONG);
    pool.shutdownNow();
  }

  @Promise("6.11")
  @TestFactory
  Stream<DynamicTest> waitAsksThePoolForThreadAgain() {
    return Stream.of(Wait.values()).map(wait -> DynamicTest.dynamicTest(wait.toString(), () -> {
      assertEquals(wait.result, resultWithoutThreadAtFirst(wait.poolWait));
    }));
  }

  private enum Wait {
    ASK((builder, actor) -> actor.ask("question"), "answer"),
    ASK_WITH_LIMIT((builder, actor) -> actor.ask("question", Patience.LONG), "answer"),
    GET((builder, actor) -> actor.sendMessageReturn("question").get(), "answer"),
    GET_WITH_LIMIT((builder, actor) -> actor.sendMessageReturn("question").get(LONG_NANOS, TimeUnit.NANOSECONDS),
        "answer"),
    JOIN((builder, actor) -> actor.sendMessageReturn("question").join(), "answer"),
    JOIN_CHAINED_STAGE((builder, actor) -> actor.sendMessageReturn("question").thenApply(answer -> answer + "!").join(),
        "answer!"),
    EXIT((builder, actor) -> {
      actor.askExit();
      actor.waitForExit();
      return "ended";
    }, "ended"), EXIT_WITH_LIMIT((builder, actor) -> {
      actor.askExit();
      return actor.waitForExit(Patience.LONG);
    }, true), JOIN_EXIT((builder, actor) -> {
      actor.askExit();
      actor.onExit().join();
      return "ended";
    }, "ended"), CLOSE((builder, actor) -> {
      actor.close();
      return "ended";
    }, "ended"), READER_OF_GENERATOR((builder, actor) -> {
      var generator = Generator.<Object>of(builder, 1, output -> output.yield("element"));
      return generator.iterator().next();
    }, "element");

    final PoolWait poolWait;
    final Object result;

    Wait(PoolWait poolWait, Object result) {
      this.poolWait = poolWait;
      this.result = result;
    }
  }

  /** Returns the result of a wait for an actor that has work when the wait begins. */
  private Object resultWithoutThreadAtFirst(PoolWait wait) {
    pool.shutdown();
    pool = newPool();
    waiter.set(null);
    var strategy = Strategy.of(pool);
    ActorWithReturn<Object, Object> awaited =
        scope.anonymous().strategy(strategy).newActorWithReturn((Object message) -> "answer");
    ActorWithReturn<Object, Object> waiting =
        scope.anonymous().strategy(strategy).newActorWithReturn((Object message) -> {
          refusesThreads = true;
          awaited.sendMessage("work");
          waiter.set(Thread.currentThread());
          return wait.await(scope.anonymous().strategy(strategy), awaited);
        });
    var result = waiting.sendMessageReturn("begin");
    Patience.eventually("the handler did not wait", () -> waiter.get() != null && Patience.isParked(waiter.get()));
    refusesThreads = false;
    return Patience.value(result);
  }

  /** Runs code on a thread of the pool. */
  private <T> T onPool(Callable<T> code) {
    return Patience.value(pool.submit(code));
  }

  @Test
  void failureIsThrownOnThreadOfPool() {
    var failed = new PoolWaitFuture<Object>();
    failed.completeExceptionally(new IllegalStateException("no"));
    var cancelled = new PoolWaitFuture<Object>();
    cancelled.cancel(false);

    onPool(() -> {
      assertThrows(ExecutionException.class, failed::get);
      assertThrows(ExecutionException.class, () -> failed.get(1, TimeUnit.HOURS));
      assertThrows(CompletionException.class, failed::join);
      assertThrows(CancellationException.class, cancelled::get);
      assertThrows(CancellationException.class, () -> cancelled.get(1, TimeUnit.HOURS));
      return assertThrows(CancellationException.class, cancelled::join);
    });
  }

  @Test
  void waitsOfPoolEndAtTheirLimit() {
    var never = new PoolWaitFuture<Object>();

    for (long millis : new long[] {0, 1, 99, 100, 101, 250}) {
      long nanos = TimeUnit.MILLISECONDS.toNanos(millis);
      long waited = onPool(() -> {
        long start = System.nanoTime();
        assertThrows(TimeoutException.class, () -> never.get(millis, TimeUnit.MILLISECONDS));
        return System.nanoTime() - start;
      });
      assertTrue(waited >= nanos, millis + " ms became " + waited + " ns");
    }
    onPool(() -> assertThrows(TimeoutException.class, () -> never.get(-1, TimeUnit.DAYS)));
  }

  @Test
  void interruptEndsGetButNotJoin() {
    var get = new PoolWaitFuture<Object>();
    var limitedGet = new PoolWaitFuture<Object>();
    var join = new PoolWaitFuture<Object>();
    var results = new CompletableFuture<Object>();
    pool.execute(() -> {
      waiter.set(Thread.currentThread());
      try {
        assertThrows(InterruptedException.class, get::get);
        assertThrows(InterruptedException.class, () -> limitedGet.get(LONG_NANOS, TimeUnit.NANOSECONDS));
        results.complete(Arrays.asList(join.join(), Thread.interrupted()));
      } catch (Throwable failure) {
        results.completeExceptionally(failure);
      }
    });

    for (var future : new PoolWaitFuture<?>[] {get, limitedGet, join}) {
      Patience.eventually(() -> future.getNumberOfDependents() > 0);
      waiter.get().interrupt();
    }
    Patience.eventually(() -> !waiter.get().isInterrupted());
    join.complete("value");

    assertEquals(Arrays.asList("value", true), Patience.value(results));
  }

  /** In a stopped pool, each wait of the JDK throws an InterruptedException at once. */
  @Test
  void joinInStoppedPoolUsesNoProcessorTime() {
    var threads = ManagementFactory.getThreadMXBean();
    var join = new PoolWaitFuture<Object>();
    var results = new CompletableFuture<Object>();
    pool.execute(() -> {
      waiter.set(Thread.currentThread());
      try {
        results.complete(Arrays.asList(join.join(), Thread.interrupted()));
      } catch (Throwable failure) {
        results.completeExceptionally(failure);
      }
    });
    Patience.eventually(() -> join.getNumberOfDependents() > 0);
    pool.shutdownNow();
    Patience.eventually(() -> !waiter.get().isInterrupted());
    long start = System.nanoTime();
    long before = threads.getThreadCpuTime(waiter.get().threadId());
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(300));
    long used = threads.getThreadCpuTime(waiter.get().threadId()) - before;
    long passed = System.nanoTime() - start;
    join.complete("value");

    assertEquals(Arrays.asList("value", true), Patience.value(results));
    assertTrue(used < passed / 2, used + " ns of processor time in " + passed + " ns");
  }

  /** The pool may have one thread, which waits. */
  @Promise("6.11")
  @Test
  void waitInPoolThatMayHaveNoMoreThreadsIsNotRefused() {
    pool.shutdown();
    pool = new ForkJoinPool(1, ForkJoinPool.defaultForkJoinWorkerThreadFactory, null, false, 1, 1, 1, null, 1,
        TimeUnit.MINUTES);
    var future = new PoolWaitFuture<Object>();
    var results = pool.submit(() -> {
      waiter.set(Thread.currentThread());
      return List.of(future.get(), future.join(), future.get(LONG_NANOS, TimeUnit.NANOSECONDS));
    });
    Patience.eventually(() -> waiter.get() != null && Patience.isParked(waiter.get()));
    future.complete("value");

    assertEquals(List.of("value", "value", "value"), Patience.value(results));
  }

  @Test
  void stagesOfFutureRepeatTheirWaitsToo() {
    assertEquals(PoolWaitFuture.class, new PoolWaitFuture<Object>().thenApply(x -> x).getClass());
  }
}
