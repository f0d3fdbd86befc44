package io.fibry.fsm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.ActorSystem;
import io.fibry.DeadLetter.Reason;
import io.fibry.Strategy;
import io.fibry.fsm.DoorFixture.Closed;
import io.fibry.fsm.DoorFixture.Look;
import io.fibry.fsm.DoorFixture.Open;
import io.fibry.fsm.DoorFixture.Push;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the timeouts of states. */
class FsmTimesTest {
  private static final Duration ALMOST_TIMEOUT = DoorFixture.OPEN_TIMEOUT.minusNanos(1);
  private static final Duration NANOSECOND = Duration.ofNanos(1);

  private final DoorFixture doors = new DoorFixture(Strategy.CALLER);

  @AfterEach
  void close() {
    Gate.openAll();
    doors.close();
  }

  @Promise("23.3")
  @Test
  void timeoutChangesStateExactlyAtItsTime() {
    var door = doors.newDoor(doors.door());
    door.sendMessage(new Push("Ada"));

    doors.clock.advance(ALMOST_TIMEOUT);
    var stateBefore = door.ask(new Look());
    doors.clock.advance(NANOSECOND);
    var stateAfter = door.ask(new Look());

    assertEquals(List.of(new Open("Ada"), new Closed()), List.of(stateBefore, stateAfter));
  }

  @Test
  void timeoutOfInitialStateBeginsWithCreationOfActor() {
    var door =
        doors.newDoor(doors.door().onTimeout(Closed.class, DoorFixture.OPEN_TIMEOUT, closed -> new Open("the wind")));

    doors.clock.advance(DoorFixture.OPEN_TIMEOUT);

    assertEquals(new Open("the wind"), door.ask(new Look()));
  }

  @Promise("23.3")
  @Test
  void timeoutNeverFiresAfterItsStateIsLeft() {
    var door = doors.newDoor(doors.door().on(Open.class, Push.class, (open, push) -> new Closed()));
    door.sendMessage(new Push("Ada"));
    door.sendMessage(new Push("Ada"));
    long sentBefore = doors.scope.report().sent();

    doors.clock.advance(DoorFixture.OPEN_TIMEOUT);

    assertEquals(sentBefore, doors.scope.report().sent());
  }

  @Test
  void reenteredStateHasWholeTimeout() {
    var door = doors.newDoor(doors.door().on(Open.class, Push.class, (open, push) -> new Open(push.by())));
    door.sendMessage(new Push("Ada"));
    doors.clock.advance(ALMOST_TIMEOUT);
    door.sendMessage(new Push("Bob"));

    doors.clock.advance(ALMOST_TIMEOUT);
    var stateBefore = door.ask(new Look());
    doors.clock.advance(NANOSECOND);
    var stateAfter = door.ask(new Look());

    assertEquals(List.of(new Open("Bob"), new Closed()), List.of(stateBefore, stateAfter));
  }

  @Test
  void unchangedStateKeepsRemainingTimeout() {
    var door = doors.newDoor(doors.door().on(Open.class, Push.class, (open, push) -> open));
    door.sendMessage(new Push("Ada"));
    doors.clock.advance(ALMOST_TIMEOUT);
    door.sendMessage(new Push("Bob"));

    doors.clock.advance(NANOSECOND);

    assertEquals(new Closed(), door.ask(new Look()));
  }

  @Test
  void messagesQueuedAtTimeoutAreHandledBeforeTimeoutCode() {
    var fiberDoors = new DoorFixture(Strategy.FIBER);
    var gate = new Gate();
    var door = fiberDoors.newDoor(fiberDoors.door().on(Open.class, Push.class, (open, push) -> {
      gate.pass();
      return open;
    }));
    door.sendMessage(new Push("Ada"));
    door.sendMessage(new Push("Ada"));
    Patience.await(gate.entered);

    var earlierAnswer = door.sendMessageReturn(new Look());
    fiberDoors.clock.advance(DoorFixture.OPEN_TIMEOUT);
    var laterAnswer = door.sendMessageReturn(new Look());
    gate.open();

    assertEquals(List.of(new Open("Ada"), new Closed()),
        List.of(Patience.value(earlierAnswer), Patience.value(laterAnswer)));
    fiberDoors.close();
  }

