package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Patience;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
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

/** A handler that waits for a stage behind an answer or an end waits for that answer or end. */
class DerivedStageTest {
  private interface Waiting {
    Object of(CompletableFuture<?> stage) throws Exception;
  }

  private enum How implements Waiting {
    JOIN(CompletableFuture::join), GET(CompletableFuture::get),
    GET_WITHIN(stage -> stage.get(1, TimeUnit.HOURS));

    private final Waiting code;

    How(Waiting code) {
      this.code = code;
    }

    @Override
    public Object of(CompletableFuture<?> stage) throws Exception {
      return code.of(stage);
    }
  }

  private interface Stage {
    CompletableFuture<Object> behind(CompletableFuture<Object> answer);
  }

  private final ActorScope scope = ActorSystem.openScope("stages");

  @AfterEach
  void close() {
    Gate.openAll();
    scope.closeWithin(Duration.ZERO);
  }

  private static CompletableFuture<Object> done() {
    return CompletableFuture.completedFuture("done");
  }

  static Stream<Arguments> stages() {
    var all = List.<Stage>of(answer -> answer.thenApply(x -> x), answer -> answer.thenApplyAsync(x -> x),
        answer -> answer.thenApply(x -> x).thenApply(x -> x)
            .exceptionallyCompose(CompletableFuture::failedFuture),
        answer -> answer.thenCompose(x -> done()), answer -> answer.thenCombine(done(), (x, y) -> x),
        answer -> answer.handle((x, failure) -> Optional.ofNullable(x)), answer -> answer.copy(),
        answer -> answer.whenComplete((x, failure) -> {}), answer -> answer.thenAccept(x -> {}).thenApply(x -> "x"));
    return Stream.of(How.values()).flatMap(how -> all.stream().map(stage -> Arguments.of(how, stage)));
  }

  @Promise("4.18")
  @ParameterizedTest
  @MethodSource("stages")
  void cycleThroughStagesIsDetected(How how, Stage stage) {
    var rings = new CopyOnWriteArrayList<AskCycleException>();
    var second = new CompletableFuture<ActorWithReturn<String, Object>>();
    ActorWithReturn<String, Object> first =
        asking("first", how, text -> stage.behind(second.join().sendMessageReturn(text)), rings);
    second.complete(asking("second", how, text -> stage.behind(first.sendMessageReturn(text)), rings));

    Patience.value(first.sendMessageReturn("begin").handle((answer, failure) -> "over"));

    for (var ring : rings) assertEquals(Set.of("first", "second"), Set.copyOf(ring.cycle()));
    assertTrue(rings.size() >= 1);
  }

  private ActorWithReturn<String, Object> asking(String name, How how,
      Function<String, CompletableFuture<Object>> stage, List<AskCycleException> rings) {
    return scope.named(name).onFailure(FailurePolicy.resume().withoutLog()).newActorWithReturn(text -> {
      try {
        return how.of(stage.apply(text));
      } catch (AskCycleException ring) {
        rings.add(ring);
        throw ring;
      }
    });
  }

  @Promise("4.18")
  @ParameterizedTest
  @EnumSource
  void cycleThroughExitFuturesIsDetected(How how) {
    var gate = new Gate();
    var rings = new AtomicInteger();
    var other = new CompletableFuture<Actor<String>>();
    var first = scope.named("first").onFailure(FailurePolicy.resume().withoutLog()).newActor((String text) -> {
      gate.pass();
      waitForEnd(how, other.join(), rings);
    });
    other.complete(scope.named("second").newActor((String text) -> waitForEnd(how, first, rings)));
    first.sendMessage("wait");
    other.join().sendMessage("wait");
    Patience.await(gate.entered);
    gate.open();

    first.sendPoisonPill();
    other.join().sendPoisonPill();

    Patience.ended(first::waitForExit);
    Patience.ended(other.join()::waitForExit);
    assertTrue(rings.get() >= 1);
  }

  private static void waitForEnd(How how, Exitable other, AtomicInteger rings) throws Exception {
    try {
      how.of(other.onExit().thenApply(reason -> reason));
    } catch (AskCycleException told) {
      rings.incrementAndGet();
    }
  }

  @ParameterizedTest
  @EnumSource
  void waitForOwnExitIsDetectedAsCycle(How how) {
    var rings = new AtomicInteger();
    Actor<Actor<?>> actor = scope.anonymous().newActor((Actor<?> self) -> {
      waitForEnd(how, self, rings);
      try {
        how.of(self.onExit());
      } catch (AskCycleException told) {
        rings.incrementAndGet();
      }
    });
    actor.sendMessage(actor);

    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertEquals(2, rings.get());
  }

  @Test
  void callbackAfterAnswerIsNoCycle() {
    var gate = new Gate();
    var asker = new CompletableFuture<ActorWithReturn<String, String>>();
    ActorWithReturn<String, String> quick = scope.named("quick").newActorWithReturn(text -> text + "!");
    asker.complete(scope.named("asker").newActorWithReturn((String text) -> quick.sendMessageReturn(text)
        .thenApplyAsync(answer -> {
          gate.passDeaf();
          return answer;
        }).join()));
    var answer = asker.join().sendMessageReturn("hello");
    Patience.await(gate.entered);

    // would close a ring, if the asker still waited for `quick`
    assertEquals("again!", quick.ask("again"));
    gate.open();

    assertEquals("hello!", Patience.value(answer));
  }

  @Test
  void dumpShowsAwaitedActor() {
    var gate = new Gate();
    var slow = scope.named("slow").newActorWithReturn((String text) -> {
      gate.pass();
      return text;
    });
    scope.named("asker").newActor((String text) -> slow.sendMessageReturn(text).thenApply(x -> x).join())
        .sendMessage("hello");
    Patience.await(gate.entered);

    Patience.eventually(() -> scope.dump().contains("where it waits for 'slow'"));
  }

  @Test
  void derivedStageWorksOutsideActors() throws Exception {
    var echo = scope.anonymous().newActorWithReturn((String text) -> text);
    var stage = echo.sendMessageReturn("hello").thenApply(text -> text + "!").thenApply(text -> text + "?");

    assertEquals("hello!?", stage.get(1, TimeUnit.MINUTES));
    assertEquals("hello!?", stage.join());
    assertEquals("hello!?", stage.get());
  }
}
