package io.fibry.engine.actor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ExitReason;
import io.fibry.FailurePolicy;
import io.fibry.pool.Pools;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the workers of a pool per message. */
class PerMessagePoolTest {
  private final ActorScope scope = ActorSystem.openScope("per message");

  @AfterEach
  void closeScope() {
    scope.closeWithin(Patience.LONG);
  }

  private Actor<Object> pool(FailurePolicy policy) {
    return Pools.perMessage(scope.named("pool").onFailure(policy.withoutLog())).newActor(PerMessagePoolTest::handle);
  }

  private static void handle(Object message) throws Exception {
    if (message instanceof Gate gate) gate.pass();
    if (message.equals("fail")) throw new IllegalStateException("planned");
  }

  private static int workerCount(Actor<Object> pool) {
    return ((PoolCell) pool).workersAndSelf().size() - 1;
  }

  @Promise("20.7")
  @Test
  void workerLeavesPoolAfterItsMessage() {
    for (var policy : new FailurePolicy[] {FailurePolicy.resume(), FailurePolicy.restart(), FailurePolicy.stop()}) {
      var pool = pool(policy);

      for (int i = 0; i < 20; i++) pool.sendMessage(i % 5 == 0 ? "fail" : "ok");

      Patience.eventually(() -> workerCount(pool) == 0);
      assertEquals(16, ((PoolCell) pool).handled());
      assertEquals(4, ((PoolCell) pool).failed());
      pool.close();
    }
  }

  @Promise("20.8")
  @Test
  void poolEndsAfterMessagesThatHadBegun() {
    var pool = pool(FailurePolicy.resume());
    var gate = Gate.occupy(pool);

    pool.sendPoisonPill();

    assertEquals(1, workerCount(pool));
    assertFalse(pool.onExit().isDone());
    gate.open();
    Patience.awaitEnd(pool::waitForExit);
    assertEquals(0, workerCount(pool));
  }

  @Promise("20.1")
  @Test
  void budgetCountsFailuresOfAllMessages() {
    var innerScope = scope.openScope("inner", o -> o.withFailurePolicy(FailurePolicy.escalate().withoutLog()));
    var policy = FailurePolicy.restart().withBudget(2, Duration.ofDays(1)).withoutLog();
    var pool = Pools.perMessage(innerScope.named("pool").onFailure(policy)).newActor(PerMessagePoolTest::handle);

    for (int i = 0; i < 3; i++) {
      assertFalse(pool.onExit().isDone());
      pool.sendMessage("fail");
      int failed = i + 1;
      Patience.eventually(() -> ((PoolCell) pool).failed() == failed);
    }

    Patience.awaitEnd(pool::waitForExit);
    assertInstanceOf(ExitReason.Stopped.class, pool.onExit().join());
  }
}
