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
 * Threads, pools and futures, used by a simulated thread and by ordinary ones beside it, which see
 * the real machine.
 */
class RedirectedThreadsTest {
  @Test
  void threadIdsComeFromMachine() throws Exception {
    assertEquals(TinyMachine.ID, TinyMachine.play(() -> Thread.currentThread().threadId()));
    assertFalse(TinyMachine.beside(() -> Thread.currentThread().threadId()).contains(TinyMachine.ID));
  }

  @Test
  void simulatedThreadHashCodeDiffersFromThreadId() throws Exception {
    assertNotEquals((int) TinyMachine.ID, TinyMachine.play(() -> Thread.currentThread().hashCode()));
  }

  @Test
  void virtualThreadsOfSimulatedOnesAreSimulated() throws Exception {
    assertTrue(TinyMachine.play(() -> {
      var seen = new AtomicReference<>(false);
      Thread.startVirtualThread(() -> seen.set(TinyMachine.isSimulated())).join();
      return seen.get();
    }));
  }

  private static final class Worker extends Thread {
    private volatile boolean simulated;

    @Override
    public void run() {
      simulated = TinyMachine.isSimulated() && Thread.currentThread().isVirtual();
    }
  }

  @Test
  @Promise("29.6")
  void platformThreadsRunAsVirtualThreads() throws Exception {
    assertTrue(TinyMachine.play(() -> {
      var worker = new Worker();
      worker.start();
      assertTrue(worker.isAlive());
      worker.join();
      assertFalse(worker.isAlive());
      assertEquals(Thread.State.TERMINATED, worker.getState());
      return worker.simulated;
    }));
  }

  @Test
  void aPlatformThreadIsStartedOnce() throws Exception {
    TinyMachine.play(() -> {
      var thread = new Thread(() -> {});
      thread.start();
      assertThrows(IllegalThreadStateException.class, thread::start);
      return null;
    });
  }

  @Test
  void platformThreadsAreInterruptedAndUnparked() throws Exception {
    assertEquals("interrupted, unparked", TinyMachine.play(() -> {
      var seen = new AtomicReference<>("");
      var thread = Thread.ofPlatform().start(() -> {
        try {
          Thread.sleep(Duration.ofDays(1));
        } catch (InterruptedException expected) {
          seen.set("interrupted");
        }
        LockSupport.park();
        seen.updateAndGet(text -> text + ", unparked");
      });
      thread.interrupt();
      Thread.sleep(1);
      LockSupport.unpark(thread);
      assertTrue(thread.join(Duration.ofSeconds(1)));
      return seen.get();
    }));
  }

  @Test
  void uncaughtExceptionReachesHandlerOfPlatformThread() throws Exception {
    assertEquals("on worker: no", TinyMachine.play(() -> {
      var seen = new AtomicReference<String>();
      var thread = new Thread(() -> {
        throw new IllegalStateException("no");
      }, "worker");
      thread.setUncaughtExceptionHandler((on, failure) -> seen.set("on " + on.getName() + ": " + failure.getMessage()));
      thread.start();
      thread.join();
      return seen.get();
    }));
  }

  @Test
  @Promise({"29.6", "29.19"})
  void ordinaryThreadsStartRealPlatformThreads() throws Exception {
    TinyMachine.play(() -> null);

    for (var virtual : TinyMachine.beside(() -> {
      var seen = new AtomicReference<>(true);
      var thread = new Thread(() -> seen.set(Thread.currentThread().isVirtual()));
      thread.start();
      thread.join();
      return seen.get();
    })) assertFalse(virtual);
  }

  @Test
  void executorsHaveSimulatedThreads() throws Exception {
    assertEquals(List.of(true, true), TinyMachine.play(() -> {
      try (var fixed = Executors.newFixedThreadPool(2); var timed = Executors.newScheduledThreadPool(1)) {
        return List.of(fixed.submit(TinyMachine::isSimulated).get(),
            timed.schedule(TinyMachine::isSimulated, 1, TimeUnit.DAYS).get());
      }
    }));
  }

