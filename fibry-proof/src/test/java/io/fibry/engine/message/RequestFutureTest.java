package io.fibry.engine.message;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.AskTimeoutException;
import io.fibry.Schedules;
import io.fibry.engine.scope.Witness;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A request has one outcome: the drain begins it, or it is withdrawn before. jcstress tests where
 * callbacks run, since Lincheck has no virtual threads.
 */
@Tag("lincheck")
class RequestFutureTest {
  private static final int SCHEDULES = 300;

  private static final class Race {
    final FakeActor actor = new FakeActor();
    final RequestFuture<Integer> asked = new RequestFuture<>(actor, "message", null);
    boolean begun;
    boolean answered; // completed from outside
    boolean cancelled;

    void drain() {
      begun = asked.begin() != null;
      if (begun) asked.finish(1);
    }

    void cancel() {
      cancelled = asked.cancel(true);
    }

    void complete() {
      answered = asked.complete(2);
    }

    void chain() {
      asked.toCompletableFuture();
    }

    void expire() {
      asked.expire();
    }

    /** Whether its asker, which has been woken by then, sees it as expired. */
    boolean isExpired() {
      try {
        assertEquals(1, asked.await("request", Deadline.NONE, null));
        return false;
      } catch (AskTimeoutException late) {
        return true;
      }
    }

    int unhandled() {
      return actor.withdrawnCount;
    }
  }

  @Test
  void isHandledOrCancelledOrCompletedFromOutside() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var race = new Race();

      var drain = Schedules.start(race::drain);
      var outside = Schedules.start(race::complete);
      race.cancel();
      Schedules.join(drain, outside);

      assertTrue(race.asked.isDone());
      assertEquals(race.asked.isCancelled(), race.cancelled);
      if (!race.cancelled) assertEquals(race.answered ? 2 : 1, race.asked.join());
      assertFalse(race.cancelled && race.answered, "two outcomes");
      assertEquals(race.begun ? 0 : 1, race.unhandled(), "begun, or in the accounts as unhandled");
      assertNull(race.asked.message(), "it keeps the message");
    });
  }

  @Test
  void isHandledOrExpired() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var race = new Race();

      var drain = Schedules.start(race::drain);
      race.expire();
      Schedules.join(drain);

      boolean expired = race.isExpired();
      assertTrue(race.begun || expired, "neither handled nor expired");
      assertEquals(race.begun ? 0 : 1, race.unhandled(), "its asker takes out what was not begun");
      assertNull(race.asked.message(), "it keeps the message");
    });
  }

  /** It keeps what a limit arms. */
  private static final class OneTimer implements Scheduler, Scheduler.Timer {
    private boolean armed;

    @Override
    public long nanoTime() {
      return 0;
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
      armed = true;
      return this;
    }

    @Override
    public Timer scheduleAtFixedRate(Duration initial, Duration period, Runnable task) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Timer scheduleWithFixedDelay(Duration initial, Duration delay, Runnable task) {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean cancel() {
      armed = false;
      return true;
    }
  }

  @Test
  void anAnswerThatOvertakesTheLimitLeavesNoTimer() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var clock = new OneTimer();
      var until = Deadline.of(clock, Duration.ofSeconds(1));
      var asked = new RequestFuture<Integer>(new FakeActor(), "message", null);
      asked.deadline = until;

      var drain = Schedules.start(() -> {
        asked.begin();
        asked.finish(1);
      });
      asked.startLimit("message", until);
      Schedules.join(drain);

      assertFalse(clock.armed, "the timer keeps the request until the limit is over");
    });
  }

  @Test
  void isBegunByOneOnly() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var race = new Race();
      var given = new Object[2];

      var first = Schedules.start(() -> given[0] = race.asked.begin());
      var chaining = Schedules.start(race::chain);
      given[1] = race.asked.begin();
      Schedules.join(first, chaining);

      assertTrue(given[0] == null ^ given[1] == null, "begun once");
    });
  }

  @Test
  void chainingHidesRequestFromNeitherDrainNorCanceller() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var race = new Race();
      var given = new Object[1];

      var drain = Schedules.start(() -> given[0] = race.asked.begin());
      var chaining = Schedules.start(race::chain);
      race.cancel();
      Schedules.join(drain, chaining);

      assertTrue(race.cancelled && race.asked.isCancelled());
      assertEquals(given[0] == null ? 1 : 0, race.unhandled());
    });
  }

  @Test
  void stashedRequestIsBegunAgainOrCancelled() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var race = new Race();
      Object given = race.asked.begin();

      var canceller = Schedules.start(race::cancel);
      boolean aside = race.asked.stash(given, null);
      boolean again = race.asked.begin() != null;
      Schedules.join(canceller);

      assertTrue(race.cancelled);
      if (!aside) assertFalse(again);
      assertEquals(aside && !again ? 1 : 0, race.unhandled(), "taken back while it waited, or not");
      assertNull(race.asked.message(), "it keeps the message");
    });
  }

  @Test
  void chainingDuringAnswerIsNotDelayedByBlockingCallback() {
    var race = new Race();
    var between = new CountDownLatch(1);
    var gate = new CountDownLatch(1);
    CompletableFuture.allOf(race.asked).thenRun(() -> {
      between.countDown();
      assertDoesNotThrow(() -> gate.await());
    });
    var drain = Schedules.start(race::drain);
    Patience.await(between); // the result is set; the last check for callbacks is still to come

    // as the JDK does if it has seen no result yet
    var asker = Schedules.start(race.asked::newIncompleteFuture);
    try {
      Patience.joined(asker); // though a callback that stands behind allOf is at its gate
    } finally {
      gate.countDown();
    }
    Schedules.join(drain);
  }

  @Test
  void callbackBehindAllOfMayChainToSameRequest() {
    var race = new Race();
    var again = CompletableFuture.allOf(race.asked).thenApply(value -> race.asked.thenApply(own -> own + 1).join());

    race.drain();

    assertEquals(2, Patience.value(again));
  }

  @Test
  void cancelledRequestFreesItsMailboxPlaceOnce() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var witness = new Witness(Runnable::run, Mailbox.bounded(1, Overflow.REJECT));

      var busy = Schedules.start(() -> witness.send(0));
      var asker = Schedules.start(() -> witness.request(1).cancel(true));
      witness.send(2);
      Schedules.join(busy, asker);

      witness.check();
      assertTrue(witness.send(0), "there is room");
    });
  }
}
