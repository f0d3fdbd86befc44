package io.fibry.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorStats;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter.Reason;
import io.fibry.FailurePolicy;
import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.testing.Clock;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.Variants;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests how messages are gathered; see also {@link BatchFailureTest} and {@link BatchEndTest}. */
class BatchTest extends BatchFixture {
  private static final Duration SECOND = Duration.ofSeconds(1);

  BatchTest() {
    super(ActorScope.Options::withScheduler);
  }

  static List<String> strategies() {
    return List.copyOf(Variants.STRATEGIES.keySet());
  }

  // ---- on every strategy

  @Promise("22.10")
  @ParameterizedTest
  @MethodSource("strategies")
  void eachMessageIsInOneBatchInSendOrder(String strategy) {
    var batches = new ArrayList<List<Integer>>(); // needs no lock, because only one thread at a time adds batches
    Actor<Integer> log =
        Batch.ofLists(scope.anonymous().strategy(Variants.STRATEGIES.get(strategy)), 3, SECOND, batches::add);

    for (int i = 0; i < 10; i++) log.sendMessage(i);
    log.close();

    assertEquals(List.of(List.of(0, 1, 2), List.of(3, 4, 5), List.of(6, 7, 8), List.of(9)), batches);
    assertEquals(List.of(), letters.all);
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void batchIsHandledWhenFirstMessageHasWaitedLongEnough(String strategy) {
    Actor<String> log =
        Batch.ofLists(scope.anonymous().strategy(Variants.STRATEGIES.get(strategy)), 3, SECOND, received::add);
    log.sendMessage("a");
    awaitQuiet();
    clock.advance(Duration.ofMillis(600));
    log.sendMessage("b");
    awaitQuiet();

    clock.advance(Duration.ofMillis(400));
    awaitQuiet();

    assertEquals(List.of(List.of("a", "b")), received);
  }

  @Test
  void fullBatchIsHandledAtOnce() {
    Actor<String> log = Batch.ofLists(scope.anonymous().strategy(Strategy.CALLER), 2, SECOND, received::add);

    log.sendMessage("a");
    assertEquals(List.of(), received);
    log.sendMessage("b");

    assertEquals(List.of(List.of("a", "b")), received);
  }

  @Test
  void timerOfFullBatchDoesNotEndNextBatch() {
    Actor<String> log = Batch.ofLists(scope.anonymous().strategy(Strategy.CALLER), 2, SECOND, received::add);
    log.sendMessage("a");
    clock.advance(Duration.ofMillis(900));
    log.sendMessage("b");
    log.sendMessage("c");

    clock.advance(Duration.ofMillis(900));
    assertEquals(List.of(List.of("a", "b")), received);
    clock.advance(Duration.ofMillis(100));

    assertEquals(List.of(List.of("a", "b"), List.of("c")), received);
  }

  /**
   * When the first batch is handed over, the message of its timer is still queued behind b and c.
   * This message must not end the next batch.
   */
  @Test
  void lateTimerMessageOfBatchDoesNotEndNextBatch() {
    var gate = new Gate();
    Actor<String> log = Batch.ofMerged(scope.anonymous(), 5, SECOND, message -> {
      if (message.equals("x")) pass(gate);
      return message;
    }, (a, b) -> b, batch -> received.add(batch.keySet()));
    for (var message : List.of("a", "x", "b", "c")) log.sendMessage(message);
    Patience.await(gate.entered);

    clock.advance(SECOND);
    gate.open();
    awaitQuiet();

    assertEquals(List.of(Set.of("a", "x")), received);
  }

  @Test
  void waitOfBatchIsMeasuredFromItsFirstMessage() {
    Actor<String> log = Batch.ofLists(scope.anonymous().strategy(Strategy.CALLER), 3, SECOND, received::add);
    clock.advance(Duration.ofMillis(900));
    log.sendMessage("a");
    clock.advance(Duration.ofMillis(900));
    assertEquals(List.of(), received);

    clock.advance(Duration.ofMillis(100));

    assertEquals(List.of(List.of("a")), received);
  }

  @Test
  void batchSizeOneMakesOneBatchPerMessage() {
    Actor<String> log = Batch.ofLists(scope.anonymous().strategy(Strategy.CALLER), 1, SECOND, received::add);

    log.sendMessages(List.of("a", "b"));

    assertEquals(List.of(List.of("a"), List.of("b")), received);
  }

  /**
   * The mailbox is full, so the message of the batch's timer is lost. The next message finds that
   * the batch is due.
   */
  @Test
  void nextMessageEndsDueBatchIfTimerMessageWasLost() throws Exception {
    var gate = new Gate();
    Actor<String> log = Batch.ofMerged(scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.BLOCK)), 10, SECOND,
        message -> message, (a, b) -> {
          pass(gate);
          return b;
        }, received::add);
    log.sendMessage("a");
    log.sendMessage("a");
    Patience.await(gate.entered);
    log.sendMessage("b");

