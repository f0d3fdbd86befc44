package io.fibry.engine.message;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorWithReturn;
import io.fibry.AskTimeoutException;
import io.fibry.Request;
import io.fibry.Sink;
import io.fibry.engine.cell.ActorInternals;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Job;
import io.fibry.testing.Promise;
import io.fibry.testing.Variants;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests that a handler waits for an answer no longer than its own asker waits. */
class DeadlineTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = Variants.scope(o -> o.withScheduler(clock));
  private final ActorWithReturn<Object, Object> a = Job.worker(scope.named("a"));
  private final ActorWithReturn<Object, Object> b = Job.worker(scope.named("b"));
  private final CompletableFuture<AskTimeoutException> timeout = new CompletableFuture<>();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  /** Asks with a limit of one second. The caller ignores the answer or time-out. */
  private void askWithinASecond(ActorWithReturn<Object, Object> actor, Job job) {
    askWithin(SECOND, actor, job);
  }

  private static void askWithin(Duration limit, ActorWithReturn<Object, Object> actor, Job job) {
    Patience.startFiber(() -> {
      try {
        actor.ask(job, limit);
      } catch (AskTimeoutException expected) {
        // the outer request may time out, because both limits end at the same moment
      }
    });
  }

  private static void hang() {
    try {
      new Gate().pass();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Returns a job that advances the clock by 300 ms, and then asks an actor that does not answer.
   */
  private Job askLater(Job.Act askCode) {
    return Job.act("nested ask", () -> {
      clock.advance(Duration.ofMillis(300));
      timeout.complete(assertThrows(AskTimeoutException.class, askCode::run));
    });
  }

  private AskTimeoutException awaitTimeout(ManualScheduler manualClock, Duration step) {
    Patience.eventually(() -> {
      manualClock.advance(step);
      return timeout.isDone();
    });
    return timeout.join();
  }

  @Promise("4.16")
  @Test
  void nestedAskIsLimitedToRemainingTimeOfOuterRequest() {
    askWithinASecond(a, askLater(() -> b.ask(Job.act("slow", DeadlineTest::hang))));
    Job.awaitWaits(a);

    clock.advance(Duration.ofMillis(699));
    assertFalse(timeout.isDone());
    clock.advance(Duration.ofMillis(1));

    var failure = Patience.value(timeout);
    assertEquals(Duration.ofMillis(700), failure.limit());
    assertTrue(
        failure.getMessage().contains("within 700 ms, the rest of the limit of the request that is being handled"),
        failure.getMessage());
    assertTrue(failure.getMessage().contains("give the first ask of the chain a longer limit"), failure.getMessage());
  }

  @Test
  void awaitReturnsTrueForCancelledFuture() throws Exception {
    var future = new CompletableFuture<Void>();
    future.cancel(false);

    assertTrue(Deadline.NONE.await(future));
    assertTrue(Deadline.of(clock, Duration.ofSeconds(1)).await(future));
  }

  @Promise("4.16")
  @Test
  void nestedAskUsesItsOwnLimitIfShorter() {
    askWithinASecond(a, askLater(() -> b.ask(Job.act("slow", DeadlineTest::hang), Duration.ofMillis(200))));
    Job.awaitWaits(a);

    clock.advance(Duration.ofMillis(200));

    var failure = Patience.value(timeout);
    assertEquals(Duration.ofMillis(200), failure.limit());
    assertFalse(failure.getMessage().contains("the request being handled"), failure.getMessage());
  }

  @Promise("4.16")
  @Test
  void limitShrinksAlongChainOfAsks() {
    var c = Job.worker(scope.named("c"));
    askWithinASecond(a, Job.act("first",
        () -> b.ask(askLater(() -> c.ask(Job.act("slow", DeadlineTest::hang))), Duration.ofHours(1))));
    Job.awaitWaits(b);

    assertEquals(Duration.ofMillis(700), awaitTimeout(clock, Duration.ofMillis(100)).limit());
  }

  @Promise("4.16")
  @Test
  void nestedAskIsNotSentWhenNoTimeIsLeft() {
    var handled = new AtomicBoolean();
    askWithinASecond(a, Job.act("too late", () -> {
      clock.advance(SECOND);
      timeout.complete(assertThrows(AskTimeoutException.class, () -> b.ask(Job.act("x", () -> handled.set(true)))));
    }));

    var failure = Patience.value(timeout);

    b.close();
    assertFalse(handled.get());
    assertEquals(Duration.ZERO, failure.limit());
    assertTrue(failure.getMessage().contains("'b' was not asked x, because no time was left for it"),
        failure.getMessage());
  }

  @Promise("4.16")
  @Test
  void handlerOfSendMessageReturnWithoutLimitHasNoLimit() {
    Job.start(a, askLater(() -> b.ask(Job.act("slow", DeadlineTest::hang))));
    Job.awaitWaits(a);

    assertEquals(Duration.ofSeconds(30), awaitTimeout(clock, SECOND).limit());
  }

  @Test
  void sendMessageReturnInHandlerInheritsNoLimit() {
    askWithinASecond(a,
        Job.act("first",
            () -> b
                .sendMessageReturn(
                    (Object) askLater(() -> Job.worker(scope.anonymous()).ask(Job.act("slow", DeadlineTest::hang))))
                .join()));
    Job.awaitWaits(b);

    assertEquals(Duration.ofSeconds(30), awaitTimeout(clock, SECOND).limit());
  }

  @Promise("4.16")
  @Test
  void execAndWaitPassesNoLimitToSinkCode() {
    Sink<StringBuilder> sink = scope.anonymous().initialState(StringBuilder::new).newSink();
    askWithinASecond(a, Job.act("first",
        () -> sink.execAndWait(text -> askLater(() -> b.ask(Job.act("slow", DeadlineTest::hang))).call())));
    Job.awaitWaits(a);
    Patience.eventually(() -> ActorInternals.isHandlerWaiting(sink));

    assertEquals(Duration.ofSeconds(30), awaitTimeout(clock, SECOND).limit());
  }

  @Promise("4.16")
  @Test
  void plainMessagePassesNoLimitToReceiver() {
    askWithinASecond(a, Job.act("first", () -> {
      b.sendMessage(askLater(() -> Job.worker(scope.anonymous()).ask(Job.act("slow", DeadlineTest::hang))));
      hang();
    }));
    Job.awaitWaits(b);

    assertEquals(Duration.ofSeconds(30), awaitTimeout(clock, SECOND).limit());
  }

  @Promise("4.16")
  @Test
  void nestedAskCountsRemainingTimeByClockOfReceiver() {
    var otherClock = new ManualScheduler();
    otherClock.advance(Duration.ofDays(1));
    var otherScopeActor = Job.worker(Variants.scope(o -> o.withScheduler(otherClock)).anonymous());
    askWithinASecond(a, askLater(() -> otherScopeActor.ask(Job.act("slow", DeadlineTest::hang))));
    Job.awaitWaits(a);

    otherClock.advance(Duration.ofMillis(699));
    assertFalse(timeout.isDone());
    otherClock.advance(Duration.ofMillis(1));

    assertEquals(Duration.ofMillis(700), Patience.value(timeout).limit());
  }

  @Promise("4.16")
  @Test
  void inlineHandlerPassesOnLimitOfOuterRequest() {
    var inlineActor = Job.worker(scope.named("inline").inlineRequests());
    askWithinASecond(a,
        Job.act("first", () -> inlineActor.ask(askLater(() -> b.ask(Job.act("slow", DeadlineTest::hang))))));
    Job.awaitWaits(a);

    assertEquals(Duration.ofMillis(700), awaitTimeout(clock, Duration.ofMillis(100)).limit());
  }

  @Promise("4.16")
  @Test
  void handlerSeesRemainingTimeOfItsRequest() {
    var result = new CompletableFuture<List<Optional<Duration>>>();
    var actor = scope.named("timed").newActorWithReturn((Object m, ActorContext<Object> context) -> {
      var before = context.remainingTime();
      clock.advance(Duration.ofMillis(300));
      var times = List.of(before, context.remainingTime());
      if (m.equals("message")) result.complete(times);
      return times;
    });
    var expected = List.of(Optional.of(SECOND), Optional.of(Duration.ofMillis(700)));
    var unlimitedTimes = List.of(Optional.empty(), Optional.empty());

    assertEquals(expected, actor.ask("read", SECOND));
    assertEquals(expected, Patience.value(actor.sendMessageReturn("read", SECOND)));
    assertEquals(unlimitedTimes, Patience.value(actor.sendMessageReturn("read")));
    actor.sendMessage("message");
    assertEquals(unlimitedTimes, Patience.value(result));
  }

  @Promise("4.16")
  @Test
  void limitOfSendMessageReturnLimitsNestedAsk() {
    a.sendMessageReturn(askLater(() -> b.ask(Job.act("slow", DeadlineTest::hang))), SECOND);
    Job.awaitWaits(a);

    assertEquals(Duration.ofMillis(700), awaitTimeout(clock, Duration.ofMillis(100)).limit());
  }

  @Promise("4.16")
  @Test
  void remainingTimeIsZeroAfterLimit() {
    var result = new CompletableFuture<Optional<Duration>>();
    var actor = scope.named("late").newActorWithReturn((Object m, ActorContext<Object> context) -> {
      clock.advance(SECOND.plusMillis(1));
      return result.complete(context.remainingTime());
    });

    actor.sendMessageReturn("read", SECOND);

    assertEquals(Optional.of(Duration.ZERO), Patience.value(result));
  }

  @Promise("4.16")
  @Test
  void inlineHandlerSeesLimitOfOuterRequest() {
    var result = new CompletableFuture<String>();
    var builder = scope.named("inline").inlineRequests();
    var inlineActor = builder.newActorWithReturn((Object m, ActorContext<Object> context) -> {
      boolean cancelledBefore = context.isCancelled();
      clock.advance(SECOND);
      return result.complete(cancelledBefore + " " + context.isCancelled());
    });

    askWithinASecond(a, Job.act("first", () -> inlineActor.ask("read")));

    assertEquals("false true", Patience.value(result));
  }

  @Test
  void promisedInlineAnswerTimesOutAtLimitOfOuterRequest() {
    var inlineActor = scope.named("inline").inlineRequests()
        .newActor((Object m, ActorContext<Object> context) -> context.replyWhen((Call) m, new CompletableFuture<>()));
    askWithinASecond(a, askLater(() -> inlineActor.ask(new Call())));
    Job.awaitWaits(a);

    assertEquals(Duration.ofMillis(700), awaitTimeout(clock, Duration.ofMillis(100)).limit());
  }

  record Call() implements Request<Call, String> {}

  /**
   * Uses the system clock, and reaches no limit. The second handler must have less time left than
   * the first handler had.
   */
  @Test
  void remainingTimeShrinksWithSystemClock() {
    var systemScope = Variants.scope(o -> o);
    var remainingOfFirst = new CompletableFuture<Duration>();
    var innerActor = systemScope.anonymous().newActorWithReturn(
        (Object question, ActorContext<Object> context) -> context.remainingTime().orElseThrow());
    var outerActor = systemScope.anonymous().newActorWithReturn((Object question, ActorContext<Object> context) -> {
      while (context.remainingTime().orElseThrow().compareTo(Patience.LONG.minusMillis(20)) > 0) Thread.onSpinWait();
      remainingOfFirst.complete(context.remainingTime().orElseThrow());
      return innerActor.ask("remaining time?");
    });

    var remainingOfSecond = outerActor.ask("?", Patience.LONG);

    assertTrue(remainingOfSecond.compareTo(remainingOfFirst.join()) < 0,
        () -> remainingOfSecond + " after " + remainingOfFirst.join());
  }

  record Take(String item) implements Request<Take, String> {}

  @Promise("4.16")
  @Test
  void askSentAfterReplyIsNotLimitedByAnsweredRequest() {
    var gate = new Gate();
    var answer = new CompletableFuture<Object>();
    var store = scope.anonymous().newActorWithReturn((String m) -> "stored " + m);
    var taker = scope.anonymous().protocol(Take.class).newActor((Take take, ActorContext<Take> context) -> {
      context.reply(take, "taken");
      gate.pass();
      answer.complete(store.ask(take.item()));
    });
    assertEquals("taken", taker.ask(new Take("item"), SECOND));
    clock.advance(SECOND);

    gate.open();

    assertEquals("stored item", Patience.value(answer));
  }

  record Query() implements Request<Query, String> {}

  @Test
  void inlineRequestWithoutRemainingTimeIsNotHandled() {
    var isHandled = new AtomicBoolean();
    var inlineActor = scope.named("inline").inlineRequests().newActor((Query query, ActorContext<Query> context) -> {
      isHandled.set(true);
      context.reply(query, "late");
    });
    askWithinASecond(a, Job.act("late ask", () -> {
      clock.advance(SECOND.plusMillis(1));
      timeout.complete(assertThrows(AskTimeoutException.class, () -> inlineActor.ask(new Query())));
    }));

    assertTrue(Patience.value(timeout).getMessage().contains("inline"), timeout.join()::getMessage);
    assertFalse(isHandled.get());
  }
}
