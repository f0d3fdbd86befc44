package io.fibry.engine.cell;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorStoppedException;
import io.fibry.ActorWithReturn;
import io.fibry.AskCycleException;
import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.Sink;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.Variants;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests the phases, hooks and kills of an actor's end. {@code ContractEndingTest} tests the
 * behavior that all strategies and mailboxes share.
 */
class TerminationTest {
  private final RecordedLetters letters = new RecordedLetters();
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = Variants.scope(o -> o.withDeadLetterListener(letters).withScheduler(clock));
  private final List<Object> log = new CopyOnWriteArrayList<>();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  // ---- closeOnExit

  @Test
  void closeOnExitReturnsItsActorWithUnchangedType() {
    Actor<String> actor = scope.anonymous().newActor((String m) -> {}).closeOnExit(() -> log.add("actor"));
    ActorWithReturn<Integer, Integer> square =
        scope.anonymous().newActorWithReturn((Integer n) -> n * n).closeOnExit(actor);
    Sink<StringBuilder> sink = scope.anonymous().initialState(StringBuilder::new).newSink().closeOnExit(square);

    sink.close();

    assertEquals(List.of("actor"), log);
    assertTrue(actor.onExit().isDone() && square.onExit().isDone());
  }

  @Promise("7.7")
  @Test
  void closeOnExitOfEndedActorClosesResourcesAtOnceInReverseOrder() {
    var actor = scope.anonymous().newActor((Object m) -> {});
    actor.close();

    actor.closeOnExit(() -> log.add(1), () -> log.add(2));

    assertEquals(List.of(2, 1), log);
  }

  @Promise("8.7")
  @Test
  void failedHooksAreLoggedAndOtherHooksRun() {
    try (var logged = new Logged()) {
      var actor = scope.named("messy").initialState(() -> "state").onStop(s -> {
        throw new IllegalStateException("stop hook");
      }).newActor((String s, Object m) -> {}).closeOnExit(() -> log.add("closed"), () -> {
        throw new IllegalStateException("resource");
      });
      actor.sendMessage("creates the state");

      actor.close();

      assertEquals(List.of("closed"), log);
      for (String word : new String[] {"messy", "stop hook", "resource"})
        assertTrue(logged.text().contains(word), logged.text());
    }
  }

  @Promise("7.7")
  @Test
  void stopHookRunsOnActorThreadAndNotWithoutState() {
    var builder =
        scope.named("hooked").initialState(() -> "state").onStop(s -> log.add(Thread.currentThread().getName()));
    builder.newActor((String s, Object m) -> {}).close();
    boolean noHookWithoutState = log.isEmpty();
    var actor = builder.newActor((String s, Object m) -> {});
    actor.sendMessage("creates the state");

    actor.close();

    assertTrue(noHookWithoutState);
    assertEquals(List.of("hooked"), log);
  }

  @Promise("4.7")
  @Test
  void hookThatWaitsForItsOwnActorGetsCycleException() {
    var actor = scope.anonymous().newActor((Object m) -> {});
    actor.closeOnExit(() -> log.add(assertThrows(AskCycleException.class, actor::waitForExit)), actor);

    actor.sendPoisonPill();
    Patience.awaitEnd(actor::waitForExit);

    assertEquals(1, log.size());
  }

  @Promise("5.2")
  @Test
  void requestToActorWhoseExitHooksRunFailsAtOnce() {
    var gate = new Gate();
    var actor = scope.anonymous().newActorWithReturn((Object m) -> m).closeOnExit(gate::pass);
    actor.askExit();
    Patience.await(gate.entered);

    assertThrows(ActorStoppedException.class, () -> actor.ask("anyone"));
    assertFalse(actor.sendMessage("anyone"));
    assertFalse(actor.onExit().isDone());
  }

  // ---- onExit

  @Promise("7.8")
  @Test
  void onExitReturnsSameFutureBeforeAndAfterEnd() {
    var actor = scope.anonymous().newActor((Object m) -> {});
    var future = actor.onExit();

    actor.close();

    assertSame(future, actor.onExit());
    assertEquals(new ExitReason.Finished(), future.resultNow());
    assertNotSame(future, future.copy());
  }

  static Stream<Consumer<CompletableFuture<ExitReason>>> changes() {
    Executor callerThread = Runnable::run;
    var reason = new ExitReason.Killed();
    return Stream.of(f -> f.complete(reason), f -> f.completeExceptionally(new IllegalStateException()),
        f -> f.cancel(true), f -> f.completeAsync(() -> reason),
        f -> f.completeAsync(() -> reason, callerThread), f -> f.obtrudeValue(reason),
        f -> f.obtrudeException(new IllegalStateException()), f -> f.orTimeout(1, TimeUnit.DAYS),
        f -> f.completeOnTimeout(reason, 1, TimeUnit.DAYS));
  }

