package io.fibry.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.StressHarness;
import io.fibry.support.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.RepeatedTest;

/**
 * Tasks and actors that are kept while threads fail run once, as soon as there is a thread; a kept
 * actor runs soon.
 */
class StartRetrierStressTest {
  private static final int KEEPERS = 3;
  private static final int EACH = 60;

  /** Keeps what it cannot start, as a relay would; it fails often. */
  private static StartRetrier failing(AtomicInteger done) {
    return new StartRetrier(task -> {
      if (ThreadLocalRandom.current().nextInt(3) == 0) throw new OutOfMemoryError("planned");
      task.run();
      done.incrementAndGet();
    });
  }

  @RepeatedTest(5)
  void tasksRunOnce() {
    long seed = StressHarness.seed();
    System.out.println("last resort: -Dfibry.seed=" + seed);
    var random = new SplittableRandom(seed);
    var runs = new AtomicIntegerArray(KEEPERS * EACH);
    var done = new AtomicInteger();
    var resort = failing(done);
    var threads = startKeepers(EACH, random, number -> resort.add((Runnable) () -> runs.incrementAndGet(number)));

    assertEachRunsOnce(threads, done, runs);
  }

  /** Starts threads that add tasks. Each task has a number of its own. */
  private static List<Thread> startKeepers(int each, SplittableRandom random, IntConsumer add) {
    var threads = new ArrayList<Thread>();
    for (int i = 0; i < KEEPERS; i++) {
      int first = i * each;
      var mine = random.split();
      threads.add(Thread.ofPlatform().start(() -> {
        for (int number = first; number < first + each; number++) {
          if (mine.nextInt(8) == 0) Thread.yield();
          add.accept(number);
        }
      }));
    }
    return threads;
  }

  private static void assertEachRunsOnce(List<Thread> threads, AtomicInteger done, AtomicIntegerArray runs) {
    threads.forEach(Patience::joined);
    Patience.eventually(() -> done.get() == runs.length());

    for (int n = 0; n < runs.length(); n++) assertEquals(1, runs.get(n), "runs of " + n);
  }

  /** While there is no memory, senders strand more actors than there are slots. */
  @RepeatedTest(5)
  void moreStartsThanSlotsRunOnce() {
    long seed = StressHarness.seed();
    System.out.println("more starts than slots: -Dfibry.seed=" + seed);
    int each = 2_000;
    var hasMemory = new AtomicBoolean();
    var runs = new AtomicIntegerArray(KEEPERS * each);
    var done = new AtomicInteger();
    var retrier = new StartRetrier(task -> {
      if (!hasMemory.get()) throw new OutOfMemoryError("planned");
      task.run();
      done.incrementAndGet();
    });
    var added = new AtomicInteger();
    var threads = startKeepers(each, new SplittableRandom(seed), number -> {
      retrier.add((Runnable) () -> runs.incrementAndGet(number));
      added.incrementAndGet();
    });

    Patience.eventually(() -> added.get() >= 1_024); // the slots are full
    hasMemory.set(true);

    assertEachRunsOnce(threads, done, runs);
  }

  /** It may be kept again while it is being rescued. */
  @RepeatedTest(5)
  void actorIsRescuedEachTimeItIsKept() {
    var resort = failing(new AtomicInteger());
    var stranded = new AtomicInteger();
    Rescuable actor = () -> stranded.set(0);
    for (int i = 0; i < EACH; i++) {
      stranded.set(1);
      resort.add(actor);

      Patience.eventually(() -> stranded.get() == 0);
    }
  }
}
