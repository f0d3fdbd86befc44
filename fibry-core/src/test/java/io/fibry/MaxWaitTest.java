package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.DeadLetter.Reason;
import io.fibry.engine.actor.Cells;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Pools;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A mailbox that counts as full while a new message would wait longer than 50 ms, by a clock that
 * the test moves.
 */
class MaxWaitTest {
  private static final Mailbox<Object> TIMELY =
      Mailbox.bounded(100, Overflow.REJECT).withMaxWait(Duration.ofMillis(50));

  private final Letters letters = new Letters();
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = Variants.scope(o -> o.withDeadLetters(letters).withScheduler(clock));
  private final List<Object> seen = new CopyOnWriteArrayList<>();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  private ActorWithReturn<Object, Object> actor(ActorBuilder<Object> builder) {
    return builder.newActorWithReturn((Object m) -> {
      if (m instanceof Gate gate) gate.pass();
      else seen.add(m);
      return m;
    });
  }

  private ActorWithReturn<Object, Object> actor() {
    return actor(scope.named("timely").mailbox(TIMELY));
  }

  private void pass(long millis) {
    clock.advance(Duration.ofMillis(millis));
  }

  /** Ends the current message; waits until the next one begins. */
  private static void next(Gate now, Gate next) {
    now.open();
    Patience.await(next.entered);
  }

  private static List<String> strategies() {
    return List.copyOf(Variants.STRATEGIES.keySet());
  }

  @Promise("24.1")
  @ParameterizedTest
  @MethodSource("strategies")
  void aMessageThatWouldWaitTooLongIsRefused(String strategy) {
    var actor = actor(scope.named("timely").strategy(Variants.STRATEGIES.get(strategy)).mailbox(TIMELY));
    Gate.occupy(actor);
    actor.sendMessage("waits");

    pass(50);
    boolean inTime = actor.sendMessage("in time");
    pass(1);
    boolean late = actor.sendMessage("late");
    Gate.openAll();
    actor.close();

    assertEquals(List.of(true, false), List.of(inTime, late));
    assertEquals(List.of("waits", "in time"), seen);
    assertEquals(List.of("late"), letters.messages(Reason.REJECTED));
  }

  @Test
  void refusalTextShowsEstimatedWait() {
    var actor = actor();
    Gate.occupy(actor);
    actor.sendMessage(1);
    actor.sendMessage(2);
    pass(30);

    var refusal = assertThrows(MailboxFullException.class, () -> actor.ask("request"));

    assertEquals(
        "the mailbox of actor 'timely' is full: \"request\" would have waited about 60 ms, longer than 50 ms; ask "
            + "again later, or give it more workers or a longer withMaxWait(..)",
        refusal.getMessage());
    assertEquals(100, refusal.capacity());
    assertEquals(1, scope.report().unhandled().get(Reason.REJECTED));
  }

  @Promise("24.2")
  @Test
  void emptyMailboxRefusesNothing() {
    var actor = actor();
    Gate.occupy(actor);

    pass(3_600_000);

    assertTrue(actor.sendMessage("first"));
  }

  @Test
  void longQueueOfQuickMessagesIsNotRefused() {
    var actor = actor();
    var first = Gate.occupy(actor);
    var second = new Gate();
    for (int i = 0; i < 40; i++) actor.sendMessage(i);
    actor.sendMessage(second);
    for (int i = 0; i < 40; i++) actor.sendMessage(i);

    pass(50);
    next(first, second); // 41 have left since the waiting ones came

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
      pass(10);
      next(gates.get(i), gates.get(i + 1));
    }

    // 30 ms for three that left and the next one: three wait, 22 ms
    boolean fourth = actor.sendMessage(3);
    for (int i = 4; i < 7; i++) assertTrue(actor.sendMessage(i)); // at last six wait, 45 ms
    boolean eighth = actor.sendMessage(7); // seven wait, 52 ms

