package io.fibry.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorSystem;
import io.fibry.AskCycleException;
import io.fibry.DeadLetter;
import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.FailurePolicy;
import io.fibry.NoReplyException;
import io.fibry.Request;
import io.fibry.Strategy;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.LeakProbe;
import io.fibry.testing.Promise;
import io.fibry.testing.Variants;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that the end of a batch loses no message. */
class BatchEndTest extends BatchFixture {
  private static final Duration ONE_DAY = Duration.ofDays(1);

  BatchEndTest() {
    super((o, clock) -> o.withDrainLimit(Patience.LONG).withKillGrace(Duration.ofHours(1)));
  }

  // ---- the end of a batch

  @Test
  void completionOfOnExitFutureDoesNotEndBatch() {
    var batch = newBatch("FIBER");
    var cancelledFuture = batch.onExit();
    cancelledFuture.cancel(true);
    batch.onExit().complete(new ExitReason.Killed());
    batch.sendMessage("a");

    assertFalse(batch.onExit().isDone());
    batch.close();
    assertTrue(cancelledFuture.isCancelled());
    assertEquals(new ExitReason.Finished(), batch.onExit().resultNow());
    assertEquals(List.of(List.of("a")), received);
  }

  @Promise("22.11")
  @ParameterizedTest
  @MethodSource("io.fibry.flow.BatchTest#strategies")
  void askExitHandlesGatheredMessages(String strategy) {
    var batch = newBatch(strategy);
    batch.sendMessage("a");
    awaitQuiet();

    batch.askExit();
    Patience.awaitEnd(batch::waitForExit);

    assertEquals(List.of(List.of("a")), received);
    assertEquals(new ExitReason.Stopped(), batch.onExit().resultNow());
    assertFalse(batch.sendMessage("b"));
  }

  @ParameterizedTest
  @MethodSource("io.fibry.flow.BatchTest#strategies")
  void poisonPillEndsBatchAfterGatheredMessages(String strategy) {
    var batch = newBatch(strategy);
    batch.sendMessage("a");

    batch.sendPoisonPill();
    Patience.awaitEnd(batch::waitForExit);

    assertEquals(List.of(List.of("a")), received);
    assertEquals(new ExitReason.Finished(), batch.onExit().resultNow());
    Patience.eventually(() -> !scope.dump().contains("log"));
  }

  private Actor<String> newBatch(String strategy) {
    return Batch.ofLists(scope.named("log").strategy(Variants.STRATEGIES.get(strategy)), 3, ONE_DAY, received::add);
  }

  @Test
  void closingScopeHandlesGatheredMessages() {
    Actor<String> batch = newBatch("FIBER");
    batch.sendMessage("a");

    scope.close();

    assertEquals(List.of(List.of("a")), received);
    assertEquals(new ExitReason.Stopped(), Patience.value(batch.onExit())); // completed on another thread
  }

  @Test
  void closeWithinReportsMessagesOfBlockedBatchAsDeadLetters() {
    var gate = new Gate();
    Actor<Integer> batch = Batch.ofLists(scope.anonymous(), 2, ONE_DAY, items -> gate.pass());
    batch.sendMessages(List.of(1, 2, 3, 4, 5, 6, 7));
    Patience.await(gate.entered);

    var report = scope.closeWithin(Duration.ofMillis(50));

    assertEquals(7, flattened(report.deadLetters().stream().map(DeadLetter::message).toList()).size(),
        report::toString);
    assertEquals(List.of(), report.unresponsive());
  }

  /** Returns all messages, including the messages inside batches. */
  static List<Object> flattened(List<Object> messages) {
    var result = new ArrayList<>();
    for (var message : messages) {
      if (message instanceof List<?> items) result.addAll(items);
      else if (message instanceof Map<?, ?> items) result.addAll(items.keySet());
      else result.add(message);
    }
    return result;
  }

