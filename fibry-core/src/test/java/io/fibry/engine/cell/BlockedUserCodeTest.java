package io.fibry.engine.cell;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorStoppedException;
import io.fibry.ActorSystem;
import io.fibry.AskTimeoutException;
import io.fibry.DeadLetter;
import io.fibry.FailurePolicy;
import io.fibry.Request;
import io.fibry.Strategy;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.Envelope;
import io.fibry.flow.Pipeline;
import io.fibry.pool.Pools;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that user code that never returns delays neither the end of an actor nor a limit nor other
 * user code.
 */
class BlockedUserCodeTest {
  private static final Duration SHORT = Duration.ofMillis(20);

  private final ActorScope scope = ActorSystem.openScope("held", options -> options.withKillGrace(SHORT));
  private final Gate neverOpened = new Gate();

  /** A message whose toString needs a lock that its handler holds. */
  private static final class Document implements Request<Document, String> {
    final StringBuffer text = new StringBuffer("text");

    @Override
    public String toString() {
      return text.toString();
    }
  }

  @AfterEach
  void releaseHandlers() {
    Gate.openAll();
    scope.close();
  }

  private ActorBuilder<Object> builder(boolean pool) {
    var builder = scope.anonymous().strategy(Strategy.THREAD).onFailure(FailurePolicy.resume().withoutLog());
    return pool ? Pools.fixed(builder, 1) : builder;
  }

  /** Returns an actor that waits at the gate while it holds the lock of a document. */
  private static Actor<Object> lockingActor(ActorBuilder<Object> builder, Gate gate) {
    return builder.newActor((Object message, ActorContext<Object> context) -> {
      synchronized (((Document) message).text) {
        gate.passUninterruptibly();
      }
    });
  }

  private void closeScope() {
    Patience.awaitEnd(Patience.startFiber(() -> scope.closeWithin(SHORT)));
  }

  @Promise({"7.5", "16.5"})
  @ParameterizedTest
  @ValueSource(strings = {"the handled request", "a waiting request", "both, behind allOf"})
  void blockingRequestCallbackDoesNotDelayCutOff(String callbackTarget) {
    var gate = new Gate();
    var actor = builder(false).newActorWithReturn((String message) -> {
      gate.passUninterruptibly();
      return message;
    });
    var handledRequest = actor.sendMessageReturn("handled");
    Patience.await(gate.entered);
    var queuedRequest = actor.sendMessageReturn("waits");
    switch (callbackTarget) {
      case "the handled request" -> handledRequest.whenComplete((value, failure) -> neverOpened.passUninterruptibly());
      case "a waiting request" -> queuedRequest.whenComplete((value, failure) -> neverOpened.passUninterruptibly());
      default -> CompletableFuture.allOf(handledRequest, queuedRequest)
          .whenComplete((value, failure) -> neverOpened.passUninterruptibly());
    }
    var lastRequest = actor.sendMessageReturn("behind");

    closeScope();

    assertTrue(actor.onExit().isDone());
    assertTrue(Patience.failure(lastRequest) instanceof ActorStoppedException);
  }

  @Promise("7.5")
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void blockingToStringDoesNotDelayCutOff(boolean pool) {
    var gate = new Gate();
    var actor = lockingActor(builder(pool), gate);
    var document = new Document();
    var handledRequest = actor.sendMessageReturn(document);
    Patience.await(gate.entered);
    var queuedRequest = actor.sendMessageReturn(document);

    closeScope();

    assertTrue(actor.onExit().isDone());
    for (var request : List.of(handledRequest, queuedRequest)) assertTrue(
        Patience.failure(request).getMessage().contains("Document (its toString did not return in time)"));
  }

  @Promise("4.6")
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void blockingToStringDoesNotDelayAskLimit(boolean requestIsQueued) {
    var gate = new Gate();
    var actor = lockingActor(builder(false), gate);
    var document = new Document();
    if (requestIsQueued) {
      actor.sendMessage(document);
      Patience.await(gate.entered);
    }

    assertThrows(AskTimeoutException.class, () -> actor.ask(document, SHORT));
  }

  @Promise("7.8")
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void blockingExitCallbackDelaysNeitherCloseNorOtherCallbacks(boolean scopeCloses) {
    var actor = scope.anonymous().newActor((Object message) -> {});
    var callbackDone = new CountDownLatch(1);
    for (int i = 0; i < 3; i++) actor.onExit().thenRun(neverOpened::passUninterruptibly);
    actor.onExit().thenRun(callbackDone::countDown);

    if (scopeCloses) closeScope();
    else Patience.awaitEnd(Patience.startFiber(actor::close));

    assertTrue(actor.onExit().isDone());
    Patience.await(callbackDone);
  }

