package io.fibry.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.StressRuns;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/**
 * Tests tasks and actors whose start fails because no thread can be created. Each must run once
 * when threads can be created again.
 */
class StartRetrierStressTest {
  private static final int ADDERS = 3;
  private static final int TASKS_PER_ADDER = 60;

  /** Creates a retrier whose starts fail often. */
  private static StartRetrier failingRetrier(AtomicInteger doneCount) {
    return new StartRetrier(task -> {
      if (ThreadLocalRandom.current().nextInt(3) == 0) throw new OutOfMemoryError("planned");
      task.run();
      doneCount.incrementAndGet();
    });
  }

  @RepeatedTest(5)
  void taskWhoseStartFailedRunsOnce() {
    long seed = StressRuns.seed();
    System.out.println("start retrier: -Dfibry.seed=" + seed);
    var random = new SplittableRandom(seed);
    var runs = new AtomicIntegerArray(ADDERS * TASKS_PER_ADDER);
    var doneCount = new AtomicInteger();
    var retrier = failingRetrier(doneCount);
    var threads =
        startAdders(TASKS_PER_ADDER, random, number -> retrier.add((Runnable) () -> runs.incrementAndGet(number)));

    assertEachRunsOnce(threads, doneCount, runs);
  }

  /** Starts threads that add tasks. Each task has its own number. */
  private static List<Thread> startAdders(int tasksPerThread, SplittableRandom random, IntConsumer add) {
    var threads = new ArrayList<Thread>();
    for (int i = 0; i < ADDERS; i++) {
      int firstNumber = i * tasksPerThread;
      var threadRandom = random.split();
      threads.add(Thread.ofPlatform().start(() -> {
        for (int number = firstNumber; number < firstNumber + tasksPerThread; number++) {
          if (threadRandom.nextInt(8) == 0) Thread.yield();
          add.accept(number);
        }
      }));
    }
    return threads;
  }

  private static void assertEachRunsOnce(List<Thread> threads, AtomicInteger doneCount, AtomicIntegerArray runs) {
    threads.forEach(Patience::awaitEnd);
    Patience.eventually(() -> doneCount.get() == runs.length());

    for (int n = 0; n < runs.length(); n++) assertEquals(1, runs.get(n), "runs of " + n);
  }

  /** While memory is short, more starts fail than the retrier has slots. */
  @RepeatedTest(5)
  void tasksRunOnceWhenRetrierHasMoreTasksThanSlots() {
    long seed = StressRuns.seed();
    System.out.println("more starts than slots: -Dfibry.seed=" + seed);
    int tasksPerThread = 2_000;
    var hasMemory = new AtomicBoolean();
    var runs = new AtomicIntegerArray(ADDERS * tasksPerThread);
    var doneCount = new AtomicInteger();
    var retrier = new StartRetrier(task -> {
      if (!hasMemory.get()) throw new OutOfMemoryError("planned");
      task.run();
      doneCount.incrementAndGet();
    });
    var addedCount = new AtomicInteger();
    var threads = startAdders(tasksPerThread, new SplittableRandom(seed), number -> {
      retrier.add((Runnable) () -> runs.incrementAndGet(number));
      addedCount.incrementAndGet();
    });

    Patience.eventually(() -> addedCount.get() >= 1_024); // the slots are full
    hasMemory.set(true);

    assertEachRunsOnce(threads, doneCount, runs);
  }

  /**
   * Adds the actor again, perhaps while the retrier is still rescuing it from the previous time.
   */
  @RepeatedTest(5)
  void retrierRestartsStrandedActorEachTimeItIsAdded() {
    var retrier = failingRetrier(new AtomicInteger());
    var stranded = new AtomicInteger();
    Rescuable actor = () -> stranded.set(0);
    for (int i = 0; i < TASKS_PER_ADDER; i++) {
      stranded.set(1);
      retrier.add(actor);

      Patience.eventually(() -> stranded.get() == 0);
    }
  }

  @Test
  void workThatFails200TimesIsLoggedOnce() {
    var retrier = new StartRetrier(Runnable::run);
    var mayEnd = new AtomicBoolean();
    var calls = new AtomicInteger();
    Rescuable work = new Rescuable() {
      @Override
      public void rescue() {
        if (calls.incrementAndGet() < 250 || !mayEnd.get()) throw new OutOfMemoryError("planned");
      }

      @Override
      public String toString() {
        return "work of StartRetrierStressTest";
      }
    };
    try (var logged = new Logged()) {
      retrier.add(work);

      Patience.eventually(() -> calls.get() > 250);

      assertEquals(1, logged.lines("work of StartRetrierStressTest has failed 200 times").size());
    } finally {
      mayEnd.set(true);
    }
  }

  /** Work that fails three times: on the caller's thread, and then on fibers. */
  private static final class FailingWork implements Rescuable, Runnable {
    private final AtomicInteger calls = new AtomicInteger();
    private final AtomicInteger successes = new AtomicInteger();

    @Override
    public void rescue() {
      if (calls.incrementAndGet() <= 3) throw new OutOfMemoryError("planned");
      successes.incrementAndGet();
    }

    /** Must not be called, because it does not repeat the work. */
    @Override
    public void run() {
      successes.addAndGet(1_000);
    }
  }

  @RepeatedTest(5)
  void retrierRepeatsWorkUntilItSucceeds() {
    var retrier = new StartRetrier(Thread::startVirtualThread);
    var work = new FailingWork();

    retrier.runOrRetry(work);

    Patience.eventually(() -> work.successes.get() > 0);
    assertEquals(1, work.successes.get());
    assertEquals(4, work.calls.get());
  }

  @Test
  void newRetrierStartsItsThreadAtOnce() {
    var starts = new AtomicInteger();

    new StartRetrier(Runnable::run, thread -> starts.incrementAndGet());

    assertEquals(1, starts.get());
  }

  @Test
  void addStartsThreadThatEarlierCallsCouldNotStart() {
    var remainingFaults = new AtomicInteger(2);
    var retrier = new StartRetrier(Runnable::run, thread -> {
      if (remainingFaults.getAndDecrement() > 0) throw new OutOfMemoryError("unable to create native thread (planned)");
      thread.start();
    });
    var runs = new AtomicInteger();

    for (int i = 0; i < 2; i++) retrier.add((Runnable) runs::incrementAndGet);

    Patience.eventually(() -> runs.get() == 2);
  }
}
