package io.fibry.carriers;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorStoppedException;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.AskTimeoutException;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Threads that no carrier runs ask quick actors. Platform threads spin for the answers. The drains
 * of virtual threads are lent to the JDK's scheduler, which another virtual thread holds up at
 * times. At about the time of an answer, a limit passes, the handler interrupts the asker, or
 * another actor kills the actor. Each ask must end, with the right answer or a failure of this
 * kind.
 */
class AskersOffCarriersStressTest {
  private static final int ROUNDS = Soak.ON ? 1_000_000 : 10_000; // of each asker
  private static final int ASKERS = 4; // each has an actor
  private static final int MAX_WORK = 12_000; // ns; askers spin for 5 µs
  private static final int MAX_HOLD_UP = 3_000_000; // ns; a lent drain is late after 1 to 2 ms

  private enum Disturbance {
    NONE, INTERRUPT, LIMIT, KILL;

    /** Most askers are not disturbed, because a disturbed ask takes longer. */
    static Disturbance next(Random random) {
      return random.nextInt(4) > 0 ? NONE : values()[random.nextInt(values().length)];
    }
  }

  private record Question(int number, Disturbance disturbance, int nanos, Thread asker) {}

  private final ActorScope scope = ActorSystem.openScope("spinning");
  private final LongAdder rounds = new LongAdder();
  private final ConcurrentLinkedQueue<String> wrongResults = new ConcurrentLinkedQueue<>();

  @AfterEach
  void close() {
    scope.close();
  }

  private ActorWithReturn<Question, Integer> newActor() {
    return scope.anonymous().newActorWithReturn(this::answer);
  }

  private Integer answer(Question question) {
    work(question.nanos());
    if (question.disturbance() == Disturbance.INTERRUPT) {
      question.asker().interrupt();
      work(question.nanos() / 4);
    }
    return question.number();
  }

  /** Lets other threads of the JDK's scheduler wait, again and again. */
  private static void holdUp(List<Thread> askers, Random random) {
    while (askers.stream().anyMatch(Thread::isAlive)) {
      work(random.nextInt(MAX_HOLD_UP));
      LockSupport.parkNanos(random.nextInt(MAX_HOLD_UP));
    }
  }

  private static void work(int nanos) {
    for (long start = System.nanoTime(); System.nanoTime() - start < nanos;) Thread.onSpinWait();
  }

  @Test
  void everyAskEndsDespiteInterruptsLimitsAndKills() {
    long seed = Long.getLong("fibry.seed", System.nanoTime());
    System.out.println("fibry.seed=" + seed);
    var askers = new ArrayList<Thread>();
    for (int i = 0; i < ASKERS; i++) {
      var random = new Random(seed + i);
      var asker = i % 2 == 0 ? Thread.ofPlatform().daemon() : Thread.ofVirtual();
      askers.add(asker.start(() -> askAll(random)));
    }

    var busy = Thread.startVirtualThread(() -> holdUp(askers, new Random(seed + ASKERS)));

    Patience.progress("an ask hangs, fibry.seed=" + seed, rounds::sum,
        () -> askers.stream().noneMatch(Thread::isAlive));
    Patience.awaitEnd(busy);

    assertEquals(List.of(), List.copyOf(wrongResults), () -> "fibry.seed=" + seed);
    assertEquals((long) ASKERS * ROUNDS, rounds.sum());
  }

  private void askAll(Random random) {
    var actor = newActor();
    for (int number = 0; number < ROUNDS; number++, rounds.increment()) {
      // most answers come in time, because askers soon stop to spin for a slow actor
      int nanos = random.nextInt(random.nextInt(4) == 0 ? MAX_WORK : 1_000);
      var question = new Question(number, Disturbance.next(random), nanos, Thread.currentThread());
      String failure = failureOfAsk(actor, question, random);
      if (failure != null) wrongResults.add(question + ": " + failure);
      Thread.interrupted();
    }
  }

  /** Returns null if the ask ends as it may. */
  private String failureOfAsk(ActorWithReturn<Question, Integer> actor, Question question, Random random) {
    var disturbance = question.disturbance();
    try {
      int answer = switch (disturbance) {
        case NONE, INTERRUPT -> actor.ask(question);
        case LIMIT -> actor.ask(question, Duration.ofNanos(1 + random.nextInt(2 * MAX_WORK)));
        case KILL -> askKilled(question, random.nextInt(MAX_WORK));
      };
      return answer == question.number() ? null : "the answer was " + answer;
    } catch (CancellationException interrupt) {
      if (!Thread.currentThread().isInterrupted()) return "the interrupt flag was cleared";
      return disturbance == Disturbance.INTERRUPT ? null : interrupt.toString();
    } catch (AskTimeoutException timeout) {
      return disturbance == Disturbance.LIMIT ? null : timeout.toString();
    } catch (ActorStoppedException stopped) {
      return disturbance == Disturbance.KILL ? null : stopped.toString();
    } catch (Throwable failure) {
      return failure.toString();
    }
  }

  private int askKilled(Question question, int nanosToKill) {
    var killed = newActor();
    scope.anonymous().newActor((Integer nanos, ActorContext<Integer> context) -> {
      work(nanos);
      killed.kill();
    }).sendMessage(nanosToKill);
    return killed.ask(question);
  }
}
