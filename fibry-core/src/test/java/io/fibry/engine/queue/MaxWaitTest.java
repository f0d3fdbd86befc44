package io.fibry.engine.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.ActorWithReturn;
import io.fibry.AskTimeoutException;
import io.fibry.DeadLetter.Reason;
import io.fibry.MailboxFullException;
import io.fibry.engine.actor.Cells;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Pools;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.Variants;
import io.fibry.time.ManualScheduler;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests a mailbox that counts as full while a new message would wait for more than 50 ms, by a
 * clock that the test advances.
 */
class MaxWaitTest {
  private static final Mailbox<Object> MAILBOX =
      Mailbox.bounded(100, Overflow.REJECT).withMaxWait(Duration.ofMillis(50));

  private final RecordedLetters letters = new RecordedLetters();
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = Variants.scope(o -> o.withDeadLetterListener(letters).withScheduler(clock));
  private final List<Object> received = new CopyOnWriteArrayList<>();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  private ActorWithReturn<Object, Object> actor(ActorBuilder<Object> builder) {
    return builder.newActorWithReturn((Object m) -> {
      if (m instanceof Gate gate) gate.pass();
      else received.add(m);
      return m;
    });
  }

  private ActorWithReturn<Object, Object> actor() {
    return actor(scope.named("timely").mailbox(MAILBOX));
  }

  private void advance(long millis) {
    clock.advance(Duration.ofMillis(millis));
  }

  /** Lets the current handler return, and waits until the handler of the next gate begins. */
  private static void passToNext(Gate currentGate, Gate nextGate) {
    currentGate.open();
    Patience.await(nextGate.entered);
  }

  private static List<String> strategies() {
    return List.copyOf(Variants.STRATEGIES.keySet());
  }

  @Promise("24.1")
  @ParameterizedTest
  @MethodSource("strategies")
  void messageThatWouldWaitTooLongIsRefused(String strategy) {
    var actor = actor(scope.named("timely").strategy(Variants.STRATEGIES.get(strategy)).mailbox(MAILBOX));
    Gate.occupy(actor);
    actor.sendMessage("waits");

    advance(50);
    boolean firstAccepted = actor.sendMessage("in time");
    advance(1);
    boolean secondAccepted = actor.sendMessage("late");
    Gate.openAll();
    actor.close();

    assertEquals(List.of(true, false), List.of(firstAccepted, secondAccepted));
    assertEquals(List.of("waits", "in time"), received);
    assertEquals(List.of("late"), letters.messages(Reason.REJECTED));
  }

  @Test
  void refusalTextShowsEstimatedWait() {
    var actor = actor();
    Gate.occupy(actor);
    actor.sendMessage(1);
    actor.sendMessage(2);
    advance(30);

    var refusal = assertThrows(MailboxFullException.class, () -> actor.ask("request"));

    assertEquals(
        "the mailbox of actor 'timely' is full: \"request\" would have waited about 60 ms, longer than 50 ms; ask "
            + "again later, or give the actor more workers or a longer withMaxWait(..)",
        refusal.getMessage());
    assertEquals(100, refusal.capacity());
    assertEquals(1, scope.report().unhandled().get(Reason.REJECTED));
  }

  @Promise("24.2")
  @Test
  void emptyMailboxAcceptsMessageDespiteSlowHandler() {
    var actor = actor();
    Gate.occupy(actor);

    advance(3_600_000);

    assertTrue(actor.sendMessage("first"));
  }

  @Test
  void messageBehindLongButQuickQueueIsAccepted() {
    var actor = actor();
    var firstGate = Gate.occupy(actor);
    var secondGate = new Gate();
    for (int i = 0; i < 40; i++) actor.sendMessage(i);
    actor.sendMessage(secondGate);
    for (int i = 0; i < 40; i++) actor.sendMessage(i);

    advance(50);
    passToNext(firstGate, secondGate); // the queue has passed on 41 messages since its last 40 messages arrived

    assertTrue(actor.sendMessage("41st"));
  }

