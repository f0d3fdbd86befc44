package io.fibry.engine.cell;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorScope.Report;
import io.fibry.ActorSystem;
import io.fibry.AskTimeoutException;
import io.fibry.DeadLetter;
import io.fibry.DeadLetter.Reason;
import io.fibry.FailurePolicy;
import io.fibry.Request;
import io.fibry.Strategy;
import io.fibry.engine.actor.Cells;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.Variants;
import io.fibry.time.ManualScheduler;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that sent = handled + being handled + unhandled + queued, in all reports of scopes. */
class AccountsTest {
  private final RecordedLetters letters = new RecordedLetters();
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope =
      ActorSystem.openScope("accounts", o -> o.withDeadLetterListener(letters).withScheduler(clock));

  @AfterEach
  void cleanUp() {
    Gate.openAll();
    clock.advance(Duration.ofDays(1));
    scope.closeWithin(Duration.ZERO);
  }

  @Test
  void numbersOfManyThreadsAreAllCounted() {
    int threads = 40; // more than a count has cells, so some threads share a cell
    int times = 20_000;
    var outer = new Accounts(null);
    var inner = new Accounts(outer);
    Runnable counting = () -> {
      for (int i = 0; i < times; i++) inner.countHandled(2);
    };
    var started = new ArrayList<Thread>();
    for (int i = 0; i < threads; i++)
      started.add(i % 2 == 0 ? Thread.startVirtualThread(counting) : Thread.ofPlatform().start(counting));
    started.forEach(Patience::awaitEnd);

    assertEquals(2L * threads * times, inner.handled());
    assertEquals(2L * threads * times, outer.handled());
  }

  private Actor<Object> actor(ActorScope owner) {
    return owner.anonymous().onFailure(FailurePolicy.resume().withoutLog()).newActor(Gate::passOrThrow);
  }

  private static void send(Actor<Object> actor, int handled, int failures) {
    for (int i = 0; i < handled; i++) actor.sendMessage(i);
    for (int i = 0; i < failures; i++) actor.sendMessage(new IOException("planned"));
  }

  private static void awaitQuiescence(ActorScope scope) {
    assertTrue(scope.awaitQuiescence(Patience.LONG));
  }

  private static void assertBalanced(Report report) {
    assertEquals(report.sent(),
        report.handled() + report.handling() + report.queued()
            + report.unhandled().values().stream().mapToLong(n -> n).sum());
  }

  private static void assertReport(Report report, long handled, Reason reason, long unhandled, long queued) {
    assertBalanced(report);
    assertEquals(List.of(handled, unhandled, queued),
        List.of(report.handled(), report.unhandled().get(reason), report.queued()));
  }

  @Promise("19.1")
  @Test
  void scopeReportIncludesCountsOfInnerScopes() {
    var innerScope = scope.openScope("inner");
    send(actor(scope), 3, 1);
    send(actor(innerScope), 5, 2);
    awaitQuiescence(scope);

    assertReport(innerScope.report(), 5, Reason.FAILED, 2, 0);
    assertReport(scope.report(), 8, Reason.FAILED, 3, 0);
  }

  @Promise("19.1")
  @Test
  void parentScopeKeepsCountsOfClosedScope() {
    try (var innerScope = scope.openScope("inner")) {
      send(actor(innerScope), 5, 2);
    }
    var closedScope = scope.openScope("another");
    var endedActor = actor(closedScope);
    closedScope.close();
    send(endedActor, 4, 0);

    assertEquals(4, closedScope.report().unhandled().get(Reason.UNDELIVERED));
    assertEquals(11, scope.report().sent());
    assertBalanced(scope.report());
  }

  @Promise("19.1")
  @Test
  void rootScopeCountsItsAnonymousActors() {
    var root = Variants.scope(o -> o);
    var actor = root.anonymous().onFailure(FailurePolicy.resume().withoutLog()).newActor(Gate::passOrThrow);
    send(actor, 7, 3);
    actor.close();

    assertReport(root.report(), 7, Reason.FAILED, 3, 0);
  }

  @Promise("19.2")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void waitingMessagesAreCountedAsQueued(Variants.Variant variant) {
    var actor = variant.builder(scope).newActor(Gate::passOrThrow);
    var gate = Gate.occupy(actor);
    Patience.awaitEnd(Patience.startFiber(() -> send(actor, 6, 0)));
    var answer = Cells.sendRequest(actor, "request");

    assertReport(scope.report(), 0, Reason.FAILED, 0, 7);

    answer.cancel(true);
    assertReport(scope.report(), 0, Reason.CANCELLED, 1, 6);
    gate.open();
    awaitQuiescence(scope);
    assertReport(scope.report(), 7, Reason.CANCELLED, 1, 0);
  }

