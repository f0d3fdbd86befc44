package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorStats.ActorFailure;
import io.fibry.pool.Pools;
import io.fibry.spi.ActorSamples;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the last failure of an actor in its statistics. */
class ActorStatsFailureTest {
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("app", o -> o.withScheduler(clock));

  @AfterEach
  void close() {
    scope.closeWithin(Duration.ZERO);
  }

  private static Optional<ActorFailure> failure(ActorScope scope, String name) {
    assertTrue(scope.awaitQuiescence(Patience.LONG));
    return scope.actors().stream().filter(stats -> stats.name().equals(name)).findFirst().orElseThrow().lastFailure();
  }

  private static void fail(String text) {
    throw new IllegalStateException(text);
  }

  /** Asserts that the stack has the handler, and neither the engine nor an enclosing handler. */
  private static void assertHasOnlyHandler(ActorFailure failure) {
    assertEquals("fail", failure.stack().getFirst().getMethodName());
    assertTrue(failure.stack().stream().noneMatch(frame -> frame.getClassName().startsWith("io.fibry.engine.")),
        failure::toString);
  }

  @Promise("19.29")
  @Test
  void statsHaveTimeClassTextAndPlaceOfLastFailure() {
    var actor = scope.named("printer").onFailure(FailurePolicy.resume().withoutLog())
        .newActor((String text) -> fail(text));
    assertEquals(Optional.empty(), failure(scope, "printer"));
    actor.sendMessage("first");
    assertTrue(scope.awaitQuiescence(Patience.LONG));
    clock.advance(Duration.ofSeconds(7));
    actor.sendMessage("paper jam");

    var failure = failure(scope, "printer").orElseThrow();

    assertEquals(List.of(clock.instant(), "java.lang.IllegalStateException", Optional.of("paper jam")),
        List.of(failure.time(), failure.type(), failure.message()));
    assertHasOnlyHandler(failure);
    assertEquals(Optional.of(failure), failure(scope, "printer"));
    assertEquals(Optional.empty(), ActorSamples.of(scope, 10).actors().getFirst().lastFailure());
  }

  @Promise("19.29")
  @Test
  void stackOfFailedRetryHasOnlyHandler() {
    scope.named("printer").onFailure(FailurePolicy.resume().withRetries(2).withoutLog())
        .newActor((String text) -> fail(text)).sendMessage("x");

    assertHasOnlyHandler(failure(scope, "printer").orElseThrow());
  }

  @Promise("19.29")
  @Test
  void stackOfInlineRequestHasOnlyHandler() {
    var clerk = scope.named("clerk").onFailure(FailurePolicy.resume().withoutLog()).inlineRequests()
        .newActorWithReturn((String text) -> {
          fail(text);
          return text;
        });
    scope.named("customer").onFailure(FailurePolicy.resume().withoutLog())
        .newActor((String text) -> clerk.ask(text)).sendMessage("x");

    assertHasOnlyHandler(failure(scope, "clerk").orElseThrow());
  }

  @Promise("19.29")
  @Test
  void failedRequestsAndFailuresOfPoolWorkersAreKept() {
    var clerk = scope.named("clerk").onFailure(FailurePolicy.resume().withoutLog())
        .newActorWithReturn((String text) -> Integer.parseInt(text));
    var pool = Pools.fixed(scope.named("pool").onFailure(FailurePolicy.resume().withoutLog()), 2)
        .newActor((String text) -> fail(text));

    Patience.failure(clerk.sendMessageReturn("x"));
    pool.sendMessage("y");

    assertEquals("java.lang.NumberFormatException", failure(scope, "clerk").orElseThrow().type());
    assertEquals(Optional.of("y"), failure(scope, "pool").orElseThrow().message());
  }

  @Promise("19.29")
  @Test
  void scopeThatHidesContentsHidesTextOfFailure() {
    var hiding = scope.openScope("hiding", options -> options.withMessageContents(false));
    hiding.named("printer").onFailure(FailurePolicy.resume().withoutLog()).newActor((String text) -> fail(text))
        .sendMessage("secret");

    var failure = failure(hiding, "printer").orElseThrow();

    assertEquals(Optional.empty(), failure.message());
    assertEquals("java.lang.IllegalStateException", failure.type());
  }

  @Promise("19.29")
  @ParameterizedTest
  @ValueSource(strings = {"exception", "null", "array with null"})
  void exceptionWhoseMethodsThrowIsKeptWithItsClass(String broken) {
    class Broken extends RuntimeException {
      private static final long serialVersionUID = 1;

      @Override
      public String getMessage() {
        throw new IllegalStateException("planned");
      }

      @Override
      public StackTraceElement[] getStackTrace() {
        return switch (broken) {
          case "null" -> null;
          case "array with null" -> new StackTraceElement[1];
          default -> throw new IllegalStateException("planned");
        };
      }
    }
    scope.named("printer").onFailure(FailurePolicy.resume().withoutLog()).newActor((String text) -> {
      throw new Broken();
    }).sendMessage("x");

    var failure = failure(scope, "printer").orElseThrow();

    assertEquals(List.of(), failure.stack());
    assertEquals(Broken.class.getName(), failure.type());
  }

  @Promise("19.29")
  @Test
  void scopeKeepsFailuresOfHundredActorsThatFailedLast() {
    var actors = IntStream.range(0, 101).mapToObj(i -> scope.named("actor-" + i)
        .onFailure(FailurePolicy.resume().withoutLog()).newActor((String text) -> fail(text))).toList();
    for (var actor : actors.subList(0, 100)) {
      actor.sendMessage("x");
      assertTrue(scope.awaitQuiescence(Patience.LONG));
    }
    actors.getFirst().sendMessage("again");
    assertTrue(scope.awaitQuiescence(Patience.LONG));

    actors.getLast().sendMessage("x");

    assertEquals(Optional.empty(), failure(scope, "actor-1"));
    for (var name : List.of("actor-0", "actor-2", "actor-100")) assertTrue(failure(scope, name).isPresent(), name);
  }
}
