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
    var log = log("FIBER");
    var cancelledFuture = log.onExit();
    cancelledFuture.cancel(true);
    log.onExit().complete(new ExitReason.Killed());
    log.sendMessage("a");

    assertFalse(log.onExit().isDone());
    log.close();
    assertTrue(cancelledFuture.isCancelled());
    assertEquals(new ExitReason.Finished(), log.onExit().resultNow());
    assertEquals(List.of(List.of("a")), received);
  }

  @Promise("22.11")
  @ParameterizedTest
  @MethodSource("io.fibry.flow.BatchTest#strategies")
  void askExitHandlesGatheredMessages(String strategy) {
    var log = log(strategy);
    log.sendMessage("a");
    awaitQuiet();

    log.askExit();
    Patience.awaitEnd(log::waitForExit);

    assertEquals(List.of(List.of("a")), received);
    assertEquals(new ExitReason.Stopped(), log.onExit().resultNow());
    assertFalse(log.sendMessage("b"));
  }

  @ParameterizedTest
  @MethodSource("io.fibry.flow.BatchTest#strategies")
  void poisonPillEndsBatchAfterWaitingMessages(String strategy) {
    var log = log(strategy);
    log.sendMessage("a");

    log.sendPoisonPill();
    Patience.awaitEnd(log::waitForExit);

    assertEquals(List.of(List.of("a")), received);
    assertEquals(new ExitReason.Finished(), log.onExit().resultNow());
    Patience.eventually(() -> !scope.dump().contains("log"));
  }

  private Actor<String> log(String strategy) {
    return Batch.ofLists(scope.named("log").strategy(Variants.STRATEGIES.get(strategy)), 3, ONE_DAY, received::add);
  }

  @Test
  void closingScopeHandlesGatheredMessages() {
    Actor<String> log = log("FIBER");
    log.sendMessage("a");

    scope.close();

    assertEquals(List.of(List.of("a")), received);
    assertEquals(new ExitReason.Stopped(), Patience.value(log.onExit())); // completed on another thread
  }

  @Test
  void scopeClosedWithinShortLimitReportsEveryMessage() {
    var gate = new Gate();
    Actor<Integer> log = Batch.ofLists(scope.anonymous(), 2, ONE_DAY, batch -> gate.pass());
    log.sendMessages(List.of(1, 2, 3, 4, 5, 6, 7));
    Patience.await(gate.entered);

    var report = scope.closeWithin(Duration.ofMillis(50));

    assertEquals(7, flattened(report.deadLetters().stream().map(DeadLetter::message).toList()).size(),
        report::toString);
    assertEquals(List.of(), report.unresponsive());
  }

  /** Returns all messages, including the messages inside batches. */
  static List<Object> members(List<Object> messages) {
    var result = new ArrayList<>();
    for (var message : messages) {
      if (message instanceof List<?> batch) result.addAll(batch);
      else if (message instanceof Map<?, ?> batch) result.addAll(batch.keySet());
      else result.add(message);
    }
    return result;
  }

  @Promise("22.11")
  @Test
  void killInterruptsHandlerAndReportsEveryMessage() {
    var gate = new Gate();
    Actor<Integer> log =
        Batch.ofLists(scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()), 2, ONE_DAY,
            batch -> gate.pass());
    log.sendMessages(List.of(1, 2));
    Patience.await(gate.entered);
    log.sendMessages(List.of(3, 4, 5, 6, 7));

    log.kill();
    Patience.awaitEnd(log::waitForExit);

    assertEquals(new ExitReason.Killed(), log.onExit().resultNow());
    assertEquals(List.of(List.of(1, 2)), letters.messages(Reason.FAILED));
    Patience
        .eventually(() -> members(letters.messages()).stream().sorted().toList().equals(List.of(1, 2, 3, 4, 5, 6, 7)));
  }

  @Test
  void killOfIdleBatchReportsGatheredMessages() {
    Actor<Integer> log = Batch.ofLists(scope.anonymous(), 2, ONE_DAY, batch -> received.add(batch));
    log.sendMessage(1);
    awaitQuiet();

    log.kill();
    Patience.awaitEnd(log::waitForExit);

    Patience.eventually(() -> members(letters.messages()).equals(List.of(1)) || members(received).equals(List.of(1)));
  }

  /**
   * {@code find} returns only the gatherer of the batch. The kill interrupts the gatherer, which
   * waits for the handler's actor at its end, and then kills this actor.
   */
  @Test
  void killOfActorFoundByNameInterruptsBatchHandler() {
    var gate = new Gate();
    Actor<String> log =
        Batch.ofLists(scope.named("log").protocol(String.class).onFailure(FailurePolicy.resume().withoutLog()), 1,
            ONE_DAY, batch -> gate.pass());
    log.sendMessage("a");
    Patience.await(gate.entered);
    log.sendPoisonPill();
    var gatherer = scope.find("log", String.class).orElseThrow();
    Patience.eventually(() -> !gatherer.sendMessage("b"));

    gatherer.kill();

    Patience.awaitEnd(log::waitForExit); // this end comes long before the kill grace of one hour is over
    assertEquals(List.of(List.of("a")), letters.messages(Reason.FAILED));
  }

  @Test
  void handlerThatIgnoresKillIsCutOff() {
    var gate = new Gate();
    try (var hastyScope = ActorSystem.openScope("hasty", o -> o.withKillGrace(Duration.ofMillis(20)))) {
      Actor<Integer> log = Batch.ofLists(hastyScope.anonymous(), 1, ONE_DAY, batch -> gate.passUninterruptibly());
      log.sendMessage(1);
      Patience.await(gate.entered);

      log.kill();
      Patience.awaitEnd(log::waitForExit);

      assertEquals(new ExitReason.Killed(), log.onExit().resultNow());
      gate.open();
    }
  }

  @Test
  void closeOnExitRunsAfterLastBatch() {
    Actor<String> log = log("FIBER").closeOnExit(() -> received.add("closed first"), () -> received.add("before it"));
    log.sendMessage("a");

    log.close();

    assertEquals(List.of(List.of("a"), "before it", "closed first"), received);
  }

  @Test
  void closeFromBatchHandlerDoesNotWait() throws Exception {
    var self = new CompletableFuture<Actor<String>>();
    Actor<String> log = Batch.ofLists(scope.anonymous(), 1, ONE_DAY, batch -> {
      self.get().close();
      received.add(batch);
    });
    self.complete(log);

    log.sendMessage("a");

    Patience.awaitEnd(log::waitForExit);
    assertEquals(List.of(List.of("a")), received);
  }

  @Test
  void closeFromKeyFunctionOfBatchDoesNotWait() {
    var self = new AtomicReference<Actor<String>>();
    Actor<String> log = Batch.ofMerged(scope.anonymous(), 5, ONE_DAY, message -> {
      self.get().close();
      return message;
    }, (a, b) -> b, received::add);
    self.set(log);

    log.sendMessage("a");

    Patience.awaitEnd(log::waitForExit);
    assertEquals(List.of(Map.of("a", "a")), received);
  }

  @Test
  void handlerWaitingForEndOfItsBatchGetsCycleException() throws Exception {
    var self = new CompletableFuture<Actor<String>>();
    Actor<String> log = Batch.ofLists(scope.anonymous(), 1, ONE_DAY,
        batch -> received.add(assertThrows(AskCycleException.class, () -> self.get().waitForExit(Patience.LONG))));
    self.complete(log);

    log.sendMessage("a");
    log.close();

    assertInstanceOf(AskCycleException.class, received.getFirst());
  }

  record Ping() implements Request<Ping, String> {}

  @Test
  void requestIsGatheredAndGetsNoReply() {
    Actor<Object> log = Batch.ofLists(scope.anonymous(), 1, ONE_DAY, received::add);

    assertThrows(NoReplyException.class, () -> log.ask(new Ping()));

    log.close();
    assertEquals(List.of(List.of(new Ping())), received);
  }

  @Test
  void batchRunsTasksAndTakesTimerMessages() {
    Actor<String> log = Batch.ofLists(scope.anonymous(), 1, ONE_DAY, received::add);

    log.execute(() -> received.add("task"));
    awaitQuiet();
    log.sendMessageLater("later", Duration.ofMillis(1));
    Patience.eventually(() -> received.size() == 2);

    assertEquals(List.of("task", List.of("later")), received);
  }

  @Test
  void endOfBatchCanBeWatched() {
    Actor<String> log = log("FIBER");
    var watcher = scope.anonymous().newActor((Object message, ActorContext<Object> context) -> {
      if (message.equals("watch")) context.watch(log, reason -> reason);
      else received.add(message);
    });
    watcher.sendMessage("watch");
    awaitQuiet();

    log.close();
    Patience.eventually(() -> !received.isEmpty());

    assertEquals(List.of(new ExitReason.Finished()), received);
  }

  @Test
  void interruptedWaitForEndOfBatchThrowsCancellation() {
    var log = log("FIBER");
    Thread.currentThread().interrupt();

    assertThrows(CancellationException.class, log::waitForExit);

    assertTrue(Thread.interrupted());
    assertFalse(log.waitForExit(Duration.ZERO));
  }

  @Test
  void closedBatchLeavesNoThread() {
    Actor<String> log = Batch.ofLists(scope.named("threaded").strategy(Strategy.THREAD), 2, ONE_DAY, received::add);
    log.sendMessage("a");

    log.close();

    Patience.eventually(() -> Thread.getAllStackTraces().keySet().stream()
        .noneMatch(thread -> thread.getName().startsWith("threaded")));
  }

  @Test
  void endedBatchIsGarbage() {
    var message = new Object();
    var log = new AtomicReference<>(Batch.<Object>ofLists(scope.anonymous(), 2, ONE_DAY, batch -> {}));
    log.get().sendMessage(message);
    log.get().close();
    var references = List.of(new WeakReference<>(message), new WeakReference<Object>(log.getAndSet(null)));
    message = null;

    assertTrue(LeakProbe.collected(references));
  }

  @Test
  void unreferencedIdleBatchIsGarbage() {
    var log = new AtomicReference<>(Batch.<Object>ofLists(ActorSystem.anonymous(), 1, ONE_DAY, batch -> {}));
    log.get().sendMessage("a");
    var reference = new WeakReference<Object>(log.getAndSet(null));

    assertTrue(LeakProbe.collected(reference));
  }
}
