package io.fibry.engine.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.Variants;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests that a full mailbox, which makes senders wait, never makes threads of the library wait. */
class FullMailboxFaultTest {
  private final RecordedLetters letters = new RecordedLetters();
  private final ActorScope scope = Variants.scope(letters);
  private final Gate gate = new Gate();
  private Actor<Object> fullActor;
  private Thread blockedSender;

  @BeforeEach
  void fill() {
    fullActor = scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.BLOCK)).newActor((Object message) -> gate.pass());
    fullActor.sendMessage("handled");
    Patience.await(gate.entered);
    fullActor.sendMessage("waits");
    blockedSender = Patience.startFiber(() -> fullActor.sendMessage("blocked"));
    Patience.awaitParked(blockedSender);
  }

  @AfterEach
  void openGates() {
    Gate.openAll();
  }

  @Test
  void onlyTimerMessagesToFullMailboxAreDropped() {
    var ticks = new CountDownLatch(3);
    var otherActor = scope.anonymous().newActor((Object message) -> ticks.countDown());

    fullActor.sendMessageLater("too much", Duration.ofNanos(1));
    otherActor.sendMessageEvery("tick", Duration.ofMillis(1));

    Patience.await(ticks);
    Patience.eventually(() -> !letters.all.isEmpty());
    assertEquals(List.of("too much"), letters.messages(Reason.DROPPED));
    otherActor.askExit();
  }

  @Test
  void systemSchedulerRunsTasksWhileMailboxIsFull() {
    fullActor.sendMessageEvery("tick", Duration.ofMillis(1));
    var taskRuns = new CountDownLatch(1);

    Scheduler.system().schedule(Duration.ofMillis(5), taskRuns::countDown);

    Patience.await(taskRuns);
    fullActor.askExit();
  }

  @Test
  void actorWithFullMailboxCanBeAskedToExit() {
    fullActor.askExit();

    Patience.awaitEnd(blockedSender);
    gate.open();
    Patience.awaitEnd(fullActor::waitForExit);
    assertEquals(2, letters.messages(Reason.UNDELIVERED).size());
  }

  @Test
  void actorWithFullMailboxCanBeKilled() {
    fullActor.kill();

    Patience.awaitEnd(fullActor::waitForExit);
    Patience.awaitEnd(blockedSender);
    assertEquals(new ExitReason.Killed(), fullActor.onExit().join());
  }

  @Test
  void actorWithFullMailboxCanBeClosed() {
    var closer = Patience.startFiber(fullActor::close);
    Patience.awaitParked(closer);

    gate.open();

    Patience.awaitEnd(closer);
    Patience.awaitEnd(blockedSender);
    assertEquals(3, scope.report().handled() + scope.report().unhandled().get(Reason.UNDELIVERED));
    assertFalse(fullActor.sendMessage("late"));
  }

  @Test
  void otherActorsAnswerWhileMailboxIsFull() {
    try (var otherActor = scope.anonymous().newActorWithReturn((Integer i) -> i + 1)) {
      int answer = otherActor.ask(1);

      assertEquals(2, answer);
      assertTrue(blockedSender.isAlive());
    }
  }
}
