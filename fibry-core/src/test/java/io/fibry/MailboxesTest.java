package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.DeadLetter.Reason;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
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
  private final Letters letters = new Letters();
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = Variants.scope(o -> o.withDeadLetters(letters).withScheduler(clock));
  private final List<Object> seen = new CopyOnWriteArrayList<>();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  private ActorWithReturn<Object, Object> actor(Mailbox<Object> mailbox) {
    return scope.named("bounded").mailbox(mailbox).newActorWithReturn((Object m) -> {
      if (m instanceof Gate gate) gate.pass();
      else seen.add(m);
      return m;
    });
  }

  private ActorWithReturn<Object, Object> full(Overflow overflow) {
    var actor = actor(Mailbox.bounded(2, overflow));
    Gate.occupy(actor);
    assertTrue(actor.sendMessage(1));
    assertTrue(actor.sendMessage(2));
    return actor;
  }

  private void drain(Actor<Object> actor) {
    Gate.openAll();
    actor.close();
  }

  @Promise("3.2")
  @Test
  void rejectRefusesMessageBeyondCapacity() {
    var actor = full(Overflow.REJECT);

    boolean taken = actor.sendMessage(3);
    drain(actor);

    assertFalse(taken);
    assertEquals(List.of(1, 2), seen);
    assertEquals(List.of(3), letters.messages(Reason.REJECTED));
  }

  @Promise("3.2")
  @Test
  void dropNewestDropsMessageBeyondCapacity() {
    var actor = full(Overflow.DROP_NEWEST);

    boolean taken = actor.sendMessage(3);
    drain(actor);

    assertFalse(taken);
    assertEquals(List.of(1, 2), seen);
    assertEquals(List.of(3), letters.messages(Reason.DROPPED));
  }

  @Promise("3.2")
  @Test
  void dropOldestMakesRoom() {
    var actor = full(Overflow.DROP_OLDEST);

    boolean taken = actor.sendMessage(3);
    drain(actor);

    assertTrue(taken);
    assertEquals(List.of(2, 3), seen);
    assertEquals(List.of(1), letters.messages(Reason.DROPPED));
  }

  @Promise("4.5")
  @Test
  void dropOldestFailsDroppedRequest() {
    var actor = actor(Mailbox.bounded(1, Overflow.DROP_OLDEST));
    Gate.occupy(actor);
    var oldest = actor.sendMessageReturn("oldest");

    actor.sendMessage("newest");

    assertEquals("oldest", assertInstanceOf(MailboxFullException.class, Patience.failure(oldest)).request());
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
    var refusal = assertThrows(RejectedExecutionException.class, () -> actor.execute(() -> seen.add("one too many")));
    drain(actor);

    assertEquals("ran", Patience.value(task));
    assertEquals(List.of(3), seen);
    assertEquals(List.of(1, 2), letters.messages(Reason.DROPPED).subList(0, 2));
    assertTrue(refusal.getMessage().contains("full"), refusal::getMessage);
  }

  @Promise("3.2")
  @Test
  void blockMakesTheSenderWaitForRoom() {
    var actor = full(Overflow.BLOCK);
    var taken = new CompletableFuture<Boolean>();
    var sender = Patience.startFiber(() -> taken.complete(actor.sendMessage(3)));
    Patience.parked(sender);

    Gate.openAll();

    assertTrue(Patience.value(taken));
    actor.close();
    assertEquals(List.of(1, 2, 3), seen);
  }

  @Promise("3.2")
  @Test
  void blockedSendersAreServedInTheirOrder() {
    var actor = full(Overflow.BLOCK);
    for (int i = 3; i < 8; i++) {
      int message = i;
      Patience.parked(Patience.startFiber(() -> actor.sendMessage(message)));
    }

    Gate.openAll();
    Patience.eventually(() -> seen.size() == 7);

    assertEquals(List.of(1, 2, 3, 4, 5, 6, 7), seen);
  }

  @Promise("4.13")
  @Test
  void interruptedSenderWithdrawsMessageAndKeepsFlag() {
    var actor = full(Overflow.BLOCK);
    var flag = new CompletableFuture<Boolean>();
    var sender =
        Patience.startFiber(() -> flag.complete(!actor.sendMessage(3) && Thread.currentThread().isInterrupted()));
    Patience.parked(sender);

    sender.interrupt();

    assertTrue(Patience.value(flag));
    assertEquals(List.of(3), letters.messages(Reason.REJECTED));
    drain(actor);
    assertEquals(List.of(1, 2), seen);
  }

  @Promise("5.1")
  @Test
  void exitReleasesBlockedSenders() {
    var actor = full(Overflow.BLOCK);
    var taken = new CompletableFuture<Boolean>();
    var asked = new CompletableFuture<Throwable>();
    Patience.parked(Patience.startFiber(() -> taken.complete(actor.sendMessage(3))));
    Patience.parked(Patience.startFiber(() -> asked.complete(assertThrows(Throwable.class, () -> actor.ask(4)))));

    actor.askExit();

    assertFalse(Patience.value(taken));
    assertInstanceOf(ActorStoppedException.class, Patience.value(asked));
    assertEquals(List.of(3), letters.messages(Reason.UNDELIVERED));
  }

  @Promise("4.6")
  @Test
  void askWaitingForRoomTimesOutAtLimit() {
    var actor = full(Overflow.BLOCK);
    var asked = new CompletableFuture<Throwable>();
    Patience.parked(Patience
        .startFiber(() -> asked.complete(assertThrows(Throwable.class, () -> actor.ask(3, Duration.ofMinutes(1))))));

    Patience.eventually(() -> {
      clock.advance(Duration.ofMinutes(1));
      return asked.isDone();
    });

    assertInstanceOf(AskTimeoutException.class, asked.join());
    assertEquals(1, scope.report().unhandled().get(Reason.EXPIRED));
    drain(actor);
    assertEquals(List.of(1, 2), seen);
  }

  @Promise("4.9")
  @Test
  void aCancelledRequestFreesItsPlaceAtOnce() {
    var actor = actor(Mailbox.bounded(1, Overflow.REJECT));
    Gate.occupy(actor);
    var request = actor.sendMessageReturn("cancelled");
    assertFalse(actor.sendMessage("no room"));

    request.cancel(false);

    assertTrue(actor.sendMessage("room"));
  }

  @Promise("4.9")
  @Test
  void aCancelledRequestLetsABlockedSenderIn() {
    var actor = actor(Mailbox.bounded(1, Overflow.BLOCK));
    Gate.occupy(actor);
    var request = actor.sendMessageReturn("cancelled");
    var taken = new CompletableFuture<Boolean>();
    Patience.parked(Patience.startFiber(() -> taken.complete(actor.sendMessage("next"))));

    request.cancel(false);

    assertTrue(Patience.value(taken));
  }

  @Promise("3.5")
  @ParameterizedTest
  @EnumSource(Overflow.class)
  void fullMailboxBlocksNeitherTimersNorExit(Overflow overflow) {
    var actor = full(overflow);
    actor.sendMessageLater("late", Duration.ofMinutes(1));

    clock.advance(Duration.ofMinutes(1));
    actor.sendPoisonPill();
    drain(actor);

    assertTrue(actor.onExit().isDone());
    if (overflow != Overflow.DROP_OLDEST) assertEquals(List.of("late"), letters.messages(Reason.DROPPED));
    else assertEquals(List.of(2, "late"), seen);
  }

  @Promise("5.3")
  @Test
  void refusedTaskThrowsRejectedExecutionException() {
    var actor = full(Overflow.REJECT);

    var failure = assertThrows(RejectedExecutionException.class, () -> actor.execute(() -> {}));

    for (String word : new String[] {"bounded", "full"})
      assertTrue(failure.getMessage().contains(word), failure.getMessage());
  }

  // ---- blocks

  @Promise("2.2")
  @ParameterizedTest
  @EnumSource(value = Overflow.class, names = {"REJECT", "DROP_NEWEST"})
  void messageBlockIsRefusedAsAWhole(Overflow overflow) {
    var actor = actor(Mailbox.bounded(3, overflow));
    Gate.occupy(actor);
    actor.sendMessages(List.of(1, 2));

    boolean taken = actor.sendMessages(List.of(3, 4));
    drain(actor);

    assertFalse(taken);
    assertEquals(List.of(1, 2), seen);
    assertEquals(List.of(3, 4), letters.messages());
  }

  @Test
  void messageBlockDropsOldestMessagesToFit() {
    var actor = actor(Mailbox.bounded(3, Overflow.DROP_OLDEST));
    Gate.occupy(actor);
    actor.sendMessages(List.of(1, 2, 3));

    boolean taken = actor.sendMessages(List.of(4, 5));
    drain(actor);

    assertTrue(taken);
    assertEquals(List.of(3, 4, 5), seen);
    assertEquals(List.of(1, 2), letters.messages(Reason.DROPPED));
  }

  @Promise("2.2")
  @Test
  void messageBlockWaitsForRoomForAllMessages() {
    var actor = actor(Mailbox.bounded(2, Overflow.BLOCK));
    Gate.occupy(actor);
    actor.sendMessage(1);
    var taken = new CompletableFuture<Boolean>();
    Patience.parked(Patience.startFiber(() -> taken.complete(actor.sendMessages(List.of(2, 3)))));
    Patience.parked(Patience.startFiber(() -> actor.sendMessage(4)));

    Gate.openAll();
    Patience.eventually(() -> seen.size() == 4);

    assertTrue(Patience.value(taken));
    assertEquals(List.of(1, 2, 3, 4), seen);
  }

  @Test
  void oversizedMessageBlockIsRefusedWithReason() {
    var actor = actor(Mailbox.bounded(2, Overflow.BLOCK));

    var failure = assertThrows(IllegalArgumentException.class, () -> actor.sendMessages(List.of(1, 2, 3)));

    for (String word : new String[] {"block of 3", "bounded", "holds 2"})
      assertTrue(failure.getMessage().contains(word), failure.getMessage());
  }

  @Test
  void emptyMessageBlockIsAcceptedUntilActorEnds() {
    var actor = actor(Mailbox.bounded(2, Overflow.BLOCK));

    assertTrue(actor.sendMessages(List.of()));
    actor.close();
    assertFalse(actor.sendMessages(List.of()));
  }

  // ---- priority

  @Promise("2.3")
  @Test
  void priorityMailboxKeepsOrderOfEqualMessages() {
    var actor = actor(Mailbox.priority(Comparator.comparing(m -> m instanceof String s ? s.length() : 0)));
    Gate.occupy(actor);
    for (String m : new String[] {"ccc", "bb", "a", "dd", "e"}) actor.sendMessage(m);

    drain(actor);

    assertEquals(List.of("a", "e", "bb", "dd", "ccc"), seen);
  }

  @Promise("2.3")
  @Test
  void poisonPillFollowsQueuedAndPrecedesLaterMessages() {
    var actor = actor(Mailbox.priority(Comparator.comparing(m -> m instanceof String s ? s.length() : 0)));
    Gate.occupy(actor);
    actor.sendMessage("waited");

    actor.sendPoisonPill();
    actor.sendMessage("a");
    drain(actor);

    assertEquals(List.of("waited"), seen);
    assertEquals(List.of("a"), letters.messages(Reason.UNDELIVERED));
  }

  @Promise("2.3")
  @Test
  void tasksPrecedeMessagesInPriorityMailbox() {
    var actor = actor(Mailbox.priority(Comparator.comparing(Object::toString)));
    Gate.occupy(actor);
    actor.sendMessage("a");

    actor.execute(() -> seen.add("task"));
    drain(actor);

    assertEquals(List.of("task", "a"), seen);
  }

  @Test
  void throwingComparatorFailsSenderAndSendsNothing() {
    var actor = scope.anonymous().mailbox(Mailbox.<Object>priority((a, b) -> {
      if (a.equals("bad")) throw new IllegalStateException("bad order");
      return 0;
    })).newActorWithReturn((Object m) -> {
      if (m instanceof Gate gate) gate.pass();
      else seen.add(m);
      return m;
    });
    Gate.occupy(actor);
    actor.sendMessage("good");

    assertThrows(IllegalStateException.class, () -> actor.sendMessage("bad"));
    assertThrows(IllegalStateException.class, () -> actor.ask("bad"));
    drain(actor);

    assertEquals(List.of("good"), seen);
  }
}
