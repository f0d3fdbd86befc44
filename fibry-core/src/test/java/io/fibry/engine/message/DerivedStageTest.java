package io.fibry.engine.message;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.AskCycleException;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests handlers that wait for a stage derived from the answer or the exit of an actor. Such a
 * handler counts as waiting for that actor.
 */
class DerivedStageTest {
  private interface StageWait {
    Object await(CompletableFuture<?> stage) throws Exception;
  }

  private enum WaitMethod implements StageWait {
    JOIN(CompletableFuture::join), GET(CompletableFuture::get),
    GET_WITHIN(stage -> stage.get(1, TimeUnit.HOURS));

    private final StageWait code;

    WaitMethod(StageWait code) {
      this.code = code;
    }

    @Override
    public Object await(CompletableFuture<?> stage) throws Exception {
      return code.await(stage);
    }
  }

  private interface Stage {
    CompletableFuture<Object> derive(CompletableFuture<Object> answer);
  }

  private final ActorScope scope = ActorSystem.openScope("stages");

  @AfterEach
  void close() {
    Gate.openAll();
    scope.closeWithin(Duration.ZERO);
  }

  private static CompletableFuture<Object> doneFuture() {
    return CompletableFuture.completedFuture("done");
  }

  static Stream<Arguments> stages() {
    var derivations = List.<Stage>of(answer -> answer.thenApply(x -> x), answer -> answer.thenApplyAsync(x -> x),
        answer -> answer.thenApply(x -> x).thenApply(x -> x)
            .exceptionallyCompose(CompletableFuture::failedFuture),
        answer -> answer.thenCompose(x -> doneFuture()), answer -> answer.thenCombine(doneFuture(), (x, y) -> x),
        answer -> answer.handle((x, failure) -> Optional.ofNullable(x)), answer -> answer.copy(),
        answer -> answer.whenComplete((x, failure) -> {}), answer -> answer.thenAccept(x -> {}).thenApply(x -> "x"));
    return Stream.of(WaitMethod.values())
        .flatMap(waitMethod -> derivations.stream().map(stage -> Arguments.of(waitMethod, stage)));
  }

  @Promise("4.18")
  @ParameterizedTest
  @MethodSource("stages")
  void waitCycleThroughDerivedStagesIsDetected(WaitMethod waitMethod, Stage stage) {
    var cycles = new CopyOnWriteArrayList<AskCycleException>();
    var secondActor = new CompletableFuture<ActorWithReturn<String, Object>>();
    ActorWithReturn<String, Object> firstActor =
        askingActor("first", waitMethod, text -> stage.derive(secondActor.join().sendMessageReturn(text)), cycles);
    secondActor.complete(askingActor("second", waitMethod,
        text -> stage.derive(firstActor.sendMessageReturn(text)), cycles));

    Patience.value(firstActor.sendMessageReturn("begin").handle((answer, failure) -> "ended"));

    for (var cycleException : cycles) assertEquals(Set.of("first", "second"), Set.copyOf(cycleException.cycle()));
    assertTrue(cycles.size() >= 1);
  }

  private ActorWithReturn<String, Object> askingActor(String name, WaitMethod waitMethod,
      Function<String, CompletableFuture<Object>> stage, List<AskCycleException> cycles) {
    return scope.named(name).onFailure(FailurePolicy.resume().withoutLog()).newActorWithReturn(text -> {
      try {
        return waitMethod.await(stage.apply(text));
      } catch (AskCycleException cycleException) {
        cycles.add(cycleException);
        throw cycleException;
      }
    });
  }

