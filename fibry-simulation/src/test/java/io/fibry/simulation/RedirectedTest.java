package io.fibry.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.simulation.tap.Chance;
import io.fibry.simulation.tap.Taps;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Date;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.Timer;
import java.util.TimerTask;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Each redirection, seen by a simulated thread and by an ordinary one beside it, which sees the real
 * machine.
 */
class RedirectedTest {
  private static final long YEAR_2030 = 1_893_456_000_000L;

  private static TinyMachine machine() {
    return (TinyMachine) Taps.machine();
  }

  private static boolean isSimulated() {
    return Taps.machine() != null;
  }

  /** What ordinary threads, a virtual one and a platform one, make of a question. */
  private static <T> List<T> beside(Callable<T> question) throws Exception {
    try (var virtual = Executors.newVirtualThreadPerTaskExecutor()) {
      return List.of(virtual.submit(question).get(), question.call());
    }
  }

  @Test
  void clocksAreTheMachines() throws Exception {
    var seen = TinyMachine.play(() -> List.of(System.nanoTime(), System.currentTimeMillis(), new Date().getTime(),
        Instant.now().toEpochMilli(), LocalDate.now(ZoneOffset.UTC).toString()));

    assertEquals(List.of(0L, TinyMachine.EPOCH, TinyMachine.EPOCH, TinyMachine.EPOCH, "2026-01-01"), seen);
  }

  @Test
  void ordinaryThreadsSeeTheRealClocks() throws Exception {
    TinyMachine.play(() -> null);

    for (var past : beside(() -> ProcessHandle.current().info().startInstant().orElseThrow().isAfter(Instant.now())))
      assertFalse(past);
    for (long nanos : beside(System::nanoTime)) assertTrue(Math.abs(nanos - System.nanoTime()) < 60e9);
  }

  @Test
  void methodReferencesAreRedirectedToo() throws Exception {
    assertEquals(0L, TinyMachine.play(() -> {
      Supplier<Long> clock = System::nanoTime;
      return clock.get();
    }));
  }

  @Test
  void sleepingTakesNoRealTime() throws Exception {
    var began = Instant.now();

    long seen = TinyMachine.play(() -> {
      Thread.sleep(Duration.ofDays(365));
      return System.currentTimeMillis();
    });

    assertEquals(TinyMachine.EPOCH + Duration.ofDays(365).toMillis(), seen);
    assertTrue(Instant.now().isBefore(began.plus(Duration.ofDays(1))));
  }

  @Test
  void timedWaitsEndByTheMachinesClock() throws Exception {
    assertEquals(Duration.ofHours(3).toNanos(), TinyMachine.play(() -> {
      LockSupport.parkNanos(Duration.ofHours(1).toNanos());
      assertFalse(new CountDownLatch(1).await(1, TimeUnit.HOURS));
      assertThrows(TimeoutException.class, () -> new CompletableFuture<>().get(1, TimeUnit.HOURS));
      return System.nanoTime();
    }));
  }

  @Test
  void spinningIsTold() throws Exception {
    assertEquals(1L, TinyMachine.play(() -> {
      Thread.onSpinWait();
      return machine().spins;
    }));
  }

  @Test
  void randomNumbersAreTheMachines() throws Exception {
    assertEquals(0.0625, TinyMachine.play(Math::random));
    var uuid = TinyMachine.play(UUID::randomUUID);
    assertEquals(4, uuid.version());
    assertEquals(2, uuid.variant());
    assertEquals(uuid, TinyMachine.play(UUID::randomUUID));
    assertEquals(TinyMachine.play(() -> ThreadLocalRandom.current().nextLong()),
        TinyMachine.play(() -> ThreadLocalRandom.current().nextLong()));
  }

  @Test
  void generatorsOfTheJdkAreSeededBeforeARun() throws Exception {
    Callable<List<Object>> draw = () -> {
      Chance.reset(17);
      var list = new ArrayList<>(IntStream.range(0, 20).boxed().toList());
      Collections.shuffle(list);
      return List.of(new Random().nextLong(), new SplittableRandom().nextLong(), list);
    };

    assertEquals(TinyMachine.play(draw), TinyMachine.play(draw));
  }

  @Test
  void ordinaryThreadsDrawTheirOwnNumbers() throws Exception {
    TinyMachine.play(() -> null);

    assertEquals(2, beside(UUID::randomUUID).stream().distinct().count());
    assertEquals(2, beside(() -> ThreadLocalRandom.current().nextLong()).stream().distinct().count());
    assertEquals(2, beside(Math::random).stream().distinct().count());
  }

  @Test
  void idsAreTheMachines() throws Exception {
    assertEquals(TinyMachine.ID, TinyMachine.play(() -> Thread.currentThread().threadId()));
    assertFalse(beside(() -> Thread.currentThread().threadId()).contains(TinyMachine.ID));
  }

  @Test
  void hashCodesOfSimulatedThreadsAreNoIds() throws Exception {
    assertNotEquals((int) TinyMachine.ID, TinyMachine.play(() -> Thread.currentThread().hashCode()));
  }

  @Test
  void virtualThreadsOfSimulatedOnesAreSimulated() throws Exception {
    assertTrue(TinyMachine.play(() -> {
      var seen = new AtomicReference<>(false);
      Thread.startVirtualThread(() -> seen.set(isSimulated())).join();
      return seen.get();
    }));
  }

