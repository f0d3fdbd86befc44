package io.fibry.engine.message;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.AskTimeoutException;
import io.fibry.Schedules;
import io.fibry.engine.scope.CheckedActor;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests that a request has one outcome: either the drain begins it, or it is withdrawn before that.
 * A jcstress race tests on which thread callbacks run, because Lincheck has no virtual threads.
 */
@Tag("lincheck")
class RequestFutureTest {
  private static final int SCHEDULES = 300;

  private static final class Race {
    final FakeActor actor = new FakeActor();
    final RequestFuture<Integer> request = new RequestFuture<>(actor, "message", null);
    boolean wasBegun;
    boolean wasCompleted; // by another thread than the drain
    boolean wasCancelled;

    void drain() {
      wasBegun = request.begin() != null;
      if (wasBegun) request.finish(1);
    }

    void cancel() {
      wasCancelled = request.cancel(true);
    }

    void complete() {
      wasCompleted = request.complete(2);
    }

    void chain() {
      request.toCompletableFuture();
    }

    void expire() {
      request.expire();
    }

    /** Returns whether the asker, which was woken before this call, gets a time-out. */
    boolean isExpired() {
      try {
        assertEquals(1, request.await("request", Deadline.NONE, null));
        return false;
      } catch (AskTimeoutException timeout) {
        return true;
      }
    }

    int withdrawnCount() {
      return actor.withdrawnCount;
    }
  }

  @Test
  void requestHasOneOutcomeDespiteCancelAndCompletion() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var race = new Race();

      var drain = Schedules.start(race::drain);
      var completer = Schedules.start(race::complete);
      race.cancel();
      Schedules.join(drain, completer);

      assertTrue(race.request.isDone());
      assertEquals(race.request.isCancelled(), race.wasCancelled);
      if (!race.wasCancelled) assertEquals(race.wasCompleted ? 2 : 1, race.request.join());
      assertFalse(race.wasCancelled && race.wasCompleted, "the request was cancelled and completed");
      assertEquals(race.wasBegun ? 0 : 1, race.withdrawnCount(), "a request that was not begun is withdrawn");
      assertNull(race.request.message(), "the request keeps the message");
    });
  }

  @Test
  void requestIsHandledOrWithdrawnWhenItsLimitExpires() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var race = new Race();

      var drain = Schedules.start(race::drain);
      race.expire();
      Schedules.join(drain);

      boolean expired = race.isExpired();
      assertTrue(race.wasBegun || expired, "neither handled nor expired");
      assertEquals(race.wasBegun ? 0 : 1, race.withdrawnCount(), "a request that was not begun is withdrawn");
      assertNull(race.request.message(), "the request keeps the message");
    });
  }

  @Test
  void answerBeforeLimitLeavesNoTimer() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var clock = new OneTimer();
      var limit = Deadline.of(clock, Duration.ofSeconds(1));
      var request = new RequestFuture<Integer>(new FakeActor(), "message", null);
      request.deadline = limit;

      var drain = Schedules.start(() -> {
        request.begin();
        request.finish(1);
      });
      request.startLimit("message", limit);
      Schedules.join(drain);

      assertFalse(clock.isArmed, "the timer keeps the request until the limit is over");
    });
  }

  @Test
  void requestIsBegunByOneOfTwoThreadsDespiteAddedCallback() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var race = new Race();
      var messages = new Object[2];

      var first = Schedules.start(() -> messages[0] = race.request.begin());
      var chaining = Schedules.start(race::chain);
      messages[1] = race.request.begin();
      Schedules.join(first, chaining);

      assertTrue(messages[0] == null ^ messages[1] == null, "one of two threads begins the request");
    });
  }

  @Test
  void cancelledRequestIsBegunOrWithdrawnDespiteAddedCallback() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var race = new Race();
      var messages = new Object[1];

      var drain = Schedules.start(() -> messages[0] = race.request.begin());
      var chaining = Schedules.start(race::chain);
      race.cancel();
      Schedules.join(drain, chaining);

      assertTrue(race.wasCancelled && race.request.isCancelled());
      assertEquals(messages[0] == null ? 1 : 0, race.withdrawnCount());
    });
  }

  @Test
  void cancelledStashedRequestIsBegunAgainOrWithdrawn() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var race = new Race();
      Object message = race.request.begin();

      var canceller = Schedules.start(race::cancel);
      boolean isStashed = race.request.stash(message, null);
      boolean isBegunAgain = race.request.begin() != null;
      Schedules.join(canceller);

      assertTrue(race.wasCancelled);
      if (!isStashed) assertFalse(isBegunAgain);
      assertEquals(isStashed && !isBegunAgain ? 1 : 0, race.withdrawnCount(), "withdrawn only in the stash");
      assertNull(race.request.message(), "the request keeps the message");
    });
  }

  @Test
  void askerMayAddCallbackWhileOtherCallbackIsBlocked() {
    var race = new Race();
    var callbackStarted = new CountDownLatch(1);
    var gate = new CountDownLatch(1);
    CompletableFuture.allOf(race.request).thenRun(() -> {
      callbackStarted.countDown();
      assertDoesNotThrow(() -> gate.await());
    });
    var drain = Schedules.start(race::drain);
    try {
      Patience.await(callbackStarted); // the drain has set the result, and has not checked for callbacks a last time
      // The JDK calls this method when a caller that saw no result adds a callback
      var asker = Schedules.start(race.request::newIncompleteFuture);
      Patience.awaitEnd(asker); // although a callback behind allOf waits at the gate
    } finally {
      gate.countDown();
    }
    Schedules.join(drain);
  }

  @Test
  void callbackOfCombinedFutureMayAddCallbackToRequest() {
    var race = new Race();
    var result = CompletableFuture.allOf(race.request)
        .thenApply(value -> race.request.thenApply(own -> own + 1).join());

    race.drain();

    assertEquals(2, Patience.value(result));
  }

  @Test
  void cancelledRequestFreesItsMailboxSpaceOnce() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var checkedActor = new CheckedActor(Runnable::run, Mailbox.bounded(1, Overflow.REJECT));

      var sender = Schedules.start(() -> checkedActor.send(0));
      var asker = Schedules.start(() -> checkedActor.request(1).cancel(true));
      checkedActor.send(2);
      Schedules.join(sender, asker);

      checkedActor.check();
      assertTrue(checkedActor.send(0), "the mailbox has space");
    });
  }
}
