package io.fibry.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorContext;
import io.fibry.ActorWithReturn;
import io.fibry.AskTimeoutException;
import io.fibry.FailurePolicy;
import io.fibry.Request;
import io.fibry.flow.RateLimit;
import io.fibry.mailbox.Mailbox;
import io.fibry.pool.Entities;
import io.fibry.pool.Pools;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/**
 * Tests that an actor that waits for the clock counts as quiet. One call of {@code advance} must
 * run everything that becomes due within the advanced time.
 */
class VirtualTimeTest {
  private static final int RUNS = 50;
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final TestScope scope = TestScope.fibers();
  private final List<Object> log = new CopyOnWriteArrayList<>();
  private final AtomicInteger tries = new AtomicInteger();

  @AfterEach
  void close() {
    scope.closeWithin(Duration.ZERO);
  }

  private ActorWithReturn<String, String> actorFailingUntil(int firstGoodTry) {
    return scope.anonymous()
        .onFailure(FailurePolicy.restart().withBackoff(SECOND, SECOND.multipliedBy(100)).withoutLog())
        .newActorWithReturn(message -> {
          if (tries.incrementAndGet() < firstGoodTry) throw new IllegalStateException("planned");
          return message;
        });
  }

  @RepeatedTest(RUNS)
  void suspendedActorCountsAsQuietAndContinuesOnAdvance() {
    var actor = actorFailingUntil(2);
    assertThrows(IllegalStateException.class, () -> actor.ask("fails"));
    var answer = actor.sendMessageReturn("waits");

    scope.assertQuiet();
    scope.advance(SECOND);

    assertEquals("waits", answer.getNow("nothing"));
  }

  @RepeatedTest(RUNS)
  void singleAdvanceOfClockRunsAllRestarts() {
    var actor = actorFailingUntil(5);
    for (int i = 0; i < 6; i++) actor.sendMessage("message " + i);

    scope.advance(SECOND.multipliedBy(100));

    assertEquals(6, tries.get());
  }

  @RepeatedTest(RUNS)
  void rateLimitKeepsPaceWithinSingleAdvance() {
    var mail = RateLimit.around(scope.anonymous(), 1, SECOND).newActor((Integer letter) -> {
      log.add(letter + " at " + Duration.ofNanos(scope.clock().nanoTime()).toSeconds());
    });
    for (int i = 0; i < 4; i++) mail.sendMessage(i);

    scope.assertQuiet();
    assertEquals(List.of("0 at 0"), log);
    scope.advance(SECOND.multipliedBy(2));

    assertEquals(List.of("0 at 0", "1 at 1", "2 at 2"), log);
  }

  @RepeatedTest(RUNS)
  void handlerThatAsksRateLimitedPoolCountsAsQuiet() {
    var pool = Pools.fixed(RateLimit.around(scope.anonymous(), 1, SECOND), 2).newActorWithReturn((Integer i) -> i + 1);
    ActorWithReturn<Integer, Integer> front = scope.anonymous().newActorWithReturn(i -> pool.ask(i) + pool.ask(i));
    var answers = List.of(front.sendMessageReturn(1), front.sendMessageReturn(2));

    scope.assertQuiet();
    scope.advance(SECOND.multipliedBy(3));

    assertEquals(List.of(4, 6), List.of(Patience.value(answers.get(0)), Patience.value(answers.get(1))));
  }

  @RepeatedTest(RUNS)
  void idleEntityIsPassivatedDuringAdvance() {
    Entities<String, String> carts = Entities.open(scope.anonymous(), Duration.ofMinutes(1),
        (cart, key) -> cart.initialState(() -> key).onStop(log::add).newActor((String state, String message) -> {}));
    carts.actor("ada").sendMessage("milk");

    scope.advance(SECOND.multipliedBy(60).minusMillis(1));
    assertEquals(1, carts.size());
    scope.advance(Duration.ofMillis(1));

    assertEquals(List.of("ada"), log);
    assertEquals(0, carts.size());
  }

  @RepeatedTest(RUNS)
  void timersSetDuringAdvanceFireInSameAdvance() {
    var second = scope.anonymous().newActor((String message) -> log.add(message));
    var first = scope.anonymous().newActor((String message) -> second.sendMessageLater(message + " later", SECOND));
    first.sendMessageEvery("tick", SECOND.multipliedBy(2));

    scope.advance(SECOND.multipliedBy(7));

    assertEquals(List.of("tick later", "tick later", "tick later"), log);
  }

  private record Question(CompletableFuture<String> answer) implements Request<Question, String> {}

  @RepeatedTest(RUNS)
  void requestWithUncompletedReplyTimesOutDuringAdvance() {
    var receiver = scope.anonymous()
        .newActor((Question ask, ActorContext<Question> context) -> context.replyWhen(ask, ask.answer()));
    ActorWithReturn<String, String> asker =
        scope.anonymous().newActorWithReturn(text -> receiver.ask(new Question(new CompletableFuture<>()), SECOND));
    var answer = asker.sendMessageReturn("ask");

    scope.assertQuiet();
    scope.advance(SECOND);

    assertTrue(answer.isCompletedExceptionally());
    assertTrue(answer.exceptionNow() instanceof AskTimeoutException, answer::toString);
  }

  @RepeatedTest(RUNS)
  void receiveTimesOutDuringAdvance() {
    ActorWithReturn<Object, String> selectiveActor = scope.anonymous().mailbox(Mailbox.unbounded().selective())
        .newActorWithReturn((message, context) -> context.receive(String.class, any -> true, SECOND).orElse("none"));
    var answer = selectiveActor.sendMessageReturn(1);

    scope.assertQuiet();
    scope.advance(SECOND);

    assertEquals("none", Patience.value(answer));
  }

  @Test
  void handlerSleepingOnTestClockWakesOnTimeAndEndsWhenKilled() {
    var actor =
        scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()).newActorWithReturn((String message) -> {
          scope.clock().sleepUntil(SECOND.toNanos());
          return message;
        });
    var first = actor.sendMessageReturn("first");
    scope.assertQuiet();

    scope.advance(SECOND.minusNanos(1));
    assertTrue(!first.isDone());
    scope.advance(Duration.ofNanos(1));
    assertEquals("first", first.getNow("nothing"));

    var sleeper = scope.anonymous().newActorWithReturn((String message) -> {
      scope.clock().sleepUntil(Long.MAX_VALUE / 2);
      return message;
    });
    var answer = sleeper.sendMessageReturn("second");
    scope.assertQuiet();
    sleeper.kill();
    Patience.failure(answer);
    Patience.awaitEnd(sleeper::waitForExit);
    scope.assertQuiet();
  }

  @Test
  void advanceByNegativeOrNullTimeIsRefused() {
    assertEquals("time cannot go back by -1000 ms; give zero or more",
        assertThrows(IllegalArgumentException.class, () -> scope.advance(SECOND.negated())).getMessage());
    assertEquals("duration", assertThrows(NullPointerException.class, () -> scope.advance(null)).getMessage());
  }
}
