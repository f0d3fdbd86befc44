package io.fibry.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.AskCycleException;
import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.FailurePolicy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tests that a failure loses no message of a batch and repeats none. */
class BatchFailureTest extends BatchFixture {
  private static final Duration ONE_DAY = Duration.ofDays(1);

  BatchFailureTest() {
    super((o, clock) -> o.withKillGrace(Duration.ofHours(1)));
  }

  /**
   * A regression test: the first version of the library kept a failed batch and sent it again with
   * the next batch.
   */
  @Promise("22.11")
  @Test
  void failedBatchIsSingleDeadLetterAndIsNotHandledAgain() {
    var failure = new IOException("disk full");
    Actor<Integer> log =
        Batch.ofLists(scope.named("log").onFailure(FailurePolicy.resume().withoutLog()), 2, ONE_DAY, batch -> {
          received.add(batch);
          if (batch.contains(1)) throw failure;
        });

    for (int i = 1; i <= 4; i++) log.sendMessage(i);
    log.close();

    assertEquals(List.of(List.of(1, 2), List.of(3, 4)), received);
    assertEquals(List.of(List.of(1, 2)), letters.messages());
    assertEquals(List.of("log/batch", Reason.FAILED, failure), List.of(letters.all.getFirst().actor(),
        letters.all.getFirst().reason(), letters.all.getFirst().cause().orElseThrow()));
    assertEquals(1, scope.report().unhandled().get(Reason.FAILED));
  }

  @Test
  void logShowsMessagesOfFailedBatch() {
    try (var logged = new Logged()) {
      Actor<Integer> log = Batch.ofLists(scope.named("log"), 2, ONE_DAY, batch -> {
        throw new IOException("disk full");
      });
      log.sendMessages(List.of(1, 2));
      log.close();

      assertTrue(logged.text().contains("actor 'log/batch' failed at [1, 2]; it continues"), logged.text());
    }
  }

  @Test
  void deadLetterOfFailedBatchCanBeResent() {
    var tries = new AtomicInteger();
    Actor<Integer> log =
        Batch.ofLists(scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()), 2, ONE_DAY, batch -> {
          if (tries.incrementAndGet() == 1) throw new IOException("disk full");
          received.add(batch);
        });
    log.sendMessages(List.of(1, 2));
    awaitQuiet();

    assertTrue(letters.all.getFirst().resend());
    awaitQuiet();

