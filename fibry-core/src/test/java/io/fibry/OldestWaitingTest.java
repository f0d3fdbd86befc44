package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import java.time.Duration;
import java.util.Comparator;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests the lower bound for the time for which the oldest message of a mailbox has waited. */
class OldestWaitingTest extends OldestWaitingSetup {
  @Promise("19.25")
  @ParameterizedTest
  @MethodSource("builders")
  void waitBeginsAtFirstObservationAndEndsWithHandling(UnaryOperator<ActorBuilder<Object>> change) {
    var actor = change.apply(scope.named("worker")).newActor(OldestWaitingSetup::passGate);
    assertEquals(0, oldest());
    var gate = Gate.occupy(actor);
    clock.advance(SECOND);
    assertEquals(0, oldest(), "the message that is handled does not wait");

    actor.sendMessage("waits");
    clock.advance(SECOND);
    assertEquals(0, oldest(), "the first observation");
    clock.advance(Duration.ofSeconds(12));
    assertEquals(12, oldest());
    actor.sendMessage("waits, too");
    clock.advance(SECOND);
    assertEquals(13, oldest());

    gate.open();
    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertEquals(0, oldest());
  }

  @Promise("19.25")
  @Test
  void cancelledRequestWaitsNoLonger() {
    var actor = scope.named("worker").newActorWithReturn(OldestWaitingSetup::passGate);
    Gate.occupy(actor);
    var request = actor.sendMessageReturn("is cancelled");
    assertEquals(0, oldest());
    clock.advance(SECOND);
    assertEquals(1, oldest());

    request.cancel(true);

    assertEquals(0, oldest());
  }

  @Promise("19.25")
  @Test
  void messageBeforeWithdrawnRequestIsObserved() {
    var actor = scope.named("worker").newActorWithReturn(OldestWaitingSetup::passGate);
    Gate.occupy(actor);
    actor.sendMessage("waits");
    actor.sendMessageReturn("is cancelled").cancel(true);
    assertEquals(0, oldest(), "the first observation");

    clock.advance(SECOND);

    assertEquals(1, oldest());
  }

  static Stream<Named<UnaryOperator<ActorBuilder<Object>>>> buildersWithPillInQueue() {
    return Stream.of(Named.of("plain", b -> b),
        Named.of("bounded", b -> b.mailbox(Mailbox.bounded(10, Overflow.REJECT))),
        Named.of("by priority", b -> b.mailbox(Mailbox.priority(Comparator.comparing(Object::toString)))));
  }

  @Promise("19.25")
  @ParameterizedTest
  @MethodSource("buildersWithPillInQueue")
  void messageBeforePillIsObserved(UnaryOperator<ActorBuilder<Object>> change) {
    var actor = change.apply(scope.named("worker")).newActor(OldestWaitingSetup::passGate);
    Gate.occupy(actor);
    actor.sendMessage("waits");
    actor.askExit();
    assertEquals(0, oldest(), "the first observation");

    clock.advance(SECOND);

    assertEquals(1, oldest());
  }

  @Promise("19.25")
  @Test
  void checkOfWatchdogIsFirstObservation() {
    var watched = scope.openScope("watched", o -> o.withWatchdog(Duration.ofHours(4), 10)); // checks each hour
    var actor = watched.named("worker").newActor(OldestWaitingSetup::passGate);
    Gate.occupy(actor);
    actor.sendMessage("waits");

    for (int minute = 0; minute < 90; minute++) clock.advance(Duration.ofMinutes(1));

    long seconds = watched.actors().getFirst().oldestWaiting().toSeconds();
    assertTrue(seconds >= 29 * 60 && seconds <= 30 * 60, seconds + " s");
  }

  /** One message arrives each second, and one is handled, so each message waits 40 seconds. */
  @Promise("19.25")
  @ParameterizedTest
  @MethodSource("buildersInOrderOfArrival")
  void boundIsAtMostTwoSecondsBelowConstantWait(UnaryOperator<ActorBuilder<Object>> change) {
    int length = 40;
    var permits = new Semaphore(0);
    var begun = new AtomicInteger();
    var actor = change.apply(scope.named("worker")).newActor((Object message) -> {
      begun.incrementAndGet();
      permits.acquire();
    });
    actor.sendMessage("handled");
    Patience.eventually(() -> begun.get() == 1);

    for (int second = 0; second < 4 * length; second++) {
      actor.sendMessage(second);
      if (second >= length) {
        permits.release();
        int expected = second - length + 2;
        Patience.eventually(() -> begun.get() == expected); // until then, the next message still waits
      }
      long bound = oldest();
      long age = Math.min(second, length - 1);
      assertTrue(bound <= age && bound >= age - 2, bound + " s instead of " + age + " s at " + second);
      clock.advance(SECOND);
    }
    permits.release(length + 1);
  }
}