  private static final class Worker extends Thread {
    private volatile boolean simulated;

    @Override
    public void run() {
      simulated = isSimulated() && Thread.currentThread().isVirtual();
    }
  }

  @Test
  void platformThreadsAreDoneByVirtualOnes() throws Exception {
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
  void whatAPlatformThreadThrowsReachesItsHandler() throws Exception {
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
  void ordinaryThreadsStartRealPlatformThreads() throws Exception {
    TinyMachine.play(() -> null);

    for (var virtual : beside(() -> {
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
        return List.of(fixed.submit(RedirectedTest::isSimulated).get(),
            timed.schedule(RedirectedTest::isSimulated, 1, TimeUnit.DAYS).get());
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
  void futuresRunOnSimulatedThreads() throws Exception {
    assertTrue(TinyMachine.play(() -> CompletableFuture.supplyAsync(RedirectedTest::isSimulated)
        .thenApplyAsync(first -> first && isSimulated()).get()));
    for (var simulated : beside(() -> CompletableFuture.supplyAsync(RedirectedTest::isSimulated).get()))
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
        publisher.consume(item -> seen.complete(isSimulated()));
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
      assertTrue(CompletableFuture.supplyAsync(RedirectedTest::isSimulated, delayed).get());
      return System.nanoTime();
    }));
  }

  @Test
  void whatIsChainedToATimeOutRunsOnASimulatedThread() throws Exception {
    assertTrue(TinyMachine.play(() -> new CompletableFuture<Boolean>().completeOnTimeout(true, 1, TimeUnit.HOURS)
        .thenApply(value -> Thread.currentThread().isVirtual() && isSimulated()).get()));
  }

  @Test
  void aFutureThatIsDoneNeedsNoTimer() throws Exception {
    assertEquals(List.of(1, 0), TinyMachine.play(() -> {
      var future = new CompletableFuture<String>().orTimeout(1, TimeUnit.HOURS);
      int before = machine().pending();
      future.complete("in time");
      return List.of(before, machine().pending());
    }));
  }

  @Test
  void ordinaryFuturesTimeOutByTheRealClock() throws Exception {
    TinyMachine.play(() -> null);

    for (var value : beside(() -> new CompletableFuture<String>().completeOnTimeout("late", 1, TimeUnit.MILLISECONDS).get()))
      assertEquals("late", value);
    var future = new CompletableFuture<String>().orTimeout(1, TimeUnit.HOURS);
    future.complete("in time");
    assertEquals("in time", future.get());
  }

  @Test
  void parallelStreamsAreRefused() throws Exception {
    var failure = assertThrows(UnsupportedOperationException.class,
        () -> TinyMachine.play(() -> IntStream.range(0, 100_000).parallel().map(i -> i + 1).sum()));

    assertTrue(failure.getMessage().startsWith("the simulated thread 'main' uses the common pool at "
        + RedirectedTest.class.getName()), failure.getMessage());
    assertTrue(failure.getMessage().contains("make the stream sequential"), failure.getMessage());
    for (int sum : beside(() -> IntStream.range(0, 100_000).parallel().map(i -> 1).sum())) assertEquals(100_000, sum);
  }

  @Test
  void theCommonPoolIsRefused() throws Exception {
    var failure = assertThrows(UnsupportedOperationException.class,
        () -> TinyMachine.play(() -> ForkJoinPool.commonPool().submit(() -> 1)));

    assertTrue(failure.getMessage().contains("uses the common pool at " + RedirectedTest.class.getName()),
        failure.getMessage());
    for (int one : beside(() -> ForkJoinPool.commonPool().submit(() -> 1).get())) assertEquals(1, one);
  }

  @Test
  void poolsOfWorkersAreRefused() throws Exception {
    try (var pool = new ForkJoinPool(1)) {
      var failure = assertThrows(UnsupportedOperationException.class, () -> TinyMachine.play(() -> pool.submit(() -> 1)));

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

    assertTrue(waits.join(Duration.ofSeconds(30)));
  }

  @Test
  void socketsAreTheMachines() throws Exception {
    var failure = assertThrows(IOException.class, () -> TinyMachine.play(() -> {
      try (var socket = new Socket()) {
        socket.connect(new InetSocketAddress("127.0.0.1", 1));
      }
      return null;
    }));

    assertEquals("a simulated socket does not do this: connect", failure.getMessage());
    assertThrows(IOException.class, () -> TinyMachine.play(() -> new ServerSocket(0)));
    for (var port : beside(() -> {
      try (var socket = new ServerSocket(0)) {
        return socket.getLocalPort();
      }
    })) assertTrue(port > 0);
  }

  @Test
  void boundedMailboxesOfUsersMayBeSmaller() throws Exception {
    assertEquals("bounded(1, REJECT)", TinyMachine.play(() -> Mailbox.bounded(8, Overflow.REJECT).toString()));
    for (var mailbox : beside(() -> Mailbox.bounded(8, Overflow.REJECT).toString()))
      assertEquals("bounded(8, REJECT)", mailbox);
  }

  @Test
  void theCarrierSeesTheMachine() throws Exception {
    assertTrue(TinyMachine.play(() -> {
      var seen = new CompletableFuture<Boolean>();
      machine().schedule(() -> seen.complete(isSimulated() && System.currentTimeMillis() < YEAR_2030), 1);
      return seen.get();
    }));
  }
}
