package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.DeadLetter.Reason;
import io.fibry.engine.actor.Cells;
import io.fibry.engine.cell.ActorInternals;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.Variants.Variant;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests how actors with each strategy and mailbox behave after a failure. */
class ContractSupervisionTest {
  private static final FailurePolicy RESTART = FailurePolicy.restart().withoutLog();
  private static final FailurePolicy BACKOFF = RESTART.withBackoff(Duration.ofSeconds(1), Duration.ofSeconds(1));

  private final RecordedLetters letters = new RecordedLetters();
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope =
      ActorSystem.openScope("contract", o -> o.withDeadLetterListener(letters).withScheduler(clock));
  private final List<Object> log = new CopyOnWriteArrayList<>();
  private final AtomicInteger states = new AtomicInteger();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
    clock.advance(Duration.ofDays(1));
    scope.closeWithin(Duration.ZERO);
  }

  private Actor<Object> actor(Variant variant, FailurePolicy policy) {
    return variant.builder(scope).onFailure(policy).initialState(states::incrementAndGet)
        .onStop(state -> log.add("stop " + state)).newActor((Integer state, Object m) -> {
          if (m instanceof Gate gate) gate.pass();
          else if (m instanceof RuntimeException failure) throw failure;
          else log.add(state + " " + m);
        });
  }

  private Actor<Object> suspendedActor(Variant variant) {
    var actor = actor(variant, BACKOFF);
    actor.sendMessage(new IllegalStateException("planned"));
    Patience.eventually(() -> ActorInternals.isSuspended(actor));
    return actor;
  }

  @Promise("17.1")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void restartCreatesNewStateAndKeepsMailbox(Variant variant) {
    var actor = actor(variant, RESTART);
    var gate = Gate.occupy(actor);
    for (Object m : List.of("a", new IllegalStateException("planned"), "b", new IllegalArgumentException("planned"),
        "c"))
      actor.sendMessage(m);

    gate.open();

    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertEquals(List.of("1 a", "stop 1", "2 b", "stop 2", "3 c"), log);
  }

  @Promise("17.3")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void messagesQueuedDuringBackoffAreHandledInOrder(Variant variant) {
    var actor = suspendedActor(variant);
    for (int i = 0; i < 5; i++) actor.sendMessage(i);
    var logDuringBackoff = List.copyOf(log);

    clock.advance(Duration.ofSeconds(1));

    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertEquals(List.of("stop 1"), logDuringBackoff);
    assertEquals(List.of("stop 1", "2 0", "2 1", "2 2", "2 3", "2 4"), log);
  }

  @Promise("17.5")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void killDuringBackoffEndsActorAtOnce(Variant variant) {
    var actor = suspendedActor(variant);
    actor.sendMessage("waits");

    actor.kill();

    assertEquals(new ExitReason.Killed(), Patience.value(actor.onExit()));
    assertEquals(List.of("waits"), letters.messages(Reason.UNDELIVERED));
  }

  @Promise("17.5")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void askExitDuringBackoffEndsActorAtOnce(Variant variant) {
    var actor = suspendedActor(variant);
    var request = Cells.sendRequest(actor, "waits");

    actor.askExit();

    assertEquals(new ExitReason.Stopped(), Patience.value(actor.onExit()));
    assertInstanceOf(ActorStoppedException.class, Patience.failure(request));
  }

  @Promise("16.4")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void closingScopeHandlesMessagesQueuedBeforeClose(Variant variant) {
    var actor = actor(variant, RESTART);
    var gate = Gate.occupy(actor);
    for (int i = 0; i < 5; i++) actor.sendMessage(i);
    var report = new CompletableFuture<ActorScope.Report>();
    var closer = Patience.startFiber(() -> report.complete(scope.closeWithin(Duration.ofDays(1))));
    Patience.awaitParked(closer);

    gate.open();

    assertEquals(6, Patience.value(report).handled());
    assertEquals(List.of(), Patience.value(report).deadLetters());
  }

  @Promise("16.5")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void closeWithZeroLimitEndsActorDuringBackoff(Variant variant) {
    var actor = suspendedActor(variant);
    actor.sendMessage("waits");

    var report = scope.closeWithin(Duration.ZERO);

    assertEquals(List.of("waits"), report.deadLetters().stream().map(DeadLetter::message).toList());
    assertEquals(new ExitReason.Stopped(), actor.onExit().join());
    assertNull(ActorInternals.suspendedAt(actor));
  }
}
