package io.fibry.engine.cell;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorStoppedException;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.AskTimeoutException;
import io.fibry.DeadLetter.Reason;
import io.fibry.FailurePolicy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Pools;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.Variants.Variant;
import io.fibry.time.ManualScheduler;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that failed messages are redelivered, so that no message is lost while a connection is
 * down.
 */
class RedeliveryTest {
  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final FailurePolicy IMMEDIATE = FailurePolicy.restart().withRedelivery(3).withoutLog();
  private static final FailurePolicy DELAYED = IMMEDIATE.withBackoff(SECOND, SECOND);

  private final RecordedLetters letters = new RecordedLetters();
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope =
      ActorSystem.openScope("bank", o -> o.withDeadLetterListener(letters).withScheduler(clock));
  private final List<Object> log = new CopyOnWriteArrayList<>();
  private final AtomicInteger connections = new AtomicInteger();
  private volatile int firstWorking = 2; // number of the first connection that works

  @AfterEach
  void close() {
    Gate.openAll();
    scope.closeWithin(Duration.ZERO);
  }

  private Actor<Object> actor(Variant variant, FailurePolicy policy) {
    return variant.builder(scope).onFailure(policy).initialState(connections::incrementAndGet)
        .onStop(state -> log.add("closed " + state)).newActor(this::handle);
  }

  private ActorWithReturn<Object, Object> newAnsweringActor(ActorBuilder<Object> builder) {
    return builder.initialState(connections::incrementAndGet).newActorWithReturn((Integer state, Object message) -> {
      handle(state, message);
      return state + " answers " + message;
    });
  }

  private void handle(Integer connection, Object message) throws Exception {
    if (message instanceof Gate gate) gate.pass();
    else if (connection < firstWorking) throw new IOException("connection " + connection + " is down");
    else log.add(connection + " " + message);
  }

  private void advance(int seconds) {
    for (int i = 0; i < seconds; i++) {
      assertTrue(scope.awaitQuiescence(Patience.LONG));
      clock.advance(SECOND);
    }
    assertTrue(scope.awaitQuiescence(Patience.LONG));
  }

  @Promise("17.19")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void redeliveryKeepsAllMessagesInOrderDuringRestarts(Variant variant) {
    firstWorking = 4;
    var actor = actor(variant, DELAYED);
    for (int i = 0; i < 5; i++) actor.sendMessage(i);
    assertTrue(scope.awaitQuiescence(Patience.LONG));
    actor.sendMessage(5);
    assertEquals(6, scope.report().queued());

    advance(3);

    assertEquals(List.of("closed 1", "closed 2", "closed 3", "4 0", "4 1", "4 2", "4 3", "4 4", "4 5"), log);
    assertEquals(List.of(), letters.all);
    assertEquals(6, scope.report().handled());
    assertEquals(6, scope.report().sent());
  }

  /** The budget of the choosing policy permits no restart, but the chosen policy only resumes. */
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void restartBudgetOfChoosePolicyDoesNotLimitResumes(Variant variant) {
    var calls = new AtomicInteger();
    var resuming = FailurePolicy.resume().withBackoff(SECOND, SECOND).withRedelivery(3).withoutLog();
    var policy = FailurePolicy.choose(failure -> resuming).withBudget(0, Duration.ofDays(1));
    var actor = variant.builder(scope).onFailure(policy).newActor((Object message) -> {
      if (calls.incrementAndGet() < 4) throw new IOException("not yet");
      log.add(message);
    });
    for (int i = 0; i < 3; i++) actor.sendMessage(i);

    advance(3);

    assertEquals(List.of(0, 1, 2), log);
    assertEquals(List.of(), letters.all);
  }

