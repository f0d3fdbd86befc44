package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.engine.cell.Cell;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.Envelope;
import io.fibry.flow.Pipeline;
import io.fibry.pool.Pools;
import io.fibry.support.Patience;
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

/** User code that never returns holds up no end, no limit, and no other user's code. */
class BlockedUserCodeTest {
  private static final Duration SHORT = Duration.ofMillis(20);

  private final ActorScope scope = ActorSystem.openScope("held", options -> options.withKillGrace(SHORT));
  private final Gate never = new Gate();

  /** A message whose text needs a lock that its handler keeps. */
  private static final class Document implements Request<Document, String> {
    final StringBuffer text = new StringBuffer("text");

    @Override
    public String toString() {
      return text.toString();
    }
  }

  @AfterEach
  void releases() {
    Gate.openAll();
    scope.close();
  }

  private ActorBuilder<Object> builder(boolean pool) {
    var builder = scope.anonymous().strategy(Strategy.THREAD).onFailure(FailurePolicy.resume().withoutLog());
    return pool ? Pools.fixed(builder, 1) : builder;
  }

  /** Keeps the lock of a document, at a gate. */
  private static Actor<Object> keeper(ActorBuilder<Object> builder, Gate gate) {
    return builder.newActor((Object message, ActorContext<Object> context) -> {
      synchronized (((Document) message).text) {
        gate.passDeaf();
      }
    });
  }

  private void closes() {
    Patience.joined(Patience.startFiber(() -> scope.closeWithin(SHORT)));
  }

  @Promise({"7.5", "16.5"})
  @ParameterizedTest
  @ValueSource(strings = {"the handled request", "a waiting request", "both, behind allOf"})
  void blockingRequestCallbackDoesNotDelayCutOff(String chainedTo) {
    var gate = new Gate();
    var actor = builder(false).newActorWithReturn((String message) -> {
      gate.passDeaf();
      return message;
    });
    var handled = actor.sendMessageReturn("handled");
    Patience.await(gate.entered);
    var waits = actor.sendMessageReturn("waits");
    switch (chainedTo) {
      case "the handled request" -> handled.whenComplete((value, failure) -> never.passDeaf());
      case "a waiting request" -> waits.whenComplete((value, failure) -> never.passDeaf());
      default -> CompletableFuture.allOf(handled, waits).whenComplete((value, failure) -> never.passDeaf());
    }
    var behind = actor.sendMessageReturn("behind");

    closes();

    assertTrue(actor.onExit().isDone());
    assertTrue(Patience.failure(behind) instanceof ActorStoppedException);
  }

  @Promise("7.5")
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void blockingToStringDoesNotDelayCutOff(boolean pool) {
    var gate = new Gate();
    var actor = keeper(builder(pool), gate);
    var document = new Document();
    var handled = actor.sendMessageReturn(document);
    Patience.await(gate.entered);
    var waits = actor.sendMessageReturn(document);

    closes();

    assertTrue(actor.onExit().isDone());
    for (var told : List.of(handled, waits)) assertTrue(
        Patience.failure(told).getMessage().contains("Document (its toString did not return in time)"));
  }

  @Promise("4.6")
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void blockingToStringDoesNotDelayAskLimit(boolean waits) {
    var gate = new Gate();
    var actor = keeper(builder(false), gate);
    var document = new Document();
    if (waits) {
      actor.sendMessage(document);
      Patience.await(gate.entered);
    }

    assertThrows(AskTimeoutException.class, () -> actor.ask(document, SHORT));
  }

  @Promise("7.8")
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void blockingExitCallbackDoesNotDelayWaiters(boolean closes) {
    var actor = scope.anonymous().newActor((Object message) -> {});
    var other = new CountDownLatch(1);
    for (int i = 0; i < 3; i++) actor.onExit().thenRun(never::passDeaf);
    actor.onExit().thenRun(other::countDown);

    if (closes) closes();
    else Patience.joined(Patience.startFiber(actor::close));

    assertTrue(actor.onExit().isDone());
    Patience.await(other);
  }

  @Promise("18.1")
  @Test
  void blockingExitCallbackDoesNotDelayWatcher() {
    var told = new CountDownLatch(1);
    var watched = scope.anonymous().newActor((Object message) -> {});
    var slow =
        scope.anonymous().newActor((Object message, ActorContext<Object> context) -> context.watch(watched, reason -> {
          never.passDeaf();
          return "late";
        }));
    var watcher = scope.anonymous().newActor((Object message, ActorContext<Object> context) -> {
      if (message.equals("watch")) context.watch(watched, reason -> "gone");
      else if (message.equals("gone")) told.countDown();
    });
    slow.sendMessage("watch");
    watcher.sendMessage("watch");
    assertTrue(scope.awaitQuiescence(Patience.LONG));
    watched.onExit().thenRun(never::passDeaf);

    watched.askExit();

    Patience.await(told);
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
      } catch (InterruptedException killed) {
        interrupted.countDown();
      }
    });
    pipeline.onExit().thenRun(never::passDeaf);
    pipeline.sendMessage(1);
    Patience.await(gate.entered);

    pipeline.kill();

    Patience.await(interrupted);
  }

  @Promise("12.1")
  @Test
  void timerThreadCallsNoDeadLetterListener() {
    var listening = new AtomicReference<Thread>();
    var done = new CountDownLatch(1);
    try (var letters = ActorSystem.openScope("letters",
        options -> options.withDeadLetters(letter -> listening.set(Thread.currentThread())))) {
      var actor = letters.anonymous().newActor((Object message) -> {});
      actor.close();

      ((Cell) actor).sendFromTimer(() -> {
        ((Cell) actor).send(new Envelope("late", null), Deadline.NO_WAIT);
        done.countDown();
      });

      Patience.await(done);
      assertNotSame(Thread.currentThread(), listening.get());
      assertEquals(1, letters.report().unhandled().get(DeadLetter.Reason.UNDELIVERED));
    }
  }

  /** The place of a request is found out after its time, and while that takes, its turn comes. */
  @Promise("4.17")
  @Test
  void requestTimedOutBeforeItsTurnIsNeverHandled() {
    var gate = new Gate();
    var paid = new AtomicInteger();
    var bank = scope.anonymous().newActorWithReturn((Object message) -> {
      if (message instanceof Integer euros) return paid.addAndGet(euros);
      gate.passDeaf();
      return 0;
    });
    bank.sendMessage(new Object() {
      @Override
      public String toString() {
        gate.open(); // its text is asked for: the turn of the next one comes
        return "a report";
      }
    });
    Patience.await(gate.entered);

    var late = assertThrows(AskTimeoutException.class, () -> bank.ask(100, SHORT));
    bank.close();

    assertTrue(late.getMessage().contains("its turn had not come, and will not"), late::getMessage);
    assertEquals(0, paid.get());
  }

  @Test
  void requestTextIsBuiltWhenRead() {
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

    boolean early = texts.get() > 0;

    assertTrue(failure.getMessage().endsWith("did not answer text 1"), failure::getMessage);
    assertEquals(failure.getMessage(), failure.getMessage());
    assertFalse(early);
  }
}
