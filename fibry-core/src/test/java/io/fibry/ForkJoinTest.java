package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
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

/** A handler that waits for an actor of the same ForkJoinPool does not keep a thread from it. */
class ForkJoinTest {
  private static final long SEED = StressHarness.seed();
  private static final long LONG = TimeUnit.SECONDS.toNanos(Soak.ON ? 120 : 1);

  private final Letters letters = new Letters();
  private final ActorScope scope = Variants.scope(letters);
  private ForkJoinPool pool = new ForkJoinPool(1);

  @AfterEach
  void end() {
    Gate.openAll();
    scope.closeWithin(Patience.LONG);
    pool.shutdownNow();
  }

  private ActorBuilder<Object> on(ForkJoinPool pool) {
    return scope.anonymous().strategy(Strategy.of(pool));
  }

  private Actor<Object> narrow(ActorBuilder<Object> builder, List<Object> handled) {
    return builder.mailbox(Mailbox.bounded(1, Overflow.BLOCK)).newActor((Object message) -> handled.add(message));
  }

  @Promise("6.11")
  @Test
  void waitForRoomLetsAnotherPoolThreadMakeRoom() {
    var handled = new CopyOnWriteArrayList<Object>();
    var receiver = narrow(on(pool), handled);
    var sender = on(pool)
        .newActorWithReturn((Object message) -> IntStream.range(0, 100).filter(i -> receiver.sendMessage(i)).count());

    assertEquals(100, (long) sender.ask("all", Patience.LONG));

    receiver.close();
    assertEquals(IntStream.range(0, 100).boxed().toList(), handled);
  }

  @Promise("6.11")
  @Test
  void receiveLetsAnotherPoolThreadSendMessage() {
    var chooser = on(pool).mailbox(Mailbox.unbounded().selective())
        .newActorWithReturn((Object message, ActorContext<Object> context) -> {
          var self = context.self();
          var other = on(pool).newActor((Object code) -> self.sendMessage("come"));
          other.sendMessage("go");
          return context.receive(String.class, "come"::equals, Patience.LONG).orElse("none");
        });

    assertEquals("come", chooser.ask("begin", Patience.LONG));
  }

  @Promise("6.11")
  @Test
  void anAskLetsAnotherThreadAnswer() {
    var answers = on(pool).newActorWithReturn((Object message) -> "answer");
    var asks = on(pool).newActorWithReturn((Object message) -> answers.ask(message, Patience.LONG));

    assertEquals("answer", asks.ask("question", Patience.LONG));
  }

  /**
   * The pool makes a thread; meanwhile room is made, and a wait inside the pool consumes the
   * wake-up.
   */
  @Test
  void wakeUpConsumedByPoolIsNotLost() {
    var handled = new CopyOnWriteArrayList<Object>();
    var gate = new Gate();
    var receiver = scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.BLOCK)).newActor((Object message) -> {
      if (message.equals("first")) gate.pass();
      handled.add(message);
    });
    var taken = new CompletableFuture<Boolean>();
    ForkJoinWorkerThreadFactory greedy = pool -> {
      if (handled.isEmpty() && Thread.currentThread() instanceof ForkJoinWorkerThread) {
        gate.open();
        while (handled.size() < 3) Thread.yield(); // a wait that parks would take the wake-up before
        LockSupport.park();
        taken.complete(true);
      }
      return ForkJoinPool.defaultForkJoinWorkerThreadFactory.newThread(pool);
    };
    pool.shutdownNow();
    pool = new ForkJoinPool(1, greedy, null, false);
    receiver.sendMessage("first");
    Patience.await(gate.entered);
    receiver.sendMessage("second");
    var sender = on(pool).newActorWithReturn((Object message) -> receiver.sendMessage(message));

    assertTrue((boolean) sender.ask("third", Patience.LONG));

    assertTrue(Patience.value(taken));
    assertEquals(List.of("first", "second", "third"), handled);
  }

  @Promise("6.11")
  @Test
  void senderWaitsForRoomInPoolWithoutSpareThreads() {
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

    var sent = sender.sendMessageReturn("three");
    Patience.eventually(() -> scope.dump().contains("room for"));
    gate.open();

    assertEquals(3, (long) Patience.value(sent));
    receiver.close();
    assertEquals(List.of(0, 1, 2), handled);
  }

  /**
   * A pool that is shutting down throws when a thread announces a wait, even after the thread has
   * handled the interrupt.
   */
  @Test
  void handlerStillWaitsForRoomInStoppedPool() {
    var handled = new CopyOnWriteArrayList<Object>();
    var gate = new Gate();
    var receiver = narrow(scope.anonymous(), handled);
    receiver.execute(gate::passDeaf);
    Patience.await(gate.entered);
    receiver.sendMessage("first");
    var inside = new CountDownLatch(1);
    var sender = scope.named("sender").strategy(Strategy.of(pool)).newActorWithReturn((Object message) -> {
      inside.countDown();
      while (!Thread.interrupted()) Thread.onSpinWait();
      return receiver.sendMessage(message);
    });

    var sent = sender.sendMessageReturn("second");
    Patience.await(inside);
    pool.shutdownNow();
    Patience.eventually(() -> scope.dump().contains("room for"));
    gate.open();

    assertTrue(Patience.value(sent));
    receiver.close();
    assertEquals(List.of("first", "second"), handled);
  }

  /**
   * Rows of actors on a small pool, each waiting for room in the next. Far more wait than the pool
   * has threads.
   */
  @Promise("6.11")
  @Test
  void chainsOfWaitingActorsFinishOnSmallPool() {
    System.out.println("ForkJoinTest: -Dfibry.seed=" + SEED);
    var seeds = new Random(SEED);
    long begun = System.nanoTime();
    for (int episode = 0; episode == 0 || System.nanoTime() - begun < LONG; episode++) {
      var random = new Random(seeds.nextLong());
      try {
        row(random);
      } catch (Throwable failure) {
        throw new AssertionError("episode " + episode + " of seed " + SEED, failure);
      }
    }
  }

  private void row(Random random) {
    try (var pool = new ForkJoinPool(1 + random.nextInt(3))) {
      int messages = 1 + random.nextInt(200);
      var handled = new CopyOnWriteArrayList<Object>();
      var row = new ArrayList<Actor<Object>>();
      row.add(narrow(on(pool), handled));
      for (int i = random.nextInt(8); i > 0; i--) {
        var next = row.getLast();
        var mailbox = Mailbox.bounded(1 + random.nextInt(4), Overflow.BLOCK);
        row.add(on(pool).mailbox(mailbox).newActor((Object message) -> next.sendMessage(message)));
      }
      for (int i = 0; i < messages; i++) assertTrue(row.getLast().sendMessage(i));
      for (var actor : row.reversed()) {
        actor.sendPoisonPill();
        Patience.ended(actor::waitForExit);
      }
      assertEquals(IntStream.range(0, messages).boxed().toList(), handled);
    }
  }
}