    assertEquals(List.of(true, false), List.of(fourth, eighth));
  }

  @Test
  void slowdownIsNoticedWhileNextMessageWaits() {
    var actor = actor();
    var first = Gate.occupy(actor);
    var second = new Gate();
    actor.sendMessage(second);
    actor.sendMessage("waits");
    pass(10);
    next(first, second);
    assertTrue(actor.sendMessage("at the old pace"));

    pass(90); // 100 ms since it came, and one has left

    assertFalse(actor.sendMessage("at the new pace"));
  }

  @Test
  void aCancelledRequestMakesRoomForOthers() {
    var actor = actor();
    Gate.occupy(actor);
    var request = actor.sendMessageReturn("cancelled");
    pass(51);
    assertFalse(actor.sendMessage("too late"));

    request.cancel(false);

    assertTrue(actor.sendMessage("in time"));
  }

  @Test
  void anExpiredRequestMakesRoomForOthers() {
    var actor = actor();
    Gate.occupy(actor);
    var asker = Patience
        .startFiber(() -> assertThrows(AskTimeoutException.class, () -> actor.ask("expires", Duration.ofMillis(51))));
    Patience.eventually(() -> {
      pass(51);
      return !asker.isAlive();
    });

    assertTrue(actor.sendMessage("in time"));
  }

  @Promise("24.3")
  @Test
  void theCapacityBoundsABurst() {
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
    pass(51);

    assertFalse(actor.sendMessage("late"));

    assertEquals(List.of("late"), letters.messages(Reason.DROPPED));
  }

  @Promise("24.3")
  @Test
  void lateBlocksAndTasksAreRefusedButPoisonPillIsNot() {
    var actor = actor();
    Gate.occupy(actor);
    actor.sendMessage("waits");
    pass(51);

    boolean block = actor.sendMessages(List.of(1, 2));
    assertThrows(RejectedExecutionException.class, () -> actor.execute(() -> seen.add("task")));
    actor.sendPoisonPill();
    Gate.openAll();
    Patience.ended(actor::waitForExit);

    assertFalse(block);
    assertEquals(List.of("waits"), seen);
  }

  @Test
  void watchMessageIsAdmittedAndCausesNoRefusal() {
    var actor = actor();
    Gate.occupy(actor);
    Cells.admit(actor, "news");

    pass(3_600_000);

    assertTrue(actor.sendMessage("waits"));
  }

  @Test
  void timerMessageThatWouldWaitTooLongIsDropped() {
    var actor = actor();
    Gate.occupy(actor);
    actor.sendMessage("waits");
    actor.sendMessageLater("tick", Duration.ofMillis(51));

    pass(51);

    assertEquals(List.of("tick"), letters.messages(Reason.DROPPED));
  }

  @Test
  void poolWaitEstimateCountsAllWorkers() {
    var pool = actor(Pools.fixed(scope.anonymous().mailbox(TIMELY), 3));
    var gates = List.of(Gate.occupy(pool), Gate.occupy(pool), Gate.occupy(pool));
    var next = List.of(new Gate(), new Gate(), new Gate());
    next.forEach(pool::sendMessage);
    pool.sendMessage("waits");
    pass(40);
    // four in 40 ms, counting the next one
    for (int i = 0; i < 3; i++) next(gates.get(i), next.get(i));

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
  void aBusyKeyRefusesNoOtherKey() {
    var pool =
        Pools.byKey(scope.anonymous().mailbox(TIMELY), 2, Keyed::key).newActor((Keyed keyed) -> keyed.gate().pass());
    var busy = new Keyed("busy");
    var other = new Keyed("other");
    pool.sendMessage(busy);
    pool.sendMessage(other);
    Patience.await(busy.gate().entered);
    Patience.await(other.gate().entered);
    for (int i = 0; i < 9; i++) assertTrue(pool.sendMessage(new Keyed("busy")));
    assertTrue(pool.sendMessage(new Keyed("third")));

    pass(50);
    boolean fourth = pool.sendMessage(new Keyed("fourth")); // only one message of another key waits
    boolean fifth = pool.sendMessage(new Keyed("fifth"));

    assertEquals(List.of(true, false), List.of(fourth, fifth));
  }

  @Test
  void keyedMessageWaitCountsFromSend() {
    pass(3_600_000);
    var pool =
        Pools.byKey(scope.anonymous().mailbox(TIMELY), 1, Keyed::key).newActor((Keyed keyed) -> keyed.gate().pass());
    var first = new Keyed("busy");
    var between = new Keyed("other");
    for (var keyed : List.of(first, new Keyed("busy"), between)) pool.sendMessage(keyed);
    Patience.await(first.gate().entered);
    // the message behind the first now stands in line, and is next
    next(first.gate(), between.gate());

    boolean atOnce = pool.sendMessage(new Keyed("third"));
    pass(51); // one has left since it was sent: two wait
    boolean late = pool.sendMessage(new Keyed("fourth"));

    assertEquals(List.of(true, false), List.of(atOnce, late));
  }

  @Test
  void throwingClockFailsSenderButNotClose() {
    var broken = Variants.scope(o -> o.withScheduler(new BrokenClock())).anonymous().mailbox(TIMELY)
        .newActor((Object message) -> seen.add(message));

    assertThrows(IllegalStateException.class, () -> broken.sendMessage("lost"));
    broken.close();

    assertEquals(List.of(), seen);
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