  @Promise("7.8")
  @ParameterizedTest
  @MethodSource("changes")
  void futureOfOnExitRefusesChangesByCallers(Consumer<CompletableFuture<ExitReason>> change) {
    var actor = scope.anonymous().newActor((Object m) -> {});

    var refusal = assertThrows(UnsupportedOperationException.class, () -> change.accept(actor.onExit()));

    for (String word : new String[] {"askExit", "sendPoisonPill", "kill", "copy()"})
      assertTrue(refusal.getMessage().contains(word), refusal.getMessage());
    assertFalse(actor.onExit().isDone());
  }

  // ---- kill

  @Promise({"1.3", "7.5"})
  @Test
  void cutOffActorCannotUseContextAndFreesItsName() {
    var gate = new Gate();
    var refusal = new CompletableFuture<Throwable>();
    var actor = scope.named("zombie").newActor((Object m, ActorContext<Object> context) -> {
      gate.passUninterruptibly();
      refusal.complete(assertThrows(IllegalStateException.class, context::self));
    });
    actor.sendMessage("anything");
    Patience.await(gate.entered);

    actor.kill();
    clock.advance(Duration.ofSeconds(1));
    Patience.awaitEnd(actor::waitForExit);
    var successor = scope.named("zombie").newActorWithReturn((Object m) -> m);
    gate.open();

    assertEquals("alive", successor.ask("alive"));
    for (String word : new String[] {"zombie", "cut off"})
      assertTrue(Patience.value(refusal).getMessage().contains(word));
  }

  @Promise("7.5")
  @Test
  void messagesOfCutOffActorAreUndeliveredOnceHandlerReturns() {
    var gate = new Gate();
    var actor = scope.anonymous().newActor((Object m) -> gate.passUninterruptibly());
    actor.sendMessage("held");
    Patience.await(gate.entered);
    actor.sendMessage("behind");

    actor.kill();
    clock.advance(Duration.ofSeconds(1));
    Patience.awaitEnd(actor::waitForExit);
    gate.open();

    Patience.eventually(() -> letters.messages(Reason.UNDELIVERED).equals(List.of("behind")));
  }

  @Promise("7.5")
  @Test
  void killWithZeroGraceCutsOffAtOnce() {
    var actor = Variants.scope(o -> o.withKillGrace(Duration.ZERO)).anonymous().newActor((Object m) -> {
      ((Gate) m).passUninterruptibly();
    });
    Gate.occupy(actor);

    actor.kill();

    Patience.awaitEnd(actor::waitForExit);
  }

  @Promise("7.4")
  @Test
  void killReplacesEarlierExitReason() {
    var actor = scope.anonymous().newActor((Object m) -> ((Gate) m).pass());
    Gate.occupy(actor);

    actor.askExit();
    actor.kill();
    actor.askExit();
    Patience.awaitEnd(actor::waitForExit);

    assertEquals(new ExitReason.Killed(), actor.onExit().resultNow());
  }

  @Promise("7.4")
  @Test
  void killInterruptsRunningExitHook() {
    var actor = scope.anonymous().newActor((Object m) -> {}).closeOnExit(new CountDownLatch(1)::await);
    actor.sendPoisonPill();
    Patience.eventually(() -> ((Cell) actor).extras().hooksDrain != null);

    actor.kill();

    Patience.awaitEnd(actor::waitForExit);
  }

  @Test
  void stopCallsOnEndedActorKeepItsExitReason() {
    var actor = scope.anonymous().newActor((Object m) -> {});
    actor.close();

    actor.kill();
    actor.askExit();
    actor.sendPoisonPill();
    actor.close();

    assertEquals(new ExitReason.Finished(), actor.onExit().resultNow());
  }

  @Promise("7.2")
  @Test
  void askExitAfterPoisonPillLeavesQueuedMessagesUnhandled() {
    var actor = scope.anonymous().newActor((Object m) -> {
      if (m instanceof Gate gate) gate.pass();
      else log.add(m);
    });
    Gate.occupy(actor);
    actor.sendMessage("waits");
    actor.sendPoisonPill();

    actor.askExit();
    Gate.openAll();
    Patience.awaitEnd(actor::waitForExit);

    assertEquals(List.of(), log);
    assertEquals(new ExitReason.Stopped(), actor.onExit().resultNow());
  }

  @Promise("8.8")
  @Test
  void interruptedExceptionOfKilledActorIsNotLogged() {
    try (var logged = new Logged()) {
      var actor = scope.named("obedient").newActor((Object m) -> ((Gate) m).pass());
      Gate.occupy(actor);

      actor.kill();
      Patience.awaitEnd(actor::waitForExit);

      assertFalse(logged.text().contains("obedient"), logged.text());
    }
  }

  @Test
  void waitForExitRefusesNegativeLimit() {
    var actor = scope.anonymous().newActor((Object m) -> {});

    var refusal = assertThrows(IllegalArgumentException.class, () -> actor.waitForExit(Duration.ofSeconds(-1)));

    assertTrue(refusal.getMessage().contains("-1 s"), refusal.getMessage());
  }
}
