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
import io.fibry.Patience;
import io.fibry.Promise;
import io.fibry.Strategy;
import io.fibry.fsm.House.Closed;
import io.fibry.fsm.House.Door;
import io.fibry.fsm.House.Event;
import io.fibry.fsm.House.Lock;
import io.fibry.fsm.House.Locked;
import io.fibry.fsm.House.Look;
import io.fibry.fsm.House.Open;
import io.fibry.fsm.House.Push;
import io.fibry.fsm.House.Unlock;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Messages that wait for another state. */
@Timeout(60)
class FsmPostponeTest {
  private final House house = new House(Strategy.CALLER);

  @AfterEach
  void closes() {
    house.close();
  }

  /**
   * Open, it postpones whatever it is asked to lock or unlock; closed again, it tells what it gets.
   */
  private Fsm<Door, Event> patient() {
    return Fsm.of(Door.class, Event.class, new Open("Ada"))
        .postpone(Open.class, Lock.class)
        .postpone(Open.class, Unlock.class)
        .on(Open.class, Push.class, (open, push) -> push.by().equals("Ada") ? open : new Closed())
        .on(Closed.class, Lock.class, (closed, lock) -> {
          house.seen.add("lock " + lock.code());
          return closed;
        })
        .on(Closed.class, Unlock.class, (closed, unlock, context) -> {
          house.seen.add("unlock " + unlock.code());
          context.reply(unlock, true);
          return closed;
        })
        .on(Closed.class, Push.class, (closed, push) -> {
          house.seen.add("push");
          return closed;
        })
        .on(Door.class, Look.class, (door, look, context) -> {
          context.reply(look, door);
          return door;
        });
  }

  private Actor<Event> waiting(int... codes) {
    var door = house.make(patient());
    IntStream.of(codes).forEach(code -> door.sendMessage(new Lock(code)));
    return door;
  }

  @Promise("23.2")
  @Test
  void whatWasPostponedComesAtTheNextStateInItsOrder() {
    var door = waiting(1, 2, 3);

    door.sendMessage(new Push("Bob"));

    assertEquals(List.of("lock 1", "lock 2", "lock 3"), house.seen);
  }

  @Promise("23.2")
  @Test
  void itComesBeforeWhatCameLater() {
    try (var house = new House(Strategy.FIBER)) {
      var door =
          patient().entering(Closed.class, closed -> this.house.seen.add("closed")).newActor(house.scope.anonymous());

      door.sendMessages(List.of(new Lock(1), new Push("Bob"), new Push("Ada"), new Lock(2)));
      door.close();

      assertEquals(List.of("closed", "lock 1", "push", "lock 2"), this.house.seen);
    }
  }

  @Test
  void whereTheStateStaysItGoesOnWaiting() {
    var door = waiting(1);

    door.sendMessage(new Push("Ada"));

    assertEquals(List.of(), house.seen);
  }

  @Test
  void theEndOfATimeLetsItComeToo() {
    var door = house.make(patient().after(Open.class, House.AWHILE, open -> new Closed()));
    door.sendMessage(new Lock(1));

    house.clock.advance(House.AWHILE);

    assertEquals(List.of("lock 1"), house.seen);
  }

  @Test
  void aStateThatPostponesItTooLetsItWaitOn() {
    var door = house.make(house.door().on(Open.class, Push.class, (open, push) -> new Open(push.by())));
    door.sendMessages(List.of(new Push("Ada"), new Lock(7), new Push("Bob")));

    var open = door.ask(new Look());
    house.clock.advance(House.AWHILE);

    assertEquals(List.of(new Open("Bob"), new Locked(7)), List.of(open, door.ask(new Look())));
  }

  @Test
  void aRequestMayBePostponedAndAnswered() {
    var door = waiting();
    var answer = door.sendMessageReturn(new Unlock(1));
    assertFalse(answer.isDone());

    door.sendMessage(new Push("Bob"));

    assertTrue(answer.join());
  }

  @Test
  void aPostponedRequestThatIsCancelledNeverComes() {
    var door = waiting();
    var answer = door.sendMessageReturn(new Unlock(1));

    answer.cancel(true);
    door.sendMessage(new Push("Bob"));

    assertEquals(List.of(), house.seen);
  }

  @Test
  void aPostponedRequestEndsByItsLimit() {
    try (var house = new House(Strategy.FIBER)) {
      var door = patient().newActor(house.scope.anonymous());
      var asker = Patience.elsewhere(
          () -> assertThrows(AskTimeoutException.class, () -> door.ask(new Unlock(1), Duration.ofSeconds(1))));
      Patience.parked(asker);

      house.clock.advance(Duration.ofSeconds(1));

      Patience.joined(asker);
    }
  }

  @Test
  void whatStillWaitsAtTheEndIsUndelivered() {
    var door = waiting(1, 2);
    var answer = door.sendMessageReturn(new Unlock(3));

    door.close();

    assertEquals(List.of(new Lock(1), new Lock(2)), house.letters.messages(Reason.UNDELIVERED));
    assertInstanceOf(ActorStoppedException.class, Patience.failure(answer));
  }

  @Test
  void whatWaitsTakesNoRoomInABoundedMailbox() {
    var door = patient().newActor(house.scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.REJECT)));

    boolean taken = door.sendMessage(new Lock(1)) && door.sendMessage(new Lock(2)) && door.sendMessage(new Push("Bob"));

    assertTrue(taken);
    assertEquals(List.of("lock 1", "lock 2"), house.seen);
  }

  @Test
  void aMachineThatPostponesNothingKeepsThePlainMailbox() {
    var plain =
        Fsm.of(Door.class, Event.class, new Closed()).on(Closed.class, Event.class, (closed, event, context) -> {
          context.stash();
          return closed;
        }).newActor(house.scope.named("plain"));

    plain.sendMessage(new Push("Ada"));

    assertEquals(
        "actor 'plain' cannot stash: its mailbox does not let the handler choose; make it with "
            + ".mailbox(Mailbox.unbounded().selective())",
        house.letters.all.getFirst().cause().orElseThrow().getMessage());
  }

  @Test
  void codeThatFailsOnEnteringDoesNotHoldBackWhatWaits() {
    var door = house.make(patient().entering(Closed.class, closed -> {
      throw new IllegalStateException("jammed");
    }));
    door.sendMessage(new Lock(1));

    door.sendMessage(new Push("Bob"));

    assertEquals(List.of("lock 1"), house.seen);
    assertEquals(List.of(new Push("Bob")), house.letters.messages(Reason.FAILED));
  }
}
