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
import io.fibry.Letters;
import io.fibry.Strategy;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A wait for the rate that ends before its token comes. */
class RateLimitEndTest {
  private final RateLimitTest.Waits clock = new RateLimitTest.Waits();
  private final Letters letters = new Letters();
  private final ActorScope scope = ActorSystem.openScope("rates", o -> o.withScheduler(clock).withDeadLetters(letters));

  @AfterEach
  void close() {
    scope.closeWithin(Duration.ZERO);
  }

  @Test
  void aKillEndsTheWait() {
    var actor = waiting(Strategy.FIBER);

    actor.kill();
    Patience.ended(actor::waitForExit);

    assertEquals(new ExitReason.Killed(), actor.onExit().resultNow());
    Patience.eventually(() -> letters.all.size() == 2);
    assertEquals(List.of("2nd"), letters.messages(Reason.FAILED));
    assertInstanceOf(InterruptedException.class, letters.all.getFirst().cause().orElseThrow());
    assertEquals(List.of("3rd"), letters.messages(Reason.UNDELIVERED));
    Patience.eventually(clock.due::isEmpty);
  }

  /** One that has let a message pass, and waits with the second. */
  private Actor<String> waiting(Strategy strategy) {
    var actor = RateLimit.around(scope.anonymous().strategy(strategy), 1, Duration.ofDays(1))
        .newActor((String message) -> {});
    for (var message : List.of("1st", "2nd", "3rd")) actor.sendMessage(message);
    Patience.eventually(() -> clock.due.size() == 1);
    return actor;
  }

  @Test
  void aScopeThatClosesDoesNotWaitForTokens() {
    var actor = waiting(Strategy.THREAD);

    var report = scope.closeWithin(Duration.ZERO);

    assertTrue(actor.onExit().isDone());
    assertEquals(2, report.undelivered().size());
  }

  @Test
  void aRequestWhoseAskerGaveUpBeforeItsTurnTakesNoToken() {
    var gate = new CountDownLatch(1);
    var actor = RateLimit.around(scope.anonymous(), 2, Duration.ofDays(1)).newActorWithReturn((String message) -> {
      gate.await();
      return message;
    });
    var first = actor.sendMessageReturn("first");
    var second = actor.sendMessageReturn("second");
    var third = actor.sendMessageReturn("third");

    second.cancel(false);
    gate.countDown();

    assertEquals("first", Patience.value(first));
    assertEquals("third", Patience.value(third));
  }

  @Test
  void anInterruptedAskIsACancellation() {
    var actor =
        RateLimit.around(scope.anonymous(), 1, Duration.ofDays(1)).newActorWithReturn((String message) -> message);
    Patience.value(actor.sendMessageReturn("first"));
    var ended = new AtomicReference<Throwable>();

    var asker =
        Patience.startFiber(() -> ended.set(assertThrows(CancellationException.class, () -> actor.ask("second"))));
    Patience.parked(asker);
    asker.interrupt();
    Patience.joined(asker);

    assertInstanceOf(CancellationException.class, ended.get());
  }
}
