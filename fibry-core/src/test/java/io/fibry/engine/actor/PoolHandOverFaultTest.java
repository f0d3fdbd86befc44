package io.fibry.engine.actor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.Clock;
import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.Exitable;
import io.fibry.Gate;
import io.fibry.Handler;
import io.fibry.Hush;
import io.fibry.LeakProbe;
import io.fibry.Letters;
import io.fibry.Strategy;
import io.fibry.Variants;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.scope.Scopes;
import io.fibry.mailbox.Mailbox;
import io.fibry.pool.Pools;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Events between the moment when a pool gives a message to a worker and the moment when the worker
 * has it.
 */
@ExtendWith(Hush.class)
class PoolHandOverFaultTest {
  /** A strategy that runs code of the test before it starts a thread. */
  private static final class Moody implements Strategy {
    private final AtomicInteger calls = new AtomicInteger();
    private final boolean resident;
    volatile Handler<Integer> before = call -> {};

    Moody(boolean resident) {
      this.resident = resident;
    }

    @Override
    public void activate(Runnable activation) {
      try {
        before.handle(calls.incrementAndGet());
      } catch (RuntimeException planned) {
        throw planned;
      } catch (Exception unexpected) {
        throw new AssertionError(unexpected);
      }
      Thread.startVirtualThread(activation);
    }

    @Override
    public boolean isResident() {
      return resident;
    }
  }

  /** Keeps activations until the test runs them. */
  private static final class ByHand implements Strategy {
    private final Queue<Runnable> waiting = new ArrayDeque<>();

    private Runnable before = () -> {};

    @Override
    public void activate(Runnable activation) {
      before.run();
      waiting.add(activation);
    }

    void runAll() {
      for (var next = waiting.poll(); next != null; next = waiting.poll()) next.run();
    }
  }

  private final Letters letters = new Letters();
  private final Clock clock = new Clock();
  private final ActorScope scope = Variants.scope(o -> o.withDeadLetters(letters));

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  private static void pass(Object message) throws InterruptedException {
    if (message instanceof Gate gate) gate.pass();
  }

  @Test
  void messageSentBeforePillIsHandledEvenDuringHandOver() {
    var moody = new Moody(true);
    var handled = new CopyOnWriteArrayList<Object>();
    var slow = new Gate();
    var heavy = new Gate();
    moody.before = call -> {
      // on the thread of the first worker, after the heavy message
      if (call == 2) slow.passDeaf();
    };
    var pool = Pools.weighted(scope.anonymous().strategy(moody), 2, (Object message) -> message == heavy ? 2 : 1)
        .newActor((Object message) -> {
          pass(message);
          handled.add(message);
        });
    pool.sendMessage(heavy);
    Patience.await(heavy.entered);
    pool.sendMessage("one");
    pool.sendMessage("two");
    heavy.open();
    Patience.await(slow.entered);

    pool.sendPoisonPill();
    slow.open();

    Patience.ended(pool::waitForExit);
    assertEquals(List.of(), letters.all);
    assertEquals(3, handled.size());
  }

  @Test
  void workerThatFailsToStartLosesNoMessage() {
    for (int i = 0; i < 1_000; i++) {
      var moody = new Moody(true);
      moody.before = call -> {
        if (call == 1) throw new IllegalStateException("planned");
      };
      var pool = Pools.scaling(scope.anonymous().strategy(moody), 0, 1).newActorWithReturn((Object message) -> message);

      assertEquals(1, Patience.value(pool.sendMessageReturn((Object) 1)), "pool " + i);

      pool.close();
    }
    assertEquals(1_000, scope.report().handled());
  }

  @Test
  void idleWorkerTakesMessageWhenNewWorkerFails() {
    var moody = new Moody(true);
    var first = new Gate();
    var still = Variants.scope(o -> o.withScheduler(clock));
    var pool = Pools.scaling(still.anonymous().strategy(moody), 1, 2).newActorWithReturn((Object message) -> {
      pass(message);
      return message;
    });
    pool.sendMessage(first);
    Patience.await(first.entered);
    moody.before = call -> {
      first.open();
      Patience.eventually(() -> still.report().handled() == 1);
      Patience.eventually(() -> cell(pool).workersAndSelf().getFirst().isIdle());
      throw new IllegalStateException("planned");
    };

    var answer = pool.sendMessageReturn((Object) "x"); // this clock's timers never fire

    assertEquals("x", Patience.value(answer));
  }

