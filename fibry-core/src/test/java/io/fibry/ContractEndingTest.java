package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.DeadLetter.Reason;
import io.fibry.engine.cell.ActorInternals;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.Variants;
import io.fibry.testing.Variants.Variant;
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

/** Tests how actors with each strategy and mailbox end. */
class ContractEndingTest {
  private final RecordedLetters letters = new RecordedLetters();
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = Variants.scope(o -> o.withDeadLetterListener(letters).withScheduler(clock));
  private final List<Object> received = new CopyOnWriteArrayList<>();

  /** Returns an actor that waits at each gate that it receives, and records each other message. */
  private ActorWithReturn<Object, Object> actor(Variant variant) {
    return variant.builder(scope).newActorWithReturn((Object m) -> {
      if (m instanceof Gate gate) gate.pass();
      else received.add(m);
      return m;
    });
  }

  private ActorWithReturn<Object, Object> interruptIgnoringActor(Variant variant) {
    return variant.builder(scope).newActorWithReturn((Object m) -> {
      if (m instanceof Gate gate) gate.passUninterruptibly();
      return m;
    });
  }

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  @Promise("7.1")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void poisonPillStopsActorAfterQueuedMessages(Variant variant) {
    var actor = actor(variant);
    var gate = Gate.occupy(actor);
    actor.sendMessage("before");
    var request = actor.sendMessageReturn("asked before");

    actor.sendPoisonPill();
    actor.sendMessage("after");
    gate.open();
    Patience.awaitEnd(actor::waitForExit);

    assertEquals(List.of("before", "asked before"), received);
    assertEquals("asked before", Patience.value(request));
    assertEquals(List.of("after"), letters.messages(Reason.UNDELIVERED));
    assertEquals(new ExitReason.Finished(), Patience.value(actor.onExit()));
  }

  @Promise({"4.4", "7.2"})
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void askExitStopsActorAfterCurrentMessage(Variant variant) {
    var actor = actor(variant);
    var gate = Gate.occupy(actor);
    actor.sendMessage("waits");
    var request = actor.sendMessageReturn("asked");

    actor.askExit();
    boolean accepted = actor.sendMessage("late");
    gate.open();
    Patience.awaitEnd(actor::waitForExit);

    assertFalse(accepted);
    assertEquals(List.of(), received);
    assertEquals(List.of("late", "waits"), letters.messages(Reason.UNDELIVERED));
    assertEquals(new ExitReason.Stopped(),
        assertInstanceOf(ActorStoppedException.class, Patience.failure(request)).reason());
    assertEquals(new ExitReason.Stopped(), Patience.value(actor.onExit()));
    assertEquals(1, scope.report().handled());
  }

  @Promise({"7.3", "13.2"})
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void closeHandlesQueuedMessagesAndWaitsForExit(Variant variant) {
    var actor = actor(variant);
    for (int i = 0; i < 10; i++) actor.sendMessage(i);

    actor.close();

    assertEquals(10, received.size());
    assertTrue(actor.onExit().isDone());
  }

  @Promise("7.6")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void unusedActorEndsAfterAskExitKillOrPoisonPill(Variant variant) {
    var exitedActor = actor(variant);
    var killedActor = actor(variant);
    var poisonedActor = actor(variant);

    exitedActor.askExit();
    killedActor.kill();
    poisonedActor.sendPoisonPill();

    Patience.awaitEnd(exitedActor::waitForExit);
    Patience.awaitEnd(killedActor::waitForExit);
    Patience.awaitEnd(poisonedActor::waitForExit);
    assertEquals(new ExitReason.Killed(), Patience.value(killedActor.onExit()));
  }

  @Promise("7.3")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void closeByActorsOwnHandlerReturnsWithoutWaiting(Variant variant) {
    var closed = new CountDownLatch(1);
    var actor = variant.builder(scope).newActor((Object m, ActorContext<Object> context) -> {
      context.self().close();
      closed.countDown();
    });

    actor.sendMessage("close yourself");

    Patience.await(closed);
    Patience.awaitEnd(actor::waitForExit);
  }