  @Promise("4.18")
  @ParameterizedTest
  @EnumSource
  void waitCycleThroughExitFuturesIsDetected(WaitMethod waitMethod) {
    var gate = new Gate();
    var cycles = new AtomicInteger();
    var secondActor = new CompletableFuture<Actor<String>>();
    var firstActor = scope.named("first").onFailure(FailurePolicy.resume().withoutLog()).newActor((String text) -> {
      gate.pass();
      waitForExitOf(waitMethod, secondActor.join(), cycles);
    });
    secondActor.complete(scope.named("second")
        .newActor((String text) -> waitForExitOf(waitMethod, firstActor, cycles)));
    firstActor.sendMessage("wait");
    secondActor.join().sendMessage("wait");
    Patience.await(gate.entered);
    gate.open();

    firstActor.sendPoisonPill();
    secondActor.join().sendPoisonPill();

    Patience.awaitEnd(firstActor::waitForExit);
    Patience.awaitEnd(secondActor.join()::waitForExit);
    assertTrue(cycles.get() >= 1);
  }

  private static void waitForExitOf(WaitMethod waitMethod, Exitable actor, AtomicInteger cycles) throws Exception {
    try {
      waitMethod.await(actor.onExit().thenApply(reason -> reason));
    } catch (AskCycleException e) {
      cycles.incrementAndGet();
    }
  }

  @ParameterizedTest
  @EnumSource
  void waitForOwnExitIsDetectedAsCycle(WaitMethod waitMethod) {
    var cycles = new AtomicInteger();
    Actor<Actor<?>> actor = scope.anonymous().newActor((Actor<?> self) -> {
      waitForExitOf(waitMethod, self, cycles);
      try {
        waitMethod.await(self.onExit());
      } catch (AskCycleException e) {
        cycles.incrementAndGet();
      }
    });
    actor.sendMessage(actor);

    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertEquals(2, cycles.get());
  }

  @Test
  void waitForCallbackOfAnsweredRequestIsNoCycle() {
    var gate = new Gate();
    var asker = new CompletableFuture<ActorWithReturn<String, String>>();
    var askerThread = new CompletableFuture<Thread>();
    var isAskingBack = new CountDownLatch(1);
    ActorWithReturn<String, String> quickActor = scope.named("quick").newActorWithReturn(text -> {
      if (!text.equals("ask back")) return text + "!";
      isAskingBack.countDown();
      return asker.join().ask("direct");
    });
    asker.complete(scope.named("asker").newActorWithReturn((String text) -> {
      if (text.equals("direct")) return text;
      askerThread.complete(Thread.currentThread());
      return quickActor.sendMessageReturn(text).thenApplyAsync(answer -> {
        gate.passUninterruptibly();
        return answer;
      }).join();
    }));
    var answer = asker.join().sendMessageReturn("hello");
    Patience.await(gate.entered);
    Patience.awaitParked(Patience.value(askerThread));

    // the asker waits for its callback now, so `quickActor` may wait for the asker
    var directAnswer = quickActor.sendMessageReturn("ask back");
    Patience.await(isAskingBack);
    Patience.eventually(() -> directAnswer.isDone() || scope.dump().contains("where it waits for 'asker'"));
    gate.open();

    assertEquals("hello!", Patience.value(answer));
    assertEquals("direct", Patience.value(directAnswer));
  }

  @Test
  void dumpShowsActorAwaitedThroughDerivedStage() {
    var gate = new Gate();
    var slowActor = scope.named("slow").newActorWithReturn((String text) -> {
      gate.pass();
      return text;
    });
    scope.named("asker").newActor((String text) -> slowActor.sendMessageReturn(text).thenApply(x -> x).join())
        .sendMessage("hello");
    Patience.await(gate.entered);

    Patience.eventually(() -> scope.dump().contains("where it waits for 'slow'"));
  }

  @Test
  void threadOutsideActorsGetsValueOfDerivedStage() throws Exception {
    var echo = scope.anonymous().newActorWithReturn((String text) -> text);
    var stage = echo.sendMessageReturn("hello").thenApply(text -> text + "!").thenApply(text -> text + "?");

    assertEquals("hello!?", stage.get(1, TimeUnit.MINUTES));
    assertEquals("hello!?", stage.join());
    assertEquals("hello!?", stage.get());
  }
}
