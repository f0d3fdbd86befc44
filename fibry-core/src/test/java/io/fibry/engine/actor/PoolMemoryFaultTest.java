package io.fibry.engine.actor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.engine.cell.FullHeapScope;
import io.fibry.pool.Pools;
import io.fibry.support.Patience;
import io.fibry.testing.Clock;
import io.fibry.testing.Gate;
import io.fibry.testing.Variants;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests that a pool ends although the engine gets an exception outside of a handler. */
class PoolMemoryFaultTest {
  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  /**
   * The thread that ends the pool gets an OutOfMemoryError when it makes the queued message a dead
   * letter, so it sends no pill to the worker.
   */
  @Test
  void poolEndsDespiteOutOfMemoryErrorDuringTermination() {
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

  /**
   * The only worker has already ended, so the thread that calls {@code askExit} must complete the
   * end of the pool.
   */
  @Test
  void poolEndsWhenTimerOfIdleWorkersCannotBeCancelled() {
    var cancels = new AtomicInteger();
    var clock = new Clock() {
      @Override
      public Timer scheduleAt(long time, Runnable task) {
        manual.scheduleAt(time, task);
        return () -> {
          cancels.incrementAndGet();
          throw new IllegalStateException("planned");
        };
      }
    };
    var ended = new CountDownLatch(1);
    var pool = Pools.scaling(Variants.scope(o -> o.withScheduler(clock)).anonymous(), 0, 1).initialState(() -> "state")
        .onStop(state -> ended.countDown()).newActorWithReturn((String state, Object message) -> message);
    pool.sendMessage("message"); // an ask could cancel the timer of its deadline
    Patience.eventually(() -> {
      clock.manual.advance(Duration.ofSeconds(10));
      return ended.getCount() == 0;
    });
    Patience.eventually(() -> ((PoolCell) pool).activity().workers() == 0); // no worker can end the pool

    pool.askExit();

    Patience.awaitEnd(pool::waitForExit);
    assertEquals(1, cancels.get(), "cancels"); // the timer is cancelled each time the pills are sent
  }
}