  @Promise("19.2")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#selective")
  void stashedMessagesAreCountedAsQueued(Variants.Variant variant) {
    var actor = variant.builder(scope).newActorWithReturn((Object m, ActorContext<Object> context) -> {
      if (m.equals("now")) context.unstash();
      else if (!m.equals("done")) context.stash();
      return "answer";
    });
    send(actor, 3, 0);
    var request = actor.sendMessageReturn("stashed");
    var cancelledRequest = actor.sendMessageReturn("stashed, too");
    awaitQuiescence(scope);
    cancelledRequest.cancel(true);

    assertReport(scope.report(), 0, Reason.CANCELLED, 1, 4);

    actor.close();
    assertReport(scope.report(), 0, Reason.UNDELIVERED, 4, 0);
    assertTrue(request.isDone());
  }

  @Promise("19.3")
  @Test
  void unstashedMessageIsCountedOnce() {
    var isOpen = new AtomicInteger();
    var actor = scope.anonymous().mailbox(Mailbox.unbounded().selective())
        .newActor((Object m, ActorContext<Object> context) -> {
          if (m.equals("open")) {
            isOpen.set(1);
            context.unstash();
          } else if (isOpen.get() == 0) context.stash();
        });
    send(actor, 5, 0);
    actor.sendMessage("open");
    awaitQuiescence(scope);

    assertReport(scope.report(), 6, Reason.FAILED, 0, 0);
  }

  @Promise("19.2")
  @Test
  void messagesThatAwaitRestartAreCountedAsQueued() {
    var actor = scope.anonymous()
        .onFailure(FailurePolicy.restart().withBackoff(Duration.ofSeconds(1), Duration.ofSeconds(1)).withoutLog())
        .newActor(Gate::passOrThrow);
    actor.sendMessage(new IOException("planned"));
    Patience.eventually(() -> ActorInternals.isSuspended(actor));
    send(actor, 4, 0);

    assertReport(scope.report(), 0, Reason.FAILED, 1, 4);

    clock.advance(Duration.ofSeconds(1));
    awaitQuiescence(scope);
    assertReport(scope.report(), 4, Reason.FAILED, 1, 0);
  }

  @Promise("19.2")
  @Test
  void messagesOfActorWithoutThreadAreCountedAsQueued() {
    var actor = scope.named("starved").strategy(Strategy.of(task -> {})).newActor(Gate::passOrThrow);
    send(actor, 4, 0);

    assertReport(scope.report(), 0, Reason.FAILED, 0, 4);

    actor.kill();
    clock.advance(Duration.ofSeconds(1));
    Patience.awaitEnd(actor::waitForExit);
    assertReport(scope.report(), 0, Reason.FAILED, 0, 4);
  }

  @Promise("19.2")
  @Test
  void messagesBehindCutOffHandlerCountAsQueuedUntilItReturns() {
    var actor = actor(scope);
    var gate = Gate.occupy(actor);
    send(actor, 2, 0);
    var failureOfRequest = new CompletableFuture<>();
    Cells.sendRequest(actor, "request")
        .whenComplete((value, failure) -> failureOfRequest.complete(failure));
    actor.kill();
    clock.advance(Duration.ofSeconds(1));
    Patience.awaitEnd(actor::waitForExit);
    Patience.value(failureOfRequest);
    assertReport(scope.report(), 0, Reason.UNDELIVERED, 1, 2);

    gate.open();

    Patience.eventually(() -> scope.report().unresponsive().isEmpty());
    assertReport(scope.report(), 1, Reason.UNDELIVERED, 3, 0);
  }

  @Promise("19.3")
  @Test
  void retriedMessageIsCountedOnce() {
    var failuresLeft = new AtomicInteger(2);
    var actor =
        scope.anonymous().onFailure(FailurePolicy.restart().withRetries(3).withoutLog()).newActor((Object m) -> {
          if (m instanceof Exception failure) throw failure;
          if (failuresLeft.getAndDecrement() > 0) throw new IOException("planned");
        });
    send(actor, 2, 2);
    awaitQuiescence(scope);

    assertReport(scope.report(), 2, Reason.FAILED, 2, 0);
    assertEquals(2, letters.all.size());
  }

  record Get(String key) implements Request<Get, String> {}

  @Promise("19.3")
  @Test
  void requestWithPromisedAnswerIsCountedOnce() {
    var stages = new ArrayList<CompletableFuture<String>>();
    var actor = scope.anonymous().protocol(Get.class).newActor((Get get, ActorContext<Get> context) -> {
      var stage = new CompletableFuture<String>();
      stages.add(stage);
      context.replyWhen(get, stage);
    });
    var answers = IntStream.range(0, 4).mapToObj(i -> actor.sendMessageReturn(new Get("a"))).toList();
    awaitQuiescence(scope);
    stages.get(0).complete("kept");
    stages.get(1).completeExceptionally(new IOException("planned"));
    answers.get(2).cancel(true);

    actor.close();

    assertReport(scope.report(), 4, Reason.FAILED, 0, 0);
    assertEquals(0, scope.report().unhandled().get(Reason.CANCELLED));
  }