  @Promise("7.4")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void killInterruptsHandlerOnThreadOfLibrary(Variant variant) {
    var actor = actor(variant);
    var gate = Gate.occupy(actor);
    var queuedRequest = actor.sendMessageReturn("waits");

    actor.kill();
    if (!variant.usesLibraryThreads()) gate.open(); // kill interrupts only threads of the library

    Patience.awaitEnd(actor::waitForExit);
    assertEquals(new ExitReason.Killed(), Patience.value(actor.onExit()));
    assertEquals(new ExitReason.Killed(),
        assertInstanceOf(ActorStoppedException.class, Patience.failure(queuedRequest)).reason());
    assertEquals(List.of(), received);
  }

  @Promise({"4.4", "7.5"})
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void handlerIgnoringKillIsCutOffAfterGracePeriod(Variant variant) {
    var actor = interruptIgnoringActor(variant);
    var gate = new Gate();
    Patience.startFiber(() -> actor.sendMessage(gate));
    Patience.await(gate.entered);
    var queuedRequest = actor.sendMessageReturn("behind");

    actor.kill();
    boolean endedAtOnce = actor.waitForExit(Duration.ZERO);
    clock.advance(Duration.ofSeconds(1));
    Patience.awaitEnd(actor::waitForExit);

    assertFalse(endedAtOnce);
    assertEquals("behind", assertInstanceOf(ActorStoppedException.class, Patience.failure(queuedRequest)).request());
    gate.open();
  }

  @Promise("4.4")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void requestBeingHandledFailsWhenHandlerIsCutOff(Variant variant) {
    var actor = interruptIgnoringActor(variant);
    var gate = new Gate();
    CompletableFuture<Throwable> answer =
        Patience.callOnFiber(() -> assertThrows(Throwable.class, () -> actor.ask(gate)));
    Patience.await(gate.entered);

    actor.kill();
    clock.advance(Duration.ofSeconds(1));
    if (variant.strategy() == Strategy.CALLER) { // the asker's thread runs the handler
      Patience.eventually(() -> ActorInternals.request(actor).isDone());
      gate.open();
    }

    assertInstanceOf(ActorStoppedException.class, Patience.value(answer));
    gate.open();
  }

  @Promise("7.7")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
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
  @MethodSource("io.fibry.testing.Variants#all")
  void waitForExitReturnsWhetherActorEnded(Variant variant) {
    var actor = actor(variant);

    boolean endedBeforeAskExit = actor.waitForExit(Duration.ofMillis(1));
    actor.askExit();

    assertFalse(endedBeforeAskExit);
    assertTrue(actor.waitForExit(Patience.LONG));
    actor.waitForExit();
  }

  @Promise({"5.1", "5.3"})
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void endedActorRefusesMessagesWithoutThrowing(Variant variant) {
    var actor = actor(variant);
    actor.close();

    assertFalse(actor.sendMessage("one"));
    if (!variant.isPriority()) assertFalse(actor.sendMessages(List.of("two", "three")));
    actor.sendMessageLater("four", Duration.ofDays(1));

    assertEquals(variant.isPriority() ? List.of("one", "four") : List.of("one", "two", "three", "four"),
        letters.messages(Reason.UNDELIVERED));
    var refusal = assertThrows(RejectedExecutionException.class, () -> actor.execute(() -> {}));
    assertTrue(refusal.getMessage().contains("ended"), refusal.getMessage());
  }

  @Promise({"4.4", "5.2"})
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void endedActorFailsRequestsAtOnce(Variant variant) {
    var actor = actor(variant);
    actor.close();

    var failure = assertThrows(ActorStoppedException.class, () -> actor.ask("anyone?"));

    assertEquals("anyone?", failure.request());
    assertEquals(new ExitReason.Finished(), failure.reason());
    assertTrue(actor.sendMessageReturn("anyone?").isCompletedExceptionally());
  }

