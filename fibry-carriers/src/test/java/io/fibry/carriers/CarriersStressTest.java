package io.fibry.carriers;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;

/**
 * Random programs: actors that send, ask, compute, park, yield, lock and start threads, with pauses
 * in which all carriers fall asleep. Each message must be handled once, in the order of its sender.
 */
class CarriersStressTest {
  private static final int ACTORS = 24;
  private static final int FIRST_MESSAGES = 40; // of each program, from outside
  private static final int DEPTH = 4; // how often a message causes further messages

  private record Work(int sender, long number, int depth, long seed) {}

  /** One random program, which its seed decides. */
  private static final class RandomProgram {
    private final long seed;
    private final Random outside;
    private final ActorScope scope = ActorSystem.openScope("stress");
    private final List<Actor<Work>> workers = new ArrayList<>();
    private final List<ActorWithReturn<Work, Long>> helpers = new ArrayList<>();
    private final ReentrantLock lock = new ReentrantLock();
    private final AtomicLong sent = new AtomicLong();
    private final AtomicLong handled = new AtomicLong();
    private final AtomicLong disorders = new AtomicLong();
    private final AtomicLong overlaps = new AtomicLong();
    private final AtomicLong[] numbers = new AtomicLong[ACTORS + 1];

    RandomProgram(long seed) {
      this.seed = seed;
      this.outside = new Random(seed);
      for (int i = 0; i < numbers.length; i++) numbers[i] = new AtomicLong();
      for (int i = 0; i < ACTORS; i++) {
        int own = i;
        helpers.add(scope.anonymous().newActorWithReturn((Work work) -> {
          act(new Random(work.seed()));
          return work.number() + own;
        }));
        var last = new long[ACTORS + 1];
        var isBusy = new boolean[1];
        workers.add(scope.anonymous().newActor((Work work) -> {
          if (isBusy[0]) overlaps.incrementAndGet();
          isBusy[0] = true;
          if (work.number() <= last[work.sender()]) disorders.incrementAndGet();
          last[work.sender()] = work.number();
          handle(own, work);
          isBusy[0] = false;
          handled.incrementAndGet();
        }));
      }
    }

    private void handle(int own, Work work) {
      var random = new Random(work.seed());
      act(random);
      if (work.depth() == 0) return;
      for (int count = random.nextInt(4); count > 0; count--)
        send(own, random.nextInt(ACTORS), work.depth() - 1, random.nextLong());
      if (random.nextInt(4) == 0) {
        int helper = random.nextInt(ACTORS);
        long answer = helpers.get(helper).ask(new Work(own, 5, 0, random.nextLong()), Patience.LONG);
        assertEquals(5 + helper, answer);
      }
    }

    private void act(Random random) {
      switch (random.nextInt(12)) {
        case 0 -> LockSupport.parkNanos(random.nextInt(200_000));
        case 1 -> Thread.yield();
        case 2 -> spin(random.nextInt(200_000));
        case 3 -> spin(random.nextInt(20_000));
        case 4 -> {
          lock.lock();
          try {
            spin(random.nextInt(2_000));
          } finally {
            lock.unlock();
          }
        }
        case 5 -> {
          var waiter = Thread.currentThread();
          var done = new boolean[1];
          Thread.startVirtualThread(() -> {
            synchronized (done) {
              done[0] = true;
            }
            LockSupport.unpark(waiter);
          });
          while (!isSet(done)) LockSupport.parkNanos(1_000_000);
        }
        default -> spin(random.nextInt(1_000));
      }
    }

    private static boolean isSet(boolean[] flag) {
      synchronized (flag) {
        return flag[0];
      }
    }

    private static void spin(int nanos) {
      for (long start = System.nanoTime(); System.nanoTime() - start < nanos;) Thread.onSpinWait();
    }

    /** Only one thread at a time sends as this sender, so its numbers have an order. */
    private void send(int sender, int receiver, int depth, long workSeed) {
      sent.incrementAndGet();
      workers.get(receiver).sendMessage(new Work(sender, numbers[sender].incrementAndGet(), depth, workSeed));
    }

    void run() {
      try (scope) {
        for (int i = 0; i < FIRST_MESSAGES; i++) {
          send(ACTORS, outside.nextInt(ACTORS), DEPTH, outside.nextLong());
          if (outside.nextInt(10) == 0) LockSupport.parkNanos(outside.nextInt(2_000_000)); // the carriers sleep
        }
        Patience.progress("messages were lost, fibry.seed=" + seed, handled::get, () -> handled.get() == sent.get());
        assertEquals(0, disorders.get(), () -> "wrong order, fibry.seed=" + seed);
        assertEquals(0, overlaps.get(), () -> "two messages at a time, fibry.seed=" + seed);
      }
    }
  }

  private static void runPrograms(int count) {
    long seed = Long.getLong("fibry.seed", System.nanoTime());
    System.out.println("fibry.seed=" + seed);
    for (int i = 0; i < count; i++) new RandomProgram(seed + i).run();
  }

  @Test
  void randomProgramsHandleEachMessageOnce() {
    runPrograms(40);
  }

  @Test
  @Soak(counterpart = "CarriersStressTest.randomProgramsHandleEachMessageOnce")
  void manyRandomProgramsHandleEachMessageOnce() {
    runPrograms(10_000);
  }
}
