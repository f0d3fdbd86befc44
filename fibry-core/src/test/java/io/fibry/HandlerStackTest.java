package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.engine.cell.ActorInternals;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Job;
import io.fibry.testing.Promise;
import io.fibry.testing.Variants;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests the stack of a running handler, as the cause of a time-out shows it. The stack omits frames
 * of the engine's packages, so this test is in another package.
 */
class HandlerStackTest {
  private static final Duration LIMIT = Duration.ofSeconds(5);

  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = Variants.scope(options -> options.withScheduler(clock));
  private final ActorBuilder<Object> builder = scope.named("x").onFailure(FailurePolicy.resume().withoutLog());

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  private static void blockAtGate(Gate gate) throws InterruptedException {
    gate.pass();
  }

  /** Asks on a new fiber, and returns when the fiber waits. */
  private static CompletableFuture<Object> startAsk(ActorWithReturn<Object, Object> actor) {
    var answer = new CompletableFuture<Object>();
    Patience.awaitParked(Patience.startFiber(() -> actor.ask("Get", LIMIT), answer));
    return answer;
  }

  private static Throwable causeOfTimeout(CompletableFuture<Object> answer) {
    return Patience.failure(answer).getCause();
  }

  private Throwable causeOfTimeout(ActorWithReturn<Object, Object> actor) {
    var answer = startAsk(actor);
    clock.advance(LIMIT);
    return causeOfTimeout(answer);
  }

  private static List<String> methods(Throwable cause) {
    return Arrays.stream(cause.getStackTrace()).map(StackTraceElement::getMethodName).toList();
  }

  /** Asserts that the stack has the handler, and neither the engine nor an enclosing handler. */
  private static void assertHasOnlyHandler(Throwable cause) {
    var stack = List.of(cause.getStackTrace());
    assertTrue(methods(cause).contains("blockAtGate"), stack::toString);
    assertTrue(stack.stream().noneMatch(frame -> frame.getClassName().startsWith("io.fibry.engine.")), stack::toString);
  }

  @Promise("4.17")
  @Test
  void timeoutCauseHasStackOfHandler() {
    var actor = Job.worker(builder);
    var gate = new Gate();
    actor.sendMessage(Job.act("Slow[1]", () -> blockAtGate(gate)));
    Patience.await(gate.entered);
    Patience.awaitParked(ActorInternals.thread(actor));

    var cause = causeOfTimeout(actor);

    assertEquals("actor 'x' was here", cause.getMessage());
    assertTrue(methods(cause).contains("park"), () -> methods(cause).toString());
    assertHasOnlyHandler(cause);
  }

  @Promise("4.17")
  @Test
  void timeoutCauseHasStackOfHandlerInRetry() {
    var gate = new Gate();
    var failures = new AtomicInteger();
    var actor = builder.onFailure(FailurePolicy.resume().withRetries(2).withoutLog())
        .newActorWithReturn((Object message) -> {
          if (failures.incrementAndGet() <= 2) throw new IllegalStateException("planned");
          blockAtGate(gate);
          return message;
        });
    actor.sendMessage("Slow");
    Patience.await(gate.entered);

    assertHasOnlyHandler(causeOfTimeout(actor));
  }

  @Promise("4.17")
  @Test
  void timeoutCauseOmitsFramesBelowHandlerOfAskedActor() {
    var inner = Job.worker(scope.named("y").strategy(Strategy.CALLER));

    assertOmitsEnclosingHandler(inner, inner::sendMessage, "sendMessage");
  }

  @Promise("4.17")
  @Test
  void timeoutCauseOmitsFramesOfInlineAsker() {
    var inner = Job.worker(scope.named("y").inlineRequests());

    assertOmitsEnclosingHandler(inner, message -> inner.ask(message), "ask");
  }

  /** Calls the inner actor in a handler, so that the handler of the inner actor runs there. */
  private void assertOmitsEnclosingHandler(ActorWithReturn<Object, Object> inner, Consumer<Object> call,
      String method) {
    var outer = Job.worker(builder);
    var gate = new Gate();
    outer.sendMessage(Job.act("Outer", () -> call.accept(Job.act("Inner", () -> blockAtGate(gate)))));
    Patience.await(gate.entered);
    var timeouts = List.of(startAsk(outer), startAsk(inner));

    clock.advance(LIMIT);

    var outerCause = causeOfTimeout(timeouts.get(0));
    var outerMethods = methods(outerCause);
    assertTrue(outerMethods.containsAll(List.of(method, "blockAtGate")), outerMethods::toString);
    assertEquals(Job.class.getName(), List.of(outerCause.getStackTrace()).getLast().getClassName());
    assertHasOnlyHandler(causeOfTimeout(timeouts.get(1)));
  }
}