  @Promise("24.1")
  @Test
  void estimatedWaitUsesPaceOfHandledMessages() {
    var actor = actor();
    var gates = List.of(Gate.occupy(actor), new Gate(), new Gate(), new Gate());
    for (var gate : gates.subList(1, 4)) actor.sendMessage(gate);
    for (int i = 0; i < 3; i++) actor.sendMessage(i);
    for (int i = 0; i < 3; i++) {
      advance(10);
      passToNext(gates.get(i), gates.get(i + 1));
    }

    // Four messages take 30 ms, including the message that begins next. That is 7.5 ms per message,
    // so a message behind three others waits 22 ms.
    boolean fourthAccepted = actor.sendMessage(3);
    for (int i = 4; i < 7; i++) assertTrue(actor.sendMessage(i)); // the last message, behind six others, waits 45 ms
    boolean eighthAccepted = actor.sendMessage(7); // would wait 52 ms behind seven messages

    assertEquals(List.of(true, false), List.of(fourthAccepted, eighthAccepted));
  }

  @Test
  void estimatedWaitRisesWhileSlowMessageIsHandled() {
    var actor = actor();
    var firstGate = Gate.occupy(actor);
    var secondGate = new Gate();
    actor.sendMessage(secondGate);
    actor.sendMessage("waits");
    advance(10);
    passToNext(firstGate, secondGate);
    assertTrue(actor.sendMessage("at the old pace"));

    advance(90); // only one message has begun since the queued message arrived 100 ms ago

    assertFalse(actor.sendMessage("at the new pace"));
  }

  @Test
  void messageIsAcceptedAfterWaitingRequestIsCancelled() {
    var actor = actor();
    Gate.occupy(actor);
    var request = actor.sendMessageReturn("cancelled");
    advance(51);
    assertFalse(actor.sendMessage("too late"));

    request.cancel(false);

    assertTrue(actor.sendMessage("in time"));
  }

  @Test
  void messageIsAcceptedAfterWaitingRequestExpires() {
    var actor = actor();
    Gate.occupy(actor);
    CompletableFuture<AskTimeoutException> timeout = Patience.callOnFiber(
        () -> assertThrows(AskTimeoutException.class, () -> actor.ask("expires", Duration.ofMillis(51))));
    Patience.eventually(() -> {
      advance(51);
      return timeout.isDone();
    });

    Patience.value(timeout);
    assertTrue(actor.sendMessage("in time"));
  }

  @Promise("24.3")
  @Test
  void burstBeyondCapacityIsRefused() {
    var actor = actor();
    Gate.occupy(actor);
    for (int i = 0; i < 100; i++) assertTrue(actor.sendMessage(i));

    var refusal =
        assertInstanceOf(MailboxFullException.class, Patience.failure(actor.sendMessageReturn("one too many")));

    assertTrue(refusal.getMessage().contains("is full (100 messages)"), refusal.getMessage());
  }

  @Test
  void dropNewestDropsMessageThatWouldWaitTooLong() {
    var actor =
        actor(scope.anonymous().mailbox(Mailbox.bounded(100, Overflow.DROP_NEWEST).withMaxWait(Duration.ofMillis(50))));
    Gate.occupy(actor);
    actor.sendMessage(1);
    advance(51);

    assertFalse(actor.sendMessage("late"));

    assertEquals(List.of("late"), letters.messages(Reason.DROPPED));
  }

  @Promise("24.3")
  @Test
  void maxWaitRefusesMessageListsAndTasksButNoPoisonPill() {
    var actor = actor();
    Gate.occupy(actor);
    actor.sendMessage("waits");
    advance(51);

    boolean blockAccepted = actor.sendMessages(List.of(1, 2));
    assertThrows(RejectedExecutionException.class, () -> actor.execute(() -> received.add("task")));
    actor.sendPoisonPill();
    Gate.openAll();
    Patience.awaitEnd(actor::waitForExit);

    assertFalse(blockAccepted);
    assertEquals(List.of("waits"), received);
  }

  @Test
  void queuedWatcherNotificationCausesNoRefusalOfMessages() {
    var actor = actor();
    Gate.occupy(actor);
    Cells.admit(actor, "notification");

    advance(3_600_000);

    assertTrue(actor.sendMessage("waits"));
  }

  @Test
  void timerMessageThatWouldWaitTooLongIsDropped() {
    var actor = actor();
    Gate.occupy(actor);
    actor.sendMessage("waits");
    actor.sendMessageLater("tick", Duration.ofMillis(51));

    advance(51);

    assertEquals(List.of("tick"), letters.messages(Reason.DROPPED));
  }