  private static Cell cell(Exitable pool) {
    return (Cell) pool;
  }

  @Test
  void aKillThatFailsDuringTheHandOverGivesNoMessageTwice() {
    var moody = new Moody(true);
    var broken = new boolean[1];
    var own =
        Scopes.root("own",
            ActorScope.Options.defaults().withKillGrace(Duration.ofMillis(200)).withScheduler(new Clock() {
              @Override
              public Timer schedule(Duration delay, Runnable task) {
                if (broken[0]) throw new IllegalStateException("planned");
                return io.fibry.time.Scheduler.system().schedule(delay, task);
              }
            }));
    var slow = new Gate();
    moody.before = call -> slow.passDeaf();
    var pool = Pools.scaling(own.anonymous().strategy(moody), 0, 2).newActorWithReturn((Object message) -> message);
    var answer = new CompletableFuture<Object>();
    var sender = Patience.startFiber(() -> pool.sendMessageReturn((Object) "x")
        .whenComplete((value, failure) -> answer.complete(failure == null ? value : failure)));
    Patience.await(slow.entered);

    pool.kill();
    broken[0] = true;
    slow.open();
    Patience.joined(sender);
    broken[0] = false;

    Patience.ended(pool::waitForExit);
    Patience.value(answer);
    Patience.eventually(() -> own.report().sent() == 1);
    // a pool that was cut off, since the machine is slow, ends before its worker
    Patience.eventually(() -> cell(pool).activity().equals("0 of 0 at work"));
  }

  @Test
  void aClockThatFailsLosesNoMessage() {
    var broken = new boolean[1];
    var own = Variants.scope(o -> o.withScheduler(new Clock() {
      @Override
      public Timer schedule(Duration delay, Runnable task) {
        if (broken[0]) throw new IllegalStateException("planned");
        return super.schedule(delay, task);
      }

      @Override
      public long nanoTime() {
        if (broken[0]) throw new IllegalStateException("planned");
        return super.nanoTime();
      }
    }));
    var pool = Pools.scaling(own.anonymous(), 0, 2).newActor((Object message) -> {});
    broken[0] = true;

    for (int i = 0; i < 100; i++) pool.sendMessage(i);

    Patience.eventually(() -> own.report().handled() == 100);
    broken[0] = false;
    pool.close();
  }

  @Test
  void timerThatCouldNotBeSetIsSetNextTime() {
    var fails = new AtomicInteger(1);
    var own = Variants.scope(o -> o.withScheduler(clock));
    var counting = new Clock() {
      @Override
      public Timer schedule(Duration delay, Runnable task) {
        if (fails.getAndDecrement() > 0) throw new IllegalStateException("planned");
        return clock.schedule(delay, task);
      }

      @Override
      public long nanoTime() {
        return clock.nanoTime();
      }
    };
    Scopes.configure(own, o -> o.withScheduler(counting));
    var left = new AtomicInteger();
    var pool = Pools.scaling(own.named("pool"), 0, 2).initialState(() -> "state")
        .onStop(state -> left.incrementAndGet()).newActorWithReturn((String state, Object message) -> message);
    assertEquals(1, Patience.value(pool.sendMessageReturn((Object) 1)));
    assertTrue(own.awaitQuiescence(Patience.LONG));
    assertEquals(2, Patience.value(pool.sendMessageReturn((Object) 2)));
    assertTrue(own.awaitQuiescence(Patience.LONG));

    clock.manual.advance(Duration.ofSeconds(11));

    assertTrue(LeakProbe.eventually(() -> left.get() == 1),
        () -> left + " left, " + fails + " failures to come; " + own.dump());
  }

