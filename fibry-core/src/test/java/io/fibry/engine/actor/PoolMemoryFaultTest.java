package io.fibry.engine.actor;

import io.fibry.engine.cell.FullHeapScope;
import io.fibry.pool.Pools;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests a pool for which the engine gets an OutOfMemoryError outside of a handler. */
class PoolMemoryFaultTest {
  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  /** The thread that ends the pool cannot dispose of a message, and sends no pill to the worker. */
  @Test
  void poolEndsAfterOutOfMemoryErrorInItsEnd() {
    var scope = new FullHeapScope();
    var pool = Pools.fixed(DefaultActorBuilder.of(scope), 1).newActor((Object message) -> {
      if (message instanceof Gate gate) gate.pass();
    });
    var gate = Gate.occupy(pool);
    pool.sendMessage("undelivered");
    scope.accountFaults.set(1);

    pool.askExit();

    gate.open();
    Patience.awaitEnd(pool::waitForExit);
  }
}
