package io.fibry.engine.actor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.DeadLetter.Reason;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.Schedules;
import io.fibry.engine.scope.CheckedActor;
import io.fibry.engine.scope.StressActors;
import io.fibry.spi.BlockBuilder;
import io.fibry.spi.PoolSpec;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests pools that run on senders' threads, and the ends of these pools. Every message has one
 * outcome, every request completes, and every state of a pool that ends is closed.
 *
 * <p>The tests fail if an ending worker counts a message as handled while a sender is passing this
 * message to it. They also fail if a worker ends at a pill that overtook a message, or if a sender
 * does not notice that the pool ends during its send.
 */
@Tag("lincheck")
class PoolTest {
  private static final int SCHEDULES = 3;
  private static final int PER_MESSAGE_SCHEDULES = 120; // more, because these pools have no monitor

  /**
   * A pool that counts its handlers and states. Synchronized, because two workers may run at once.
   */
  private static final class TestPool {
    final PoolCell pool;
    private int handled;
    private int deadLetters;
    private int statesCreated;
    private int statesClosed;
    private int running;
    private int maxRunning;
    private int lateHandlers; // handlers that began after the end of the pool

    TestPool(PoolSpec<Object> spec) {
      var scope = StressActors.scope(
          options -> options.withScheduler(new CheckedActor.NeverFiringScheduler())
              .withDeadLetterListener(letter -> countDeadLetter()));
      pool = (PoolCell) (Exitable) BlockBuilder.of(scope.anonymous().strategy(Runnable::run)
          .onFailure(FailurePolicy.stop().withoutLog())).pooled(spec).initialState(this::createState)
          .onStop(this::closeState)
          .newActorWithReturn((Integer state, Object message) -> handle(message));
    }

    private synchronized Integer createState() {
      return ++statesCreated;
    }

    private synchronized void closeState(Integer state) {
      statesClosed++;
    }

    private synchronized void countDeadLetter() {
      deadLetters++;
    }

    private Object handle(Object message) {
      enter();
      exit();
      if (message.equals(-1)) throw new IllegalStateException("planned");
      return message;
    }

    private synchronized void enter() {
      handled++;
      if (pool.onExit().isDone()) lateHandlers++;
      maxRunning = Math.max(maxRunning, ++running);
    }

    private synchronized void exit() {
      running--;
    }

    /** Returns the number of messages that have an outcome. */
    private long outcomes() {
      long sum = pool.owner().accounts().handled();
      for (var reason : Reason.values()) sum += pool.owner().accounts().unhandled(reason);
      return sum;
    }

    void check(int sent, int workers) {
      assertTrue(pool.isIdle(), () -> "the pool is not idle: " + pool.activity().text());
      assertEquals(sent, outcomes());
      assertTrue(maxRunning <= workers, () -> maxRunning + " handlers ran at once");
    }

    void checkEnded(int sent, int workers) {
      assertTrue(pool.onExit().isDone(), () -> "the pool has not ended: " + pool.activity().text());
      assertEquals(statesCreated, statesClosed);
      assertEquals(1, pool.workersAndSelf().size());
      assertEquals(0, lateHandlers);
      check(sent, workers);
    }
  }

  @Test
  void poolOfTwoWorkersHandlesEachMessageOnce() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var test = new TestPool(PoolSpec.scaling(2, 2));

      var sender = Schedules.start(() -> test.pool.sendMessage(1));
      test.pool.sendMessage(2);
      test.pool.sendMessage(3);
      Schedules.join(sender);

      assertEquals(3, test.handled);
      test.check(3, 2);
    });
  }

  @Test
  void workerStoppedByFailurePolicyIsReplaced() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var test = new TestPool(PoolSpec.scaling(1, 1));

      var sender = Schedules.start(() -> test.pool.sendMessage(-1));
      test.pool.sendMessage(2);
      Schedules.join(sender);

      assertEquals(2, test.handled);
      test.check(2, 1);
    });
  }

  @Test
  void messageSentBeforePoisonPillIsHandled() {
    checkPoisonPillDuringSend(SCHEDULES, PoolSpec.scaling(0, 2));
  }

  private static void checkPoisonPillDuringSend(int schedules, PoolSpec<Object> spec) {
    Schedules.modelCheck(schedules, () -> {
      var test = new TestPool(spec);

      var sender = Schedules.start(() -> test.pool.sendMessage(1));
      test.pool.sendMessage(2);
      test.pool.sendPoisonPill();
      Schedules.join(sender);

      test.checkEnded(2, 2);
      assertTrue(test.handled + test.deadLetters == 2 && test.handled >= 1);
    });
  }

  @Test
  void killDuringTwoSendsEndsPool() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var test = new TestPool(PoolSpec.scaling(0, 2));
      test.pool.sendMessage(1);
      var requests = new CompletableFuture<?>[1];

      var sender = Schedules.start(() -> requests[0] = test.pool.sendMessageReturn((Object) 2));
      var killer = Schedules.start(test.pool::kill);
      test.pool.sendMessage(3);
      Schedules.join(sender, killer);

      assertTrue(requests[0].isDone(), "a request has no outcome");
      test.checkEnded(3, 2);
    });
  }

  @Test
  void askExitDuringTwoSendsOfOneKeyEndsPool() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var test = new TestPool(PoolSpec.<Object>byKey(2, message -> "key"));

      var sender = Schedules.start(() -> test.pool.sendMessage(1));
      var ender = Schedules.start(test.pool::askExit);
      test.pool.sendMessage(2);
      Schedules.join(sender, ender);

      test.checkEnded(2, 1);
    });
  }

  @Test
  void perMessagePoolHandlesMessageSentBeforePoisonPill() {
    checkPoisonPillDuringSend(PER_MESSAGE_SCHEDULES, PoolSpec.perMessage());
  }

  @Test
  void perMessagePoolEndsWhenKilledDuringTwoSends() {
    Schedules.modelCheck(PER_MESSAGE_SCHEDULES, () -> {
      var test = new TestPool(PoolSpec.perMessage());
      test.pool.sendMessage(1);
      var requests = new CompletableFuture<?>[1];

      var sender = Schedules.start(() -> requests[0] = test.pool.sendMessageReturn((Object) 2));
      var killer = Schedules.start(test.pool::kill);
      test.pool.sendMessage(-1);
      Schedules.join(sender, killer);

      assertTrue(requests[0].isDone(), "a request has no outcome");
      test.checkEnded(3, 3);
    });
  }
}