  @Promise("22.11")
  @Test
  void killInterruptsHandlerAndMakesAllMessagesDeadLetters() {
    var gate = new Gate();
    Actor<Integer> batch =
        Batch.ofLists(scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()), 2, ONE_DAY,
            items -> gate.pass());
    batch.sendMessages(List.of(1, 2));
    Patience.await(gate.entered);
    batch.sendMessages(List.of(3, 4, 5, 6, 7));

    batch.kill();
    Patience.awaitEnd(batch::waitForExit);

    assertEquals(new ExitReason.Killed(), batch.onExit().resultNow());
    assertEquals(List.of(List.of(1, 2)), letters.messages(Reason.FAILED));
    Patience
        .eventually(
            () -> flattened(letters.messages()).stream().sorted().toList().equals(List.of(1, 2, 3, 4, 5, 6, 7)));
  }

  @Test
  void killedBatchHandlesGatheredMessageOrMakesItDeadLetter() {
    Actor<Integer> batch = Batch.ofLists(scope.anonymous(), 2, ONE_DAY, items -> received.add(items));
    batch.sendMessage(1);
    awaitQuiet();

    batch.kill();
    Patience.awaitEnd(batch::waitForExit);

    Patience
        .eventually(() -> flattened(letters.messages()).equals(List.of(1)) || flattened(received).equals(List.of(1)));
  }

  /**
   * {@code find} returns only the gatherer of the batch. At its end, the gatherer waits for the
   * actor that runs the handler. The kill interrupts this wait, and the gatherer then kills the
   * handler's actor.
   */
  @Test
  void killOfActorFoundByNameInterruptsBatchHandler() {
    var gate = new Gate();
    Actor<String> batch =
        Batch.ofLists(scope.named("log").protocol(String.class).onFailure(FailurePolicy.resume().withoutLog()), 1,
            ONE_DAY, items -> gate.pass());
    batch.sendMessage("a");
    Patience.await(gate.entered);
    batch.sendPoisonPill();
    var gatherer = scope.find("log", String.class).orElseThrow();
    Patience.eventually(() -> !gatherer.sendMessage("b"));

    gatherer.kill();

    Patience.awaitEnd(batch::waitForExit); // this end comes long before the kill grace of one hour is over
    assertEquals(List.of(List.of("a")), letters.messages(Reason.FAILED));
  }

  @Test
  void batchEndsAfterKillGraceIfHandlerIgnoresKill() {
    var gate = new Gate();
    try (var hastyScope = ActorSystem.openScope("hasty", o -> o.withKillGrace(Duration.ofMillis(20)))) {
      Actor<Integer> batch = Batch.ofLists(hastyScope.anonymous(), 1, ONE_DAY, items -> gate.passUninterruptibly());
      batch.sendMessage(1);
      Patience.await(gate.entered);

      batch.kill();
      Patience.awaitEnd(batch::waitForExit);

      assertEquals(new ExitReason.Killed(), batch.onExit().resultNow());
      gate.open();
    }
  }

  @Test
  void closeOnExitResourcesCloseInReverseAfterLastBatch() {
    Actor<String> batch =
        newBatch("FIBER").closeOnExit(() -> received.add("first resource"), () -> received.add("second resource"));
    batch.sendMessage("a");

    batch.close();

    assertEquals(List.of(List.of("a"), "second resource", "first resource"), received);
  }

  @Test
  void closeFromBatchHandlerReturnsBeforeBatchEnds() throws Exception {
    var self = new CompletableFuture<Actor<String>>();
    Actor<String> batch = Batch.ofLists(scope.anonymous(), 1, ONE_DAY, items -> {
      self.get().close();
      received.add(items);
    });
    self.complete(batch);

    batch.sendMessage("a");

    Patience.awaitEnd(batch::waitForExit);
    assertEquals(List.of(List.of("a")), received);
  }

  @Test
  void closeFromKeyFunctionReturnsBeforeBatchEnds() {
    var self = new AtomicReference<Actor<String>>();
    Actor<String> batch = Batch.ofMerged(scope.anonymous(), 5, ONE_DAY, message -> {
      self.get().close();
      return message;
    }, (a, b) -> b, received::add);
    self.set(batch);

    batch.sendMessage("a");

    Patience.awaitEnd(batch::waitForExit);
    assertEquals(List.of(Map.of("a", "a")), received);
  }

  @Test
  void handlerWaitingForEndOfItsBatchGetsCycleException() throws Exception {
    var self = new CompletableFuture<Actor<String>>();
    Actor<String> batch = Batch.ofLists(scope.anonymous(), 1, ONE_DAY,
        items -> received.add(assertThrows(AskCycleException.class, () -> self.get().waitForExit(Patience.LONG))));
    self.complete(batch);

    batch.sendMessage("a");
    batch.close();

    assertInstanceOf(AskCycleException.class, received.getFirst());
  }

  record Ping() implements Request<Ping, String> {}

  @Test
  void requestToBatchIsHandledAndThrowsNoReplyException() {
    Actor<Object> batch = Batch.ofLists(scope.anonymous(), 1, ONE_DAY, received::add);

    assertThrows(NoReplyException.class, () -> batch.ask(new Ping()));

    batch.close();
    assertEquals(List.of(List.of(new Ping())), received);
  }

  @Test
  void batchRunsExecutedTasksAndGathersDelayedMessages() {
    Actor<String> batch = Batch.ofLists(scope.anonymous(), 1, ONE_DAY, received::add);

    batch.execute(() -> received.add("task"));
    awaitQuiet();
    batch.sendMessageLater("later", Duration.ofMillis(1));
    Patience.eventually(() -> received.size() == 2);

    assertEquals(List.of("task", List.of("later")), received);
  }

  @Test
  void watcherIsNotifiedWhenBatchEnds() {
    Actor<String> batch = newBatch("FIBER");
    var watcher = scope.anonymous().newActor((Object message, ActorContext<Object> context) -> {
      if (message.equals("watch")) context.watch(batch, reason -> reason);
      else received.add(message);
    });
    watcher.sendMessage("watch");
    awaitQuiet();

    batch.close();
    Patience.eventually(() -> !received.isEmpty());

    assertEquals(List.of(new ExitReason.Finished()), received);
  }

  @Test
  void interruptedWaitForEndOfBatchThrowsCancellation() {
    var batch = newBatch("FIBER");
    Thread.currentThread().interrupt();

    assertThrows(CancellationException.class, batch::waitForExit);

    assertTrue(Thread.interrupted());
    assertFalse(batch.waitForExit(Duration.ZERO));
  }

  @Test
  void closedBatchLeavesNoThread() {
    Actor<String> batch = Batch.ofLists(scope.named("threaded").strategy(Strategy.THREAD), 2, ONE_DAY, received::add);
    batch.sendMessage("a");

    batch.close();

    Patience.eventually(() -> Thread.getAllStackTraces().keySet().stream()
        .noneMatch(thread -> thread.getName().startsWith("threaded")));
  }

  @Test
  void endedBatchIsGarbage() {
    var message = new Object();
    var batch = new AtomicReference<>(Batch.<Object>ofLists(scope.anonymous(), 2, ONE_DAY, items -> {}));
    batch.get().sendMessage(message);
    batch.get().close();
    var references = List.of(new WeakReference<>(message), new WeakReference<Object>(batch.getAndSet(null)));
    message = null;

    assertTrue(LeakProbe.collected(references));
  }

  @Test
  void unreferencedIdleBatchIsGarbage() {
    var batch = new AtomicReference<>(Batch.<Object>ofLists(ActorSystem.anonymous(), 1, ONE_DAY, items -> {}));
    batch.get().sendMessage("a");
    var reference = new WeakReference<Object>(batch.getAndSet(null));

    assertTrue(LeakProbe.collected(reference));
  }
}