  @Test
  void poolWaitEstimateCountsAllWorkers() {
    var pool = actor(Pools.fixed(scope.anonymous().mailbox(MAILBOX), 3));
    var gates = List.of(Gate.occupy(pool), Gate.occupy(pool), Gate.occupy(pool));
    var nextGates = List.of(new Gate(), new Gate(), new Gate());
    nextGates.forEach(pool::sendMessage);
    pool.sendMessage("waits");
    advance(40);
    // four messages in 40 ms, including the message that begins next
    for (int i = 0; i < 3; i++) passToNext(gates.get(i), nextGates.get(i));

    for (int i = 0; i < 5; i++) assertTrue(pool.sendMessage(i));

    assertFalse(pool.sendMessage("after 60 ms"));
  }

  private record Keyed(String key, Gate gate) {
    Keyed(String key) {
      this(key, new Gate());
    }
  }

  @Promise("24.4")
  @Test
  void busyKeyCausesNoRefusalOfMessagesWithOtherKeys() {
    var pool =
        Pools.byKey(scope.anonymous().mailbox(MAILBOX), 2, Keyed::key).newActor((Keyed keyed) -> keyed.gate().pass());
    var busyKeyMessage = new Keyed("busy");
    var otherKeyMessage = new Keyed("other");
    pool.sendMessage(busyKeyMessage);
    pool.sendMessage(otherKeyMessage);
    Patience.await(busyKeyMessage.gate().entered);
    Patience.await(otherKeyMessage.gate().entered);
    for (int i = 0; i < 9; i++) assertTrue(pool.sendMessage(new Keyed("busy")));
    assertTrue(pool.sendMessage(new Keyed("third")));

    advance(50);
    boolean fourthAccepted = pool.sendMessage(new Keyed("fourth")); // only one message of another key is queued
    boolean fifthAccepted = pool.sendMessage(new Keyed("fifth"));

    assertEquals(List.of(true, false), List.of(fourthAccepted, fifthAccepted));
  }

  @Test
  void waitOfKeyedMessageIsMeasuredFromItsSend() {
    advance(3_600_000);
    var pool =
        Pools.byKey(scope.anonymous().mailbox(MAILBOX), 1, Keyed::key).newActor((Keyed keyed) -> keyed.gate().pass());
    var busyKeyMessage = new Keyed("busy");
    var otherKeyMessage = new Keyed("other");
    for (var keyed : List.of(busyKeyMessage, new Keyed("busy"), otherKeyMessage)) pool.sendMessage(keyed);
    Patience.await(busyKeyMessage.gate().entered);
    // the worker begins the message of the other key; the next message in the queue is then the
    // second message of the busy key
    passToNext(busyKeyMessage.gate(), otherKeyMessage.gate());

    boolean thirdAccepted = pool.sendMessage(new Keyed("third"));
    advance(51); // one message was handled since the oldest queued message was sent; two are queued
    boolean fourthAccepted = pool.sendMessage(new Keyed("fourth"));

    assertEquals(List.of(true, false), List.of(thirdAccepted, fourthAccepted));
  }

  @Test
  void sendFailsButCloseSucceedsWhenClockThrows() {
    var actor = Variants.scope(o -> o.withScheduler(new BrokenClock())).anonymous().mailbox(MAILBOX)
        .newActor((Object message) -> received.add(message));

    assertThrows(IllegalStateException.class, () -> actor.sendMessage("lost"));
    actor.close();

    assertEquals(List.of(), received);
  }

  private static final class BrokenClock implements Scheduler {
    @Override
    public long nanoTime() {
      throw new IllegalStateException("no time");
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
      return Scheduler.system().schedule(delay, task);
    }

    @Override
    public Timer scheduleAtFixedRate(Duration initial, Duration period, Runnable task) {
      return Scheduler.system().scheduleAtFixedRate(initial, period, task);
    }

    @Override
    public Timer scheduleWithFixedDelay(Duration initial, Duration delay, Runnable task) {
      return Scheduler.system().scheduleWithFixedDelay(initial, delay, task);
    }
  }
}
