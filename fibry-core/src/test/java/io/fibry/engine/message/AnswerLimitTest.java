package io.fibry.engine.message;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.AskTimeoutException;
import io.fibry.DeadLetter.Reason;
import io.fibry.NoReplyException;
import io.fibry.Request;
import io.fibry.Strategy;
import io.fibry.engine.cell.Cell;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Entities;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.StressRuns;
import io.fibry.testing.Variants.Variant;
import io.fibry.time.ManualScheduler;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests the limit of a request future, which expires although no thread waits for the future. */
class AnswerLimitTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("limits", o -> o.withScheduler(clock));
  private final Gate gate = new Gate();
  private final AtomicInteger handled = new AtomicInteger();

  @AfterEach
  void close() {
    Gate.openAll();
    scope.closeWithin(Duration.ZERO);
  }

  private ActorWithReturn<Object, Object> actor(ActorBuilder<Object> builder) {
    return builder.newActorWithReturn((Object message) -> {
      if (message == gate) gate.pass();
      else handled.incrementAndGet();
      return message;
    });
  }

  private static AskTimeoutException timeoutOf(CompletableFuture<?> answer) {
    return assertInstanceOf(AskTimeoutException.class, Patience.failure(answer));
  }

  @Promise("4.6")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void requestQueuedBeyondLimitIsNeverHandled(Variant variant) {
    var actor = actor(variant.builder(scope));
    var sender = Patience.startFiber(() -> actor.sendMessageReturn(gate, Duration.ofHours(1)));
    Patience.await(gate.entered);
    var earlyRequest = actor.sendMessageReturn("early", Duration.ofSeconds(9));
    var lateRequest = actor.sendMessageReturn("late", SECOND);

    clock.advance(SECOND.minusNanos(1));
    assertFalse(lateRequest.isDone());
    clock.advance(Duration.ofNanos(1));
    var failure = timeoutOf(lateRequest);
    gate.open();

    assertEquals("early", Patience.value(earlyRequest));
    Patience.awaitEnd(sender);
    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertEquals(1, handled.get());
    assertEquals(1, scope.report().unhandled().get(Reason.EXPIRED));
    assertEquals(3, scope.report().sent());
    assertTrue(failure.getMessage().contains("did not answer \"late\" within"), failure.getMessage());
    assertTrue(failure.getMessage().contains("its handler had not begun, and will not begin"), failure.getMessage());
    assertEquals(Optional.empty(), clock.untilNext().filter(Duration::isZero));
  }

  @Promise("4.6")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#strategiesAlone")
  void handlerFinishesRequestThatExceedsLimit(Variant variant) {
    var actor = actor(variant.builder(scope));
    CompletableFuture<CompletableFuture<Object>> answer =
        Patience.callOnFiber(() -> actor.sendMessageReturn(gate, SECOND));
    Patience.await(gate.entered);
    if (variant.strategy() != Strategy.CALLER) {
      var lateRequest = Patience.value(answer);
      clock.advance(SECOND);
      assertTrue(timeoutOf(lateRequest).getMessage().contains("its handler had begun, and may still run"));
    }
    gate.open();
    Patience.value(answer);
    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertEquals(1, scope.report().handled());
  }

  @Test
  void answerInTimeLeavesNoTimer() {
    var actor = actor(scope.anonymous());
    for (int i = 0; i < 100; i++) assertEquals(i, Patience.value(actor.sendMessageReturn((Object) i, SECOND)));

    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertEquals(Optional.empty(), clock.untilNext());
    assertEquals(100, scope.report().handled());
  }

  @Test
  void cancelledRequestLeavesNoTimer() {
    var actor = actor(scope.anonymous());
    var firstRequest = actor.sendMessageReturn(gate, SECOND);
    Patience.await(gate.entered);
    var secondRequest = actor.sendMessageReturn("second", SECOND);

    firstRequest.cancel(true);
    secondRequest.complete("mine");

    assertEquals(Optional.empty(), clock.untilNext());
    assertEquals("mine", secondRequest.join());
  }

  @Test
  void limitCoversWaitForMailboxCapacity() {
    var actor = actor(scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.BLOCK)));
    actor.sendMessage(gate);
    Patience.await(gate.entered);
    actor.sendMessage("fills the mailbox");
    var answer = new CompletableFuture<CompletableFuture<Object>>();
    var sender = Patience.startFiber(() -> actor.sendMessageReturn("must wait", SECOND), answer);
    Patience.awaitParked(sender);

    Patience.eventually(() -> {
      clock.advance(SECOND);
      return answer.isDone();
    });

    var failure = timeoutOf(Patience.value(answer));
    assertTrue(failure.getMessage().contains("waited for capacity"), failure.getMessage());
    assertEquals(1, scope.report().unhandled().get(Reason.EXPIRED));
  }

  @Test
  void blockingCallbackDelaysNoOtherExpiredRequest() {
    var callbackMayEnd = new CountDownLatch(1);
    var actor = actor(scope.anonymous());
    actor.sendMessage(gate);
    Patience.await(gate.entered);
    var blockedFuture = actor.sendMessageReturn("blocked", SECOND).exceptionally(timeout -> {
      Patience.await(callbackMayEnd);
      return "late";
    });
    var otherFuture = actor.sendMessageReturn("other", SECOND);

    clock.advance(SECOND);

    timeoutOf(otherFuture);
    assertFalse(blockedFuture.isDone());
    callbackMayEnd.countDown();
    assertEquals("late", Patience.value(blockedFuture));
  }

  @Test
  void entityRequestTimesOutAtLimit() {
    var accounts = Entities.openWithReturn(scope.anonymous(), Duration.ofMinutes(1),
        (builder, key) -> builder.newActorWithReturn((Object message) -> {
          gate.pass();
          return message;
        }));
    var answer = accounts.actor("ada").sendMessageReturn("late", SECOND);
    Patience.await(gate.entered);

    clock.advance(SECOND);

    timeoutOf(answer);
  }

  private record Question(String text) implements Request<Question, String> {}

  @Test
  void protocolRequestTimesOutAtLimit() {
    var questions = new AtomicInteger();
    Actor<Question> actor = scope.anonymous().newActor((question, context) -> questions.incrementAndGet());
    var promisingActor = scope.anonymous()
        .newActor((Question question, ActorContext<Question> context) -> context.replyWhen(question,
            new CompletableFuture<String>()));
    assertInstanceOf(NoReplyException.class, Patience.failure(actor.sendMessageReturn(new Question("a"), SECOND)));
    var promisedAnswer = promisingActor.sendMessageReturn(new Question("b"), SECOND);
    assertTrue(scope.awaitQuiescence(Patience.LONG));

    clock.advance(SECOND);

    assertTrue(timeoutOf(promisedAnswer).getMessage().contains("promised the answer for later"));
  }

  /**
   * After a test has advanced its clock, all effects of expired limits are complete once the scope
   * is quiet.
   */
  @Test
  void futureIsDoneOnceScopeIsQuietAfterLimitExpired() {
    record Question() implements Request<Question, String> {}
    var actor = scope.anonymous().newActor((Question question, ActorContext<Question> context) -> context
        .replyWhen(question, new CompletableFuture<>()));
    for (int i = 0; i < 300; i++) {
      var answer = actor.sendMessageReturn(new Question(), SECOND);
      assertTrue(scope.awaitQuiescence(Patience.LONG));

      clock.advance(SECOND);
      assertTrue(scope.awaitQuiescence(Patience.LONG));

      assertTrue(answer.isDone(), "request " + i);
    }
  }

  /** If a request needed memory to expire, its asker would wait forever while memory is full. */
  @Test
  void expiringRequestAllocatesNoMemory() {
    var actor = actor(scope.anonymous());
    var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    long minBytes = Long.MAX_VALUE;
    for (int i = 0; i < 1_000; i++) {
      var request = new RequestFuture<Object>((Cell) (Actor<?>) actor, i, null, true);
      long bytesBefore = threads.getCurrentThreadAllocatedBytes();
      request.expire();
      minBytes = Math.min(minBytes, threads.getCurrentThreadAllocatedBytes() - bytesBefore);
    }

    assertEquals(0, minBytes);
  }

  @Test
  void zeroLimitAndNullArgumentsAreRefused() {
    var actor = actor(scope.anonymous());
    assertEquals("a limit of 0 s leaves no time to wait; give more than zero",
        assertThrows(IllegalArgumentException.class, () -> actor.sendMessageReturn("a", Duration.ZERO)).getMessage());
    assertEquals("limit",
        assertThrows(NullPointerException.class, () -> actor.sendMessageReturn("a", null)).getMessage());
    assertEquals("message", assertThrows(NullPointerException.class,
        () -> actor.sendMessageReturn((Object) null, SECOND)).getMessage());
  }

  private static boolean isAnsweredInTime(CompletableFuture<Integer> answer) {
    Object result = Patience.value(answer.handle((value, failure) -> failure == null ? value : failure));
    if (result instanceof Throwable failure) assertInstanceOf(AskTimeoutException.class, failure);
    return result instanceof Integer;
  }

  /**
   * Uses the system's clock, and limits near the time at which the answer comes, so that the answer
   * races with the time-out.
   */
  @Test
  void eachRequestCompletesWhenAnswerRacesWithTimeout() {
    long seed = StressRuns.seed();
    System.out.println("answers that race with limits: -Dfibry.seed=" + seed);
    var random = new SplittableRandom(seed);
    try (var realTimeScope = ActorSystem.openScope("real")) {
      var actor = realTimeScope.anonymous().newActorWithReturn((Integer nanos) -> {
        long deadline = System.nanoTime() + nanos;
        while (System.nanoTime() < deadline) Thread.onSpinWait();
        return nanos;
      });
      int answeredInTime = 0;
      int requests = 0;
      for (int round = 0; round < 300; round++) {
        var answers = new ArrayList<CompletableFuture<Integer>>();
        for (int i = 0; i < 20; i++)
          answers.add(actor.sendMessageReturn(random.nextInt(50_000), Duration.ofNanos(1 + random.nextInt(1_000_000))));
        for (var answer : answers) if (isAnsweredInTime(answer)) answeredInTime++;
        requests += answers.size();
      }
      assertTrue(realTimeScope.awaitQuiescence(Patience.LONG));
      var report = realTimeScope.report();
      assertEquals(requests, report.handled() + report.unhandled().get(Reason.EXPIRED), report::toString);
      assertEquals(List.of(), report.deadLetters());
      System.out.println(answeredInTime + " of " + requests + " were answered in time");
    }
  }
}
