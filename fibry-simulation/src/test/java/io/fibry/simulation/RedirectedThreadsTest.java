package io.fibry.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Patience;
import java.time.Duration;
import java.util.List;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Tests threads, pools and futures. A simulated thread's calls reach the simulation, and calls of
 * ordinary threads reach the JDK.
 */
class RedirectedThreadsTest {
  @Test
  void simulatedThreadGetsItsIdFromSimulation() throws Exception {
    assertEquals(TinyMachine.THREAD_ID, TinyMachine.play(() -> Thread.currentThread().threadId()));
    assertFalse(TinyMachine.runOutside(() -> Thread.currentThread().threadId()).contains(TinyMachine.THREAD_ID));
  }

  @Test
  void simulatedThreadHashCodeDiffersFromThreadId() throws Exception {
    assertNotEquals((int) TinyMachine.THREAD_ID, TinyMachine.play(() -> Thread.currentThread().hashCode()));
  }

  @Test
  void virtualThreadStartedBySimulatedThreadIsSimulated() throws Exception {
    assertTrue(TinyMachine.play(() -> {
      var isSimulated = new AtomicReference<>(false);
      Thread.startVirtualThread(() -> isSimulated.set(TinyMachine.isSimulated())).join();
      return isSimulated.get();
    }));
  }

  private static final class Worker extends Thread {
    private volatile boolean isSimulated;

    @Override
    public void run() {
      isSimulated = TinyMachine.isSimulated() && Thread.currentThread().isVirtual();
    }
  }

  @Test
  @Promise("29.6")
  void platformThreadStartedBySimulatedThreadIsSimulated() throws Exception {
    assertTrue(TinyMachine.play(() -> {
      var worker = new Worker();
      worker.start();
      assertTrue(worker.isAlive());
      worker.join();
      assertFalse(worker.isAlive());
      assertEquals(Thread.State.TERMINATED, worker.getState());
      return worker.isSimulated;
    }));
  }

  @Test
  void secondStartOfSimulatedPlatformThreadIsRefused() throws Exception {
    TinyMachine.play(() -> {
      var thread = new Thread(() -> {});
      thread.start();
      assertThrows(IllegalThreadStateException.class, thread::start);
      return null;
    });
  }

  @Test
  void simulatedPlatformThreadsCanBeInterruptedAndUnparked() throws Exception {
    assertEquals("interrupted, unparked", TinyMachine.play(() -> {
      var events = new AtomicReference<>("");
      var thread = Thread.ofPlatform().start(() -> {
        try {
          Thread.sleep(Duration.ofDays(1));
        } catch (InterruptedException expected) {
          events.set("interrupted");
        }
        LockSupport.park();
        events.updateAndGet(text -> text + ", unparked");
      });
      thread.interrupt();
      Thread.sleep(1);
      LockSupport.unpark(thread);
      assertTrue(thread.join(Duration.ofSeconds(1)));
      return events.get();
    }));
  }

  @Test
  void uncaughtExceptionReachesHandlerOfSimulatedPlatformThread() throws Exception {
    assertEquals("on worker: no", TinyMachine.play(() -> {
      var text = new AtomicReference<String>();
      var thread = new Thread(() -> {
        throw new IllegalStateException("no");
      }, "worker");
      thread.setUncaughtExceptionHandler((on, failure) -> text.set("on " + on.getName() + ": " + failure.getMessage()));
      thread.start();
      thread.join();
      return text.get();
    }));
  }

  @Test
  @Promise({"29.6", "29.19"})
  void ordinaryThreadsStartRealPlatformThreads() throws Exception {
    TinyMachine.play(() -> null);

    for (var isVirtual : TinyMachine.runOutside(() -> {
      var result = new AtomicReference<>(true);
      var thread = new Thread(() -> result.set(Thread.currentThread().isVirtual()));
      thread.start();
      thread.join();
      return result.get();
    })) assertFalse(isVirtual);
  }

  @Test
  void executorsOfSimulatedThreadUseSimulatedThreads() throws Exception {
    assertEquals(List.of(true, true), TinyMachine.play(() -> {
      try (var fixed = Executors.newFixedThreadPool(2); var scheduled = Executors.newScheduledThreadPool(1)) {
        return List.of(fixed.submit(TinyMachine::isSimulated).get(),
            scheduled.schedule(TinyMachine::isSimulated, 1, TimeUnit.DAYS).get());
      }
    }));
  }

  @Test
  void javaUtilTimerFollowsSimulatedClock() throws Exception {
    if (Runtime.version().feature() < 24) return; // before Java 24 the timer's wait would hold the carrier
    assertEquals(Duration.ofDays(1).toMillis(), TinyMachine.play(() -> {
      var firingTime = new CompletableFuture<Long>();
      var timer = new Timer();
      timer.schedule(new TimerTask() {
        @Override
        public void run() {
          firingTime.complete(System.currentTimeMillis() - TinyMachine.EPOCH);
        }
      }, Duration.ofDays(1).toMillis());
      long millis = firingTime.get();
      timer.cancel();
      return millis;
    }));
  }

