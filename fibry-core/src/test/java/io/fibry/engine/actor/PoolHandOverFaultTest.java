package io.fibry.engine.actor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.Exitable;
import io.fibry.Handler;
import io.fibry.Strategy;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.scope.Scopes;
import io.fibry.mailbox.Mailbox;
import io.fibry.pool.Pools;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Clock;
import io.fibry.testing.Gate;
import io.fibry.testing.LeakProbe;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.SilencedStdErr;
import io.fibry.testing.Variants;
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
 * Tests failures, kills and restarts between the moment when a pool gives a message to a worker and
 * the moment when the worker has it.
 */
@ExtendWith(SilencedStdErr.class)
class PoolHandOverFaultTest {
  /** A strategy that runs code of the test before it starts a thread. */
  private static final class HookedStrategy implements Strategy {
    private final AtomicInteger calls = new AtomicInteger();
    private final boolean resident;
    volatile Handler<Integer> beforeStart = call -> {};

    HookedStrategy(boolean resident) {
      this.resident = resident;
    }

    @Override
    public void activate(Runnable activation) {
      try {
        beforeStart.handle(calls.incrementAndGet());
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

  /** A strategy that keeps activations until the test runs them. */
  private static final class ManualStrategy implements Strategy {

    private final Queue<Runnable> activations = new ArrayDeque<>();
    private Runnable beforeStart = () -> {};

    @Override
    public void activate(Runnable activation) {
      beforeStart.run();
      activations.add(activation);
    }

    void runAll() {
      for (var next = activations.poll(); next != null; next = activations.poll()) next.run();
    }
  }

  private final RecordedLetters letters = new RecordedLetters();
  private final Clock clock = new Clock();
  private final ActorScope scope = Variants.scope(o -> o.withDeadLetterListener(letters));

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  private static void pass(Object message) throws InterruptedException {
    if (message instanceof Gate gate) gate.pass();
  }

  @Test
  void messageIsHandledIfPoisonPillFollowsDuringWorkerStart() {
    var strategy = new HookedStrategy(true);
    var handled = new CopyOnWriteArrayList<Object>();
    var startGate = new Gate();
    var heavyGate = new Gate();
    strategy.beforeStart = call -> {

      // The first worker makes the second call of the strategy on its own thread, after it has
      // handled the heavy message
      if (call == 2) startGate.passUninterruptibly();
    };
    var pool = Pools.weighted(scope.anonymous().strategy(strategy), 2, (Object message) -> message == heavyGate ? 2 : 1)
        .newActor((Object message) -> {
          pass(message);
          handled.add(message);
        });
    pool.sendMessage(heavyGate);
    Patience.await(heavyGate.entered);
    pool.sendMessage("one");
    pool.sendMessage("two");
    heavyGate.open();
    Patience.await(startGate.entered);

    pool.sendPoisonPill();
    startGate.open();

    Patience.awaitEnd(pool::waitForExit);
    assertEquals(List.of(), letters.all);
    assertEquals(3, handled.size());
  }

  @Test
  void workerThatFailsToStartLosesNoMessage() {
    for (int i = 0; i < 1_000; i++) {
      var strategy = new HookedStrategy(true);
      strategy.beforeStart = call -> {
        if (call == 1) throw new IllegalStateException("planned");
      };
      var pool =
          Pools.scaling(scope.anonymous().strategy(strategy), 0, 1).newActorWithReturn((Object message) -> message);

      assertEquals(1, Patience.value(pool.sendMessageReturn((Object) 1)), "pool " + i);

      pool.close();
    }
    assertEquals(1_000, scope.report().handled());
  }

  @Test
  void idleWorkerTakesMessageWhenNewWorkerFailsToStart() {
    var strategy = new HookedStrategy(true);
    var firstMessage = new Gate();
    var ownScope = Variants.scope(o -> o.withScheduler(clock));
    var pool = Pools.scaling(ownScope.anonymous().strategy(strategy), 1, 2).newActorWithReturn((Object message) -> {
      pass(message);
      return message;
    });
    pool.sendMessage(firstMessage);
    Patience.await(firstMessage.entered);
    strategy.beforeStart = call -> {
      firstMessage.open();
      Patience.eventually(() -> ownScope.report().handled() == 1);
      Patience.eventually(() -> cell(pool).workersAndSelf().getFirst().isIdle());
      throw new IllegalStateException("planned");
    };

    // the test never advances the clock, so no timer of the scope fires
    var answer = pool.sendMessageReturn((Object) "x");

    assertEquals("x", Patience.value(answer));
  }

  private static Cell cell(Exitable pool) {
    return (Cell) pool;
  }

  @Test
  void requestCompletesIfClockFailsAtKillDuringWorkerStart() {
    var strategy = new HookedStrategy(true);
    var clockFails = new boolean[1];
    var ownScope =
        Scopes.root("own",
            ActorScope.Options.defaults().withKillGrace(Duration.ofMillis(200)).withScheduler(new Clock() {
              @Override
              public Timer schedule(Duration delay, Runnable task) {
                if (clockFails[0]) throw new IllegalStateException("planned");
                return io.fibry.time.Scheduler.system().schedule(delay, task);
              }
            }));
    var startGate = new Gate();
    strategy.beforeStart = call -> startGate.passUninterruptibly();
    var pool =
        Pools.scaling(ownScope.anonymous().strategy(strategy), 0, 2).newActorWithReturn((Object message) -> message);
    var answer = new CompletableFuture<Object>();
    var sender = Patience.startFiber(() -> pool.sendMessageReturn((Object) "x")
        .whenComplete((value, failure) -> answer.complete(failure == null ? value : failure)));
    Patience.await(startGate.entered);

    pool.kill();
    clockFails[0] = true;
    startGate.open();
    Patience.awaitEnd(sender);
    clockFails[0] = false;

    Patience.awaitEnd(pool::waitForExit);
    Patience.value(answer);
    Patience.eventually(() -> ownScope.report().sent() == 1);
    // on a slow machine the kill grace may end first: the pool is then cut off, and ends before its
    // worker
    Patience.eventually(() -> cell(pool).activity().workers() == 0);
  }

  @Test
  void poolLosesNoMessageWhileClockThrows() {
    var clockFails = new boolean[1];
    var ownScope = Variants.scope(o -> o.withScheduler(new Clock() {
      @Override
      public Timer schedule(Duration delay, Runnable task) {
        if (clockFails[0]) throw new IllegalStateException("planned");
        return super.schedule(delay, task);
      }

      @Override
      public long nanoTime() {
        if (clockFails[0]) throw new IllegalStateException("planned");
        return super.nanoTime();
      }
    }));
    var pool = Pools.scaling(ownScope.anonymous(), 0, 2).newActor((Object message) -> {});
    clockFails[0] = true;

    for (int i = 0; i < 100; i++) pool.sendMessage(i);

    Patience.eventually(() -> ownScope.report().handled() == 100);
    clockFails[0] = false;
    pool.close();
  }

  @Test
  void workerRetiresAlthoughFirstRetirementTimerCouldNotBeSet() {
    var failuresLeft = new AtomicInteger(1);
    var ownScope = Variants.scope(o -> o.withScheduler(clock));
    var failingClock = new Clock() {
      @Override
      public Timer schedule(Duration delay, Runnable task) {
        if (failuresLeft.getAndDecrement() > 0) throw new IllegalStateException("planned");
        return clock.schedule(delay, task);
      }

      @Override
      public long nanoTime() {
        return clock.nanoTime();
      }
    };
    Scopes.configure(ownScope, o -> o.withScheduler(failingClock));
    var stopHookRuns = new AtomicInteger();
    var pool = Pools.scaling(ownScope.named("pool"), 0, 2).initialState(() -> "state")
        .onStop(state -> stopHookRuns.incrementAndGet()).newActorWithReturn((String state, Object message) -> message);
    assertEquals(1, Patience.value(pool.sendMessageReturn((Object) 1)));
    assertTrue(ownScope.awaitQuiescence(Patience.LONG));
    assertEquals(2, Patience.value(pool.sendMessageReturn((Object) 2)));
    assertTrue(ownScope.awaitQuiescence(Patience.LONG));

    clock.manual.advance(Duration.ofSeconds(11));

    assertTrue(LeakProbe.eventually(() -> stopHookRuns.get() == 1),
        () -> stopHookRuns + " stop hooks ran, " + failuresLeft + " failures left; " + ownScope.dump());
  }

  @Test
  void messagesOfOneKeyKeepTheirOrderAcrossWorkerRestart() {
    var strategy = new ManualStrategy();
    var ownScope = Variants.scope(o -> o.withScheduler(clock));
    var handled = new CopyOnWriteArrayList<Object>();
    var pool = Pools.byKey(ownScope.anonymous().strategy(strategy), 2, (Object message) -> "key")
        .newActor((Object message) -> handled.add(message));
    pool.sendMessage("first"); // a worker has got the message, but the strategy has not run its activation
    for (var worker : cell(pool).workersAndSelf()) worker.requestRestart(1_000_000_000);

    pool.sendMessage("second");
    strategy.runAll();
    assertEquals(List.of(), handled);
    clock.manual.advance(Duration.ofSeconds(2));
    strategy.runAll();

    assertEquals(List.of("first", "second"), handled);
    pool.sendPoisonPill();
    strategy.runAll();
    Patience.awaitEnd(pool::waitForExit);
  }

  @Test
  void messageIsHandledWhenWorkerRestartsDuringRetirement() {
    var strategy = new ManualStrategy();
    var ownScope = Variants.scope(o -> o.withScheduler(clock).withDeadLetterListener(letters));
    var handled = new AtomicInteger();
    var pool = (ActorCell) (Exitable) Pools.scaling(ownScope.anonymous().strategy(strategy), 0, 2)
        .newActor((Object message) -> handled.incrementAndGet());
    pool.sendMessage("one");
    pool.sendMessage("two");
    strategy.runAll();
    var lastWorker =
        pool.workersAndSelf().stream().filter(worker -> worker.name().endsWith("/2")).findFirst().orElseThrow();
    // called when the first worker must end: the scope restarts the last worker at this moment
    strategy.beforeStart = () -> {
      strategy.beforeStart = () -> {};
      lastWorker.requestRestart(0);
      strategy.runAll();
    };

    clock.manual.advance(Duration.ofSeconds(11));
    pool.sendMessage("three");
    strategy.runAll();

    assertEquals(3, handled.get());
    assertEquals(List.of(), letters.all);
  }

  @Test
  void poolThatIsStoppedDuringItsCreationEnds() {
    for (boolean kill : new boolean[] {false, true}) {
      var strategy = new HookedStrategy(true);
      strategy.beforeStart = call -> {
        if (call == 1) scope.find("early", Object.class).ifPresent(kill ? Exitable::kill : Exitable::sendPoisonPill);
      };

      var pool =
          Pools.fixed(scope.named("early").protocol(Object.class).strategy(strategy), 3)
              .newActor((Object message) -> {});

      Patience.awaitEnd(pool::waitForExit);
      Patience.eventually(() -> cell(pool).workersAndSelf().size() == 1);
    }
  }

  @Test
  void poolThatFailsToCreateWorkerEndsAllItsWorkers() {
    var strategy = new HookedStrategy(true);
    var poolCell = new CompletableFuture<Cell>();
    strategy.beforeStart = call -> {
      poolCell.complete((Cell) (Actor<?>) scope.find("half", Object.class).orElseThrow());
      if (call == 2) throw new IllegalStateException("planned");
    };

    assertThrows(IllegalStateException.class, () -> Pools
        .fixed(scope.named("half").protocol(Object.class).strategy(strategy), 3).newActor((Object message) -> {}));

    Patience.awaitEnd(poolCell.join()::waitForExit);
    assertInstanceOf(ExitReason.Failed.class, poolCell.join().onExit().join());
    Patience.eventually(() -> poolCell.join().workersAndSelf().size() == 1);
  }

  @Test
  void timerMessageIsDeadLetterWhenKeyFunctionThrows() {
    var ownScope = Variants.scope(o -> o.withScheduler(clock).withDeadLetterListener(letters));
    var pool = Pools.byKey(ownScope.anonymous(), 2, (Object message) -> ((String) message).substring(5))
        .newActor((Object message) -> {});

    try (var log = new Logged()) {
      pool.sendMessageLater("abc", Duration.ofSeconds(1));
      clock.manual.advance(Duration.ofSeconds(1));

      assertTrue(log.text().contains("StringIndexOutOfBounds"), log.text());
    }

    assertEquals(List.of("abc"), letters.messages(Reason.REJECTED));
  }

  /** A message whose start is retried must come before later messages. */
  @Test
  void unboundedPoolKeepsMessageOrderWhenWorkersFailToStart() {
    var strategy = new HookedStrategy(true);
    strategy.beforeStart = call -> {
      if (call <= 3) throw new IllegalStateException("planned");
    };
    var handled = new CopyOnWriteArrayList<Object>();
    var pool = Pools.scaling(scope.anonymous().mailbox(Mailbox.unbounded()).strategy(strategy), 0, 1)
        .newActor((Object message) -> handled.add(message));

    for (int i = 0; i < 3; i++) pool.sendMessage(i);

    Patience.eventually(() -> handled.size() == 3);
    assertEquals(List.of(0, 1, 2), handled);
  }
}