    clock.advance(SECOND);
    gate.open();
    awaitQuiet();

    assertEquals(List.of(Map.of("a", "a")), received);
  }

  static void pass(Gate gate) {
    try {
      gate.pass();
    } catch (InterruptedException interrupted) {
      throw new AssertionError(interrupted);
    }
  }

  @Test
  void emptyBatchHasNoTimer() {
    var timerCount = new AtomicInteger();
    var countingClock = new Clock() {
      @Override
      public Timer schedule(Duration delay, Runnable task) {
        timerCount.incrementAndGet();
        var timer = super.schedule(delay, task);
        return () -> {
          timerCount.decrementAndGet();
          return timer.cancel();
        };
      }
    };
    try (var ownScope =
        ActorSystem.openScope("own", o -> o.withScheduler(countingClock).withStrategy(Strategy.CALLER))) {
      Actor<String> log = Batch.ofLists(ownScope.anonymous(), 2, SECOND, received::add);
      assertEquals(0, timerCount.get());
      log.sendMessage("a");
      assertEquals(1, timerCount.get());

      log.sendMessage("b");

      assertEquals(0, timerCount.get());
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {Long.MAX_VALUE, Long.MAX_VALUE / 1_000_000_000})
  void closeHandlesGatheredMessagesDespiteEndlessBatchWait(long seconds) {
    Actor<String> log = Batch.ofLists(scope.anonymous(), 2, Duration.ofSeconds(seconds), received::add);

    log.sendMessage("a");
    log.close();

    assertEquals(List.of(List.of("a")), received);
  }

  @Test
  void equalMessagesAreCountedInOrderOfFirstOccurrence() {
    Actor<String> clicks =
        Batch.ofCounts(scope.anonymous(), 5, SECOND, counts -> received.add(List.copyOf(counts.entrySet())));

    for (var page : List.of("home", "shop", "home", "about", "home", "shop")) clicks.sendMessage(page);
    clicks.close();

    assertEquals(List.of(List.of(Map.entry("home", 3L), Map.entry("shop", 1L), Map.entry("about", 1L)),
        List.of(Map.entry("shop", 1L))), received);
  }

  @Test
  void messagesOfOneKeyAreMergedInSendOrder() {
    Actor<String> words = Batch.ofMerged(scope.anonymous(), 4, SECOND, word -> word.charAt(0),
        (a, b) -> a + b, merged -> received.add(List.copyOf(merged.entrySet())));

    for (var word : List.of("b1", "a1", "b2", "b3", "a2")) words.sendMessage(word);
    words.close();

    assertEquals(List.of(List.of(Map.entry('b', "b1b2b3"), Map.entry('a', "a1")), List.of(Map.entry('a', "a2"))),
        received);
  }

  @Test
  void handlerCannotChangeItsBatch() {
    Actor<String> log = Batch.ofLists(scope.anonymous(), 1, SECOND,
        batch -> assertThrows(UnsupportedOperationException.class, batch::removeFirst));
    Actor<String> counts = Batch.ofCounts(scope.anonymous(), 1, SECOND,
        batch -> assertThrows(UnsupportedOperationException.class, batch::clear));

    log.sendMessage("a");
    counts.sendMessage("a");
    awaitQuiet();

    assertEquals(List.of(), letters.all);
  }

  @Test
  void nextBatchIsGatheredWhileAnotherIsHandled() {
    var gate = new Gate();
    var gatheredMessages = new CopyOnWriteArrayList<Integer>();
    Actor<Integer> log = Batch.ofMerged(scope.anonymous(), 2, SECOND, message -> {
      gatheredMessages.add(message);
      return message;
    }, (a, b) -> b, batch -> gate.pass());
    log.sendMessages(List.of(1, 2));
    Patience.await(gate.entered);

    log.sendMessages(List.of(3, 4, 5));
    Patience.eventually(() -> gatheredMessages.contains(5));

    assertEquals(List.of(1, 2, 3, 4, 5), gatheredMessages);
  }

  /**
   * Senders block after 32 messages: one batch of 10 is being handled, one waits for the handler,
   * the gatherer holds one, and its mailbox holds two messages.
   */
  @Test
  void slowHandlerBlocksSenders() {
    var gate = new Gate();
    Actor<Integer> log =
        Batch.ofLists(scope.anonymous().mailbox(Mailbox.bounded(2, Overflow.BLOCK)), 10, SECOND, batch -> gate.pass());
    var sentCount = new AtomicInteger();

    var sender = Patience.startFiber(() -> IntStream.range(0, 40).forEach(i -> {
      log.sendMessage(i);
      sentCount.incrementAndGet();
    }));
    Patience.eventually(() -> sentCount.get() == 32);
    Patience.awaitParked(sender);

    assertEquals(32, sentCount.get());
    gate.open();
    Patience.awaitEnd(sender);
  }

  record Question() implements Request<Question, String> {}

  /**
   * The handler waits for an answer of the gatherer, which holds a full batch and cannot hand it
   * over to the waiting handler. The question fails because of this cycle. Afterwards the gatherer
   * must set a timer for the full batch, because no later message would cause the hand-over.
   */
  @Test
  void fullBatchIsHandledAfterAskOfItsHandlerToBatchFails() {
    var gate = new Gate();
    var allSent = new CountDownLatch(1);
    var self = new CompletableFuture<Actor<Object>>();
    var asker = new CompletableFuture<Thread>();
    Actor<Object> log = Batch.ofMerged(scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()), 2, SECOND,
        message -> {
          if (message.equals("b1")) gate.passUninterruptibly();
          return message;
        }, (a, b) -> a, merged -> {
          if (merged.containsKey("a1")) {
            Patience.await(allSent);
            asker.complete(Thread.currentThread());
            assertThrows(RequestException.class, () -> self.get().ask(new Question(), Patience.LONG));
          }
          received.addAll(merged.keySet());
        });
    self.complete(log);
    for (var message : List.of("a1", "a2", "b1", "b2", "c1", "c2")) log.sendMessage(message);
    Patience.await(gate.entered);
    allSent.countDown();
    // the last thread that begins to wait gets the exception, so the handler must wait first
    Patience.awaitParked(Patience.value(asker));
    assertEquals(4, scope.actors().stream().mapToLong(ActorStats::queued).sum()); // b2, c1, c2 and the question

    gate.open();
    awaitQuiet();
    assertEquals(List.of("a1", "a2", "b1", "b2"), received);
    clock.advance(SECOND);
    awaitQuiet();

    assertEquals(List.of("a1", "a2", "b1", "b2", "c1", "c2"), received);
  }

  @Test
  void defaultMailboxHoldsUpTo1024Messages() {
    var gate = new Gate();
    Actor<Integer> log = Batch.ofLists(scope.anonymous(), 1, SECOND, batch -> gate.pass());
    log.sendMessage(1);
    Patience.await(gate.entered);
    var sentCount = new AtomicInteger();

    var sender = Patience.startFiber(() -> IntStream.range(0, 2_000).forEach(i -> {
      log.sendMessage(i);
      sentCount.incrementAndGet();
    }));
    Patience.eventually(() -> sentCount.get() == 1026);
    Patience.awaitParked(sender);

    assertEquals(1026, sentCount.get());
    gate.open();
    Patience.awaitEnd(sender);
  }

  @Test
  void batchRejectsMessagesWhenMailboxOfBuilderIsFull() {
    var gate = new Gate();
    Actor<Integer> log =
        Batch.ofLists(scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.REJECT)), 1, SECOND, batch -> gate.pass());
    log.sendMessage(1);
    Patience.await(gate.entered);

    Patience.eventually(() -> !log.sendMessage(2));

    assertFalse(letters.messages(Reason.REJECTED).isEmpty());
  }
}