  @Test
  void aMessageThatWaitsForARestartKeepsItsKey() {
    var hand = new ByHand();
    var still = Variants.scope(o -> o.withScheduler(clock));
    var order = new CopyOnWriteArrayList<Object>();
    var pool = Pools.byKey(still.anonymous().strategy(hand), 2, (Object message) -> "key")
        .newActor((Object message) -> order.add(message));
    pool.sendMessage("first"); // its worker has the message, but no thread yet
    for (var worker : cell(pool).workersAndSelf()) worker.requestRestart(1_000_000_000);

    pool.sendMessage("second");
    hand.runAll();
    assertEquals(List.of(), order);
    clock.manual.advance(Duration.ofSeconds(2));
    hand.runAll();

    assertEquals(List.of("first", "second"), order);
    pool.sendPoisonPill();
    hand.runAll();
    Patience.ended(pool::waitForExit);
  }

  @Test
  void aWorkerThatIsToEndIsGivenNothingMore() {
    var hand = new ByHand();
    var still = Variants.scope(o -> o.withScheduler(clock).withDeadLetters(letters));
    var handled = new AtomicInteger();
    var pool = (ActorCell) (Exitable) Pools.scaling(still.anonymous().strategy(hand), 0, 2)
        .newActor((Object message) -> handled.incrementAndGet());
    pool.sendMessage("one");
    pool.sendMessage("two");
    hand.runAll();
    var last = pool.workersAndSelf().stream().filter(worker -> worker.name().endsWith("/2")).findFirst().orElseThrow();
    hand.before = () -> { // the first worker is told to end, and the scope restarts all
      hand.before = () -> {};
      last.requestRestart(0);
      hand.runAll();
    };

    clock.manual.advance(Duration.ofSeconds(11));
    pool.sendMessage("three");
    hand.runAll();

    assertEquals(3, handled.get());
    assertEquals(List.of(), letters.all);
  }

  @Test
  void aPoolThatIsEndedWhileItIsMadeEnds() {
    for (boolean kill : new boolean[] {false, true}) {
      var moody = new Moody(true);
      moody.before = call -> {
        if (call == 1) scope.find("early", Object.class).ifPresent(kill ? Exitable::kill : Exitable::sendPoisonPill);
      };

      var pool =
          Pools.fixed(scope.named("early").protocol(Object.class).strategy(moody), 3).newActor((Object message) -> {});

      Patience.ended(pool::waitForExit);
      Patience.eventually(() -> cell(pool).workersAndSelf().size() == 1);
    }
  }

  @Test
  void aPoolWhoseWorkersCannotAllBeMadeLeavesNoneBehind() {
    var moody = new Moody(true);
    var made = new CompletableFuture<Cell>();
    moody.before = call -> {
      made.complete((Cell) (Actor<?>) scope.find("half", Object.class).orElseThrow());
      if (call == 2) throw new IllegalStateException("planned");
    };

    assertThrows(IllegalStateException.class, () -> Pools
        .fixed(scope.named("half").protocol(Object.class).strategy(moody), 3).newActor((Object message) -> {}));

    Patience.ended(made.join()::waitForExit);
    assertInstanceOf(ExitReason.Failed.class, made.join().onExit().join());
    Patience.eventually(() -> made.join().workersAndSelf().size() == 1);
  }

  @Test
  void timerMessageWithoutKeyIsDeadLetter() {
    var own = Variants.scope(o -> o.withScheduler(clock).withDeadLetters(letters));
    var pool = Pools.byKey(own.anonymous(), 2, (Object message) -> ((String) message).substring(5))
        .newActor((Object message) -> {});

    try (var log = new Logged()) {
      pool.sendMessageLater("abc", Duration.ofSeconds(1));
      clock.manual.advance(Duration.ofSeconds(1));

      assertTrue(log.text().contains("StringIndexOutOfBounds"), log.text());
    }

    assertEquals(List.of("abc"), letters.messages(Reason.REJECTED));
  }

  @Test
  void unboundedMailboxesAreServedToo() { // the released message comes first
    var moody = new Moody(true);
    moody.before = call -> {
      if (call <= 3) throw new IllegalStateException("planned");
    };
    var order = new CopyOnWriteArrayList<Object>();
    var pool = Pools.scaling(scope.anonymous().mailbox(Mailbox.unbounded()).strategy(moody), 0, 1)
        .newActor((Object message) -> order.add(message));

    for (int i = 0; i < 3; i++) pool.sendMessage(i);

    Patience.eventually(() -> order.size() == 3);
    assertEquals(List.of(0, 1, 2), order);
  }
}