  @Promise("18.1")
  @Test
  void blockingExitCallbackDoesNotDelayWatcher() {
    var notified = new CountDownLatch(1);
    var watchedActor = scope.anonymous().newActor((Object message) -> {});
    var slowWatcher =
        scope.anonymous()
            .newActor((Object message, ActorContext<Object> context) -> context.watch(watchedActor, reason -> {
              neverOpened.passUninterruptibly();
              return "late";
            }));
    var watcher = scope.anonymous().newActor((Object message, ActorContext<Object> context) -> {
      if (message.equals("watch")) context.watch(watchedActor, reason -> "ended");
      else if (message.equals("ended")) notified.countDown();
    });
    slowWatcher.sendMessage("watch");
    watcher.sendMessage("watch");
    assertTrue(scope.awaitQuiescence(Patience.LONG));
    watchedActor.onExit().thenRun(neverOpened::passUninterruptibly);

    watchedActor.askExit();

    Patience.await(notified);
  }

  @Promise("22.4")
  @Test
  void blockingExitCallbackDoesNotDelayKillOfPipelineStages() {
    var gate = new Gate();
    var interrupted = new CountDownLatch(1);
    var stages =
        Pipeline.<Integer, Integer>of(scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()), n -> n);
    var pipeline = stages.into(n -> {
      try {
        gate.pass();
      } catch (InterruptedException e) {
        interrupted.countDown();
      }
    });
    pipeline.onExit().thenRun(neverOpened::passUninterruptibly);
    pipeline.sendMessage(1);
    Patience.await(gate.entered);

    pipeline.kill();

    Patience.await(interrupted);
  }

  @Promise("12.1")
  @Test
  void timerThreadCallsNoDeadLetterListener() {
    var listenerThread = new AtomicReference<Thread>();
    var done = new CountDownLatch(1);
    try (var letters = ActorSystem.openScope("letters",
        options -> options.withDeadLetterListener(letter -> listenerThread.set(Thread.currentThread())))) {
      var actor = letters.anonymous().newActor((Object message) -> {});
      actor.close();

      ((Cell) actor).sendFromTimer(() -> {
        ((Cell) actor).send(new Envelope("late", null), Deadline.NO_WAIT);
        done.countDown();
      });

      Patience.await(done);
      assertNotSame(Thread.currentThread(), listenerThread.get());
      assertEquals(1, letters.report().unhandled().get(DeadLetter.Reason.UNDELIVERED));
    }
  }

  /**
   * When the limit of the request has passed, the time-out reads the text of the handled message.
   * In this test the text lets the handler continue, so the actor reaches the expired request.
   */
  @Promise("4.17")
  @Test
  void requestTimedOutInQueueIsNeverHandled() {
    var gate = new Gate();
    var paid = new AtomicInteger();
    var bank = scope.anonymous().newActorWithReturn((Object message) -> {
      if (message instanceof Integer euros) return paid.addAndGet(euros);
      gate.passUninterruptibly();
      return 0;
    });
    bank.sendMessage(new Object() {
      @Override
      public String toString() {
        gate.open(); // the time-out reads this text; now the handler can reach the next message
        return "a report";
      }
    });
    Patience.await(gate.entered);

    var timeout = assertThrows(AskTimeoutException.class, () -> bank.ask(100, SHORT));
    bank.close();

    assertTrue(timeout.getMessage().contains("its handler had not begun, and will not begin"), timeout::getMessage);
    assertEquals(0, paid.get());
  }

  @Test
  void exceptionCallsToStringOfRequestOnlyWhenTextIsRead() {
    var texts = new AtomicInteger();
    var request = new Object() {
      @Override
      public String toString() {
        return "text " + texts.incrementAndGet();
      }
    };
    var actor = scope.anonymous().newActorWithReturn((Object message) -> message);
    actor.close();
    var failure = assertThrows(ActorStoppedException.class, () -> actor.ask(request));

    boolean builtBeforeRead = texts.get() > 0;

    assertTrue(failure.getMessage().endsWith("did not answer text 1"), failure::getMessage);
    assertEquals(failure.getMessage(), failure.getMessage());
    assertFalse(builtBeforeRead);
  }
}
