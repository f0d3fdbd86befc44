package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.DeadLetter.Reason;
import io.fibry.mailbox.Mailbox;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import io.fibry.text.Durations;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests actors whose handler throws. {@code SuspensionTest} tests the backoff, and
 * {@code ScopePolicyTest} tests the decisions of a scope.
 */
class SupervisionTest {
  private final RecordedLetters letters = new RecordedLetters();
  private final ActorScope scope = ActorSystem.openScope("test", o -> o.withDeadLetterListener(letters));
  private final List<Object> log = new CopyOnWriteArrayList<>();
  private final AtomicInteger states = new AtomicInteger();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
    scope.closeWithin(Patience.LONG);
  }

  /**
   * Creates an actor that throws a message that is a throwable, and logs each other message after
   * the number of its state.
   */
  private Actor<Object> actor(FailurePolicy policy) {
    return scope.anonymous().onFailure(policy.withoutLog()).initialState(states::incrementAndGet)
        .onStop(state -> log.add("stop " + state)).newActor(this::handle);
  }

  private void handle(Integer state, Object message) throws Exception {
    if (message instanceof Gate gate) gate.pass();
    else if (message instanceof Exception failure) throw failure;
    else if (message instanceof Error failure) throw failure;
    else log.add(state + " " + message);
  }

  private void sendAndAwait(Actor<Object> actor, Object... messages) {
    for (var message : messages) actor.sendMessage(message);
    assertTrue(scope.awaitQuiescence(Patience.LONG));
  }

  @Test
  void resumePolicyKeepsState() {
    var actor = actor(FailurePolicy.resume());

    sendAndAwait(actor, "a", new IOException("planned"), "b");

    assertEquals(List.of("1 a", "1 b"), log);
  }

  @Promise("17.1")
  @Test
  void restartReplacesStateBeforeNextMessage() {
    var actor = actor(FailurePolicy.restart());

    sendAndAwait(actor, "a", new IOException("planned"), "b");

    assertEquals(List.of("1 a", "stop 1", "2 b"), log);
  }

  @Promise("17.1")
  @Test
  void newStateAfterRestartIsCreatedOnlyForNextMessage() {
    var actor = actor(FailurePolicy.restart());

    sendAndAwait(actor, "a", new IOException("planned"));

    assertEquals(1, states.get());
    actor.close();
    assertEquals(List.of("1 a", "stop 1"), log);
  }

  @Promise("17.1")
  @Test
  void queuedMessagesSurviveRestart() {
    var actor = actor(FailurePolicy.restart());
    var gate = Gate.occupy(actor);
    for (Object m : List.of(new IOException("planned"), "a", new StackOverflowError("planned"), "b"))
      actor.sendMessage(m);

    gate.open();

    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertEquals(List.of("stop 1", "2 a", "stop 2", "3 b"), log);
  }

  @Promise("17.1")
  @Test
  void stashedMessagesAreHandledFirstAfterRestart() {
    var actor =
        scope.anonymous().mailbox(Mailbox.unbounded().selective()).onFailure(FailurePolicy.restart().withoutLog())
            .initialState(states::incrementAndGet).newActor((Integer state, Object m, ActorContext<Object> context) -> {
              if (state == 1 && m instanceof String) context.stash();
              else handle(state, m);
            });
    var gate = Gate.occupy(actor);
    for (Object m : List.of("a", "b", new IOException("planned"), 3)) actor.sendMessage(m);

    gate.open();

    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertEquals(List.of("2 a", "2 b", "2 3"), log);
  }

  @Promise("17.1")
  @Test
  void throwingStopHookIsLoggedAndActorRestarts() {
    try (var logged = new Logged()) {
      var actor = scope.named("messy").onFailure(FailurePolicy.restart().withoutLog())
          .initialState(states::incrementAndGet).onStop(state -> {
            throw new IllegalStateException("planned by the hook");
          }).newActor(this::handle);

      sendAndAwait(actor, "a", new IOException("planned"), "b");

      assertEquals(List.of("1 a", "2 b"), log);
      assertTrue(logged.text().contains("messy") && logged.text().contains("planned by the hook"), logged.text());
    }
  }

  @Test
  void failureLogNamesPolicyDecision() {
    try (var logged = new Logged()) {
      for (var policy : List.of(FailurePolicy.resume(), FailurePolicy.restart(), FailurePolicy.stop()))
        sendAndAwait(
            scope.openScope("office").named("clerk of " + policy).onFailure(policy)
                .newActor((Object m) -> handle(0, m)),
            new IOException("planned"));

      for (String text : List.of("resume()' failed at", "it continues", "it restarts", "it stops"))
        assertTrue(logged.text().contains(text), logged.text());
    }
  }

  @Test
  void stopPolicyEndsActorWithThrownFailure() {
    var actor = actor(FailurePolicy.stop());
    var failure = new IOException("planned");

    actor.sendMessage(failure);

    assertSame(failure, ((ExitReason.Failed) Patience.value(actor.onExit())).cause());
  }

  @Promise("17.9")
  @Test
  void messageThatFailsAllRetriesBecomesOneDeadLetter() {
    var actor = actor(FailurePolicy.restart().withRetries(3));
    var failure = new IOException("planned");

    sendAndAwait(actor, failure);

    assertEquals(List.of(failure), letters.messages(Reason.FAILED));
    assertEquals(1, scope.report().unhandled().get(Reason.FAILED));
  }

  @Promise("17.9")
  @Test
  void failedRequestIsCountedAndMakesNoDeadLetter() {
    var failure = new IOException("planned");
    var actor = scope.anonymous().onFailure(FailurePolicy.restart().withoutLog()).newActorWithReturn((Object m) -> {
      throw failure;
    });

    var thrown = Patience.failure(actor.sendMessageReturn("ask"));

    assertSame(failure, thrown);
    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertEquals(List.of(), letters.all);
    assertEquals(1, scope.report().unhandled().get(Reason.FAILED));
  }

  // ---- policies chosen by the failure

  private static FailurePolicy policyByFailure() {
    return FailurePolicy.choose(failure -> failure instanceof IOException ? FailurePolicy.restart()
        : failure instanceof IllegalStateException ? FailurePolicy.stop() : FailurePolicy.resume());
  }

  @Promise("17.7")
  @Test
  void choosePolicySelectsPolicyByFailure() {
    var actor = actor(policyByFailure());

    sendAndAwait(actor, "a", new ArithmeticException("planned"), "b", new IOException("planned"), "c",
        new IllegalStateException("planned"));

    Patience.awaitEnd(actor::waitForExit);
    assertEquals(List.of("1 a", "1 b", "stop 1", "2 c", "stop 2"), log);
  }

  @Promise("17.7")
  @Test
  void failingChoosePolicyStopsActorAndIsLogged() {
    FailurePolicy[] brokenPolicies = {FailurePolicy.choose(failure -> null), FailurePolicy.choose(failure -> {
      throw new IllegalStateException("planned by the choice");
    }), endlessChoice()};
    for (var policy : brokenPolicies) {
      try (var logged = new Logged()) {
        var actor = actor(policy);

        actor.sendMessage(new IOException("planned"));

        assertInstanceOf(ExitReason.Failed.class, Patience.value(actor.onExit()));
        assertTrue(logged.text().contains("could not decide"), logged.text());
      }
    }
  }

  private static FailurePolicy endlessChoice() {
    return FailurePolicy.choose(failure -> endlessChoice());
  }

  @Promise("17.7")
  @Test
  void optionsOfChosenPolicyOverrideOptionsOfChoosePolicy() {
    var policy = FailurePolicy.choose(failure -> failure instanceof IOException
        ? FailurePolicy.restart().withBudget(1, Patience.LONG) : FailurePolicy.restart()).withBudget(7, Patience.LONG)
        .withRetries(2);

    assertEquals("restart().withRetries(2).withBudget(1, 10 s)",
        policy.resolve(new IOException()).toString().replace(Durations.text(Patience.LONG), "10 s"));
    assertEquals("restart().withRetries(2).withBudget(7, 10 s)",
        policy.resolve(new Error()).toString().replace(Durations.text(Patience.LONG), "10 s"));
  }

  @Promise("17.7")
  @Test
  void chosenRestartAllPolicyEscalatesFailureToScope() {
    var supervised = scope.openScope("supervised", o -> o.withFailurePolicy(FailurePolicy.restart()));
    var actor =
        supervised.anonymous().onFailure(FailurePolicy.choose(failure -> FailurePolicy.restartAll()).withoutLog())
            .initialState(states::incrementAndGet).newActor(this::handle);

    sendAndAwait(actor, "a", new IOException("planned"), "b");

    assertEquals(List.of("1 a", "2 b"), log);
  }

  @Test
  void invalidPoliciesAreRefusedOnCreation() {
    assertThrows(IllegalArgumentException.class, () -> scope.anonymous().onFailure(FailurePolicy.restartAll()));
    assertThrows(IllegalArgumentException.class, () -> scope.anonymous().onFailure(FailurePolicy.restartFromFailed()));
    assertThrows(IllegalStateException.class, () -> FailurePolicy.resume().withBudget(1, Patience.LONG));
    assertThrows(IllegalStateException.class, () -> FailurePolicy.stop().withBackoff(Patience.LONG, Patience.LONG));
    assertThrows(IllegalArgumentException.class,
        () -> scope.openScope("no", o -> o.withFailurePolicy(FailurePolicy.restart().withRetries(1))));
  }

  // ---- budget

  @Promise("17.6")
  @Test
  void actorBeyondRestartBudgetEscalatesFailure() {
    var supervised = scope.openScope("supervised");
    var actor = supervised.anonymous()
        .onFailure(FailurePolicy.restart().withBudget(2, Patience.LONG.multipliedBy(100)).withoutLog())
        .initialState(states::incrementAndGet).newActor(this::handle);
    sendAndAwait(actor, "a", new IOException("first"), "b", new IOException("second"), "c");
    var third = new IOException("third");

    actor.sendMessage(third);

    assertSame(third, ((ExitReason.Failed) Patience.value(actor.onExit())).cause());
    assertEquals(List.of("1 a", "2 b", "3 c"), log);
    supervised.close(); // waits for the close that the failure started
  }

  // ---- retries

  /**
   * Creates an actor that logs each message, and throws in the first {@code times} calls of its
   * handler.
   */
  private ActorWithReturn<Object, Object> newFailingActor(int times, FailurePolicy policy) {
    var remainingFailures = new AtomicInteger(times);
    return scope.anonymous().onFailure(policy.withoutLog()).newActorWithReturn((Object m) -> {
      log.add(m);
      if (remainingFailures.getAndDecrement() > 0) throw new IOException("planned");
      return "answer to " + m;
    });
  }

  @Promise("17.8")
  @Test
  void successfulRetryCountsAsOneHandledMessage() {
    var actor = newFailingActor(2, FailurePolicy.stop().withRetries(2));

    sendAndAwait(actor, "a", "b");

    assertEquals(List.of("a", "a", "a", "b"), log);
    assertEquals(2, scope.report().handled());
    assertEquals(List.of(), letters.all);
  }

  @Promise("17.8")
  @Test
  void askerGetsAnswerOfRetry() {
    var actor = newFailingActor(2, FailurePolicy.resume().withRetries(2));

    assertEquals("answer to a", Patience.value(actor.sendMessageReturn("a")));
  }

  @Promise("17.8")
  @Test
  void messageIsFailedDeadLetterAfterRetriesAndNextIsHandled() {
    var actor = newFailingActor(3, FailurePolicy.resume().withRetries(2));

    sendAndAwait(actor, "a", "b");

    assertEquals(List.of("a", "a", "a", "b"), log);
    assertEquals(List.of("a"), letters.messages(Reason.FAILED));
    assertEquals(1, scope.report().handled());
  }

  record Get(String item) implements Request<Get, String> {}

  @Promise("17.8")
  @Test
  void answeredRequestIsNotRetried() {
    var actor = scope.anonymous().protocol(Get.class).onFailure(FailurePolicy.resume().withRetries(5).withoutLog())
        .newActor((Get get, ActorContext<Get> context) -> {
          log.add(get.item());
          context.reply(get, "answer");
          throw new IOException("planned");
        });

    assertEquals("answer", Patience.value(actor.sendMessageReturn(new Get("a"))));

    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertEquals(List.of("a"), log);
    assertEquals(1, scope.report().unhandled().get(Reason.FAILED));
  }

  @Promise("17.8")
  @Test
  void cancelledRequestIsNotRetried() {
    var gate = new Gate();
    var actor =
        scope.anonymous().onFailure(FailurePolicy.resume().withRetries(5).withoutLog())
            .newActorWithReturn((Object m) -> {
              log.add(m);
              gate.pass();
              throw new IOException("planned");
            });
    var future = actor.sendMessageReturn("a");
    Patience.await(gate.entered);

    assertTrue(future.cancel(true));
    gate.open();

    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertEquals(List.of("a"), log);
  }

  @Promise("17.8")
  @Test
  void stashedMessagesAndTasksAreNotRetried() {
    var actor = scope.anonymous().mailbox(Mailbox.unbounded().selective())
        .onFailure(FailurePolicy.resume().withRetries(5).withoutLog())
        .newActor((Object m, ActorContext<Object> context) -> {
          log.add(m);
          context.stash();
          throw new IOException("planned");
        });
    actor.execute(() -> {
      log.add("task");
      throw new IllegalStateException("planned");
    });

    sendAndAwait(actor, "a");

    assertEquals(List.of("task", "a"), log);
    assertFalse(letters.messages(Reason.FAILED).contains("a"));
  }
}
