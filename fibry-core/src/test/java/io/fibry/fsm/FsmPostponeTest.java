package io.fibry.fsm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorStoppedException;
import io.fibry.AskTimeoutException;
import io.fibry.DeadLetter.Reason;
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
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests messages that a state postpones until another state. */
class FsmPostponeTest {
  private final DoorFixture doors = new DoorFixture(Strategy.CALLER);

  @AfterEach
  void close() {
    doors.close();
  }

  /**
   * Returns a machine that postpones locks and unlocks while open, and records them when closed.
   */
  private Fsm<Door, Event> postponingMachine() {
    return Fsm.of(Door.class, Event.class, new Open("Ada"))
        .postpone(Open.class, Lock.class)
        .postpone(Open.class, Unlock.class)
        .on(Open.class, Push.class, (open, push) -> push.by().equals("Ada") ? open : new Closed())
        .on(Closed.class, Lock.class, (closed, lock) -> {
          doors.records.add("lock " + lock.code());
          return closed;
        })
        .on(Closed.class, Unlock.class, (closed, unlock, context) -> {
          doors.records.add("unlock " + unlock.code());
          context.reply(unlock, true);
          return closed;
        })
        .on(Closed.class, Push.class, (closed, push) -> {
          doors.records.add("push");
          return closed;
        })
        .on(Door.class, Look.class, (door, look, context) -> {
          context.reply(look, door);
          return door;
        });
  }

  /** Creates an open door and sends it a lock for each code. The door postpones these locks. */
  private Actor<Event> newDoorWithLocks(int... codes) {
    var door = doors.newDoor(postponingMachine());
    IntStream.of(codes).forEach(code -> door.sendMessage(new Lock(code)));
    return door;
  }

  @Promise("23.2")
  @Test
  void postponedMessagesAreHandledInOrderInNextState() {
    var door = newDoorWithLocks(1, 2, 3);

    door.sendMessage(new Push("Bob"));

    assertEquals(List.of("lock 1", "lock 2", "lock 3"), doors.records);
  }

  @Promise("23.2")
  @Test
  void postponedMessageIsHandledBeforeLaterMessages() {
    try (var doors = new DoorFixture(Strategy.FIBER)) {
      var door =
          postponingMachine().onEnter(Closed.class, closed -> this.doors.records.add("closed"))
              .newActor(doors.scope.anonymous());

      door.sendMessages(List.of(new Lock(1), new Push("Bob"), new Push("Ada"), new Lock(2)));
      door.close();

      assertEquals(List.of("closed", "lock 1", "push", "lock 2"), this.doors.records);
    }
  }

  @Test
  void postponedMessageStaysPostponedWhileStateIsKept() {
    var door = newDoorWithLocks(1);

    door.sendMessage(new Push("Ada"));

    assertEquals(List.of(), doors.records);
  }

  @Test
  void postponedMessageIsHandledAfterTimeoutChangesState() {
    var door = doors.newDoor(postponingMachine().onTimeout(Open.class, DoorFixture.OPEN_TIMEOUT, open -> new Closed()));
    door.sendMessage(new Lock(1));

    doors.clock.advance(DoorFixture.OPEN_TIMEOUT);

    assertEquals(List.of("lock 1"), doors.records);
  }

  @Test
  void postponedMessageStaysPostponedIfNextStatePostponesIt() {
    var door = doors.newDoor(doors.door().on(Open.class, Push.class, (open, push) -> new Open(push.by())));
    door.sendMessages(List.of(new Push("Ada"), new Lock(7), new Push("Bob")));

    var open = door.ask(new Look());
    doors.clock.advance(DoorFixture.OPEN_TIMEOUT);

    assertEquals(List.of(new Open("Bob"), new Locked(7)), List.of(open, door.ask(new Look())));
  }

  @Test
  void postponedRequestIsAnsweredInNextState() {
    var door = newDoorWithLocks();
    var answer = door.sendMessageReturn(new Unlock(1));
    assertFalse(answer.isDone());

    door.sendMessage(new Push("Bob"));

    assertTrue(answer.join());
  }

  @Test
  void cancelledPostponedRequestIsNotHandled() {
    var door = newDoorWithLocks();
    var answer = door.sendMessageReturn(new Unlock(1));

    answer.cancel(true);
    door.sendMessage(new Push("Bob"));

    assertEquals(List.of(), doors.records);
  }

  @Test
  void postponedRequestExpiresAtItsLimit() {
    try (var doors = new DoorFixture(Strategy.FIBER)) {
      var door = postponingMachine().newActor(doors.scope.anonymous());
      CompletableFuture<AskTimeoutException> timeout = Patience.callOnFiber(
          () -> assertThrows(AskTimeoutException.class, () -> door.ask(new Unlock(1), Duration.ofSeconds(1))));

      Patience.eventually(() -> {
        doors.clock.advance(Duration.ofSeconds(1));
        return timeout.isDone();
      });

      assertEquals(Duration.ofSeconds(1), Patience.value(timeout).limit());
    }
  }

  @Test
  void postponedMessagesBecomeDeadLettersWhenActorEnds() {
    var door = newDoorWithLocks(1, 2);
    var answer = door.sendMessageReturn(new Unlock(3));

    door.close();

    assertEquals(List.of(new Lock(1), new Lock(2)), doors.letters.messages(Reason.UNDELIVERED));
    assertInstanceOf(ActorStoppedException.class, Patience.failure(answer));
  }

  @Test
  void postponedMessagesUseNoCapacityOfMailbox() {
    var door = postponingMachine().newActor(doors.scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.REJECT)));

    boolean isAccepted = door.sendMessage(new Lock(1)) && door.sendMessage(new Lock(2))
        && door.sendMessage(new Push("Bob"));

    assertTrue(isAccepted);
    assertEquals(List.of("lock 1", "lock 2"), doors.records);
  }

  @Test
  void stashFailsIfMachineHasNoPostponeRule() {
    var actor =
        Fsm.of(Door.class, Event.class, new Closed()).on(Closed.class, Event.class, (closed, event, context) -> {
          context.stash();
          return closed;
        }).newActor(doors.scope.named("plain"));

    actor.sendMessage(new Push("Ada"));

    assertEquals(
        "actor 'plain' cannot stash: its mailbox does not let the handler choose; make the actor with "
            + ".mailbox(Mailbox.unbounded().selective())",
        doors.letters.all.getFirst().cause().orElseThrow().getMessage());
  }

  @Test
  void failedEnterCodeDoesNotBlockPostponedMessages() {
    var door = doors.newDoor(postponingMachine().onEnter(Closed.class, closed -> {
      throw new IllegalStateException("jammed");
    }));
    door.sendMessage(new Lock(1));

    door.sendMessage(new Push("Bob"));

    assertEquals(List.of("lock 1"), doors.records);
    assertEquals(List.of(new Push("Bob")), doors.letters.messages(Reason.FAILED));
  }
}
