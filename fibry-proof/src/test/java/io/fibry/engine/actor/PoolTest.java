package io.fibry.engine.actor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.DeadLetter.Reason;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.Schedules;
import io.fibry.engine.scope.Stage;
import io.fibry.engine.scope.Witness;
import io.fibry.spi.BlockBuilder;
import io.fibry.spi.PoolPolicy;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Ends of pools that run on senders' threads. Every message has one outcome, every request
 * completes, every state is closed, and the pool ends.
 *
 * <p>Catches three faults: a leaving worker that counts a message as done that is still being given
 * to it, a worker that ends at a pill that overtook a message, and an end that a sender misses in
 * the middle of a hand-over.
 */
@Tag("lincheck")
class PoolTest {
  private static final int SCHEDULES = 3;

  /** A pool and what was seen of it. Synchronized, since two workers may run at once. */
  private static final class Episode {
    final PoolCell pool;
    private int handled;
    private int buried;
    private int made;
    private int left;
    private int inside;
    private int most;

    Episode(PoolPolicy<Object> sharing) {
      var scope = Stage.scope(options -> options.withScheduler(new Witness.Never()).withDeadLetters(letter -> bury()));
      pool = (PoolCell) (Exitable) BlockBuilder.of(scope.anonymous().strategy(Runnable::run)
          .onFailure(FailurePolicy.stop().withoutLog())).pooled(sharing).initialState(this::make)
          .onStop(this::leave)
          .newActorWithReturn((Integer state, Object message) -> handle(message));
    }

    private synchronized Integer make() {
      return ++made;
    }

    private synchronized void leave(Integer state) {
      left++;
    }

    private synchronized void bury() {
      buried++;
    }

    private Object handle(Object message) {
      enter();
      exit();
      if (message.equals(-1)) throw new IllegalStateException("planned");
      return message;
    }

    private synchronized void enter() {
      handled++;
      most = Math.max(most, ++inside);
    }

    private synchronized void exit() {
      inside--;
    }

    /** Messages with an outcome. */
    private long outcomes() {
      long sum = pool.owner().accounts().handled();
      for (var reason : Reason.values()) sum += pool.owner().accounts().unhandled(reason);
      return sum;
    }

    void check(int sent, int workers) {
      assertTrue(pool.isIdle(), () -> "it is at something: " + pool.activity());
      assertEquals(sent, outcomes());
      assertTrue(most <= workers, () -> most + " at once");
    }

    void checkEnded(int sent, int workers) {
      assertTrue(pool.onExit().isDone(), () -> "no end: " + pool.activity());
      assertEquals(made, left);
      assertEquals(1, pool.workersAndSelf().size());
      check(sent, workers);
    }
  }

  @Test
  void twoSendersAndTwoWorkers() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var stage = new Episode(PoolPolicy.scaling(2, 2));

      var other = Schedules.start(() -> stage.pool.sendMessage(1));
      stage.pool.sendMessage(2);
      stage.pool.sendMessage(3);
      Schedules.join(other);

      assertEquals(3, stage.handled);
      stage.check(3, 2);
    });
  }

  @Test
  void aWorkerThatItsPolicyStopsIsReplaced() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var stage = new Episode(PoolPolicy.scaling(1, 1));

      var other = Schedules.start(() -> stage.pool.sendMessage(-1));
      stage.pool.sendMessage(2);
      Schedules.join(other);

      assertEquals(2, stage.handled);
      stage.check(2, 1);
    });
  }

  @Test
  void messageSentBeforePillIsHandled() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var stage = new Episode(PoolPolicy.scaling(0, 2));

      var other = Schedules.start(() -> stage.pool.sendMessage(1));
      stage.pool.sendMessage(2);
      stage.pool.sendPoisonPill();
      Schedules.join(other);

      stage.checkEnded(2, 2);
      assertTrue(stage.handled + stage.buried == 2 && stage.handled >= 1);
    });
  }

  @Test
  void aKillAgainstTwoSenders() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var stage = new Episode(PoolPolicy.scaling(0, 2));
      stage.pool.sendMessage(1);
      var requests = new CompletableFuture<?>[1];

      var other = Schedules.start(() -> requests[0] = stage.pool.sendMessageReturn((Object) 2));
      var killer = Schedules.start(stage.pool::kill);
      stage.pool.sendMessage(3);
      Schedules.join(other, killer);

      assertTrue(requests[0].isDone(), "a request has no outcome");
      stage.checkEnded(3, 2);
    });
  }

  @Test
  void askExitAgainstTwoSendersOfOneKey() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var stage = new Episode(PoolPolicy.<Object>byKey(2, message -> "key"));

      var other = Schedules.start(() -> stage.pool.sendMessage(1));
      var ender = Schedules.start(stage.pool::askExit);
      stage.pool.sendMessage(2);
      Schedules.join(other, ender);

      stage.checkEnded(2, 1);
    });
  }
}
