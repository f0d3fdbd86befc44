package io.fibry.carriers;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.support.Patience;
import io.fibry.support.RandomProgram;
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

  private static final class MixedProgram {
    private final RandomProgram program;
    private final Random outside;
    private final ActorScope scope = ActorSystem.openScope("stress");
    private final List<Actor<Work>> workers = new ArrayList<>();
    private final List<ActorWithReturn<Work, Long>> helpers = new ArrayList<>();
    private final ReentrantLock lock = new ReentrantLock();
    private final AtomicLong[] numbers = new AtomicLong[ACTORS + 1];

    MixedProgram(RandomProgram program) {
      this.program = program;
      this.outside = new Random(program.seed());
      for (int i = 0; i < numbers.length; i++) numbers[i] = new AtomicLong();
      for (int i = 0; i < ACTORS; i++) {
        int own = i;
        helpers.add(scope.anonymous().newActorWithReturn((Work work) -> {
          act(new Random(work.seed()));
          return work.number() + own;
        }));
        var receiver = program.newReceiver(ACTORS + 1);
        workers.add(scope.anonymous().newActor((Work work) -> {
          receiver.begin(work.sender(), work.number());
          handle(own, work);
          receiver.end();
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
      program.countSent(1);
      workers.get(receiver).sendMessage(new Work(sender, numbers[sender].incrementAndGet(), depth, workSeed));
    }

    void run() {
      try (scope) {
        for (int i = 0; i < FIRST_MESSAGES; i++) {
          send(ACTORS, outside.nextInt(ACTORS), DEPTH, outside.nextLong());
          if (outside.nextInt(10) == 0) LockSupport.parkNanos(outside.nextInt(2_000_000)); // the carriers sleep
        }
        program.awaitMessages();
      }
    }
  }

  private static void runPrograms(int count) {
    RandomProgram.runAll(count, program -> new MixedProgram(program).run());
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