  @Promise("19.3")
  @Test
  void requestThatExpiresWhileHandledCountsAsHandled() {
    var gate = new Gate();
    var actor = scope.anonymous().newActorWithReturn((Object m) -> {
      gate.pass();
      return 1;
    });
    var asker = Patience.startFiber(() -> {
      try {
        actor.ask("a", Duration.ofSeconds(1));
      } catch (AskTimeoutException expected) {
        gate.open();
      }
    });
    Patience.await(gate.entered);
    Patience.awaitParked(asker);

    Patience.eventually(() -> {
      clock.advance(Duration.ofSeconds(1));
      return !asker.isAlive();
    });

    awaitQuiescence(scope);
    assertReport(scope.report(), 1, Reason.EXPIRED, 0, 0);
  }

  @Promise("19.3")
  @Test
  void restartIsNotCountedAsMessage() {
    var actor = scope.anonymous().onFailure(FailurePolicy.restart().withoutLog()).newActor(Gate::passOrThrow);
    for (int i = 0; i < 10; i++) send(actor, 1, 1);
    awaitQuiescence(scope);

    assertReport(scope.report(), 10, Reason.FAILED, 10, 0);
  }

  @Promise("19.3")
  @Test
  void refusedMessagesAreCountedAsSent() {
    var actor = scope.anonymous().mailbox(Mailbox.bounded(2, Overflow.REJECT)).newActor(Gate::passOrThrow);
    var gate = Gate.occupy(actor);
    send(actor, 5, 0);

    assertReport(scope.report(), 0, Reason.REJECTED, 3, 2);

    gate.open();
    actor.close();
    send(actor, 2, 0);
    assertReport(scope.report(), 3, Reason.UNDELIVERED, 2, 0);
    assertEquals(8, scope.report().sent());
  }

  // ---- dead letters

  @Promise("19.4")
  @Test
  void scopeKeepsLastHundredLettersOfReasonOldestFirst() {
    send(actor(scope), 0, 0);
    var actor = actor(scope);
    actor.close();

    for (int i = 0; i < 250; i++) actor.sendMessage(i);

    assertEquals(IntStream.range(150, 250).boxed().toList(),
        scope.deadLetters().stream().map(DeadLetter::message).toList());
  }

  @Promise("19.4")
  @Test
  void failedLetterRemainsBesideManyRejectedLetters() {
    var failing = actor(scope);
    send(failing, 0, 1);
    awaitQuiescence(scope);
    var full = scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.REJECT)).newActor(Gate::passOrThrow);
    Gate.occupy(full);

    for (int i = 0; i <= 250; i++) full.sendMessage(i);

    var stored = scope.deadLetters();
    assertEquals(Reason.FAILED, stored.getFirst().reason());
    assertEquals(IntStream.range(151, 251).boxed().toList(),
        stored.stream().skip(1).map(DeadLetter::message).toList());
  }

  @Promise("19.4")
  @Test
  void firstLettersOfReasonThatThreadsAddAtOnceAreAllStored() {
    for (int round = 0; round < 200; round++) {
      var inner = scope.openScope("round");
      var ended = actor(inner);
      ended.close();
      var start = new CountDownLatch(1);
      var senders = IntStream.range(0, 4).mapToObj(sender -> Patience.startFiber(() -> {
        Patience.await(start);
        for (int i = 0; i < 20; i++) ended.sendMessage(sender * 100 + i);
      })).toList();
      start.countDown();
      senders.forEach(Patience::awaitEnd);

      assertEquals(80, inner.deadLetters().stream().map(DeadLetter::message).distinct().count());
      inner.close();
    }
  }

  @Promise("19.4")
  @Test
  void scopeKeepsDeadLettersOfInnerScopes() {
    var innerScope = scope.openScope("inner");
    send(actor(innerScope), 0, 1);
    awaitQuiescence(scope);

    assertEquals(1, innerScope.deadLetters().size());
    assertEquals(innerScope.deadLetters(), scope.deadLetters());
  }

  @Promise("19.4")
  @Test
  void scopeReportsDeadLettersToOwnOrInheritedListener() {
    var ownListener = new RecordedLetters();
    send(actor(scope.openScope("own", o -> o.withDeadLetterListener(ownListener))), 0, 1);
    send(actor(scope.openScope("inherits")), 0, 2);
    awaitQuiescence(scope);

    assertEquals(List.of(1, 2), List.of(ownListener.all.size(), letters.all.size()));
  }

  @Promise("19.4")
  @Test
  void resendOfDeadLetterSucceedsUntilActorEnds() {
    var failuresLeft = new AtomicInteger(1);
    var received = new ArrayList<>();
    var actor = scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()).newActor((Object m) -> {
      if (failuresLeft.getAndDecrement() > 0) throw new IOException("planned");
      received.add(m);
    });
    actor.sendMessage("a");
    awaitQuiescence(scope);

    assertTrue(scope.deadLetters().getFirst().resend());

    awaitQuiescence(scope);
    assertEquals(List.of("a"), received);
    assertReport(scope.report(), 1, Reason.FAILED, 1, 0);
    actor.close();
    assertFalse(scope.deadLetters().getFirst().resend());
  }
}
