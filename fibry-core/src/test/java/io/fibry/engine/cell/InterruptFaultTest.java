package io.fibry.engine.cell;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.FailurePolicy;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.StressRuns;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests interrupts of senders, askers and actors at random moments. */
class InterruptFaultTest {

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void interruptedSendersLoseAndDuplicateNoMessage(boolean virtual) throws InterruptedException {
    long seed = StressRuns.seed();
    System.out.println("blocked senders, virtual " + virtual + ": -Dfibry.seed=" + seed);
    var random = new SplittableRandom(seed);
    Set<Integer> handled = ConcurrentHashMap.newKeySet();
    var handledTwice = new AtomicBoolean();
    var actor = ActorSystem.anonymous().mailbox(Mailbox.bounded(1, Overflow.BLOCK)).newActor((Integer i) -> {
      if (!handled.add(i)) handledTwice.set(true);
      if (i % 16 == 0) LockSupport.parkNanos(1_000);
    });
    Set<Integer> accepted = ConcurrentHashMap.newKeySet();
    var flagLost = new AtomicBoolean();
    var senders = new ArrayList<Thread>();
    var sends = new ArrayList<Future<?>>();
    for (int s = 0; s < 3; s++) {
      int firstMessage = s * 10_000;
      var send = new FutureTask<>(() -> {
        for (int i = firstMessage; i < firstMessage + 3_000; i++) {
          if (actor.sendMessage(i)) accepted.add(i);
          else if (!Thread.currentThread().isInterrupted()) flagLost.set(true);
          Thread.interrupted();
        }
      }, null);
      sends.add(send);
      senders.add((virtual ? Thread.ofVirtual() : Thread.ofPlatform()).start(send));
    }

    while (!sends.stream().allMatch(Future::isDone)) {
      senders.get(random.nextInt(senders.size())).interrupt();
      LockSupport.parkNanos(random.nextInt(30_000));
    }

    sends.forEach(Patience::value);
    actor.close();
    assertEquals(accepted, handled);
    assertFalse(handledTwice.get());
    assertFalse(flagLost.get());
  }

  @Test
  void interruptEndsAskAndKeepsInterruptFlag() throws InterruptedException {
    long seed = StressRuns.seed();
    System.out.println("interrupts: -Dfibry.seed=" + seed);
    var random = new SplittableRandom(seed);
    var actor = ActorSystem.anonymous().newActorWithReturn((Integer i) -> i);
    var faults = ConcurrentHashMap.<String>newKeySet();
    var asks = new CompletableFuture<Void>();
    var asker = Patience.startFiber(() -> {
      for (int i = 0; i < 5_000; i++) ask(actor, i, faults);
      return null;
    }, asks);

    while (!asks.isDone()) {
      asker.interrupt();
      LockSupport.parkNanos(random.nextInt(20_000));
    }

    Patience.value(asks);
    assertEquals(Set.of(), faults);
    assertEquals(1, actor.ask(1));
    actor.close();
  }

  private static void ask(ActorWithReturn<Integer, Integer> actor, int i, Set<String> faults) {
    try {
      if (actor.ask(i, Patience.LONG) != i) faults.add("the wrong answer");
    } catch (CancellationException cancellation) {
      if (!Thread.currentThread().isInterrupted()) faults.add("the interrupt flag was lost");
    } catch (RuntimeException failure) {
      faults.add(failure.toString());
    }
    Thread.interrupted();
  }

  static Stream<Strategy> ownThreadStrategies() {
    return Stream.of(Strategy.FIBER, Strategy.THREAD, Strategy.RESIDENT_FIBER);
  }

  @ParameterizedTest
  @MethodSource("ownThreadStrategies")
  void strayInterruptNeitherReachesNextMessageNorKillsActor(Strategy strategy) throws InterruptedException {
    long seed = StressRuns.seed();
    System.out.println("interrupts: -Dfibry.seed=" + seed);
    var random = new SplittableRandom(seed);
    var workerThread = new Thread[1];
    var leakedInterrupts = new AtomicInteger();
    var actor = ActorSystem.anonymous().strategy(strategy).onFailure(FailurePolicy.resume().withoutLog())
        .newActorWithReturn((Integer i) -> {
          if (i % 2 == 0) {
            if (Thread.currentThread().isInterrupted()) leakedInterrupts.incrementAndGet();
            Thread.currentThread().interrupt();
            if (i % 4 == 0) throw new InterruptedException("planned");
          } else if (Thread.currentThread().isInterrupted()) leakedInterrupts.incrementAndGet();
          workerThread[0] = Thread.currentThread();
          return i;
        });
    var answers = Stream.iterate(0, i -> i + 1).limit(2_000).map(actor::sendMessageReturn).toList();

    for (var answer : answers) Patience.value(answer.handle((value, failure) -> 0));
    assertEquals(0, leakedInterrupts.get());
    interruptFromOutside(actor, workerThread, random);
  }

  /**
   * Interrupts the thread of the actor at random moments. The thread may then wait for work, or for
   * a sender that has replaced the tail of the queue, but has not linked its node yet.
   */
  private static void interruptFromOutside(ActorWithReturn<Integer, Integer> actor,
      Thread[] workerThread, SplittableRandom random)
      throws InterruptedException {
    var interrupter = Thread.ofPlatform().start(() -> {
      for (int i = 0; i < 500; i++) {
        workerThread[0].interrupt();
        LockSupport.parkNanos(random.nextInt(10_000));
      }
    });
    for (int i = 0; i < 2_000; i++) assertEquals(2 * i + 1, Patience.value(actor.sendMessageReturn(2 * i + 1)));
    Patience.awaitEnd(interrupter);
    actor.close();
  }

  @Test
  void actorContinuesAfterInterruptDuringNestedAsk() {
    var gate = new Gate();
    var slowActor = ActorSystem.anonymous().newActorWithReturn((Integer i) -> {
      gate.pass();
      return i;
    });
    List<Thread> workerThreads = new CopyOnWriteArrayList<>();
    var askingActor =
        ActorSystem.anonymous().onFailure(FailurePolicy.resume().withoutLog()).newActorWithReturn((Integer i) -> {
          workerThreads.add(Thread.currentThread());
          return i == 0 ? slowActor.ask(i) : i;
        });
    var firstRequest = askingActor.sendMessageReturn(0);
    Patience.await(gate.entered);
    Patience.awaitParked(workerThreads.getFirst());

    workerThreads.getFirst().interrupt();

    assertThrows(Exception.class, firstRequest::join);
    assertEquals(1, Patience.value(askingActor.sendMessageReturn(1)));
    gate.open();
  }
}
