package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.DeadLetter.Reason;
import io.fibry.Variants.Variant;
import io.fibry.engine.cell.Inside;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** How every actor ends, with every strategy and mailbox. */
class ContractEndingTest {
  private final Letters letters = new Letters();
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = Variants.scope(o -> o.withDeadLetters(letters).withScheduler(clock));
  private final List<Object> seen = new CopyOnWriteArrayList<>();

  /** Waits at gates, and remembers other messages. */
  private ActorWithReturn<Object, Object> actor(Variant variant) {
    return variant.builder(scope).newActorWithReturn((Object m) -> {
      if (m instanceof Gate gate) gate.pass();
      else seen.add(m);
      return m;
    });
  }

  private ActorWithReturn<Object, Object> deafActor(Variant variant) {
    return variant.builder(scope).newActorWithReturn((Object m) -> {
      if (m instanceof Gate gate) gate.passDeaf();
      return m;
    });
  }

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  @Promise("7.1")
  @ParameterizedTest
  @MethodSource("io.fibry.Variants#all")
  void poisonPillStopsActorAfterQueuedMessages(Variant variant) {
    var actor = actor(variant);
    var gate = Gate.occupy(actor);
    actor.sendMessage("before");
    var request = actor.sendMessageReturn("asked before");

    actor.sendPoisonPill();
    actor.sendMessage("after");
    gate.open();
    Patience.ended(actor::waitForExit);

    assertEquals(List.of("before", "asked before"), seen);
    assertEquals("asked before", Patience.value(request));
    assertEquals(List.of("after"), letters.messages(Reason.UNDELIVERED));
    assertEquals(new ExitReason.Finished(), Patience.value(actor.onExit()));
  }

  @Promise({"4.4", "7.2"})
  @ParameterizedTest
  @MethodSource("io.fibry.Variants#all")
  void askExitStopsActorAfterCurrentMessage(Variant variant) {
    var actor = actor(variant);
    var gate = Gate.occupy(actor);
    actor.sendMessage("waits");
    var request = actor.sendMessageReturn("asked");

    actor.askExit();
    boolean taken = actor.sendMessage("late");
    gate.open();
    Patience.ended(actor::waitForExit);

    assertFalse(taken);
    assertEquals(List.of(), seen);
    assertEquals(List.of("late", "waits"), letters.messages(Reason.UNDELIVERED));
    assertEquals(new ExitReason.Stopped(),
        assertInstanceOf(ActorStoppedException.class, Patience.failure(request)).reason());
    assertEquals(new ExitReason.Stopped(), Patience.value(actor.onExit()));
    assertEquals(1, scope.report().handled());
  }

  @Promise({"7.3", "13.2"})
  @ParameterizedTest
  @MethodSource("io.fibry.Variants#all")
  void closeHandlesQueuedMessagesAndWaitsForExit(Variant variant) {
    var actor = actor(variant);
    for (int i = 0; i < 10; i++) actor.sendMessage(i);

    actor.close();

    assertEquals(10, seen.size());
    assertTrue(actor.onExit().isDone());
  }

  @Promise("7.6")
  @ParameterizedTest
  @MethodSource("io.fibry.Variants#all")
  void unusedActorEndsWhenStopped(Variant variant) {
    var asked = actor(variant);
    var killed = actor(variant);
    var poisoned = actor(variant);

    asked.askExit();
    killed.kill();
    poisoned.sendPoisonPill();

    Patience.ended(asked::waitForExit);
    Patience.ended(killed::waitForExit);
    Patience.ended(poisoned::waitForExit);
    assertEquals(new ExitReason.Killed(), Patience.value(killed.onExit()));
  }

  @Promise("7.3")
  @ParameterizedTest
  @MethodSource("io.fibry.Variants#all")
  void closeFromTheOwnHandlerDoesNotWait(Variant variant) {
    var closed = new CountDownLatch(1);
    var actor = variant.builder(scope).newActor((Object m, ActorContext<Object> context) -> {
      context.self().close();
      closed.countDown();
    });

    actor.sendMessage("close yourself");

    Patience.await(closed);
    Patience.ended(actor::waitForExit);
  }

