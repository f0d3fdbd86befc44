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
import io.fibry.Gate;
import io.fibry.Letters;
import io.fibry.Promise;
import io.fibry.Request;
import io.fibry.Strategy;
import io.fibry.Variants;
import io.fibry.engine.actor.Cells;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Sent = handled + being handled + unhandled + waiting. */
class AccountsTest {
  private final Letters letters = new Letters();
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope =
      ActorSystem.openScope("accounts", o -> o.withDeadLetters(letters).withScheduler(clock));

  @AfterEach
  void cleanUp() {
    Gate.openAll();
    clock.advance(Duration.ofDays(1));
    scope.closeWithin(Duration.ZERO);
  }

  private Actor<Object> actor(ActorScope where) {
    return where.anonymous().onFailure(FailurePolicy.resume().withoutLog()).newActor(Gate::passOrThrow);
  }

  private static void send(Actor<Object> actor, int handled, int failing) {
    for (int i = 0; i < handled; i++) actor.sendMessage(i);
    for (int i = 0; i < failing; i++) actor.sendMessage(new IOException("planned"));
  }

  private static void quiet(ActorScope scope) {
    assertTrue(scope.awaitQuiescence(Patience.LONG));
  }

  private static void balanced(Report report) {
    assertEquals(report.sent(),
        report.handled() + report.handling() + report.queued()
            + report.unhandled().values().stream().mapToLong(n -> n).sum());
  }

  private static void is(Report report, long handled, Reason reason, long unhandled, long waiting) {
    balanced(report);
    assertEquals(List.of(handled, unhandled, waiting),
        List.of(report.handled(), report.unhandled().get(reason), report.queued()));
  }

  @Promise("19.1")
  @Test
  void aScopeCountsItselfAndThoseBelow() {
    var inner = scope.openScope("inner");
    send(actor(scope), 3, 1);
    send(actor(inner), 5, 2);
    quiet(scope);

    is(inner.report(), 5, Reason.FAILED, 2, 0);
    is(scope.report(), 8, Reason.FAILED, 3, 0);
  }

  @Promise("19.1")
  @Test
  void parentScopeKeepsCountsOfClosedScope() {
    try (var inner = scope.openScope("inner")) {
      send(actor(inner), 5, 2);
    }
    var closed = scope.openScope("another");
    var late = actor(closed);
    closed.close();
    send(late, 4, 0);

    assertEquals(4, closed.report().unhandled().get(Reason.UNDELIVERED));
    assertEquals(11, scope.report().sent());
    balanced(scope.report());
  }

  @Promise("19.1")
  @Test
  void theRootCountsItsAnonymousActors() {
    var root = Variants.scope(o -> o);
    var actor = root.anonymous().onFailure(FailurePolicy.resume().withoutLog()).newActor(Gate::passOrThrow);
    send(actor, 7, 3);
    actor.close();

    is(root.report(), 7, Reason.FAILED, 3, 0);
  }

  @Promise("19.2")
  @ParameterizedTest
  @MethodSource("io.fibry.Variants#all")
  void waitingMessagesAreCounted(Variants.Variant variant) {
    var actor = variant.builder(scope).newActor(Gate::passOrThrow);
    var gate = Gate.occupy(actor);
    Patience.joined(Patience.startFiber(() -> send(actor, 6, 0)));
    var answer = Cells.sendRequest(actor, "request");

    is(scope.report(), 0, Reason.FAILED, 0, 7);

    answer.cancel(true);
    is(scope.report(), 0, Reason.CANCELLED, 1, 6);
    gate.open();
    quiet(scope);
    is(scope.report(), 7, Reason.CANCELLED, 1, 0);
  }

