package io.fibry.engine.message;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.DeadLetter.Reason;
import io.fibry.FailurePolicy;
import io.fibry.Strategy;
import io.fibry.engine.cell.ActorInternals;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.testing.Echo;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.Variants;
import java.io.IOException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests requests whose future is completed from outside, the thread on which code chained to a
 * request runs, and interrupts of threads that wait.
 */
class CancellingTest {
  private final ActorScope scope = Variants.scope(o -> o);
  private final ActorBuilder<Object> builder = scope.anonymous().onFailure(FailurePolicy.resume().withoutLog());

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  // ---- completed from outside

  @Promise("4.9")
  @ParameterizedTest
  @ValueSource(
      strings = {"cancel", "complete", "completeExceptionally", "orTimeout", "completeOnTimeout", "completeAsync"})
  void requestIsCancelledWhenCallerCompletesItsFuture(String operation) {
    var actor = Echo.actor(scope.anonymous());
    Gate.occupy(actor);
    var request = actor.sendMessageReturn("never handled");

    complete(request, operation);
    Patience.eventually(request::isDone);
    Gate.openAll();
    actor.close();

    assertEquals(1, scope.report().unhandled().get(Reason.CANCELLED));
    assertEquals(1, scope.report().handled());
  }

  private static void complete(CompletableFuture<Object> request, String operation) {
    switch (operation) {
      case "cancel" -> assertTrue(request.cancel(true));
      case "complete" -> assertTrue(request.complete("mine"));
      case "completeExceptionally" -> assertTrue(request.completeExceptionally(new IOException()));
      case "orTimeout" -> assertInstanceOf(TimeoutException.class,
          Patience.failure(request.orTimeout(1, TimeUnit.MILLISECONDS)));
      case "completeOnTimeout" -> assertEquals("mine",
          Patience.value(request.completeOnTimeout("mine", 1, TimeUnit.MILLISECONDS)));
      default -> assertEquals("mine", Patience.value(request.completeAsync(() -> "mine")));
    }
  }

  @Test
  void futureOfAnsweredRequestCannotBeChanged() {
    var request = Echo.actor(builder).sendMessageReturn("answer");
    Patience.value(request);

    assertFalse(request.cancel(true));
    assertFalse(request.complete("other"));
    assertThrows(UnsupportedOperationException.class, () -> request.obtrudeValue("other"));
    assertThrows(UnsupportedOperationException.class, () -> request.obtrudeException(new IOException()));
    assertEquals("answer", request.resultNow());
  }

  @Promise("4.10")
  @Test
  void handlerOfCancelledRequestContinuesAndSeesCancellation() {
    var gate = new Gate();
    var cancellationSeen = new CompletableFuture<Boolean>();
    var actor = scope.anonymous().newActorWithReturn((Object m, ActorContext<Object> context) -> {
      assertFalse(context.isCancelled());
      gate.pass();
      cancellationSeen.complete(context.isCancelled());
      return m;
    });
    var request = actor.sendMessageReturn("anything");
    Patience.await(gate.entered);

    request.cancel(false);
    gate.open();
    actor.close();

    assertTrue(Patience.value(cancellationSeen));
    assertEquals(1, scope.report().handled());
    assertEquals(0, scope.report().unhandled().get(Reason.CANCELLED));
  }

  @Promise("4.11")
  @Test
  void cancelledRequestRetainsNeitherMessageNorStackTrace() {
    var actor = Echo.actor(scope.anonymous());
    Gate.occupy(actor);
    var request = actor.sendMessageReturn("large");

    request.cancel(false);

    assertNull(ActorInternals.messageOf(request));
    assertEquals(0, Patience.value(request.handle((value, thrown) -> thrown)).getStackTrace().length);
  }

  // ---- chained code

  @Promise("4.12")
  @ParameterizedTest
  @ValueSource(
      strings = {"thenApply", "copy", "minimalCompletionStage", "toCompletableFuture", "thenCombine", "thenCompose"})
  void callbackChainedToRequestNeverRunsOnThreadOfActor(String operation) {
    var actor = scope.anonymous().strategy(Strategy.THREAD).newActorWithReturn((Object m) -> {
      if (m instanceof Gate gate) gate.pass();
      return Thread.currentThread();
    });
    Gate.occupy(actor);
    var request = actor.sendMessageReturn("who");

    var callbackThread = chained(request, operation, handler -> Thread.currentThread()).toCompletableFuture();
    Gate.openAll();

    assertNotEquals(Patience.value(request), Patience.value(callbackThread));
  }