  @Promise("7.4")
  @ParameterizedTest
  @MethodSource("io.fibry.Variants#all")
  void killInterruptsHandlerOnActorsOwnThread(Variant variant) {
    var actor = actor(variant);
    var gate = Gate.occupy(actor);
    var waiting = actor.sendMessageReturn("waits");

    actor.kill();
    if (!variant.own()) gate.open(); // a foreign thread is not interrupted

    Patience.ended(actor::waitForExit);
    assertEquals(new ExitReason.Killed(), Patience.value(actor.onExit()));
    assertEquals(new ExitReason.Killed(),
        assertInstanceOf(ActorStoppedException.class, Patience.failure(waiting)).reason());
    assertEquals(List.of(), seen);
  }

  @Promise({"4.4", "7.5"})
  @ParameterizedTest
  @MethodSource("io.fibry.Variants#all")
  void handlerIgnoringKillIsCutOffAfterGracePeriod(Variant variant) {
    var actor = deafActor(variant);
    var gate = new Gate();
    Patience.startFiber(() -> actor.sendMessage(gate));
    Patience.await(gate.entered);
    var behind = actor.sendMessageReturn("behind");

    actor.kill();
    boolean endedAtOnce = actor.waitForExit(Duration.ZERO);
    clock.advance(Duration.ofSeconds(1));
    Patience.ended(actor::waitForExit);

    assertFalse(endedAtOnce);
    assertEquals("behind", assertInstanceOf(ActorStoppedException.class, Patience.failure(behind)).request());
    gate.open();
  }

  @Promise("4.4")
  @ParameterizedTest
  @MethodSource("io.fibry.Variants#all")
  void handledRequestFailsWhenHandlerIsCutOff(Variant variant) {
    var actor = deafActor(variant);
    var gate = new Gate();
    var answer = new CompletableFuture<Throwable>();
    Patience.startFiber(() -> answer.complete(assertThrows(Throwable.class, () -> actor.ask(gate))));
    Patience.await(gate.entered);

    actor.kill();
    clock.advance(Duration.ofSeconds(1));
    if (variant.strategy() == Strategy.CALLER) { // the asker is the handler
      Patience.eventually(() -> Inside.request(actor).isDone());
      gate.open();
    }

    assertInstanceOf(ActorStoppedException.class, Patience.value(answer));
    gate.open();
  }

  @Promise("7.7")
  @ParameterizedTest
  @MethodSource("io.fibry.Variants#all")
  void closeOnExitResourcesCloseInReverseOrderBeforeExit(Variant variant) {
    var log = new CopyOnWriteArrayList<String>();
    var actor = variant.builder(scope).initialState(() -> "state").onStop(s -> log.add("onStop"))
        .newActor((String s, Object m) -> {});
    actor.closeOnExit(() -> log.add("1"), () -> log.add("2"))
        .closeOnExit(() -> log.add("3, ended: " + actor.onExit().isDone()));
    actor.sendMessage("makes the state");

    actor.close();

    assertEquals(List.of("onStop", "3, ended: false", "2", "1"), log);
  }

  @Promise("7.6")
  @ParameterizedTest
  @MethodSource("io.fibry.Variants#all")
  void waitForExitReturnsWhetherActorEnded(Variant variant) {
    var actor = actor(variant);

    boolean before = actor.waitForExit(Duration.ofMillis(1));
    actor.askExit();

    assertFalse(before);
    assertTrue(actor.waitForExit(Patience.LONG));
    actor.waitForExit();
  }

  @Promise({"5.1", "5.3"})
  @ParameterizedTest
  @MethodSource("io.fibry.Variants#all")
  void endedActorRefusesMessagesWithoutThrowing(Variant variant) {
    var actor = actor(variant);
    actor.close();

    assertFalse(actor.sendMessage("one"));
    if (!variant.priority()) assertFalse(actor.sendMessages(List.of("two", "three")));
    actor.sendMessageLater("four", Duration.ofDays(1));

    assertEquals(variant.priority() ? List.of("one", "four") : List.of("one", "two", "three", "four"),
        letters.messages(Reason.UNDELIVERED));
    var refused = assertThrows(RejectedExecutionException.class, () -> actor.execute(() -> {}));
    assertTrue(refused.getMessage().contains("ended"), refused.getMessage());
  }

  @Promise({"4.4", "5.2"})
  @ParameterizedTest
  @MethodSource("io.fibry.Variants#all")
  void anEndedActorFailsRequestsAtOnce(Variant variant) {
    var actor = actor(variant);
    actor.close();

    var failure = assertThrows(ActorStoppedException.class, () -> actor.ask("anyone?"));

    assertEquals("anyone?", failure.request());
    assertEquals(new ExitReason.Finished(), failure.reason());
    assertTrue(actor.sendMessageReturn("anyone?").isCompletedExceptionally());
  }