  @Test
  void theOldTimerIsSimulated() throws Exception {
    if (Runtime.version().feature() < 24) return; // its wait would hold the carrier
    assertEquals(Duration.ofDays(1).toMillis(), TinyMachine.play(() -> {
      var done = new CompletableFuture<Long>();
      var timer = new Timer();
      timer.schedule(new TimerTask() {
        @Override
        public void run() {
          done.complete(System.currentTimeMillis() - TinyMachine.EPOCH);
        }
      }, Duration.ofDays(1).toMillis());
      long at = done.get();
      timer.cancel();
      return at;
    }));
  }

  @Test
  @Promise("29.6")
  void futuresRunOnSimulatedThreads() throws Exception {
    assertTrue(TinyMachine.play(() -> CompletableFuture.supplyAsync(TinyMachine::isSimulated)
        .thenApplyAsync(first -> first && TinyMachine.isSimulated()).get()));
    for (var simulated : TinyMachine.beside(() -> CompletableFuture.supplyAsync(TinyMachine::isSimulated).get()))
      assertFalse(simulated);
  }

  @Test
  void ordinaryThreadsSeeTheCommonPoolAsDefault() throws Exception {
    TinyMachine.play(() -> null);

    if (Runtime.version().feature() < 25 && ForkJoinPool.getCommonPoolParallelism() < 2) return;
    assertSame(ForkJoinPool.commonPool(), new CompletableFuture<>().defaultExecutor());
  }

  @Test
  void publishersRunOnSimulatedThreads() throws Exception {
    assertTrue(TinyMachine.play(() -> {
      var seen = new CompletableFuture<Boolean>();
      try (var publisher = new SubmissionPublisher<String>()) {
        publisher.consume(item -> seen.complete(TinyMachine.isSimulated()));
        publisher.submit("item");
        return seen.get();
      }
    }));
  }

  @Test
  void futuresTimeOutByTheMachinesClock() throws Exception {
    assertEquals(Duration.ofHours(3).toNanos(), TinyMachine.play(() -> {
      var late = new CompletableFuture<String>().orTimeout(1, TimeUnit.HOURS);
      var failure = assertThrows(ExecutionException.class, late::get);
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
  void aFutureThatIsDoneNeedsNoTimer() throws Exception {
    assertEquals(List.of(1, 0), TinyMachine.play(() -> {
      var future = new CompletableFuture<String>().orTimeout(1, TimeUnit.HOURS);
      int before = TinyMachine.machine().pending();
      future.complete("in time");
      return List.of(before, TinyMachine.machine().pending());
    }));
  }

  @Test
  void ordinaryFuturesTimeOutByTheRealClock() throws Exception {
    TinyMachine.play(() -> null);

    for (var value : TinyMachine.beside(
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
    for (int sum : TinyMachine.beside(() -> IntStream.range(0, 100_000).parallel().map(i -> 1).sum()))
      assertEquals(100_000, sum);
  }

  @Test
  @Promise("29.7")
  void theCommonPoolIsRefused() throws Exception {
    var failure = assertThrows(UnsupportedOperationException.class,
        () -> TinyMachine.play(() -> ForkJoinPool.commonPool().submit(() -> 1)));

    assertTrue(failure.getMessage().contains("uses the common pool at " + RedirectedThreadsTest.class.getName()),
        failure.getMessage());
    for (int one : TinyMachine.beside(() -> ForkJoinPool.commonPool().submit(() -> 1).get())) assertEquals(1, one);
  }

  @Test
  void poolsOfWorkersAreRefused() throws Exception {
    try (var pool = new ForkJoinPool(1)) {
      var failure =
          assertThrows(UnsupportedOperationException.class, () -> TinyMachine.play(() -> pool.submit(() -> 1)));

      assertTrue(failure.getMessage().contains("uses a ForkJoinPool at "), failure.getMessage());
    }
  }

  @Test
  void aSimulatedThreadMayWakeAnOrdinaryOne() throws Exception {
    var gate = new CountDownLatch(1);
    var waits = Thread.ofVirtual().start(() -> {
      try {
        gate.await();
      } catch (InterruptedException stray) {
        throw new IllegalStateException(stray);
      }
    });

    TinyMachine.play(() -> {
      gate.countDown();
      return null;
    });

    Patience.joined(waits);
  }
}