  @Test
  void queuedTimeoutIsIgnoredWhenItsStateHasBeenLeft() {
    var fiberDoors = new DoorFixture(Strategy.FIBER);
    var gate = new Gate();
    var door = fiberDoors.newDoor(fiberDoors.door().on(Open.class, Push.class, (open, push) -> {
      gate.pass();
      return new Open(push.by());
    }));
    door.sendMessage(new Push("Ada"));
    door.sendMessage(new Push("Bob"));
    Patience.await(gate.entered);
    // the timeout of Ada's state expires, but its message is queued behind Bob's push
    fiberDoors.clock.advance(DoorFixture.OPEN_TIMEOUT);

    gate.open();
    var state = door.ask(new Look());

    assertEquals(new Open("Bob"), state);
    fiberDoors.close();
  }

  @Test
  void timeoutRepeatsWhileItsCodeKeepsState() {
    var attempts = new AtomicInteger();
    var door = doors.newDoor(doors.door().onTimeout(Closed.class, DoorFixture.OPEN_TIMEOUT,
        closed -> attempts.incrementAndGet() < 3 ? closed : new Open("the wind")));

    doors.clock.advance(DoorFixture.OPEN_TIMEOUT.multipliedBy(2));
    var stateBefore = door.ask(new Look());
    doors.clock.advance(DoorFixture.OPEN_TIMEOUT);
    var stateAfter = door.ask(new Look());

    assertEquals(List.of(new Closed(), new Open("the wind")), List.of(stateBefore, stateAfter));
  }

  @Test
  void timeoutCodeThatThrowsRunsAgainAfterNextTimeout() {
    var attempts = new AtomicInteger();
    var door = doors.newDoor(doors.door().onTimeout(Closed.class, DoorFixture.OPEN_TIMEOUT, closed -> {
      if (attempts.incrementAndGet() < 2) throw new IllegalStateException("stuck");
      return new Open("the wind");
    }));

    doors.clock.advance(DoorFixture.OPEN_TIMEOUT);
    var stateBefore = door.ask(new Look());
    doors.clock.advance(DoorFixture.OPEN_TIMEOUT);
    var stateAfter = door.ask(new Look());

    assertEquals(List.of(new Closed(), new Open("the wind")), List.of(stateBefore, stateAfter));
    assertEquals("the timeout of the state Closed[]", doors.letters.messages(Reason.FAILED).getFirst().toString());
  }

  @Test
  void timeoutRefusedByFullMailboxFiresAgainLater() {
    var fiberDoors = new DoorFixture(Strategy.FIBER);
    var gate = new Gate();
    var machine = fiberDoors.door().on(Open.class, Push.class, (open, push) -> {
      gate.pass();
      return open;
    });
    var door = machine.newActor(fiberDoors.scope.named("door").mailbox(Mailbox.bounded(1, Overflow.REJECT)));
    door.sendMessage(new Push("Ada"));
    Patience.eventually(() -> door.sendMessage(new Push("Ada")));
    Patience.await(gate.entered);
    door.sendMessage(new Push("Ada"));
    fiberDoors.clock.advance(DoorFixture.OPEN_TIMEOUT); // the mailbox is full, so it refuses the message of the timeout

    gate.open();
    Patience.eventually(() -> fiberDoors.scope.awaitQuiescence(Patience.LONG) && door.ask(new Look()) instanceof Open);
    fiberDoors.clock.advance(DoorFixture.OPEN_TIMEOUT);

    Patience.eventually(
        () -> fiberDoors.scope.awaitQuiescence(Patience.LONG) && door.ask(new Look()) instanceof Closed);
    // the dead letter may be reported later, because another thread reports it
    Patience.eventually(() -> fiberDoors.letters.all.stream()
        .anyMatch(letter -> letter.message().toString().equals("the timeout of the state Open[by=Ada]")));
    fiberDoors.close();
  }

  @Test
  void timeoutsEndWithTheirActor() {
    var door = doors.newDoor(doors.door());
    door.sendMessage(new Push("Ada"));
    door.close();

    doors.clock.advance(DoorFixture.OPEN_TIMEOUT);

    assertEquals(List.of(), doors.letters.messages());
  }

  @Test
  void timeoutFiresOnSystemClock() {
    try (var scope = ActorSystem.openScope("real")) {
      var stateChanged = new CountDownLatch(1);
      doors.door().onTimeout(Closed.class, Duration.ofMillis(5), closed -> new Open("the wind"))
          .onEnter(Open.class, open -> stateChanged.countDown()).newActor(scope.anonymous());

      Patience.await(stateChanged);
    }
  }
}
