package io.fibry.fsm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.FailurePolicy;
import io.fibry.Strategy;
import io.fibry.fsm.DoorFixture.Closed;
import io.fibry.fsm.DoorFixture.Door;
import io.fibry.fsm.DoorFixture.Event;
import io.fibry.fsm.DoorFixture.Lock;
import io.fibry.fsm.DoorFixture.Locked;
import io.fibry.fsm.DoorFixture.Look;
import io.fibry.fsm.DoorFixture.Open;
import io.fibry.fsm.DoorFixture.Push;
import io.fibry.fsm.DoorFixture.Unlock;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests state machines whose code throws, and restarts of their actors. */
class FsmFailureTest {
  private static final FailurePolicy RESTART = FailurePolicy.restart().withoutLog();

  private final DoorFixture doors = new DoorFixture(Strategy.CALLER);

  @AfterEach
  void close() {
    Gate.openAll();
    doors.close();
  }

  private Fsm<Door, Event> failingDoor() {
    return doors.recordingDoor().on(Open.class, Push.class, (open, push) -> {
      throw new IllegalStateException("jammed");
    });
  }

  private Actor<Event> make(Fsm<Door, Event> machine, FailurePolicy policy) {
    return machine.newActor(doors.scope.named("door").onFailure(policy));
  }

  @Promise("23.1")
  @Test
  void stateStaysWhenTransitionThrows() {
    var door = doors.newDoor(failingDoor());
    door.sendMessage(new Push("Ada"));
    doors.records.clear();

    door.sendMessage(new Push("Bob"));

    assertEquals(new Open("Ada"), door.ask(new Look()));
    assertEquals(List.of(), doors.records);
  }

  @Test
  void askerGetsExceptionOfTransition() {
    var exception = new IllegalStateException("jammed");
    var door = doors.newDoor(doors.door().on(Closed.class, Unlock.class, (closed, unlock) -> {
      throw exception;
    }));

    assertSame(exception, assertThrows(IllegalStateException.class, () -> door.ask(new Unlock(1))));
  }

  @Test
  void stateStaysAndAskFailsWhenNextStateIsNull() {
    var door = doors.newDoor(doors.door().on(Closed.class, Unlock.class, (closed, unlock) -> null));

    var failure = assertThrows(NullPointerException.class, () -> door.ask(new Unlock(1)));

    assertEquals("the next state of actor 'door' after Closed[] was null; to stay, return the given state",
        failure.getMessage());
    assertEquals(new Closed(), door.ask(new Look()));
  }

  @Test
  @SuppressWarnings({"unchecked", "rawtypes"})
  void stateStaysAndAskFailsWhenNextStateHasWrongType() {
    var door =
        doors
            .newDoor(doors.door().on(Closed.class, Unlock.class, (Fsm.Transition) (closed, unlock, context) -> "open"));

    assertThrows(IllegalArgumentException.class, () -> door.ask(new Unlock(1)));

    assertEquals(new Closed(), door.ask(new Look()));
  }

  @Test
  void stateAndItsTimeoutRemainWhenLeaveCodeThrows() {
    var attempts = new AtomicInteger();
    var door =
        doors
            .newDoor(doors.door().on(Open.class, Push.class, (open, push) -> new Closed()).onLeave(Open.class, open -> {
              if (attempts.incrementAndGet() == 1) throw new IllegalStateException("jammed");
            }));
    door.sendMessage(new Push("Ada"));

    door.sendMessage(new Push("Ada"));
    var openState = door.ask(new Look());
    doors.clock.advance(DoorFixture.OPEN_TIMEOUT);

    assertEquals(List.of(new Open("Ada"), new Closed()), List.of(openState, door.ask(new Look())));
  }

  @Test
  void newStateStaysAndMessageFailsWhenEnterCodeThrows() {
    var door = doors.newDoor(doors.door().onEnter(Open.class, open -> {
      throw new IllegalStateException("jammed");
    }));

    door.sendMessage(new Push("Ada"));
    var open = door.ask(new Look());
    doors.clock.advance(DoorFixture.OPEN_TIMEOUT);

    assertEquals(List.of(new Push("Ada")), doors.letters.messages(Reason.FAILED));
    assertEquals(List.of(new Open("Ada"), new Closed()), List.of(open, door.ask(new Look())));
  }