  @Test
  @Promise("29.6")
  void asyncFuturesOfSimulatedThreadRunOnSimulatedThreads() throws Exception {
    assertTrue(TinyMachine.play(() -> CompletableFuture.supplyAsync(TinyMachine::isSimulated)
        .thenApplyAsync(first -> first && TinyMachine.isSimulated()).get()));
    for (var isSimulated : TinyMachine.runOutside(() -> CompletableFuture.supplyAsync(TinyMachine::isSimulated).get()))
      assertFalse(isSimulated);
  }

  @Test
  void ordinaryThreadsHaveCommonPoolAsDefaultExecutor() throws Exception {
    TinyMachine.play(() -> null);

    if (Runtime.version().feature() < 25 && ForkJoinPool.getCommonPoolParallelism() < 2) return;
    assertSame(ForkJoinPool.commonPool(), new CompletableFuture<>().defaultExecutor());
  }

  @Test
  void submissionPublisherDeliversOnSimulatedThread() throws Exception {
    assertTrue(TinyMachine.play(() -> {
      var isSimulated = new CompletableFuture<Boolean>();
      try (var publisher = new SubmissionPublisher<String>()) {
        publisher.consume(item -> isSimulated.complete(TinyMachine.isSimulated()));
        publisher.submit("item");
        return isSimulated.get();
      }
    }));
  }

  @Test
  void futuresTimeOutBySimulatedClock() throws Exception {
    assertEquals(Duration.ofHours(3).toNanos(), TinyMachine.play(() -> {
      var timedFuture = new CompletableFuture<String>().orTimeout(1, TimeUnit.HOURS);
      var failure = assertThrows(ExecutionException.class, timedFuture::get);
      assertInstanceOf(TimeoutException.class, failure.getCause());
      assertEquals("late", new CompletableFuture<String>().completeOnTimeout("late", 1, TimeUnit.HOURS).get());
      var delayed = CompletableFuture.delayedExecutor(1, TimeUnit.HOURS);
      assertTrue(CompletableFuture.supplyAsync(TinyMachine::isSimulated, delayed).get());
      return System.nanoTime();
    }));
  }

  @Test
  void callbackOfTimeoutRunsOnSimulatedThread() throws Exception {
    assertTrue(TinyMachine.play(() -> new CompletableFuture<Boolean>().completeOnTimeout(true, 1, TimeUnit.HOURS)
        .thenApply(value -> Thread.currentThread().isVirtual() && TinyMachine.isSimulated()).get()));
  }

  @Test
  void completedFutureCancelsItsTimer() throws Exception {
    assertEquals(List.of(1, 0), TinyMachine.play(() -> {
      var future = new CompletableFuture<String>().orTimeout(1, TimeUnit.HOURS);
      int pendingBefore = TinyMachine.machine().pendingTimers();
      future.complete("in time");
      return List.of(pendingBefore, TinyMachine.machine().pendingTimers());
    }));
  }

  @Test
  void ordinaryFuturesTimeOutByRealClock() throws Exception {
    TinyMachine.play(() -> null);

    for (var value : TinyMachine.runOutside(
        () -> new CompletableFuture<String>().completeOnTimeout("late", 1, TimeUnit.MILLISECONDS).get()))
      assertEquals("late", value);
    var future = new CompletableFuture<String>().orTimeout(1, TimeUnit.HOURS);
    future.complete("in time");
    assertEquals("in time", future.get());
  }

  @Test
  @Promise("29.7")
  void parallelStreamsAreRefused() throws Exception {
    var failure = assertThrows(UnsupportedOperationException.class,
        () -> TinyMachine.play(() -> IntStream.range(0, 100_000).parallel().map(i -> i + 1).sum()));

    assertTrue(failure.getMessage().startsWith("the simulated thread 'main' uses the common pool at "
        + RedirectedThreadsTest.class.getName()), failure.getMessage());
    assertTrue(failure.getMessage().contains("make the stream sequential"), failure.getMessage());
    for (int sum : TinyMachine.runOutside(() -> IntStream.range(0, 100_000).parallel().map(i -> 1).sum()))
      assertEquals(100_000, sum);
  }

  @Test
  @Promise("29.7")
  void simulatedThreadMayNotUseCommonPool() throws Exception {
    var failure = assertThrows(UnsupportedOperationException.class,
        () -> TinyMachine.play(() -> ForkJoinPool.commonPool().submit(() -> 1)));

    assertTrue(failure.getMessage().contains("uses the common pool at " + RedirectedThreadsTest.class.getName()),
        failure.getMessage());
    for (int value : TinyMachine.runOutside(() -> ForkJoinPool.commonPool().submit(() -> 1).get()))
      assertEquals(1, value);
  }

  @Test
  void simulatedThreadMayNotSubmitToForkJoinPool() throws Exception {
    try (var pool = new ForkJoinPool(1)) {
      var failure =
          assertThrows(UnsupportedOperationException.class, () -> TinyMachine.play(() -> pool.submit(() -> 1)));

      assertTrue(failure.getMessage().contains("uses a ForkJoinPool at "), failure.getMessage());
    }
  }

  @Test
  void simulatedThreadMayWakeOrdinaryThread() throws Exception {
    var latch = new CountDownLatch(1);
    var waiter = Thread.ofVirtual().start(() -> {
      try {
        latch.await();
      } catch (InterruptedException interrupt) {
        throw new IllegalStateException(interrupt);
      }
    });

    TinyMachine.play(() -> {
      latch.countDown();
      return null;
    });

    Patience.awaitEnd(waiter);
  }
}
