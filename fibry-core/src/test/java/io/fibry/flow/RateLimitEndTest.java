package io.fibry.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.Strategy;
import io.fibry.support.Patience;
import io.fibry.testing.RecordedLetters;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests that a wait for a token can end before the token is available. */
class RateLimitEndTest {
  private final RateLimitTest.RecordingClock clock = new RateLimitTest.RecordingClock();
  private final RecordedLetters letters = new RecordedLetters();
  private final ActorScope scope =
      ActorSystem.openScope("rates", o -> o.withScheduler(clock).withDeadLetterListener(letters));

  @AfterEach
  void close() {
    scope.closeWithin(Duration.ZERO);
  }

  @Test
  void killEndsActorThatWaitsForToken() {
    var actor = newWaitingActor(Strategy.FIBER);

    actor.kill();
    Patience.awaitEnd(actor::waitForExit);

    assertEquals(new ExitReason.Killed(), actor.onExit().resultNow());
    Patience.eventually(() -> letters.all.size() == 2);
    assertEquals(List.of("2nd"), letters.messages(Reason.FAILED));
    assertInstanceOf(InterruptedException.class, letters.all.getFirst().cause().orElseThrow());
    assertEquals(List.of("3rd"), letters.messages(Reason.UNDELIVERED));
    Patience.eventually(clock.pendingTimers::isEmpty);
  }

  /** Returns an actor that has handled one message and waits for a token for the second. */
  private Actor<String> newWaitingActor(Strategy strategy) {
    var actor = RateLimit.around(scope.anonymous().strategy(strategy), 1, Duration.ofDays(1))
        .newActor((String message) -> {});
    for (var message : List.of("1st", "2nd", "3rd")) actor.sendMessage(message);
    Patience.eventually(() -> clock.pendingTimers.size() == 1);
    return actor;
  }

  @Test
  void closingScopeDoesNotWaitForTokens() {
    var actor = newWaitingActor(Strategy.THREAD);

    var report = scope.closeWithin(Duration.ZERO);

    assertTrue(actor.onExit().isDone());
    assertEquals(2, report.deadLetters().size());
  }

  @Test
  void cancelledWaitingRequestTakesNoToken() {
    var gate = new CountDownLatch(1);
    var actor = RateLimit.around(scope.anonymous(), 2, Duration.ofDays(1)).newActorWithReturn((String message) -> {
      gate.await();
      return message;
    });
    var firstAnswer = actor.sendMessageReturn("first");
    var secondAnswer = actor.sendMessageReturn("second");
    var thirdAnswer = actor.sendMessageReturn("third");

    secondAnswer.cancel(false);
    gate.countDown();

    assertEquals("first", Patience.value(firstAnswer));
    assertEquals("third", Patience.value(thirdAnswer));
  }

  @Test
  void interruptedAskThatWaitsForTokenIsCancelled() {
    var actor =
        RateLimit.around(scope.anonymous(), 1, Duration.ofDays(1)).newActorWithReturn((String message) -> message);
    Patience.value(actor.sendMessageReturn("first"));
    var cancellation = new AtomicReference<Throwable>();

    var asker =
        Patience.startFiber(() -> cancellation.set(assertThrows(CancellationException.class,
            () -> actor.ask("second"))));
    Patience.awaitParked(asker);
    asker.interrupt();
    Patience.awaitEnd(asker);

    assertInstanceOf(CancellationException.class, cancellation.get());
  }
}
