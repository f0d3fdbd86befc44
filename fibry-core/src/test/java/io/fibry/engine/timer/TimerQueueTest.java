package io.fibry.engine.timer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Patience;
import io.fibry.testing.LeakProbe;
import io.fibry.testing.StressRuns;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class TimerQueueTest {
  private static final long MILLISECOND = 1_000_000; // ns
  private static final long HOUR = 3_600_000 * MILLISECOND;

  private final long seed = StressRuns.seed();
  private final SplittableRandom random = new SplittableRandom(seed);
  private final TimerQueue queue = new TimerQueue();

  private class TestTimer extends TimerNode {
    private final Runnable task;

    TestTimer(long delay, Runnable task) {
      this(System.nanoTime(), delay, task);
    }

    TestTimer(long startedAt, long delay, Runnable task) {
      super(startedAt + delay);
      this.task = task;
    }

    boolean cancel() {
      return cancelIn(queue);
    }

    @Override
    protected void fire() {
      if (close()) task.run();
    }
  }

  /** A timer that counts its runs, and starts again each time. */
  private final class RepeatedTimer extends TestTimer {
    private final long period;

    RepeatedTimer(long period, Runnable task) {
      super(period, task);
      this.period = period;
    }

    @Override
    protected void fire() {
      if (!beginRun()) return;
      super.task.run();
      dueAt += period;
      startAgainIn(queue);
    }
  }

  private TestTimer start(long delay, Runnable task) {
    var timer = new TestTimer(delay, task);
    queue.start(timer);
    return timer;
  }

  /** Blocks the timer thread until the latch is counted down, so that no other timer fires. */
  private CountDownLatch blockTimerThread() {
    var latch = new CountDownLatch(1);
    start(-MILLISECOND, () -> Patience.await(latch));
    return latch;
  }

  /** Returns the number of nodes in the queue, after a sweep or without. */
  private int size(boolean isSwept) {
    var size = new CompletableFuture<Integer>();
    start(0, () -> {
      finishWork(queue);
      if (isSwept) queue.beginSweep(0);
      finishWork(queue);
      size.complete(queue.size());
    });
    return Patience.value(size);
  }

  private static void finishWork(TimerQueue queue) {
    while (queue.hasWork()) queue.process(TimerQueue.PORTION);
  }

  /** A set that calls the code before each element is added. */
  private static SortedBlocks<TimerNode> checkedSet(Runnable beforeAdd) {
    return new SortedBlocks<>() {
      @Override
      void add(TimerNode node) {
        beforeAdd.run();
        super.add(node);
      }
    };
  }

  /** Runs the code on two threads, each with random numbers of its own. */
  private void onTwoThreads(Consumer<SplittableRandom> code) {
    System.out.println("timers: -Dfibry.seed=" + seed);
    var users = new ArrayList<Future<?>>();
    try (var executor = Executors.newFixedThreadPool(2)) {
      for (int i = 0; i < 2; i++) {
        var threadRandom = random.split();
        users.add(executor.submit(() -> code.accept(threadRandom)));
      }
    }
    users.forEach(Patience::value);
  }

  @Test
  void timersFireInOrderOfTimeThenOfStart() {
    var fired = new ArrayList<Integer>();
    var allFired = new CountDownLatch(1);
    var allStarted = blockTimerThread();
    long start = System.nanoTime() + 20 * MILLISECOND;
    var expected = new ArrayList<Integer>();
    for (int i = 0; i < 1_000; i++) {
      int number = i;
      queue.start(new TestTimer(start, (i % 3 - 1) * MILLISECOND, () -> fired.add(number)));
    }
    for (int remainder = 0; remainder < 3; remainder++)
      for (int i = remainder; i < 1_000; i += 3) expected.add(i);
    start(25 * MILLISECOND, allFired::countDown);
    allStarted.countDown();

    Patience.await(allFired);
    assertEquals(expected, fired);
  }

  @Test
  void eachTimerFiresOnceOrIsCancelled() {
    var fired = new AtomicInteger();
    var cancelled = new AtomicInteger();
    int timers = 50_000;

    onTwoThreads(threadRandom -> {
      var open = new ArrayList<TestTimer>();
      for (int i = 0; i < timers; i++) {
        open.add(start(threadRandom.nextLong(3) * threadRandom.nextLong(MILLISECOND), fired::incrementAndGet));
        int index = threadRandom.nextInt(open.size());
        if (threadRandom.nextBoolean() && open.remove(index).cancel()) cancelled.incrementAndGet();
      }
    });

    Patience.eventually(() -> fired.get() + cancelled.get() >= 2 * timers);
    assertEquals(0, size(true), "seed " + seed);
    assertEquals(2 * timers, fired.get() + cancelled.get(), "seed " + seed);
  }

  @Test
  void cancelledTimersAreRemovedFromQueue() {
    onTwoThreads(threadRandom -> {
      for (int i = 0; i < 100_000; i++) {
        long delay = threadRandom.nextInt(3) * HOUR / 2;
        var timer = delay == 0 ? new RepeatedTimer(1_000, () -> {}) : new TestTimer(delay, () -> {});
        queue.start(timer);
        for (int spins = threadRandom.nextInt(200); spins > 0; spins--) Thread.onSpinWait();
        assertTrue(timer.cancel());
      }
    });

    int size = size(false);
    assertTrue(size <= 3 * TimerQueue.MIN_CANCELS, size + " nodes, seed " + seed);
    assertEquals(0, size(true), "seed " + seed);
  }

  @Test
  void manyCancelledTimersLeaveQueueBesideOpenTimers() {
    var open = new ArrayList<TestTimer>();
    for (int i = 0; i < 10_000; i++) open.add(start(HOUR + random.nextLong(HOUR), () -> {}));
    for (int i = 0; i < 100_000; i++) start(HOUR, () -> {}).cancel();

    int size = size(false);
    assertTrue(size <= 2 * open.size() + 3 * TimerQueue.MIN_CANCELS, size + " nodes, seed " + seed);
    assertEquals(open.size(), size(true), "seed " + seed);
    open.forEach(timer -> assertTrue(timer.cancel()));
    assertEquals(0, size(true));
  }

  @Test
  void earlierTimerFiresBesideTimersOfAnHour() {
    for (int i = 0; i < 1_000; i++) start(HOUR + i, () -> {});
    var fired = new ArrayList<Integer>();
    var allFired = new CountDownLatch(1);
    var allStarted = blockTimerThread();
    long start = System.nanoTime();
    queue.start(new TestTimer(start, 3 * MILLISECOND, () -> fired.add(3)));
    queue.start(new TestTimer(start, MILLISECOND, () -> fired.add(1)));
    queue.start(new TestTimer(start, 5 * MILLISECOND, allFired::countDown));
    allStarted.countDown();

    Patience.await(allFired);
    assertEquals(List.of(1, 3), fired);
  }

  @Test
  void firedTimerBecomesGarbage() {
    var fired = new CountDownLatch(2);
    var references = new ArrayList<WeakReference<?>>();
    for (long delay : List.of(0L, 1_100 * MILLISECOND)) // the second is swept
      references.add(new WeakReference<>(start(delay, fired::countDown)));

    Patience.await(fired);
    assertTrue(LeakProbe.collected(references));
  }

  @Test
  void dueTimerFiresWhileTimerThreadSortsManyTimers() {
    int timers = 20 * TimerQueue.PORTION;
    var firedAt = new CompletableFuture<Integer>();
    var addCount = new AtomicInteger();
    var startedQueue = new AtomicReference<TimerQueue>();
    var sortingQueue = new TimerQueue(checkedSet(() -> {
      if (addCount.incrementAndGet() == 3 * TimerQueue.PORTION)
        startedQueue.get().start(new TestTimer(-HOUR, () -> firedAt.complete(addCount.get())));
    }));
    startedQueue.set(sortingQueue);
    for (int i = 0; i < timers; i++) sortingQueue.push(new TestTimer(HOUR, () -> {}));
    sortingQueue.process(TimerQueue.PORTION);
    finishWork(sortingQueue);
    for (int i = 0; i < timers; i++) sortingQueue.push(new TestTimer(0, () -> {}));

    sortingQueue.start(new TestTimer(0, () -> {}));

    int count = Patience.value(firedAt);
    assertTrue(count <= 6 * TimerQueue.PORTION, "fired after " + count + " timers were sorted");
  }

  @Test
  void dueTimerIsSortedBeforeSweepIsComplete() {
    int timers = 10 * TimerQueue.PORTION;
    for (int i = 0; i < timers; i++) queue.push(new TestTimer(HOUR, () -> {}));
    queue.process(TimerQueue.PORTION);
    finishWork(queue);
    queue.beginSweep(0);
    var dueTimer = new TestTimer(-HOUR, () -> {});
    queue.push(dueTimer);

    queue.process(TimerQueue.PORTION);

    assertSame(dueTimer, queue.first());
    assertTrue(queue.hasWork());
    finishWork(queue);
    assertEquals(timers + 1, queue.size());
  }

  @Test
  void dueTimerFiresWhileMemoryIsExhausted() {
    var isExhausted = new AtomicBoolean();
    var failedAdds = new AtomicInteger();
    var faultyQueue = new TimerQueue(checkedSet(() -> {
      if (!isExhausted.get()) return;
      failedAdds.incrementAndGet();
      throw new OutOfMemoryError("planned");
    }));
    var sortedFired = new CountDownLatch(1);
    var unsortedFired = new CountDownLatch(1);
    long start = System.nanoTime();
    faultyQueue.start(new TestTimer(20 * MILLISECOND, sortedFired::countDown));
    faultyQueue.start(new TestTimer(0, () -> {
      isExhausted.set(true);
      faultyQueue.start(new TestTimer(0, unsortedFired::countDown));
    }));

    Patience.await(sortedFired);
    Patience.eventually(() -> failedAdds.get() > 5);
    int adds = failedAdds.get();
    long milliseconds = (System.nanoTime() - start) / MILLISECOND;
    isExhausted.set(false);

    Patience.await(unsortedFired);
    assertTrue(adds <= 10 + milliseconds, adds + " tries in " + milliseconds + " ms");
  }

  @Test
  void timerThatIsDueBehindHorizonFiresAgain() {
    var ticks = new CountDownLatch(2);
    var timer = new RepeatedTimer(1_100 * MILLISECOND, ticks::countDown);
    queue.start(timer);

    Patience.await(ticks);
    assertTrue(timer.cancel());
  }

  @Test
  void repeatedTimerFiresUntilCancelled() {
    var ticks = new CountDownLatch(5);
    var timer = new RepeatedTimer(MILLISECOND, ticks::countDown);
    queue.start(timer);

    Patience.await(ticks);
    assertTrue(timer.cancel());
    assertFalse(timer.cancel());
    assertEquals(0, size(true));
  }
}