  @Promise("17.20")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void resumedActorKeepsStateAndRedeliversMessages(Variant variant) {
    var calls = new AtomicInteger();
    var policy = FailurePolicy.resume().withBackoff(SECOND, SECOND).withRedelivery(3).withoutLog();
    var actor = variant.builder(scope).onFailure(policy).initialState(connections::incrementAndGet)
        .onStop(state -> log.add("closed " + state)).newActor((Integer connection, Object message) -> {
          if (calls.incrementAndGet() < 4) throw new IOException("not yet");
          log.add(connection + " " + message);
        });
    for (int i = 0; i < 3; i++) actor.sendMessage(i);

    advance(3);

    assertEquals(List.of("1 0", "1 1", "1 2"), log);
    assertEquals(List.of(), letters.all);
    assertEquals(3, scope.report().sent());
  }

  @Promise("17.20")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void resumedActorFailsMessageAfterMaxRedeliveries(Variant variant) {
    var policy = FailurePolicy.resume().withRedelivery(2).withoutLog();
    var actor = variant.builder(scope).onFailure(policy).newActor((Object message) -> {
      log.add(message);
      if (message.equals("bad")) throw new IOException("always");
    });
    actor.sendMessage("bad");
    actor.sendMessage("good");

    assertTrue(scope.awaitQuiescence(Patience.LONG));

    assertEquals(List.of("bad", "bad", "bad", "good"), log);
    assertEquals(List.of("bad"), letters.messages(Reason.FAILED));
  }

  @Promise("17.20")
  @Test
  void resumedActorHandlesNextMessageOnlyAfterBackoff() {
    var actor = scope.named("teller").onFailure(FailurePolicy.resume().withBackoff(SECOND, SECOND))
        .newActor((Object message) -> {
          log.add(message);
          if (message.equals("bad")) throw new IOException("down");
        });
    try (var logged = new Logged()) {
      actor.sendMessage("bad");
      actor.sendMessage("good");
      assertTrue(scope.awaitQuiescence(Patience.LONG));

      assertEquals(List.of("bad"), log);
      assertTrue(scope.dump().contains("teller (FIBER): is suspended after a failure; 1 waiting"), scope.dump());
      assertTrue(logged.text().contains("failed at \"bad\"; it continues in "), logged.text());
    }

    advance(1);

    assertEquals(List.of("bad", "good"), log);
  }

  /** If a full actor refuses the nested request of an order, redelivery handles the order again. */
  @Promise("17.20")
  @Test
  void messageIsRedeliveredAfterItsNestedRequestIsRefused() {
    var payments = scope.named("payments").mailbox(Mailbox.bounded(1, Overflow.REJECT))
        .newActorWithReturn((Object message) -> {
          if (message instanceof Gate gate) gate.pass();
          return "paid";
        });
    var gate = Gate.occupy(payments);
    payments.sendMessage("waits");
    var orders = scope.named("orders")
        .onFailure(FailurePolicy.resume().withRequestFailurePolicy(FailurePolicy.resume().withBackoff(SECOND, SECOND)
            .withRedelivery(5).withoutLog()))
        .newActorWithReturn((String order) -> order + " " + payments.ask("pay"));
    var answer = orders.sendMessageReturn("hat");
    Patience.eventually(() -> scope.dump().contains("orders (FIBER): is suspended after a failure"));

    gate.open();
    advance(1);

    assertEquals("hat paid", Patience.value(answer));
  }

  @Promise("17.19")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void messageFailsAfterMaxRedeliveriesAndNextIsHandled(Variant variant) {
    firstWorking = 5;
    var actor = actor(variant, IMMEDIATE);
    var gate = Gate.occupy(actor);
    actor.sendMessage("a");
    actor.sendMessage("b");
    gate.open();

    assertTrue(scope.awaitQuiescence(Patience.LONG));

    assertEquals(List.of("a"), letters.messages(Reason.FAILED));
    assertEquals(List.of("closed 1", "closed 2", "closed 3", "closed 4", "5 b"), log);
  }

