package io.fibry.engine.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.StressRuns;
import io.fibry.testing.Variants;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinPool.ForkJoinWorkerThreadFactory;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests that an actor gets a thread of its ForkJoinPool while a handler on the same pool waits for
 * that actor.
 */
class ForkJoinTest {
  private static final long SEED = StressRuns.seed();
  private static final long STRESS_NANOS = TimeUnit.SECONDS.toNanos(Soak.ON ? 120 : 1);

  private final RecordedLetters letters = new RecordedLetters();
  private final ActorScope scope = Variants.scope(letters);
  private ForkJoinPool pool = new ForkJoinPool(1);

  @AfterEach
  void end() {
    Gate.openAll();
    scope.closeWithin(Patience.LONG);
    pool.shutdownNow();
  }

  private ActorBuilder<Object> builderOn(ForkJoinPool pool) {
    return scope.anonymous().strategy(Strategy.of(pool));
  }

  private Actor<Object> boundedActor(ActorBuilder<Object> builder, List<Object> handled) {
    return builder.mailbox(Mailbox.bounded(1, Overflow.BLOCK)).newActor((Object message) -> handled.add(message));
  }

  @Promise("6.11")
  @Test
  void anotherPoolThreadFreesCapacityWhileSenderWaits() {
    var handled = new CopyOnWriteArrayList<Object>();
    var receiver = boundedActor(builderOn(pool), handled);
    var sender = builderOn(pool)
        .newActorWithReturn((Object message) -> IntStream.range(0, 100).filter(i -> receiver.sendMessage(i)).count());

    assertEquals(100, (long) sender.ask("all", Patience.LONG));

    receiver.close();
    assertEquals(IntStream.range(0, 100).boxed().toList(), handled);
  }

  @Promise("6.11")
  @Test
  void anotherPoolThreadSendsMessageWhileReceiveWaits() {
    var receiver = builderOn(pool).mailbox(Mailbox.unbounded().selective())
        .newActorWithReturn((Object message, ActorContext<Object> context) -> {
          var self = context.self();
          var sender = builderOn(pool).newActor((Object code) -> self.sendMessage("come"));
          sender.sendMessage("go");
          return context.receive(String.class, "come"::equals, Patience.LONG).orElse("none");
        });

    assertEquals("come", receiver.ask("begin", Patience.LONG));
  }

  @Promise("6.11")
  @Test
  void anotherPoolThreadAnswersWhileAskWaits() {
    var answeringActor = builderOn(pool).newActorWithReturn((Object message) -> "answer");
    var askingActor = builderOn(pool)
        .newActorWithReturn((Object message) -> answeringActor.ask(message, Patience.LONG));

    assertEquals("answer", askingActor.ask("question", Patience.LONG));
  }