  @Promise("8.2")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void stopPolicyEndsActorWithThrownFailure(Variant variant) {
    var failure = new IllegalStateException("bad");
    var actor = variant.builder(scope).onFailure(FailurePolicy.stop().withoutLog()).newActor((Object m) -> {
      throw failure;
    });

    actor.sendMessage("anything");
    Patience.awaitEnd(actor::waitForExit);

    assertEquals(new ExitReason.Failed(failure), Patience.value(actor.onExit()));
    assertEquals(failure,
        assertThrows(ActorStoppedException.class, () -> actor.ask(new ContractTest.Get("x"))).getCause());
  }

  @Promise("4.4")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void promisedAnswerFailsIfActorEndsBeforeStageCompletes(Variant variant) {
    var actor = variant.builder(scope).newActor((Object m, ActorContext<Object> context) -> {
      if (m instanceof ContractTest.Get get) context.replyWhen(get, new CompletableFuture<>());
    });
    var request = new ContractTest.Get("never");
    var answer = actor.sendMessageReturn(request);

    actor.close();

    assertEquals(request, assertInstanceOf(ActorStoppedException.class, Patience.failure(answer)).request());
  }

  @Promise("7.9")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void timersEndWithTheirActor(Variant variant) {
    var actor = actor(variant);
    var timer = actor.sendMessageLater("later", Duration.ofMinutes(1));
    var repeatedTimer = actor.sendMessageEvery("tick", Duration.ofMinutes(1));

    actor.close();
    clock.advance(Duration.ofMinutes(2));

    assertFalse(timer.cancel());
    assertFalse(repeatedTimer.cancel());
    assertEquals(List.of("later"), letters.messages(Reason.TIMER_CANCELLED));
    assertEquals(1, letters.all.size());
    assertEquals(1, scope.report().sent());
  }

  @Promise("7.9")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#selective")
  void stashedMessagesAreUndeliveredWhenActorEnds(Variant variant) {
    var actor = variant.builder(scope).newActor((Object m, ActorContext<Object> context) -> context.stash());
    actor.sendMessage("message");
    var request = actor.sendMessageReturn(new ContractTest.Get("request"));

    actor.close();

    assertEquals(List.of("message"), letters.messages(Reason.UNDELIVERED));
    assertInstanceOf(ActorStoppedException.class, Patience.failure(request));
  }

  @Promise("4.4")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#selective")
  void stashedRequestFailsWhenHandlerIsCutOff(Variant variant) {
    var actor = variant.builder(scope).newActor((Object m, ActorContext<Object> context) -> {
      if (m instanceof Gate gate) gate.passUninterruptibly();
      else context.stash();
    });
    var stashedRequest = actor.sendMessageReturn(new ContractTest.Get("stashed"));
    var gate = new Gate();
    Patience.startFiber(() -> actor.sendMessage(gate));
    Patience.await(gate.entered);

    actor.kill();
    clock.advance(Duration.ofSeconds(1));

    assertInstanceOf(ActorStoppedException.class, Patience.failure(stashedRequest));
    gate.open();
  }

  @Promise("4.4")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#selective")
  void requestTakenByReceiveFailsWhenHandlerIsCutOff(Variant variant) {
    var actor = variant.builder(scope).newActor((Object m, ActorContext<Object> context) -> {
      if (!(m instanceof Gate gate)) return;
      context.receive(ContractTest.Get.class, Patience.LONG);
      gate.passUninterruptibly();
    });
    var gate = new Gate();
    Patience.startFiber(() -> actor.sendMessage(gate));
    Patience.eventually(() -> ActorInternals.message(actor) == gate);
    var receivedRequest = actor.sendMessageReturn(new ContractTest.Get("received"));
    Patience.await(gate.entered);

    actor.kill();
    clock.advance(Duration.ofSeconds(1));

    assertInstanceOf(ActorStoppedException.class, Patience.failure(receivedRequest));
    gate.open();
  }
}