  @Promise("8.2")
  @ParameterizedTest
  @MethodSource("io.fibry.Variants#all")
  void stopPolicyEndsActorWithThrownFailure(Variant variant) {
    var bad = new IllegalStateException("bad");
    var actor = variant.builder(scope).onFailure(FailurePolicy.stop().withoutLog()).newActor((Object m) -> {
      throw bad;
    });

    actor.sendMessage("anything");
    Patience.ended(actor::waitForExit);

    assertEquals(new ExitReason.Failed(bad), Patience.value(actor.onExit()));
    assertEquals(bad, assertThrows(ActorStoppedException.class, () -> actor.ask(new ContractTest.Get("x"))).getCause());
  }

  @Promise("4.4")
  @ParameterizedTest
  @MethodSource("io.fibry.Variants#all")
  void aPromisedAnswerFailsWhenTheActorEndsFirst(Variant variant) {
    var actor = variant.builder(scope).newActor((Object m, ActorContext<Object> context) -> {
      if (m instanceof ContractTest.Get get) context.replyWhen(get, new CompletableFuture<>());
    });
    var request = new ContractTest.Get("never");
    var promised = actor.sendMessageReturn(request);

    actor.close();

    assertEquals(request, assertInstanceOf(ActorStoppedException.class, Patience.failure(promised)).request());
  }

  @Promise("7.9")
  @ParameterizedTest
  @MethodSource("io.fibry.Variants#all")
  void timersEndWithTheirActor(Variant variant) {
    var actor = actor(variant);
    var later = actor.sendMessageLater("later", Duration.ofMinutes(1));
    var ticks = actor.sendMessageEvery("tick", Duration.ofMinutes(1));

    actor.close();
    clock.advance(Duration.ofMinutes(2));

    assertFalse(later.cancel());
    assertFalse(ticks.cancel());
    assertEquals(List.of("later"), letters.messages(Reason.TIMER_CANCELLED));
    assertEquals(1, letters.all.size());
    assertEquals(1, scope.report().sent());
  }

  @Promise("7.9")
  @ParameterizedTest
  @MethodSource("io.fibry.Variants#selective")
  void stashedMessagesAreUndeliveredAtTheEnd(Variant variant) {
    var actor = variant.builder(scope).newActor((Object m, ActorContext<Object> context) -> context.stash());
    actor.sendMessage("message");
    var request = actor.sendMessageReturn(new ContractTest.Get("request"));

    actor.close();

    assertEquals(List.of("message"), letters.messages(Reason.UNDELIVERED));
    assertInstanceOf(ActorStoppedException.class, Patience.failure(request));
  }

  @Promise("4.4")
  @ParameterizedTest
  @MethodSource("io.fibry.Variants#selective")
  void stashedRequestFailsWhenHandlerIsCutOff(Variant variant) {
    var actor = variant.builder(scope).newActor((Object m, ActorContext<Object> context) -> {
      if (m instanceof Gate gate) gate.passDeaf();
      else context.stash();
    });
    var stashed = actor.sendMessageReturn(new ContractTest.Get("aside"));
    var gate = new Gate();
    Patience.startFiber(() -> actor.sendMessage(gate));
    Patience.await(gate.entered);

    actor.kill();
    clock.advance(Duration.ofSeconds(1));

    assertInstanceOf(ActorStoppedException.class, Patience.failure(stashed));
    gate.open();
  }

  @Promise("4.4")
  @ParameterizedTest
  @MethodSource("io.fibry.Variants#selective")
  void receivedRequestFailsWhenHandlerIsCutOff(Variant variant) {
    var actor = variant.builder(scope).newActor((Object m, ActorContext<Object> context) -> {
      if (!(m instanceof Gate gate)) return;
      context.receive(ContractTest.Get.class, Patience.LONG);
      gate.passDeaf();
    });
    var gate = new Gate();
    Patience.startFiber(() -> actor.sendMessage(gate));
    Patience.eventually(() -> Inside.message(actor) == gate);
    var received = actor.sendMessageReturn(new ContractTest.Get("received"));
    Patience.await(gate.entered);

    actor.kill();
    clock.advance(Duration.ofSeconds(1));

    assertInstanceOf(ActorStoppedException.class, Patience.failure(received));
    gate.open();
  }
}