  private static <R> CompletionStage<Thread> chained(CompletableFuture<R> request, String operation,
      Function<Object, Thread> code) {
    return switch (operation) {
      case "thenApply" -> request.thenApply(code);
      case "copy" -> request.copy().thenApply(code);
      case "minimalCompletionStage" -> request.minimalCompletionStage().thenApply(code);
      case "toCompletableFuture" -> CompletableFuture.completedFuture("x").thenCompose(x -> request).thenApply(code);
      case "thenCombine" -> CompletableFuture.completedFuture("x").thenCombine(request,
          (x, handler) -> code.apply(handler));
      default -> request.thenCompose(handler -> CompletableFuture.completedFuture(code.apply(handler)));
    };
  }

  @Promise({"4.12", "6.2"})
  @Test
  void blockingCallbackDoesNotDelayActor() {
    var actor = Echo.actor(scope.anonymous());
    var gate = Gate.occupy(actor);
    var callbackGate = new Gate();
    actor.sendMessageReturn("first").thenRun(callbackGate::passUninterruptibly);

    var secondRequest = actor.sendMessageReturn("second");
    gate.open();
    Patience.await(callbackGate.entered);

    assertEquals("second", Patience.value(secondRequest));
  }

  // ---- interrupts

  @Promise("4.13")
  @Test
  void interruptedWaitThrowsCancellationAndKeepsInterruptFlag() {
    var actor = Echo.actor(scope.anonymous());
    Gate.occupy(actor);

    for (Runnable wait : new Runnable[] {() -> actor.ask("x"), () -> actor.ask("x", Patience.LONG), actor::waitForExit,
      () -> actor.waitForExit(Patience.LONG), actor::close}) {
      var failure = interruptDuring(wait);
      assertInstanceOf(CancellationException.class, failure);
      assertTrue(failure.getMessage().contains("interrupted while waiting"), failure.getMessage());
    }
    assertEquals(2, scope.report().unhandled().get(Reason.CANCELLED));
  }

  @Promise("4.13")
  @Test
  void interruptedExecAndWaitThrowsCancellation() {
    var sink = scope.anonymous().newSink();
    Gate.occupy(sink);

    assertInstanceOf(CancellationException.class, interruptDuring(() -> sink.execAndWait(nothing -> {})));
  }

  @Promise("4.13")
  @Test
  void interruptedAskWaitingForCapacityThrowsCancellation() {
    var actor = Echo.actor(scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.BLOCK)));
    Gate.occupy(actor);
    actor.sendMessage("fills it");

    var failure = interruptDuring(() -> actor.ask("must wait"));

    assertTrue(failure.getMessage().contains("interrupted while waiting"), failure.getMessage());
    assertTrue(failure.getStackTrace().length > 0);
  }

  /**
   * Interrupts a thread that waits in {@code wait}, and returns the exception that it throws. The
   * interrupt flag of the thread must stay set.
   */
  private static Throwable interruptDuring(Runnable wait) {
    var thrown = new CompletableFuture<Throwable>();
    var waiter = Thread.ofVirtual().unstarted(() -> {
      var failure = assertThrows(Throwable.class, wait::run);
      thrown.complete(
          Thread.currentThread().isInterrupted() ? failure
              : new AssertionError("the interrupt flag was lost", failure));
    });
    waiter.start();
    Patience.awaitParked(waiter);
    waiter.interrupt();
    return Patience.value(thrown);
  }

  @Test
  void interruptedGetThrowsAndDoesNotCancelRequest() {
    var actor = Echo.actor(scope.anonymous());
    Gate.occupy(actor);
    var request = actor.sendMessageReturn("waits");

    Thread.currentThread().interrupt();

    assertThrows(InterruptedException.class, request::get);
    assertFalse(request.isDone());
    assertThrows(ExecutionException.class, () -> Echo.actor(builder).sendMessageReturn(new IOException()).get());
  }
}
