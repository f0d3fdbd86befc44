package io.fibry.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Clock;
import io.fibry.DeadLetter.Reason;
import io.fibry.Gate;
import io.fibry.Letters;
import io.fibry.Promise;
import io.fibry.Strategy;
import io.fibry.Variants;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** See also {@link BatchFailureTest} and {@link BatchEndTest}. */
class BatchTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final ManualScheduler clock = new ManualScheduler();
  private final Letters letters = new Letters();
  private final ActorScope scope =
      ActorSystem.openScope("batches", o -> o.withScheduler(clock).withDeadLetters(letters));
  private final List<Object> seen = new CopyOnWriteArrayList<>();

  static List<String> strategies() {
    return List.copyOf(Variants.STRATEGIES.keySet());
  }

  @AfterEach
  void close() {
    Gate.openAll();
    scope.closeWithin(Patience.LONG);
  }

  private void quiet() {
    assertTrue(scope.awaitQuiescence(Patience.LONG));
  }

  // ---- on every strategy

  @Promise("22.10")
  @ParameterizedTest
  @MethodSource("strategies")
  void everyMessageIsInOneBatchInItsOrder(String strategy) {
    var batches = new ArrayList<List<Integer>>(); // plain: one thread at a time
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
        Batch.ofLists(scope.anonymous().strategy(Variants.STRATEGIES.get(strategy)), 3, SECOND, seen::add);
    log.sendMessage("a");
    quiet();
    clock.advance(Duration.ofMillis(600));
    log.sendMessage("b");
    quiet();

    clock.advance(Duration.ofMillis(400));
    quiet();

    assertEquals(List.of(List.of("a", "b")), seen);
  }

  @Test
  void aFullBatchIsHandledAtOnce() {
    Actor<String> log = Batch.ofLists(scope.anonymous().strategy(Strategy.CALLER), 2, SECOND, seen::add);

    log.sendMessage("a");
    assertEquals(List.of(), seen);
    log.sendMessage("b");

    assertEquals(List.of(List.of("a", "b")), seen);
  }

  @Test
  void timeOfFullBatchDoesNotShortenNextBatch() {
    Actor<String> log = Batch.ofLists(scope.anonymous().strategy(Strategy.CALLER), 2, SECOND, seen::add);
    log.sendMessage("a");
    clock.advance(Duration.ofMillis(900));
    log.sendMessage("b");
    log.sendMessage("c");

    clock.advance(Duration.ofMillis(900));
    assertEquals(List.of(List.of("a", "b")), seen);
    clock.advance(Duration.ofMillis(100));

    assertEquals(List.of(List.of("a", "b"), List.of("c")), seen);
  }

  /** The timer's message waits already when its batch is handed over. */
  @Test
  void lateTimerMessageDoesNotShortenNextBatch() {
    var gate = new Gate();
    Actor<String> log = Batch.ofMerged(scope.anonymous(), 5, SECOND, message -> {
      if (message.equals("x")) pass(gate);
      return message;
    }, (a, b) -> b, batch -> seen.add(batch.keySet()));
    for (var message : List.of("a", "x", "b", "c")) log.sendMessage(message);
    Patience.await(gate.entered);

    clock.advance(SECOND);
    gate.open();
    quiet();

    assertEquals(List.of(Set.of("a", "x")), seen);
  }

  @Test
  void theTimeBeginsWithTheFirstMessageOfABatch() {
    Actor<String> log = Batch.ofLists(scope.anonymous().strategy(Strategy.CALLER), 3, SECOND, seen::add);
    clock.advance(Duration.ofMillis(900));
    log.sendMessage("a");
    clock.advance(Duration.ofMillis(900));
    assertEquals(List.of(), seen);

    clock.advance(Duration.ofMillis(100));

    assertEquals(List.of(List.of("a")), seen);
  }

  @Test
  void batchesOfOneAreHandledOneByOne() {
    Actor<String> log = Batch.ofLists(scope.anonymous().strategy(Strategy.CALLER), 1, SECOND, seen::add);

    log.sendMessages(List.of("a", "b"));

    assertEquals(List.of(List.of("a"), List.of("b")), seen);
  }

  /** The first message of the full mailbox finds the batch due. */
  @Test
  void nextMessageEndsBatchWhenTimerMessageIsLost() throws Exception {
    var gate = new Gate();
    Actor<String> log = Batch.ofMerged(scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.BLOCK)), 10, SECOND,
        message -> message, (a, b) -> {
          pass(gate);
          return b;
        }, seen::add);
    log.sendMessage("a");
    log.sendMessage("a");
    Patience.await(gate.entered);
    log.sendMessage("b");

    clock.advance(SECOND);
    gate.open();
    quiet();

    assertEquals(List.of(Map.of("a", "a")), seen);
  }

  static void pass(Gate gate) {
    try {
      gate.pass();
    } catch (InterruptedException interrupted) {
      throw new AssertionError(interrupted);
    }
  }

  @Test
  void anEmptyBatchHasNoTimer() {
    var timers = new AtomicInteger();
    var counting = new Clock() {
      @Override
      public Timer schedule(Duration delay, Runnable task) {
        timers.incrementAndGet();
        var timer = super.schedule(delay, task);
        return () -> {
          timers.decrementAndGet();
          return timer.cancel();
        };
      }
    };
    try (var own = ActorSystem.openScope("own", o -> o.withScheduler(counting).withStrategy(Strategy.CALLER))) {
      Actor<String> log = Batch.ofLists(own.anonymous(), 2, SECOND, seen::add);
      assertEquals(0, timers.get());
      log.sendMessage("a");
      assertEquals(1, timers.get());

      log.sendMessage("b");

      assertEquals(0, timers.get());
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {Long.MAX_VALUE, Long.MAX_VALUE / 1_000_000_000})
  void aWaitWithoutAnEndEndsWithTheBatch(long seconds) {
    Actor<String> log = Batch.ofLists(scope.anonymous(), 2, Duration.ofSeconds(seconds), seen::add);

    log.sendMessage("a");
    log.close();

    assertEquals(List.of(List.of("a")), seen);
  }

  @Test
  void equalMessagesAreCountedInTheOrderOfTheirFirst() {
    Actor<String> clicks =
        Batch.ofCounts(scope.anonymous(), 5, SECOND, counts -> seen.add(List.copyOf(counts.entrySet())));

    for (var page : List.of("home", "shop", "home", "about", "home", "shop")) clicks.sendMessage(page);
    clicks.close();

    assertEquals(List.of(List.of(Map.entry("home", 3L), Map.entry("shop", 1L), Map.entry("about", 1L)),
        List.of(Map.entry("shop", 1L))), seen);
  }

  @Test
  void messagesOfOneKeyAreMergedInTheirOrder() {
    Actor<String> words = Batch.ofMerged(scope.anonymous(), 4, SECOND, word -> word.charAt(0),
        (before, after) -> before + after, merged -> seen.add(List.copyOf(merged.entrySet())));

    for (var word : List.of("b1", "a1", "b2", "b3", "a2")) words.sendMessage(word);
    words.close();

    assertEquals(List.of(List.of(Map.entry('b', "b1b2b3"), Map.entry('a', "a1")), List.of(Map.entry('a', "a2"))), seen);
  }

  @Test
  void handlerCannotChangeItsBatch() {
    Actor<String> log = Batch.ofLists(scope.anonymous(), 1, SECOND,
        batch -> assertThrows(UnsupportedOperationException.class, batch::removeFirst));
    Actor<String> counts = Batch.ofCounts(scope.anonymous(), 1, SECOND,
        batch -> assertThrows(UnsupportedOperationException.class, batch::clear));

    log.sendMessage("a");
    counts.sendMessage("a");
    quiet();

    assertEquals(List.of(), letters.all);
  }

  @Test
  void theNextBatchIsGatheredWhileOneIsHandled() {
    var gate = new Gate();
    var gathered = new CopyOnWriteArrayList<Integer>();
    Actor<Integer> log = Batch.ofMerged(scope.anonymous(), 2, SECOND, message -> {
      gathered.add(message);
      return message;
    }, (a, b) -> b, batch -> gate.pass());
    log.sendMessages(List.of(1, 2));
    Patience.await(gate.entered);

    log.sendMessages(List.of(3, 4, 5));
    Patience.eventually(() -> gathered.contains(5));

    assertEquals(List.of(1, 2, 3, 4, 5), gathered);
  }

  /** One batch is handled, one waits, the gatherer holds one, and two messages wait. */
  @Test
  void aSlowHandlerHoldsTheSendersBack() {
    var gate = new Gate();
    Actor<Integer> log =
        Batch.ofLists(scope.anonymous().mailbox(Mailbox.bounded(2, Overflow.BLOCK)), 10, SECOND, batch -> gate.pass());
    var sent = new AtomicInteger();

    var sender = Patience.startFiber(() -> IntStream.range(0, 40).forEach(i -> {
      log.sendMessage(i);
      sent.incrementAndGet();
    }));
    Patience.eventually(() -> sent.get() == 32);
    Patience.parked(sender);

    assertEquals(32, sent.get());
    gate.open();
    Patience.joined(sender);
  }

  @Test
  void defaultMailboxHoldsUpTo1024Messages() {
    var gate = new Gate();
    Actor<Integer> log = Batch.ofLists(scope.anonymous(), 1, SECOND, batch -> gate.pass());
    log.sendMessage(1);
    Patience.await(gate.entered);
    var sent = new AtomicInteger();

    var sender = Patience.startFiber(() -> IntStream.range(0, 2_000).forEach(i -> {
      log.sendMessage(i);
      sent.incrementAndGet();
    }));
    Patience.eventually(() -> sent.get() == 1026);
    Patience.parked(sender);

    assertEquals(1026, sent.get());
    gate.open();
    Patience.joined(sender);
  }

  @Test
  void theMailboxOfTheBuilderDecidesWhatIsTooMuch() {
    var gate = new Gate();
    Actor<Integer> log =
        Batch.ofLists(scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.REJECT)), 1, SECOND, batch -> gate.pass());
    log.sendMessage(1);
    Patience.await(gate.entered);

    Patience.eventually(() -> !log.sendMessage(2));

    assertFalse(letters.messages(Reason.REJECTED).isEmpty());
  }
}
