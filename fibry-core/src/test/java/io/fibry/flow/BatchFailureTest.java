package io.fibry.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.AskCycleException;
import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.FailurePolicy;
import io.fibry.Gate;
import io.fibry.Letters;
import io.fibry.Promise;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A failure loses no message, and repeats none. */
class BatchFailureTest {
  private static final Duration LATE = Duration.ofDays(1);

  private final Letters letters = new Letters();
  private final ActorScope scope =
      ActorSystem.openScope("ends", o -> o.withDeadLetters(letters).withKillGrace(Duration.ofHours(1)));
  private final List<Object> seen = new CopyOnWriteArrayList<>();

  @AfterEach
  void close() {
    Gate.openAll();
    scope.closeWithin(Patience.LONG);
  }

  private void quiet() {
    assertTrue(scope.awaitQuiescence(Patience.LONG));
  }

  /** The earlier library kept a failed batch, and sent it again with the next one. */
  @Promise("22.11")
  @Test
  void failedBatchIsSingleDeadLetterAndIsNotHandledAgain() {
    var failure = new IOException("disk full");
    Actor<Integer> log =
        Batch.ofLists(scope.named("log").onFailure(FailurePolicy.resume().withoutLog()), 2, LATE, batch -> {
          seen.add(batch);
          if (batch.contains(1)) throw failure;
        });

    for (int i = 1; i <= 4; i++) log.sendMessage(i);
    log.close();

    assertEquals(List.of(List.of(1, 2), List.of(3, 4)), seen);
    assertEquals(List.of(List.of(1, 2)), letters.messages());
    assertEquals(List.of("log/batch", Reason.FAILED, failure), List.of(letters.all.getFirst().actor(),
        letters.all.getFirst().reason(), letters.all.getFirst().cause().orElseThrow()));
    assertEquals(1, scope.report().unhandled().get(Reason.FAILED));
  }

  @Test
  void theLogNamesTheFailingBatch() {
    try (var logged = new Logged()) {
      Actor<Integer> log = Batch.ofLists(scope.named("log"), 2, LATE, batch -> {
        throw new IOException("disk full");
      });
      log.sendMessages(List.of(1, 2));
      log.close();

      assertTrue(logged.text().contains("actor 'log/batch' failed at [1, 2]; it goes on"), logged.text());
    }
  }

  @Test
  void aFailingBatchCanBeSentAgain() {
    var tries = new AtomicInteger();
    Actor<Integer> log =
        Batch.ofLists(scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()), 2, LATE, batch -> {
          if (tries.incrementAndGet() == 1) throw new IOException("disk full");
          seen.add(batch);
        });
    log.sendMessages(List.of(1, 2));
    quiet();

    assertTrue(letters.all.getFirst().resend());
    quiet();