  @Test
  void exceptionOnEnteringInitialStateBecomesDeadLetter() {
    var door = doors.newDoor(doors.door().onEnter(Closed.class, closed -> {
      throw new IllegalStateException("jammed");
    }));

    assertEquals("the entry of the initial state Closed[]",
        doors.letters.messages(Reason.FAILED).getFirst().toString());
    assertEquals(new Closed(), door.ask(new Look()));
  }

  @Test
  void stopPolicyEndsFsmActor() {
    var door = make(failingDoor(), FailurePolicy.stop().withoutLog());
    door.sendMessage(new Push("Ada"));
    doors.records.clear();

    door.sendMessage(new Push("Bob"));

    assertInstanceOf(ExitReason.Failed.class, door.onExit().join());
    assertEquals(List.of(), doors.records, "the end of an actor must not run the code for leaving a state");
    assertEquals(List.of(new Push("Bob")), doors.letters.messages());
  }

  @Test
  void restartEntersInitialStateWithoutWaitingForMessage() {
    var door = make(failingDoor(), RESTART);
    door.sendMessage(new Push("Ada"));
    doors.records.clear();

    door.sendMessage(new Push("Bob"));

    assertEquals(List.of("+Closed[]"), doors.records);
    assertEquals(new Closed(), door.ask(new Look()));
  }

  @Test
  void restartCancelsTimeoutOfPreviousState() {
    var door = make(failingDoor(), RESTART);
    door.sendMessage(new Push("Ada"));
    door.sendMessage(new Push("Bob"));
    long sentBefore = doors.scope.report().sent();

    doors.clock.advance(DoorFixture.OPEN_TIMEOUT.multipliedBy(3));

    assertEquals(sentBefore, doors.scope.report().sent());
  }

  @Test
  void stateTimeoutFiresAgainAfterItsFailedCodeRestartsActor() {
    var rounds = new AtomicInteger();
    make(doors.door().onTimeout(Closed.class, DoorFixture.OPEN_TIMEOUT, closed -> {
      if (rounds.incrementAndGet() < 3) throw new IllegalStateException("jammed");
      return new Open("the wind");
    }).onEnter(Open.class, open -> doors.records.add("open")), RESTART);

    doors.clock.advance(DoorFixture.OPEN_TIMEOUT.multipliedBy(3));

    assertEquals(List.of("open"), doors.records);
  }

  @Test
  void postponedMessageIsHandledAfterRestart() {
    var door = make(failingDoor(), RESTART);
    door.sendMessages(List.of(new Push("Ada"), new Lock(5)));

    door.sendMessage(new Push("Bob"));

    assertEquals(new Locked(5), door.ask(new Look()));
  }

  @ParameterizedTest
  @EnumSource(Overflow.class)
  void restartWithFullMailboxEntersInitialState(Overflow overflow) {
    try (var logged = new Logged(); var doors = new DoorFixture(Strategy.FIBER)) {
      var gate = new Gate();
      var machine = doors.door().onEnter(Closed.class, closed -> doors.records.add("+")).on(Open.class, Push.class,
          (open, push) -> {
            gate.pass();
            throw new IllegalStateException("jammed");
          });
      var door = machine.newActor(doors.scope.named("door").onFailure(RESTART).mailbox(Mailbox.bounded(2, overflow)));
      assertTrue(doors.scope.awaitQuiescence(Patience.LONG));
      door.sendMessages(List.of(new Push("Ada"), new Push("Bob")));
      Patience.await(gate.entered);
      door.sendMessageReturn(new Look());
      var answer = door.sendMessageReturn(new Look());

      gate.open();

      assertEquals(new Closed(), Patience.value(answer));
      assertEquals(List.of("+", "+"), doors.records);
      assertEquals("", logged.entriesAbout("'door'", "Fsm", "jammed", "Look", "Push"));
    }
  }

  @Test
  void killedActorIsInterruptedAndRunsNoLeaveCode() throws Exception {
    var doors = new DoorFixture(Strategy.FIBER);
    var handlerEntered = new CountDownLatch(1);
    var door = doors.newDoor(doors.recordingDoor().on(Locked.class, Lock.class, (locked, lock) -> {
      handlerEntered.countDown();
      new CountDownLatch(1).await();
      return locked;
    }));
    door.sendMessages(List.of(new Lock(1), new Lock(2)));
    handlerEntered.await();
    doors.records.clear();

    door.kill();
    Patience.awaitEnd(door::waitForExit);

    assertEquals(List.of(), doors.records);
    doors.close();
  }
}
