package io.fibry.engine.actor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.ActorStoppedException;
import io.fibry.ActorSystem;
import io.fibry.Clock;
import io.fibry.DeadLetter;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.Gate;
import io.fibry.LeakProbe;
import io.fibry.Letters;
import io.fibry.Variants;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.cell.Inside;
import io.fibry.engine.scope.Scopes;
import io.fibry.pool.Pools;
import io.fibry.support.Patience;
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

/** Pools that are killed, closed from inside, cut off. */
class PoolEndFaultTest {
  private final Letters letters = new Letters();
  private final ActorScope scope = Variants.scope(o -> o.withDeadLetters(letters));

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  @Test
  void aCloseThatIsOutOfTimeInterruptsAllBusyWorkers() {
    for (int round = 0; round < 20; round++) {
      var own = ActorSystem.openScope("own", o -> o.withKillGrace(Patience.LONG));
      var begun = new AtomicInteger();
      var inside = new AtomicInteger();
      var forEver = new CountDownLatch(1);
      var pool =
          Pools.fixed(own.anonymous().onFailure(FailurePolicy.resume().withoutLog()), 64).newActor((Object message) -> {
            begun.incrementAndGet();
            inside.incrementAndGet();
            try {
              forEver.await();
            } finally {
              inside.decrementAndGet();
            }
          });
      for (int i = 0; i < 500; i++) pool.sendMessage(i);
      Patience.eventually(() -> begun.get() == 64);

      var report = own.closeWithin(Duration.ZERO);

      assertEquals(0, inside.get());
      assertEquals(List.of(), report.unresponsive());
      assertEquals(500, report.sent());
    }
  }

  @Test
  void killInterruptsRunningHandlersButNoLaterHooks() {
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
    Patience.ended(pool::waitForExit);
  }

  @Test
  void aKillInterruptsTheHooksOfThePool() {
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
  void aWorkerMayCloseItsScope() {
    var own = ActorSystem.openScope("own", o -> o.withKillGrace(Patience.LONG).withDeadLetters(letters));
    var other = new Gate();
    var report = new CompletableFuture<ActorScope.Report>();
    var left = new CopyOnWriteArrayList<Object>();
    var pool = Pools.fixed(own.anonymous().onFailure(FailurePolicy.resume().withoutLog()), 2).initialState(Object::new)
        .onStop(left::add).newActor((Object state, Object message) -> {
          if (message instanceof Gate gate) gate.pass();
          if (message.equals("close")) report.complete(own.closeWithin(Duration.ofMillis(50)));
        });
    Gate.occupy(pool);
    pool.sendMessage("close");
    pool.sendMessage("waits");

    var told = Patience.value(report);

    Patience.ended(pool::waitForExit);
    assertEquals(List.of("waits"), letters.messages(DeadLetter.Reason.UNDELIVERED));
    assertEquals(2, left.size());
    assertEquals(List.of(), told.unresponsive());
    other.open();
  }

  @Test
  void workerThatIgnoresKillIsCutOffAndMayComeBack() {
    var own = ActorSystem.openScope("own", o -> o.withKillGrace(Duration.ofMillis(50)).withDeadLetters(letters));
    var deaf = new Gate();
    var pool = Pools.byKey(own.named("deaf"), 2, (Object message) -> "key").newActorWithReturn((Object message) -> {
      deaf.passDeaf();
      return message;
    });
    var at = pool.sendMessageReturn((Object) "at");
    var behind = pool.sendMessageReturn((Object) "behind");
    Patience.await(deaf.entered);

    pool.kill();

    Patience.ended(pool::waitForExit);
    assertTrue(Patience.failure(at) instanceof ActorStoppedException);
    assertTrue(Patience.failure(behind) instanceof ActorStoppedException);
    assertEquals(List.of("deaf/1"), own.report().unresponsive());
    deaf.open();
    Patience.eventually(() -> Scopes.members(own).isEmpty());
    assertEquals(2, own.report().sent());
    own.close();
  }

  @Test
  void aSuspendedPoolEndsAtOnce() {
    var clock = new Clock();
    var still = ActorSystem.openScope("still", o -> o.withScheduler(clock).withDeadLetters(letters));
    var policy = FailurePolicy.restart().withBackoff(Duration.ofHours(1), Duration.ofHours(1)).withoutLog();
    var pool = Pools.fixed(still.anonymous().onFailure(policy), 2).initialState(() -> "state")
        .newActor((String state, Object message) -> {
          if (message.equals("fail")) throw new IllegalStateException("planned");
        });
    pool.sendMessage("fail");
    pool.sendMessage("fail");
    Patience
        .eventually(() -> ((Cell) (Exitable) pool).workersAndSelf().stream().filter(Inside::isSuspended).count() == 2);
    pool.sendMessage("waits");

    pool.askExit();

    Patience.ended(pool::waitForExit);
    assertEquals(List.of("waits"), letters.messages(DeadLetter.Reason.UNDELIVERED));
    still.close();
  }

  @Test
  void anUnreferencedPoolIsGarbageOnceItHasShrunk() {
    var clock = new Clock();
    // does not track anonymous actors, like the root
    var still = Variants.scope(o -> o.withScheduler(clock));
    var pools = new ArrayList<WeakReference<?>>();
    pools.add(new WeakReference<>(worked(Pools.scaling(still.anonymous(), 0, 2))));
    pools.add(new WeakReference<>(worked(Pools.weighted(still.anonymous(), 2, (Object message) -> 1))));
    pools.add(new WeakReference<>(worked(Pools.perMessage(still.anonymous()))));

    clock.manual.advance(Duration.ofSeconds(11));

    assertTrue(LeakProbe.collected(pools));
  }

  private static Object worked(ActorBuilder<Object> builder) {
    var pool = builder.newActorWithReturn((Object message) -> message);
    for (int i = 0; i < 20; i++) assertEquals(i, Patience.value(pool.sendMessageReturn((Object) i)));
    Patience.eventually(() -> ((Cell) (Exitable) pool).workersAndSelf().stream().allMatch(Cell::isIdle));
    return pool;
  }
}
