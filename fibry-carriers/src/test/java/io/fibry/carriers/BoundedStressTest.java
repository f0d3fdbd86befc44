package io.fibry.carriers;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.RandomProgram;
import io.fibry.support.Soak;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/**
 * Random programs of actors with bounded mailboxes, whose senders wait for space: virtual threads
 * and handlers. An actor sends only to later actors, so no cycle of waits arises. Most messages are
 * quick, so that senders and actors share a carrier. Each message must be handled once, in the
 * order of its sender.
 */
class BoundedStressTest {
  private static final int ACTORS = 6;
  private static final int SENDERS = 5;
  private static final int MESSAGES = 2_000; // of each sender

  private record Work(int sender, long number, long seed) {}

  private static final class BoundedProgram {
    private final RandomProgram program;
    private final ActorScope scope = ActorSystem.openScope("bounded");
    private final List<Actor<Work>> actors = new ArrayList<>();

    BoundedProgram(RandomProgram program) {
      this.program = program;
      var random = new Random(program.seed());
      for (int i = 0; i < ACTORS; i++) {
        int own = i;
        int pauseRate = 1 << random.nextInt(11); // one of so many messages takes long
        var receiver = program.newReceiver(SENDERS + ACTORS);
        var numbers = new long[ACTORS];
        actors.add(scope.anonymous().mailbox(Mailbox.bounded(1 << random.nextInt(8), Overflow.BLOCK))
            .newActor((Work work) -> {
              receiver.begin(work.sender(), work.number());
              if ((work.seed() & pauseRate - 1) == 0) pause(new Random(work.seed()));
              if (own + 1 < ACTORS && work.seed() % 3 != 0) {
                int next = own + 1 + (int) (work.seed() >>> 33) % (ACTORS - own - 1);
                send(SENDERS + own, next, ++numbers[next], next(work.seed()));
              }
              receiver.end();
            }));
      }
    }

    /** A cheap random number: most messages must be quick, so that senders and actors are near. */
    private static long next(long number) {
      return number * 6_364_136_223_846_793_005L + 1_442_695_040_888_963_407L;
    }

    private static void pause(Random choices) {
      switch (choices.nextInt(4)) {
        case 0 -> LockSupport.parkNanos(choices.nextInt(200_000));
        case 1 -> Thread.yield();
        default -> {
          int nanos = choices.nextInt(20_000);
          for (long start = System.nanoTime(); System.nanoTime() - start < nanos;) Thread.onSpinWait();
        }
      }
    }

    private void send(int sender, int receiver, long number, long workSeed) {
      program.countSent(1);
      actors.get(receiver).sendMessage(new Work(sender, number, workSeed));
    }

    private void sendAll(int sender) {
      var choices = new Random(program.seed() * SENDERS + sender);
      int receiver = choices.nextInt(ACTORS);
      int pauseRate = 1 << choices.nextInt(11);
      long workSeed = choices.nextLong();
      for (int i = 1; i <= MESSAGES; i++) {
        if ((workSeed & pauseRate - 1) == 0) pause(choices);
        workSeed = next(workSeed);
        send(sender, receiver, i, workSeed);
      }
    }

    void run() {
      try (scope) {
        var starter = scope.anonymous().newActor((Integer sender) -> Thread.startVirtualThread(() -> {
          sendAll(sender);
          program.countHandled();
        }));
        program.countSent(SENDERS); // so that the numbers are equal only after all senders have ended
        for (int i = 0; i < SENDERS; i++) starter.sendMessage(i);
        program.awaitMessages();
      }
    }
  }

  private static void runPrograms(int count) {
    RandomProgram.runAll(count, program -> new BoundedProgram(program).run());
  }

  @Test
  void blockedSendersContinueAndMessagesKeepOrder() {
    runPrograms(40);
  }

  @Test
  @Soak(counterpart = "BoundedStressTest.blockedSendersContinueAndMessagesKeepOrder")
  void sendersOfManyProgramsContinueAndMessagesKeepOrder() {
    runPrograms(20_000);
  }
}