    assertEquals(List.of(List.of(1, 2)), seen);
  }

  @Test
  void retriesGiveTheBatchToTheHandlerAgain() {
    var tries = new AtomicInteger();
    Actor<Integer> log =
        Batch.ofLists(scope.anonymous().onFailure(FailurePolicy.resume().withRetries(2)), 2, LATE, batch -> {
          if (tries.incrementAndGet() <= 2) throw new IOException("disk full");
          seen.add(batch);
        });

    log.sendMessages(List.of(1, 2));
    log.close();

    assertEquals(List.of(List.of(1, 2)), seen);
    assertEquals(List.of(), letters.all);
  }

  @Test
  void aPolicyThatStopsEndsAllWithWhatWasThrown() {
    var failure = new IOException("disk full");
    Actor<Integer> log =
        Batch.ofLists(scope.anonymous().onFailure(FailurePolicy.stop().withoutLog()), 2, LATE, batch -> {
          throw failure;
        });
    log.sendMessages(List.of(1, 2, 3));

    Patience.ended(log::waitForExit);

    assertEquals(new ExitReason.Failed(failure), log.onExit().resultNow());
    assertFalse(log.sendMessage(4));
    Patience.eventually(
        () -> BatchEndTest.members(letters.messages()).stream().sorted().toList().equals(List.of(1, 2, 3, 4)));
  }

  @Test
  void aMessageWhoseKeyCannotBeToldFailsAlone() {
    Actor<String> words = Batch.ofMerged(scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()), 2, LATE,
        word -> word.charAt(0), (a, b) -> a + b, seen::add);

    for (var word : List.of("", "a", "", "b")) words.sendMessage(word);
    words.close();

    assertEquals(List.of(Map.of('a', "a", 'b', "b")), seen);
    assertEquals(List.of("", ""), letters.messages(Reason.FAILED));
  }

  @Test
  void aMessageThatCannotBeMergedFailsAlone() {
    Actor<String> words = Batch.ofMerged(scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()), 3, LATE,
        word -> word.charAt(0), (a, b) -> {
          if (b.equals("a2")) throw new IllegalStateException("no");
          return b.equals("a3") ? null : a + b;
        }, seen::add);

    for (var word : List.of("a1", "a2", "a3", "a4", "b")) words.sendMessage(word);
    words.close();

    assertEquals(List.of(Map.of('a', "a1a4", 'b', "b")), seen);
    assertEquals(List.of("a2", "a3"), letters.messages(Reason.FAILED));
  }

  @Test
  void nullKeyIsNamedInFailure() {
    Actor<String> words = Batch.ofMerged(scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()), 3, LATE,
        word -> null, (a, b) -> b, seen::add);

    words.sendMessage("a");
    words.close();

    assertEquals("the key of a message is null", letters.all.getFirst().cause().orElseThrow().getMessage());
  }

  @Test
  void restartOfGathererLosesNoMessage() {
    Actor<String> words = Batch.ofMerged(scope.anonymous().onFailure(FailurePolicy.restart().withoutLog()), 3, LATE,
        word -> word.charAt(0), (a, b) -> b, seen::add);

    for (var word : List.of("a", "", "b")) words.sendMessage(word);
    words.close();

    assertEquals(List.of(Map.of('a', "a"), Map.of('b', "b")), seen);
  }

  /** The handler waits for the gatherer's room before the gatherer waits for the handler. */
  @Test
  void aHandlerThatWaitsForRoomInItsOwnBatchIsGivenIt() throws Exception {
    var handling = new Gate();
    var gathering = new Gate();
    var sender = new CompletableFuture<Thread>();
    var self = new CompletableFuture<Actor<Integer>>();
    Actor<Integer> log =
        Batch.ofMerged(scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.BLOCK)), 1, LATE, message -> {
          if (message == 3) BatchTest.pass(gathering);
          return message;
        }, (a, b) -> b, batch -> {
          seen.addAll(batch.keySet());
          if (!batch.containsKey(1)) return;
          handling.pass();
          sender.complete(Thread.currentThread());
          assertTrue(self.get().sendMessage(5));
        });
    self.complete(log);
    for (int i = 1; i <= 4; i++) log.sendMessage(i);
    Patience.await(handling.entered);
    Patience.await(gathering.entered);

    handling.open();
    Patience.parked(Patience.value(sender));
    gathering.open();
    quiet();

    log.close();
    assertEquals(List.of(1, 2, 3, 4, 5), seen);
    assertEquals(List.of(), letters.all);
  }

  /** The handler waits, through another actor, for the end, which waits for the handler. */
  @Test
  void aHandlerThatWaitsForTheEndHangsNobodyAndNothingIsForgotten() throws Exception {
    var gate = new Gate();
    var self = new CompletableFuture<Actor<Integer>>();
    var waiter = new CompletableFuture<Thread>();
    var other = scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()).newSink();
    Actor<Integer> log =
        Batch.ofLists(scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()), 2, LATE, batch -> {
          if (batch.contains(1)) {
            gate.pass();
            waiter.complete(Thread.currentThread());
            other.execAndWait(nothing -> self.get().waitForExit());
          }
          seen.addAll(batch);
        });
    self.complete(log);
    log.sendMessages(List.of(1, 2, 3, 4, 5));
    Patience.await(gate.entered);
    Patience.eventually(() -> scope.report().handled() >= 5);

    gate.open();
    Patience.parked(Patience.value(waiter));
    log.askExit();
    Patience.ended(log::waitForExit);

    var ended = new ArrayList<Object>(seen);
    ended.addAll(BatchEndTest.members(letters.messages()));
    assertEquals(List.of(1, 2, 3, 4, 5), ended.stream().sorted().toList());
    var told = letters.all.stream().filter(letter -> letter.message().equals(List.of(1, 2))).findFirst().orElseThrow();
    assertInstanceOf(AskCycleException.class, told.cause().orElseThrow());
  }

  /** The handler waits for the gatherer's room, and the gatherer for the handler. */
  @Test
  void aHandlerThatFeedsItsOwnFullMailboxHangsNobody() throws Exception {
    var self = new CompletableFuture<Actor<Integer>>();
    var told = new AtomicInteger();
    var handled = new CopyOnWriteArrayList<Integer>();
    Actor<Integer> log = Batch.ofLists(
        scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.BLOCK)).onFailure(FailurePolicy.resume().withoutLog()), 2,
        LATE, batch -> {
          handled.addAll(batch);
          for (int message : batch) {
            if (message >= 1_000) continue;
            try {
              self.get().sendMessage(message + 1_000);
            } catch (AskCycleException full) {
              told.incrementAndGet();
            }
          }
        });
    self.complete(log);

    for (int i = 0; i < 500; i++) log.sendMessage(i);
    quiet();
    log.close();

    var ended = new ArrayList<Object>(BatchEndTest.members(letters.messages()));
    ended.addAll(handled);
    assertEquals(IntStream.range(0, 500).boxed().toList(),
        ended.stream().filter(one -> one instanceof Integer n && n < 1_000).sorted().toList());
    assertEquals(handled.stream().filter(n -> n < 1_000).count(),
        told.get() + ended.stream().filter(one -> one instanceof Integer n && n >= 1_000).count());
  }
}