  @Promise("17.19")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void askerGetsAnswerOfRestartedActor(Variant variant) {
    firstWorking = 3;
    var actor = newAnsweringActor(variant.builder(scope).onFailure(DELAYED));

    var first = actor.sendMessageReturn("a");
    var second = actor.sendMessageReturn("b");
    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertFalse(first.isDone());
    advance(2);

    assertEquals("3 answers a", Patience.value(first));
    assertEquals("3 answers b", Patience.value(second));
  }

  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void cancelledRequestIsNotRedelivered(Variant variant) {
    var actor = newAnsweringActor(variant.builder(scope).onFailure(DELAYED));
    var first = actor.sendMessageReturn("a");
    var second = actor.sendMessageReturn("b");
    assertTrue(scope.awaitQuiescence(Patience.LONG));

    assertTrue(first.cancel(true));
    advance(1);

    assertEquals("2 answers b", Patience.value(second));
    assertEquals(List.of("2 b"), log);
    assertEquals(1, scope.report().unhandled().get(Reason.CANCELLED));
    assertEquals(2, scope.report().sent());
  }

  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void messageAwaitingRedeliveryIsUndeliveredAtExit(Variant variant) {
    firstWorking = 99;
    var actor = actor(variant, DELAYED);
    var answeringActor = newAnsweringActor(variant.builder(scope).onFailure(DELAYED));
    actor.sendMessage("a");
    var answer = answeringActor.sendMessageReturn("b");
    assertTrue(scope.awaitQuiescence(Patience.LONG));

    actor.askExit();
    answeringActor.kill();
    Patience.awaitEnd(actor::waitForExit);
    Patience.awaitEnd(answeringActor::waitForExit);

    assertEquals(List.of("a"), letters.messages(Reason.UNDELIVERED));
    assertInstanceOf(ActorStoppedException.class, Patience.failure(answer));
    assertEquals(2, scope.report().unhandled().get(Reason.UNDELIVERED));
    assertEquals(2, scope.report().sent());
  }

  @Test
  void stashedMessagePrecedesRedeliveredMessage() {
    var mailbox = Mailbox.unbounded().selective();
    var actor = scope.anonymous().mailbox(mailbox).onFailure(DELAYED).initialState(connections::incrementAndGet)
        .newActor((Integer state, Object message, ActorContext<Object> context) -> {
          if (state < firstWorking && message.equals("stashed")) context.stash();
          else handle(state, message);
        });
    actor.sendMessages(List.of("stashed", "fails", "last"));

    advance(1);

    assertEquals(List.of("2 stashed", "2 fails", "2 last"), log);
  }