    assertEquals(List.of(List.of(1, 2)), received);
  }

  @Test
  void retryHandlesTheSameBatchAgain() {
    var tries = new AtomicInteger();
    Actor<Integer> log =
        Batch.ofLists(scope.anonymous().onFailure(FailurePolicy.resume().withRetries(2)), 2, ONE_DAY, batch -> {
          if (tries.incrementAndGet() <= 2) throw new IOException("disk full");
          received.add(batch);
        });

    log.sendMessages(List.of(1, 2));
    log.close();

    assertEquals(List.of(List.of(1, 2)), received);
    assertEquals(List.of(), letters.all);
  }

  @Test
  void stopPolicyEndsBatchWithFailureOfHandler() {
    var failure = new IOException("disk full");
    Actor<Integer> log =
        Batch.ofLists(scope.anonymous().onFailure(FailurePolicy.stop().withoutLog()), 2, ONE_DAY, batch -> {
          throw failure;
        });
    log.sendMessages(List.of(1, 2, 3));

    Patience.awaitEnd(log::waitForExit);

    assertEquals(new ExitReason.Failed(failure), log.onExit().resultNow());
    assertFalse(log.sendMessage(4));
    Patience.eventually(
        () -> BatchEndTest.flattened(letters.messages()).stream().sorted().toList().equals(List.of(1, 2, 3, 4)));
  }

  @Test
  void onlyMessageWhoseKeyFunctionThrowsFails() {
    Actor<String> words = Batch.ofMerged(scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()), 2, ONE_DAY,
        word -> word.charAt(0), (a, b) -> a + b, received::add);

    for (var word : List.of("", "a", "", "b")) words.sendMessage(word);
    words.close();

    assertEquals(List.of(Map.of('a', "a", 'b', "b")), received);
    assertEquals(List.of("", ""), letters.messages(Reason.FAILED));
  }

  @Test
  void onlyMessageThatCannotBeMergedFails() {
    Actor<String> words = Batch.ofMerged(scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()), 3, ONE_DAY,
        word -> word.charAt(0), (a, b) -> {
          if (b.equals("a2")) throw new IllegalStateException("no");
          return b.equals("a3") ? null : a + b;
        }, received::add);

    for (var word : List.of("a1", "a2", "a3", "a4", "b")) words.sendMessage(word);
    words.close();

    assertEquals(List.of(Map.of('a', "a1a4", 'b', "b")), received);
    assertEquals(List.of("a2", "a3"), letters.messages(Reason.FAILED));
  }

  @Test
  void deadLetterCauseSaysThatKeyOfMessageIsNull() {
    Actor<String> words = Batch.ofMerged(scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()), 3, ONE_DAY,
        word -> null, (a, b) -> b, received::add);

    words.sendMessage("a");
    words.close();

    assertEquals("the key of a message is null", letters.all.getFirst().cause().orElseThrow().getMessage());
  }

  @Test
  void restartAfterFailedKeyFunctionLosesNoMessage() {
    Actor<String> words = Batch.ofMerged(scope.anonymous().onFailure(FailurePolicy.restart().withoutLog()), 3, ONE_DAY,
        word -> word.charAt(0), (a, b) -> b, received::add);

    for (var word : List.of("a", "", "b")) words.sendMessage(word);
    words.close();

    assertEquals(List.of(Map.of('a', "a"), Map.of('b', "b")), received);
  }

  /** The handler waits for capacity of the gatherer. Later the gatherer waits for the handler. */
  @Test
  void handlerThatSendsToItsFullBatchContinuesWhenCapacityIsFree() throws Exception {
    var handlerGate = new Gate();
    var gathererGate = new Gate();
    var sender = new CompletableFuture<Thread>();
    var self = new CompletableFuture<Actor<Integer>>();
    Actor<Integer> log =
        Batch.ofMerged(scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.BLOCK)), 1, ONE_DAY, message -> {
          if (message == 3) BatchTest.pass(gathererGate);
          return message;
        }, (a, b) -> b, batch -> {
          received.addAll(batch.keySet());
          if (!batch.containsKey(1)) return;
          handlerGate.pass();
          sender.complete(Thread.currentThread());
          assertTrue(self.get().sendMessage(5));
        });
    self.complete(log);
    for (int i = 1; i <= 4; i++) log.sendMessage(i);
    Patience.await(handlerGate.entered);
    Patience.await(gathererGate.entered);

    handlerGate.open();
    Patience.awaitParked(Patience.value(sender));
    gathererGate.open();
    awaitQuiet();

    log.close();
    assertEquals(List.of(1, 2, 3, 4, 5), received);
    assertEquals(List.of(), letters.all);
  }

  /**
   * The handler waits, through a sink, for the end of the batch. The batch cannot end before its
   * handler returns.
   */
  @Test
  void handlerWaitingThroughSinkForBatchEndLosesNoMessage() throws Exception {
    var gate = new Gate();
    var self = new CompletableFuture<Actor<Integer>>();
    var waiter = new CompletableFuture<Thread>();
    var sink = scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()).newSink();
    Actor<Integer> log =
        Batch.ofLists(scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()), 2, ONE_DAY, batch -> {
          if (batch.contains(1)) {
            gate.pass();
            waiter.complete(Thread.currentThread());
            sink.execAndWait(state -> self.get().waitForExit());
          }
          received.addAll(batch);
        });
    self.complete(log);
    log.sendMessages(List.of(1, 2, 3, 4, 5));
    Patience.await(gate.entered);
    Patience.eventually(() -> scope.report().handled() >= 5);

    gate.open();
    Patience.awaitParked(Patience.value(waiter));
    log.askExit();
    Patience.awaitEnd(log::waitForExit);

    var messages = new ArrayList<Object>(received);
    messages.addAll(BatchEndTest.flattened(letters.messages()));
    assertEquals(List.of(1, 2, 3, 4, 5), messages.stream().sorted().toList());
    var failedBatch = letters.all.stream().filter(letter -> letter.message().equals(List.of(1, 2))).findFirst()
        .orElseThrow();
    assertInstanceOf(AskCycleException.class, failedBatch.cause().orElseThrow());
  }

  /**
   * The handler waits for capacity of the gatherer while the gatherer waits for the handler. The
   * cycle must be detected, so that neither of them hangs.
   */
  @Test
  void handlerSendToFullBatchSucceedsOrThrowsCycleException() throws Exception {
    var self = new CompletableFuture<Actor<Integer>>();
    var cycleCount = new AtomicInteger();
    var handled = new CopyOnWriteArrayList<Integer>();
    Actor<Integer> log = Batch.ofLists(
        scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.BLOCK)).onFailure(FailurePolicy.resume().withoutLog()), 2,
        ONE_DAY, batch -> {
          handled.addAll(batch);
          for (int message : batch) {
            if (message >= 1_000) continue;
            try {
              self.get().sendMessage(message + 1_000);
            } catch (AskCycleException cycle) {
              cycleCount.incrementAndGet();
            }
          }
        });
    self.complete(log);

    for (int i = 0; i < 500; i++) log.sendMessage(i);
    awaitQuiet();
    log.close();

    var messages = new ArrayList<Object>(BatchEndTest.flattened(letters.messages()));
    messages.addAll(handled);
    assertEquals(IntStream.range(0, 500).boxed().toList(),
        messages.stream().filter(member -> member instanceof Integer n && n < 1_000).sorted().toList());
    assertEquals(handled.stream().filter(n -> n < 1_000).count(),
        cycleCount.get() + messages.stream().filter(member -> member instanceof Integer n && n >= 1_000).count());
  }
}