  @Promise("19.2")
  @ParameterizedTest
  @MethodSource("io.fibry.Variants#selective")
  void stashedMessagesAreCountedAsQueued(Variants.Variant variant) {
    var actor = variant.builder(scope).newActorWithReturn((Object m, ActorContext<Object> context) -> {
      if (m.equals("now")) context.unstash();
      else if (!m.equals("done")) context.stash();
      return "answer";
    });
    send(actor, 3, 0);
    var request = actor.sendMessageReturn("aside");
    var cancelled = actor.sendMessageReturn("aside too");
    quiet(scope);
    cancelled.cancel(true);

    is(scope.report(), 0, Reason.CANCELLED, 1, 4);

    actor.close();
    is(scope.report(), 0, Reason.UNDELIVERED, 4, 0);
    assertTrue(request.isDone());
  }

  @Promise("19.3")
  @Test
  void unstashedMessageIsCountedOnce() {
    var open = new AtomicInteger();
    var actor = scope.anonymous().mailbox(Mailbox.unbounded().selective())
        .newActor((Object m, ActorContext<Object> context) -> {
          if (m.equals("open")) {
            open.set(1);
            context.unstash();
          } else if (open.get() == 0) context.stash();
        });
    send(actor, 5, 0);
    actor.sendMessage("open");
    quiet(scope);

    is(scope.report(), 6, Reason.FAILED, 0, 0);
  }

  @Promise("19.2")
  @Test
  void messagesThatAwaitRestartAreCounted() {
    var actor = scope.anonymous()
        .onFailure(FailurePolicy.restart().withBackoff(Duration.ofSeconds(1), Duration.ofSeconds(1)).withoutLog())
        .newActor(Gate::passOrThrow);
    actor.sendMessage(new IOException("planned"));
    Patience.eventually(() -> Inside.isSuspended(actor));
    send(actor, 4, 0);

    is(scope.report(), 0, Reason.FAILED, 1, 4);

    clock.advance(Duration.ofSeconds(1));
    quiet(scope);
    is(scope.report(), 4, Reason.FAILED, 1, 0);
  }

  @Promise("19.2")
  @Test
  void messagesWithoutThreadAreCounted() {
    var actor = scope.named("starved").strategy(Strategy.of(task -> {})).newActor(Gate::passOrThrow);
    send(actor, 4, 0);

    is(scope.report(), 0, Reason.FAILED, 0, 4);

    actor.kill();
    clock.advance(Duration.ofSeconds(1));
    Patience.ended(actor::waitForExit);
    is(scope.report(), 0, Reason.FAILED, 0, 4);
  }

  @Promise("19.2")
  @Test
  void messagesBehindCutOffHandlerStayQueuedUntilItReturns() {
    var actor = actor(scope);
    var gate = Gate.occupy(actor);
    send(actor, 2, 0);
    var asked = new CompletableFuture<>();
    Cells.sendRequest(actor, "request")
        .whenComplete((value, failure) -> asked.complete(failure));
    actor.kill();
    clock.advance(Duration.ofSeconds(1));
    Patience.ended(actor::waitForExit);
    Patience.value(asked);
    is(scope.report(), 0, Reason.UNDELIVERED, 1, 2);

    gate.open();

    Patience.eventually(() -> scope.report().unresponsive().isEmpty());
    is(scope.report(), 1, Reason.UNDELIVERED, 3, 0);
  }

  @Promise("19.3")
  @Test
  void retriesAreCountedOnce() {
    var left = new AtomicInteger(2);
    var actor =
        scope.anonymous().onFailure(FailurePolicy.restart().withRetries(3).withoutLog()).newActor((Object m) -> {
          if (m instanceof Exception failure) throw failure;
          if (left.getAndDecrement() > 0) throw new IOException("planned");
        });
    send(actor, 2, 2);
    quiet(scope);

    is(scope.report(), 2, Reason.FAILED, 2, 0);
    assertEquals(2, letters.all.size());
  }

  record Get(String what) implements Request<Get, String> {}

