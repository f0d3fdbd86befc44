package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.DeadLetter.Reason;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A full mailbox that makes senders wait never makes the library wait. */
class FullMailboxFaultTest {
  private final Letters letters = new Letters();
  private final ActorScope scope = Variants.scope(letters);
  private final Gate gate = new Gate();
  private Actor<Object> full;
  private Thread blocked;

  @BeforeEach
  void fill() {
    full = scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.BLOCK)).newActor((Object message) -> gate.pass());
    full.sendMessage("handled");
    Patience.await(gate.entered);
    full.sendMessage("waits");
    blocked = Patience.startFiber(() -> full.sendMessage("blocked"));
    Patience.parked(blocked);
  }

  @AfterEach
  void openGates() {
    Gate.openAll();
  }

  @Test
  void fullMailboxDropsOwnTimersOnly() {
    var rung = new CountDownLatch(3);
    var other = scope.anonymous().newActor((Object message) -> rung.countDown());

    full.sendMessageLater("too much", Duration.ofNanos(1));
    other.sendMessageEvery("tick", Duration.ofMillis(1));

    Patience.await(rung);
    Patience.eventually(() -> !letters.all.isEmpty());
    assertEquals(List.of("too much"), letters.messages(Reason.DROPPED));
    other.askExit();
  }

  @Test
  void schedulerContinuesWhileMailboxIsFull() {
    full.sendMessageEvery("tick", Duration.ofMillis(1));
    var ran = new CountDownLatch(1);

    Scheduler.system().schedule(Duration.ofMillis(5), ran::countDown);

    Patience.await(ran);
    full.askExit();
  }

  @Test
  void actorWithFullMailboxCanBeAskedToExit() {
    full.askExit();

    Patience.joined(blocked);
    gate.open();
    Patience.ended(full::waitForExit);
    assertEquals(2, letters.messages(Reason.UNDELIVERED).size());
  }

  @Test
  void actorWithFullMailboxCanBeKilled() {
    full.kill();

    Patience.ended(full::waitForExit);
    Patience.joined(blocked);
    assertEquals(new ExitReason.Killed(), full.onExit().join());
  }

  @Test
  void actorWithFullMailboxCanBeClosed() {
    var closer = Patience.startFiber(full::close);
    Patience.parked(closer);

    gate.open();

    Patience.joined(closer);
    Patience.joined(blocked);
    assertEquals(3, scope.report().handled() + scope.report().unhandled().get(Reason.UNDELIVERED));
    assertFalse(full.sendMessage("late"));
  }

  @Test
  void otherActorsContinueWhileMailboxIsFull() {
    try (var other = scope.anonymous().newActorWithReturn((Integer i) -> i + 1)) {
      int answer = other.ask(1);

      assertEquals(2, answer);
      assertTrue(blocked.isAlive());
    }
  }
}