  @Test
  void inlineRequestIsRedelivered() {
    firstWorking = 3;
    var actor = newAnsweringActor(scope.anonymous().inlineRequests().onFailure(IMMEDIATE));
    var backoffActor = newAnsweringActor(scope.anonymous().inlineRequests().onFailure(DELAYED));
    var answers = new CopyOnWriteArrayList<Object>();

    var asker = Patience.startFiber(() -> answers.add(actor.ask("a")));
    Patience.awaitEnd(asker);
    firstWorking = 6;
    var second = Patience.startFiber(() -> answers.add(backoffActor.ask("b")));
    Patience.eventually(() -> {
      advance(1);
      return !second.isAlive();
    });

    Patience.awaitEnd(second);
    assertEquals(List.of("3 answers a", "6 answers b"), answers);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void keyedPoolKeepsOrderOfKeyDuringRedelivery(boolean backoff) {
    firstWorking = 4; // the only worker of the pool creates all connections
    var pool = Pools.byKey(scope.anonymous().onFailure(backoff ? DELAYED : IMMEDIATE), 1, Object::hashCode)
        .initialState(connections::incrementAndGet).newActor(this::handle);
    var messages = List.of(1, 2, 3, 4, 5);
    messages.forEach(pool::sendMessage);

    advance(3);

    assertEquals(messages.stream().map(i -> "4 " + i).toList(), log);
    assertEquals(List.of(), letters.all);
  }

  @Test
  void messageIsRedeliveredAfterScopeRestartsEscalatingActor() {
    var child = scope.openScope("below",
        o -> o.withFailurePolicy(FailurePolicy.restart().withBackoff(SECOND, SECOND)));
    var actor = child.anonymous().onFailure(FailurePolicy.escalate().withRedelivery(1).withoutLog())
        .initialState(connections::incrementAndGet).newActor(this::handle);
    actor.sendMessage("a");

    advance(1);

    assertEquals(List.of("2 a"), log);
    assertEquals(List.of(), letters.all);
  }

  @Test
  void choosePolicyMaySelectRedelivery() {
    firstWorking = 3;
    var policy =
        FailurePolicy.choose(failure -> failure instanceof IOException ? DELAYED : FailurePolicy.resume()).withoutLog();
    var actor = newAnsweringActor(scope.anonymous().onFailure(policy));
    var answer = actor.sendMessageReturn("a");

    advance(2);

    assertEquals("3 answers a", Patience.value(answer));
  }

  @Test
  void timeoutTextShowsPendingRedelivery() {
    var backoff = SECOND.multipliedBy(9);
    var actor = newAnsweringActor(scope.anonymous().onFailure(DELAYED.withBackoff(backoff, backoff)));
    var timeout = new CompletableFuture<Throwable>();
    var asker =
        Patience.startFiber(() -> assertThrows(AskTimeoutException.class, () -> actor.ask("a", SECOND)), timeout);
    Patience.eventually(() -> connections.get() == 1 && scope.report().queued() == 1 && scope.awaitQuiescence(SECOND));
    Patience.awaitParked(asker); // once the asker is parked, the timer of its limit is set

    clock.advance(SECOND); // ends the limit, and not the backoff, which lasts at least 4.5 s

    var text = Patience.value(timeout).getMessage();
    assertTrue(text.contains("its handler had failed, and it was to be handled again"), text);
  }

  @Test
  void logCountsRedeliveries() {
    firstWorking = 3;
    var actor = newAnsweringActor(scope.named("teller").onFailure(FailurePolicy.restart().withRedelivery(5)));
    try (var logged = new Logged()) {
      actor.ask("a");
      assertTrue(logged.text().contains(
          "it restarts and handles the message again: redelivery 1 of 5; java.io.IOException: connection 1 is down"),
          logged.text());
      assertTrue(logged.text().contains("handles the message again: redelivery 2 of 5"), logged.text());
    }
  }

  @Test
  void messageWhoseHandlerThrowsCancellationIsRedelivered() {
    var gate = new Gate();
    var actor = scope.anonymous().onFailure(IMMEDIATE).newActorWithReturn((Object message) -> {
      if (connections.incrementAndGet() == 1) throw new CancellationException("planned");
      gate.open();
      return message;
    });
    assertEquals("a", actor.ask("a"));
  }

  @Test
  void invalidRedeliveryPoliciesAreRefused() {
    assertEquals("a message cannot be redelivered 0 times; give more than zero, or leave withRedelivery out",
        assertThrows(IllegalArgumentException.class, () -> FailurePolicy.restart().withRedelivery(0)).getMessage());
    assertTrue(assertThrows(IllegalStateException.class, () -> FailurePolicy.stop().withRedelivery(1)).getMessage()
        .startsWith("stop() does not continue, so a redelivery has no meaning; give it to resume(), restart()"));
    assertEquals("resume().withBackoff(1 s, 1 s) cannot be a scope's policy: a scope resumes an actor without a pause; "
        + "give the backoff to the actor's policy",
        assertThrows(IllegalArgumentException.class, () -> scope.openScope("below",
            o -> o.withFailurePolicy(FailurePolicy.resume().withBackoff(SECOND, SECOND)))).getMessage());
    assertEquals("restart().withBackoff(1 s, 1 s).withRedelivery(3).withoutLog()", DELAYED.toString());
    assertEquals(3, DELAYED.redeliveries());
    assertEquals("restart().withRedelivery(1) cannot be a scope's policy: a scope does not decide about messages; "
        + "give retries and redeliveries to the actor's policy",
        assertThrows(IllegalArgumentException.class,
            () -> scope.openScope("below", o -> o.withFailurePolicy(FailurePolicy.restart().withRedelivery(1))))
            .getMessage());
  }
}
