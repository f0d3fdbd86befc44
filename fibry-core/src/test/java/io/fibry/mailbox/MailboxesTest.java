package io.fibry.mailbox;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorStoppedException;
import io.fibry.ActorWithReturn;
import io.fibry.AskTimeoutException;
import io.fibry.DeadLetter.Reason;
import io.fibry.MailboxFullException;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.Variants;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class MailboxesTest {
  private final RecordedLetters letters = new RecordedLetters();
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = Variants.scope(o -> o.withDeadLetterListener(letters).withScheduler(clock));
  private final List<Object> received = new CopyOnWriteArrayList<>();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  private ActorWithReturn<Object, Object> actor(Mailbox<Object> mailbox) {
    return scope.named("bounded").mailbox(mailbox).newActorWithReturn((Object m) -> {
      if (m instanceof Gate gate) gate.pass();
      else received.add(m);
      return m;
    });
  }

  private ActorWithReturn<Object, Object> fullActor(Overflow overflow) {
    var actor = actor(Mailbox.bounded(2, overflow));
    Gate.occupy(actor);
    assertTrue(actor.sendMessage(1));
    assertTrue(actor.sendMessage(2));
    return actor;
  }

  private void openGatesAndClose(Actor<Object> actor) {
    Gate.openAll();
    actor.close();
  }

  @Promise("3.2")
  @Test
  void rejectRefusesMessageBeyondCapacity() {
    var actor = fullActor(Overflow.REJECT);

    boolean accepted = actor.sendMessage(3);
    openGatesAndClose(actor);

    assertFalse(accepted);
    assertEquals(List.of(1, 2), received);
    assertEquals(List.of(3), letters.messages(Reason.REJECTED));
  }

  @Promise("3.2")
  @Test
  void dropNewestDropsMessageBeyondCapacity() {
    var actor = fullActor(Overflow.DROP_NEWEST);

    boolean accepted = actor.sendMessage(3);
    openGatesAndClose(actor);

    assertFalse(accepted);
    assertEquals(List.of(1, 2), received);
    assertEquals(List.of(3), letters.messages(Reason.DROPPED));
  }

  @Promise("3.2")
  @Test
  void dropOldestDropsOldestMessageToAcceptNewMessage() {
    var actor = fullActor(Overflow.DROP_OLDEST);

    boolean accepted = actor.sendMessage(3);
    openGatesAndClose(actor);

    assertTrue(accepted);
    assertEquals(List.of(2, 3), received);
    assertEquals(List.of(1), letters.messages(Reason.DROPPED));
  }

  @Promise("4.5")
  @Test
  void dropOldestFailsDroppedRequest() {
    var actor = actor(Mailbox.bounded(1, Overflow.DROP_OLDEST));
    Gate.occupy(actor);
    var oldestRequest = actor.sendMessageReturn("oldest");

    actor.sendMessage("newest");

    assertEquals("oldest", assertInstanceOf(MailboxFullException.class, Patience.failure(oldestRequest)).request());
    assertEquals(1, scope.report().unhandled().get(Reason.DROPPED));
    assertTrue(letters.all.isEmpty());
  }

  @Promise("3.5")
  @Test
  void dropOldestDropsNoTasks() {
    var actor = actor(Mailbox.bounded(1, Overflow.DROP_OLDEST));
    Gate.occupy(actor);
    var task = CompletableFuture.supplyAsync(() -> "ran", actor);

    for (int i = 1; i <= 3; i++) actor.sendMessage(i);
    var e = assertThrows(RejectedExecutionException.class, () -> actor.execute(() -> received.add("one too many")));
    openGatesAndClose(actor);

    assertEquals("ran", Patience.value(task));
    assertEquals(List.of(3), received);
    assertEquals(List.of(1, 2), letters.messages(Reason.DROPPED).subList(0, 2));
    assertTrue(e.getMessage().contains("full"), e::getMessage);
  }

  @Promise("3.2")
  @Test
  void overflowBlockMakesSenderWaitForCapacity() {
    var actor = fullActor(Overflow.BLOCK);
    var accepted = new CompletableFuture<Boolean>();
    var sender = Patience.startFiber(() -> accepted.complete(actor.sendMessage(3)));
    Patience.awaitParked(sender);

    Gate.openAll();

    assertTrue(Patience.value(accepted));
    actor.close();
    assertEquals(List.of(1, 2, 3), received);
  }

  @Promise("3.2")
  @Test
  void blockedSendersContinueInOrderOfArrival() {
    var actor = fullActor(Overflow.BLOCK);
    for (int i = 3; i < 8; i++) {
      int message = i;
      Patience.awaitParked(Patience.startFiber(() -> actor.sendMessage(message)));
    }

    Gate.openAll();
    Patience.eventually(() -> received.size() == 7);

    assertEquals(List.of(1, 2, 3, 4, 5, 6, 7), received);
  }

  @Promise("4.13")
  @Test
  void interruptedBlockedSenderWithdrawsMessageAndKeepsFlag() {
    var actor = fullActor(Overflow.BLOCK);
    var interrupted = new CompletableFuture<Boolean>();
    var sender = Patience
        .startFiber(() -> interrupted.complete(!actor.sendMessage(3) && Thread.currentThread().isInterrupted()));
    Patience.awaitParked(sender);

    sender.interrupt();

    assertTrue(Patience.value(interrupted));
    assertEquals(List.of(3), letters.messages(Reason.REJECTED));
    openGatesAndClose(actor);
    assertEquals(List.of(1, 2), received);
  }

  @Test
  void executeThrowsExceptionThatNamesReasonOfRefusal() {
    var blockingActor = fullActor(Overflow.BLOCK);
    var failure = new CompletableFuture<Throwable>();
    var sender = Patience.startFiber(() -> failure
        .complete(assertThrows(RejectedExecutionException.class, () -> blockingActor.execute(() -> received.add(3)))));
    Patience.awaitParked(sender);
    sender.interrupt();
    assertRefused("the thread was interrupted while it waited for space in the mailbox", Patience.value(failure));
    openGatesAndClose(blockingActor);

    var rejectingActor = fullActor(Overflow.REJECT);
    assertRefused("its mailbox is full", assertThrows(RejectedExecutionException.class,
        () -> rejectingActor.execute(() -> received.add(3))));

    openGatesAndClose(rejectingActor);
    assertRefused("it is ending or has ended", assertThrows(RejectedExecutionException.class,
        () -> rejectingActor.execute(() -> received.add(3))));
  }

  private static void assertRefused(String reason, Throwable failure) {
    assertTrue(failure.getMessage().endsWith(" did not take the task: " + reason), failure.getMessage());
  }

  @Promise("5.1")
  @Test
  void exitReleasesBlockedSenders() {
    var actor = fullActor(Overflow.BLOCK);
    var accepted = new CompletableFuture<Boolean>();
    var askFailure = new CompletableFuture<Throwable>();
    Patience.awaitParked(Patience.startFiber(() -> accepted.complete(actor.sendMessage(3))));
    Patience
        .awaitParked(Patience.startFiber(() -> askFailure.complete(assertThrows(Throwable.class, () -> actor.ask(4)))));

    actor.askExit();

    assertFalse(Patience.value(accepted));
    assertInstanceOf(ActorStoppedException.class, Patience.value(askFailure));
    assertEquals(List.of(3), letters.messages(Reason.UNDELIVERED));
  }

  @Promise("4.6")
  @Test
  void askWaitingForCapacityTimesOutAtLimit() {
    var actor = fullActor(Overflow.BLOCK);
    var failure = new CompletableFuture<Throwable>();
    Patience.awaitParked(Patience
        .startFiber(() -> failure.complete(assertThrows(Throwable.class, () -> actor.ask(3, Duration.ofMinutes(1))))));

    Patience.eventually(() -> {
      clock.advance(Duration.ofMinutes(1));
      return failure.isDone();
    });

    assertInstanceOf(AskTimeoutException.class, failure.join());
    assertEquals(1, scope.report().unhandled().get(Reason.EXPIRED));
    openGatesAndClose(actor);
    assertEquals(List.of(1, 2), received);
  }

  @Promise("4.9")
  @Test
  void cancelledRequestFreesItsCapacityAtOnce() {
    var actor = actor(Mailbox.bounded(1, Overflow.REJECT));
    Gate.occupy(actor);
    var request = actor.sendMessageReturn("cancelled");
    assertFalse(actor.sendMessage("refused"));

    request.cancel(false);

    assertTrue(actor.sendMessage("accepted"));
  }

  @Promise("4.9")
  @Test
  void cancelledRequestUnblocksBlockedSender() {
    var actor = actor(Mailbox.bounded(1, Overflow.BLOCK));
    Gate.occupy(actor);
    var request = actor.sendMessageReturn("cancelled");
    var accepted = new CompletableFuture<Boolean>();
    Patience.awaitParked(Patience.startFiber(() -> accepted.complete(actor.sendMessage("next"))));

    request.cancel(false);

    assertTrue(Patience.value(accepted));
  }

  @Promise("3.5")
  @ParameterizedTest
  @EnumSource(Overflow.class)
  void fullMailboxBlocksNeitherTimersNorExit(Overflow overflow) {
    var actor = fullActor(overflow);
    actor.sendMessageLater("late", Duration.ofMinutes(1));

    clock.advance(Duration.ofMinutes(1));
    actor.sendPoisonPill();
    openGatesAndClose(actor);

    assertTrue(actor.onExit().isDone());
    if (overflow != Overflow.DROP_OLDEST) assertEquals(List.of("late"), letters.messages(Reason.DROPPED));
    else assertEquals(List.of(2, "late"), received);
  }

  @Promise("5.3")
  @Test
  void refusedTaskThrowsRejectedExecutionException() {
    var actor = fullActor(Overflow.REJECT);

    var failure = assertThrows(RejectedExecutionException.class, () -> actor.execute(() -> {}));

    for (String word : new String[] {"bounded", "full"})
      assertTrue(failure.getMessage().contains(word), failure.getMessage());
  }

  // ---- blocks of messages

  @Promise("2.2")
  @ParameterizedTest
  @EnumSource(value = Overflow.class, names = {"REJECT", "DROP_NEWEST"})
  void messageListIsRefusedAsAWhole(Overflow overflow) {
    var actor = actor(Mailbox.bounded(3, overflow));
    Gate.occupy(actor);
    actor.sendMessages(List.of(1, 2));

    boolean accepted = actor.sendMessages(List.of(3, 4));
    openGatesAndClose(actor);

    assertFalse(accepted);
    assertEquals(List.of(1, 2), received);
    assertEquals(List.of(3, 4), letters.messages());
  }

  @Test
  void dropOldestDropsEnoughMessagesToAcceptMessageList() {
    var actor = actor(Mailbox.bounded(3, Overflow.DROP_OLDEST));
    Gate.occupy(actor);
    actor.sendMessages(List.of(1, 2, 3));

    boolean accepted = actor.sendMessages(List.of(4, 5));
    openGatesAndClose(actor);

    assertTrue(accepted);
    assertEquals(List.of(3, 4, 5), received);
    assertEquals(List.of(1, 2), letters.messages(Reason.DROPPED));
  }

  @Promise("2.2")
  @Test
  void senderOfMessageListWaitsForCapacityForWholeList() {
    var actor = actor(Mailbox.bounded(2, Overflow.BLOCK));
    Gate.occupy(actor);
    actor.sendMessage(1);
    var accepted = new CompletableFuture<Boolean>();
    Patience.awaitParked(Patience.startFiber(() -> accepted.complete(actor.sendMessages(List.of(2, 3)))));
    Patience.awaitParked(Patience.startFiber(() -> actor.sendMessage(4)));

    Gate.openAll();
    Patience.eventually(() -> received.size() == 4);

    assertTrue(Patience.value(accepted));
    assertEquals(List.of(1, 2, 3, 4), received);
  }

  @Test
  void messageListLargerThanCapacityIsRefusedWithReason() {
    var actor = actor(Mailbox.bounded(2, Overflow.BLOCK));

    var failure = assertThrows(IllegalArgumentException.class, () -> actor.sendMessages(List.of(1, 2, 3)));

    for (String word : new String[] {"block of 3", "bounded", "capacity is 2"})
      assertTrue(failure.getMessage().contains(word), failure.getMessage());
  }

  @Test
  void emptyMessageListIsAcceptedUntilActorEnds() {
    var actor = actor(Mailbox.bounded(2, Overflow.BLOCK));

    assertTrue(actor.sendMessages(List.of()));
    actor.close();
    assertFalse(actor.sendMessages(List.of()));
  }

  // ---- priority mailboxes

  @Promise("2.3")
  @Test
  void priorityMailboxKeepsOrderOfEqualMessages() {
    var actor = actor(Mailbox.priority(Comparator.comparing(m -> m instanceof String s ? s.length() : 0)));
    Gate.occupy(actor);
    for (String m : new String[] {"ccc", "bb", "a", "dd", "e"}) actor.sendMessage(m);

    openGatesAndClose(actor);

    assertEquals(List.of("a", "e", "bb", "dd", "ccc"), received);
  }

  @Promise("2.3")
  @Test
  void poisonPillInPriorityMailboxFollowsOnlyEarlierMessages() {
    var actor = actor(Mailbox.priority(Comparator.comparing(m -> m instanceof String s ? s.length() : 0)));
    Gate.occupy(actor);
    actor.sendMessage("waited");

    actor.sendPoisonPill();
    actor.sendMessage("a");
    openGatesAndClose(actor);

    assertEquals(List.of("waited"), received);
    assertEquals(List.of("a"), letters.messages(Reason.UNDELIVERED));
  }

  @Promise("2.3")
  @Test
  void tasksPrecedeMessagesInPriorityMailbox() {
    var actor = actor(Mailbox.priority(Comparator.comparing(Object::toString)));
    Gate.occupy(actor);
    actor.sendMessage("a");

    actor.execute(() -> received.add("task"));
    openGatesAndClose(actor);

    assertEquals(List.of("task", "a"), received);
  }

  @Test
  void throwingComparatorFailsSenderAndSendsNothing() {
    var actor = scope.anonymous().mailbox(Mailbox.<Object>priority((a, b) -> {
      if (a.equals("bad")) throw new IllegalStateException("bad order");
      return 0;
    })).newActorWithReturn((Object m) -> {
      if (m instanceof Gate gate) gate.pass();
      else received.add(m);
      return m;
    });
    Gate.occupy(actor);
    actor.sendMessage("good");

    assertThrows(IllegalStateException.class, () -> actor.sendMessage("bad"));
    assertThrows(IllegalStateException.class, () -> actor.ask("bad"));
    openGatesAndClose(actor);

    assertEquals(List.of("good"), received);
  }
}
