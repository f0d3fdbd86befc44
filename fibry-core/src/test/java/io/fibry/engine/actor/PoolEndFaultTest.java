package io.fibry.engine.actor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.ActorStoppedException;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.engine.cell.ActorInternals;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.scope.Scopes;
import io.fibry.pool.Pools;
import io.fibry.support.Patience;
import io.fibry.testing.Clock;
import io.fibry.testing.Gate;
import io.fibry.testing.LeakProbe;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.Variants;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests pools that are killed, closed by their own workers or cut off. */
class PoolEndFaultTest {
  private final RecordedLetters letters = new RecordedLetters();
  private final ActorScope scope = Variants.scope(o -> o.withDeadLetterListener(letters));

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  @Test
  void closeWithinZeroInterruptsAllBusyWorkers() {
    for (int round = 0; round < 20; round++) {
      var ownScope = ActorSystem.openScope("own", o -> o.withKillGrace(Patience.LONG));
      var handlersBegun = new AtomicInteger();
      var handlersRunning = new AtomicInteger();
      var neverOpened = new CountDownLatch(1);
      var pool =
          Pools.fixed(ownScope.anonymous().onFailure(FailurePolicy.resume().withoutLog()), 64).newActor((Object m) -> {
            handlersBegun.incrementAndGet();
            handlersRunning.incrementAndGet();
            try {
              neverOpened.await();
            } finally {
              handlersRunning.decrementAndGet();
            }
          });
      for (int i = 0; i < 500; i++) pool.sendMessage(i);
      Patience.eventually(() -> handlersBegun.get() == 64);

      var report = ownScope.closeWithin(Duration.ZERO);

      assertEquals(0, handlersRunning.get());
      assertEquals(List.of(), report.unresponsive());
      assertEquals(500, report.sent());
    }
  }

  @Test
  void killInterruptsHandlerButNotLaterExitHookOfPool() {
    var gate = new Gate();
    var interrupted = new CompletableFuture<Boolean>();
    var pool = Pools.fixed(scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()), 2)
        .newActor((Object message) -> gate.pass());
    pool.closeOnExit(() -> interrupted.complete(Thread.currentThread().isInterrupted()));
    pool.sendMessage("x");
    Patience.await(gate.entered);
    pool.sendPoisonPill();

    pool.kill();

    assertFalse(Patience.value(interrupted));
    Patience.awaitEnd(pool::waitForExit);
  }

  @Test
  void killInterruptsRunningExitHookOfPool() {
    var gate = new Gate();
    var interrupted = new CompletableFuture<String>();
    var pool = Pools.fixed(scope.anonymous(), 2).newActor((Object message) -> {});
    pool.closeOnExit(() -> {
      try {
        gate.pass();
      } catch (InterruptedException planned) {
        interrupted.complete("interrupted");
      }
    });
    pool.sendPoisonPill();
    Patience.await(gate.entered);

    pool.kill();

    assertEquals("interrupted", Patience.value(interrupted));
  }

  @Test
  void workerMayCloseItsScope() {
    var ownScope = ActorSystem.openScope("own", o -> o.withKillGrace(Patience.LONG).withDeadLetterListener(letters));
    var report = new CompletableFuture<ActorScope.Report>();
    var stoppedStates = new CopyOnWriteArrayList<Object>();
    var pool = Pools.fixed(ownScope.anonymous().onFailure(FailurePolicy.resume().withoutLog()), 2)
        .initialState(Object::new).onStop(stoppedStates::add).newActor((Object state, Object message) -> {
          if (message instanceof Gate gate) gate.pass();
          if (message.equals("close")) report.complete(ownScope.closeWithin(Duration.ofMillis(50)));
        });
    Gate.occupy(pool);
    pool.sendMessage("close");
    pool.sendMessage("waits");

    var closeReport = Patience.value(report);

    Patience.awaitEnd(pool::waitForExit);
    assertEquals(List.of("waits"), letters.messages(DeadLetter.Reason.UNDELIVERED));
    assertEquals(2, stoppedStates.size());
    assertEquals(List.of(), closeReport.unresponsive());
  }

  @Test
  void workerThatIgnoresKillIsCutOffAndMayReturnLater() {
    var ownScope =
        ActorSystem.openScope("own", o -> o.withKillGrace(Duration.ofMillis(50)).withDeadLetterListener(letters));
    var gate = new Gate();
    var pool = Pools.byKey(ownScope.named("deaf"), 2, (Object m) -> "key").newActorWithReturn((Object message) -> {
      gate.passUninterruptibly();
      return message;
    });
    var handledRequest = pool.sendMessageReturn((Object) "handled");
    var queuedRequest = pool.sendMessageReturn((Object) "queued");
    Patience.await(gate.entered);

    pool.kill();

    Patience.awaitEnd(pool::waitForExit);
    assertTrue(Patience.failure(handledRequest) instanceof ActorStoppedException);
    assertTrue(Patience.failure(queuedRequest) instanceof ActorStoppedException);
    assertEquals(List.of("deaf/1"), ownScope.report().unresponsive());
    gate.open();
    Patience.eventually(() -> Scopes.members(ownScope).isEmpty());
    assertEquals(2, ownScope.report().sent());
    ownScope.close();
  }

  @Test
  void askExitEndsSuspendedPoolAtOnce() {
    var clock = new Clock();
    var ownScope = ActorSystem.openScope("own", o -> o.withScheduler(clock).withDeadLetterListener(letters));
    var policy = FailurePolicy.restart().withBackoff(Duration.ofHours(1), Duration.ofHours(1)).withoutLog();
    var pool = Pools.fixed(ownScope.anonymous().onFailure(policy), 2).initialState(() -> "state")
        .newActor((String state, Object message) -> {
          if (message.equals("fail")) throw new IllegalStateException("planned");
        });
    pool.sendMessage("fail");
    pool.sendMessage("fail");
    Patience
        .eventually(
            () -> ((Cell) (Exitable) pool).workersAndSelf().stream().filter(ActorInternals::isSuspended).count() == 2);
    pool.sendMessage("waits");

    pool.askExit();

    Patience.awaitEnd(pool::waitForExit);
    assertEquals(List.of("waits"), letters.messages(DeadLetter.Reason.UNDELIVERED));
    ownScope.close();
  }

  @Test
  void unreferencedPoolIsGarbageAfterItsWorkersRetire() {
    var clock = new Clock();
    // this scope has no parent, so it does not track anonymous actors, and they can become garbage
    var ownScope = Variants.scope(o -> o.withScheduler(clock));
    var pools = new ArrayList<WeakReference<?>>();
    pools.add(new WeakReference<>(poolAfterWork(Pools.scaling(ownScope.anonymous(), 0, 2))));
    pools.add(new WeakReference<>(poolAfterWork(Pools.weighted(ownScope.anonymous(), 2, (Object message) -> 1))));
    pools.add(new WeakReference<>(poolAfterWork(Pools.perMessage(ownScope.anonymous()))));

    clock.manual.advance(Duration.ofSeconds(11));

    assertTrue(LeakProbe.collected(pools));
  }

  private static Object poolAfterWork(ActorBuilder<Object> builder) {
    var pool = builder.newActorWithReturn((Object message) -> message);
    for (int i = 0; i < 20; i++) assertEquals(i, Patience.value(pool.sendMessageReturn((Object) i)));
    Patience.eventually(() -> ((Cell) (Exitable) pool).workersAndSelf().stream().allMatch(Cell::isIdle));
    return pool;
  }
}