  @Promise("19.3")
  @Test
  void aPromisedAnswerIsCountedOnceWhateverBecomesOfIt() {
    var stages = new ArrayList<CompletableFuture<String>>();
    var actor = scope.anonymous().protocol(Get.class).newActor((Get get, ActorContext<Get> context) -> {
      var stage = new CompletableFuture<String>();
      stages.add(stage);
      context.replyWhen(get, stage);
    });
    var answers = IntStream.range(0, 4).mapToObj(i -> actor.sendMessageReturn(new Get("a"))).toList();
    quiet(scope);
    stages.get(0).complete("kept");
    stages.get(1).completeExceptionally(new IOException("planned"));
    answers.get(2).cancel(true);

    actor.close();

    is(scope.report(), 4, Reason.FAILED, 0, 0);
    assertEquals(0, scope.report().unhandled().get(Reason.CANCELLED));
  }

  @Promise("19.3")
  @Test
  void aRequestWhoseTimeIsOverWhileItIsHandledIsHandled() {
    var gate = new Gate();
    var actor = scope.anonymous().newActorWithReturn((Object m) -> {
      gate.pass();
      return 1;
    });
    var asker = Patience.startFiber(() -> {
      try {
        actor.ask("a", Duration.ofSeconds(1));
      } catch (AskTimeoutException over) {
        gate.open();
      }
    });
    Patience.await(gate.entered);
    Patience.parked(asker);

    Patience.eventually(() -> {
      clock.advance(Duration.ofSeconds(1));
      return !asker.isAlive();
    });

    quiet(scope);
    is(scope.report(), 1, Reason.EXPIRED, 0, 0);
  }

  @Promise("19.3")
  @Test
  void aRestartCountsNothing() {
    var actor = scope.anonymous().onFailure(FailurePolicy.restart().withoutLog()).newActor(Gate::passOrThrow);
    for (int i = 0; i < 10; i++) send(actor, 1, 1);
    quiet(scope);

    is(scope.report(), 10, Reason.FAILED, 10, 0);
  }

  @Promise("19.3")
  @Test
  void refusedMessagesAreCountedAsSent() {
    var actor = scope.anonymous().mailbox(Mailbox.bounded(2, Overflow.REJECT)).newActor(Gate::passOrThrow);
    var gate = Gate.occupy(actor);
    send(actor, 5, 0);

    is(scope.report(), 0, Reason.REJECTED, 3, 2);

    gate.open();
    actor.close();
    send(actor, 2, 0);
    is(scope.report(), 3, Reason.UNDELIVERED, 2, 0);
    assertEquals(8, scope.report().sent());
  }

  // ---- dead letters

  @Promise("19.4")
  @Test
  void lastHundredDeadLettersAreKeptOldestFirst() {
    send(actor(scope), 0, 0);
    var actor = actor(scope);
    actor.close();

    for (int i = 0; i < 250; i++) actor.sendMessage(i);

    assertEquals(IntStream.range(150, 250).boxed().toList(),
        scope.deadLetters().stream().map(DeadLetter::message).toList());
  }

  @Promise("19.4")
  @Test
  void scopeKeepsDeadLettersOfInnerScopes() {
    var inner = scope.openScope("inner");
    send(actor(inner), 0, 1);
    quiet(scope);

    assertEquals(1, inner.deadLetters().size());
    assertEquals(inner.deadLetters(), scope.deadLetters());
  }

  @Promise("19.4")
  @Test
  void eachScopeHasItsOwnListener() {
    var own = new Letters();
    send(actor(scope.openScope("own", o -> o.withDeadLetters(own))), 0, 1);
    send(actor(scope.openScope("inherits")), 0, 2);
    quiet(scope);

    assertEquals(List.of(1, 2), List.of(own.all.size(), letters.all.size()));
  }

  @Promise("19.4")
  @Test
  void aDeadLetterCanBeSentAgain() {
    var fails = new AtomicInteger(1);
    var seen = new ArrayList<>();
    var actor = scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()).newActor((Object m) -> {
      if (fails.getAndDecrement() > 0) throw new IOException("planned");
      seen.add(m);
    });
    actor.sendMessage("a");
    quiet(scope);

    assertTrue(scope.deadLetters().getFirst().resend());

    quiet(scope);
    assertEquals(List.of("a"), seen);
    is(scope.report(), 1, Reason.FAILED, 1, 0);
    actor.close();
    assertFalse(scope.deadLetters().getFirst().resend());
  }
}