  /**
   * While the pool creates a thread, the mailbox gets capacity. A park in the thread factory then
   * consumes the wake-up of the waiting sender, which must continue nevertheless.
   */
  @Test
  void senderContinuesAlthoughPoolConsumedItsWakeUp() {
    var handled = new CopyOnWriteArrayList<Object>();
    var gate = new Gate();
    var receiver = scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.BLOCK)).newActor((Object message) -> {
      if (message.equals("first")) gate.pass();
      handled.add(message);
    });
    var wakeUpConsumed = new CompletableFuture<Boolean>();
    ForkJoinWorkerThreadFactory threadFactory = pool -> {
      if (handled.isEmpty() && Thread.currentThread() instanceof ForkJoinWorkerThread) {
        gate.open();
        while (handled.size() < 3) Thread.yield(); // a wait that parks would consume the wake-up too early
        LockSupport.park();
        wakeUpConsumed.complete(true);
      }
      return ForkJoinPool.defaultForkJoinWorkerThreadFactory.newThread(pool);
    };
    pool.shutdownNow();
    pool = new ForkJoinPool(1, threadFactory, null, false);
    receiver.sendMessage("first");
    Patience.await(gate.entered);
    receiver.sendMessage("second");
    var sender = builderOn(pool).newActorWithReturn((Object message) -> receiver.sendMessage(message));

    assertTrue((boolean) sender.ask("third", Patience.LONG));

    assertTrue(Patience.value(wakeUpConsumed));
    assertEquals(List.of("first", "second", "third"), handled);
  }

  @Promise("6.11")
  @Test
  void senderWaitsForCapacityInPoolWithoutSpareThreads() {
    var handled = new CopyOnWriteArrayList<Object>();
    var gate = new Gate();
    var receiver = scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.BLOCK)).newActor((Object message) -> {
      gate.pass();
      handled.add(message);
    });
    pool.shutdownNow();
    pool = new ForkJoinPool(1, ForkJoinPool.defaultForkJoinWorkerThreadFactory, null, false, 1, 1, 1, null, 1,
        TimeUnit.MINUTES);
    var sender = scope.named("sender").strategy(Strategy.of(pool))
        .newActorWithReturn((Object message) -> IntStream.range(0, 3).filter(i -> receiver.sendMessage(i)).count());

    var answer = sender.sendMessageReturn("three");
    Patience.eventually(() -> scope.dump().contains("capacity for"));
    gate.open();

    assertEquals(3, (long) Patience.value(answer));
    receiver.close();
    assertEquals(List.of(0, 1, 2), handled);
  }

  /**
   * {@code ForkJoinPool.managedBlock} throws in a pool that is shutting down, even if the waiting
   * thread has cleared its interrupt flag. The handler must wait for capacity nevertheless.
   */
  @Test
  void handlerStillWaitsForCapacityInStoppedPool() {
    var handled = new CopyOnWriteArrayList<Object>();
    var gate = new Gate();
    var receiver = boundedActor(scope.anonymous(), handled);
    receiver.execute(gate::passUninterruptibly);
    Patience.await(gate.entered);
    receiver.sendMessage("first");
    var handlerBegun = new CountDownLatch(1);
    var sender = scope.named("sender").strategy(Strategy.of(pool)).newActorWithReturn((Object message) -> {
      handlerBegun.countDown();
      while (!Thread.interrupted()) Thread.onSpinWait();
      return receiver.sendMessage(message);
    });

    var answer = sender.sendMessageReturn("second");
    Patience.await(handlerBegun);
    pool.shutdownNow();
    Patience.eventually(() -> scope.dump().contains("capacity for"));
    gate.open();

    assertTrue(Patience.value(answer));
    receiver.close();
    assertEquals(List.of("first", "second"), handled);
  }

  /**
   * Runs rows of actors on a small pool. Each actor waits for capacity in the mailbox of the next
   * actor, so more actors may wait than the pool has threads.
   */
  @Promise("6.11")
  @Test
  void chainsOfWaitingActorsFinishOnSmallPool() {
    System.out.println("ForkJoinTest: -Dfibry.seed=" + SEED);
    var seeds = new Random(SEED);
    long startNanos = System.nanoTime();
    for (int episode = 0; episode == 0 || System.nanoTime() - startNanos < STRESS_NANOS; episode++) {
      var random = new Random(seeds.nextLong());
      try {
        runRow(random);
      } catch (Throwable failure) {
        throw new AssertionError("episode " + episode + " of seed " + SEED, failure);
      }
    }
  }

  private void runRow(Random random) {
    try (var pool = new ForkJoinPool(1 + random.nextInt(3))) {
      int messages = 1 + random.nextInt(200);
      var handled = new CopyOnWriteArrayList<Object>();
      var row = new ArrayList<Actor<Object>>();
      row.add(boundedActor(builderOn(pool), handled));
      for (int i = random.nextInt(8); i > 0; i--) {
        var next = row.getLast();
        var mailbox = Mailbox.bounded(1 + random.nextInt(4), Overflow.BLOCK);
        row.add(builderOn(pool).mailbox(mailbox).newActor((Object message) -> next.sendMessage(message)));
      }
      for (int i = 0; i < messages; i++) assertTrue(row.getLast().sendMessage(i));
      for (var actor : row.reversed()) {
        actor.sendPoisonPill();
        Patience.awaitEnd(actor::waitForExit);
      }
      assertEquals(IntStream.range(0, messages).boxed().toList(), handled);
    }
  }
}
