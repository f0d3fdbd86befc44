package io.fibry.fsm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.DeadLetter.Reason;
import io.fibry.Handler;
import io.fibry.NoReplyException;
import io.fibry.Promise;
import io.fibry.Strategy;
import io.fibry.Variants;
import io.fibry.fsm.DoorFixture.Closed;
import io.fibry.fsm.DoorFixture.Door;
import io.fibry.fsm.DoorFixture.Event;
import io.fibry.fsm.DoorFixture.Lock;
import io.fibry.fsm.DoorFixture.Locked;
import io.fibry.fsm.DoorFixture.Look;
import io.fibry.fsm.DoorFixture.Open;
import io.fibry.fsm.DoorFixture.Push;
import io.fibry.fsm.DoorFixture.Unlock;
import io.fibry.support.Patience;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** States and transitions. */
class FsmTest {
  private DoorFixture doors = new DoorFixture(Strategy.CALLER);

  @AfterEach
  void closes() {
    doors.close();
  }

  static Iterable<String> strategies() {
    return Variants.STRATEGIES.keySet();
  }

  /** The contract. */
  @ParameterizedTest
  @MethodSource("strategies")
  void doorWorksOnAnyStrategy(String strategy) {
    doors.close();
    doors = new DoorFixture(Variants.STRATEGIES.get(strategy));
    var door = doors.make(doors.tellingDoor());

    door.sendMessage(new Push("Ada"));
    door.sendMessage(new Lock(1234));
    var wrong = door.sendMessageReturn(new Unlock(9));
    var open = door.ask(new Look());
    doors.clock.advance(DoorFixture.AWHILE);
    Patience.eventually(() -> door.ask(new Look()) instanceof Locked);
    boolean opened = door.ask(new Unlock(1234));
    door.close();

    assertInstanceOf(IllegalStateException.class, Patience.failure(wrong)); // not locked yet
    assertEquals(new Open("Ada"), open);
    assertTrue(opened);
    assertEquals(List.of("+Closed[]", "-Closed[]", "+Open[by=Ada]", "-Open[by=Ada]", "+Closed[]", "-Closed[]",
        "+Locked[code=1234]", "-Locked[code=1234]", "+Closed[]"), doors.seen);
    assertEquals(List.of(), doors.letters.messages());
  }

  @Test
  void theInitialStateIsEnteredAsSoonAsTheActorIsMade() {
    doors.make(doors.tellingDoor());

    assertEquals(List.of("+Closed[]"), doors.seen);
  }

  @Promise("23.7")
  @Test
  void sameStateObjectIsNeitherLeftNorEntered() {
    var door = doors.make(doors.tellingDoor());
    door.sendMessage(new Lock(1));
    doors.seen.clear();

    boolean opened = door.ask(new Unlock(2));

    assertEquals(false, opened);
    assertEquals(List.of(), doors.seen);
  }

  @Promise("23.7")
  @Test
  void anEqualStateThatIsAnotherObjectIsLeftAndEntered() {
    var door = doors.make(doors.tellingDoor().on(Open.class, Push.class, (open, push) -> new Open(push.by())));
    door.sendMessage(new Push("Ada"));
    doors.seen.clear();

    door.sendMessage(new Push("Ada"));

    assertEquals(List.of("-Open[by=Ada]", "+Open[by=Ada]"), doors.seen);
  }

  @Promise("23.1")
  @Test
  void failureOfUnknownMessageNamesMessagesOfState() {
    var door = doors.make(doors.door());

    var failure = assertThrows(IllegalStateException.class, () -> door.ask(new Unlock(1)));

    assertEquals(
        "actor 'door' is in state Closed[] and does not take Unlock[code=1]; there it takes Push, Lock, Look. Say "
            + "what it does by on(Closed.class, Unlock.class, ..), or postpone it",
        failure.getMessage());
  }

  /** W-33: the earlier library entered the present state again. */
  @Test
  void unknownMessageChangesNothing() {
    var door = doors.make(doors.tellingDoor());
    door.sendMessage(new Lock(1));
    doors.seen.clear();

    door.sendMessage(new Push("Ada"));

    assertEquals(List.of(new Push("Ada")), doors.letters.messages(Reason.FAILED));
    assertEquals(new Locked(1), door.ask(new Look()));
    assertEquals(List.of(), doors.seen);
  }

  @Test
  void mostSpecificRuleWins() {
    var door = doors.make(doors.door().on(Door.class, Push.class, (any, push) -> new Open("anybody")).on(Door.class,
        Event.class, (any, event) -> new Locked(0)));

    door.sendMessage(new Push("Ada")); // named for Closed
    var first = door.ask(new Look());
    door.sendMessage(new Push("Bob")); // named for any door
    var second = door.ask(new Look());
    door.sendMessage(new Unlock(7)); // not named
    var third = door.ask(new Look());

    assertEquals(List.of(new Open("Ada"), new Open("anybody"), new Locked(0)), List.of(first, second, third));
  }

  sealed interface Lamp permits Off, Shining {}
  record Off() implements Lamp {}
  non-sealed interface Shining extends Lamp {}
  record Red() implements Shining {}

  record Switch() {}

  @Test
  void ruleOfOpenClassHoldsForUnnamedSubclasses() {
    var lamp = Fsm.of(Lamp.class, Object.class, new Off())
        .on(Off.class, Switch.class, (off, event) -> new Red())
        .on(Shining.class, Object.class, (shining, any) -> new Off())
        .onEnter(Shining.class, shining -> doors.seen.add("shines " + shining))
        .newActor(doors.scope.anonymous());

    lamp.sendMessage(new Switch());
    lamp.sendMessage("anything");
    lamp.sendMessage(new Switch());

    assertEquals(List.of("shines Red[]", "shines Red[]"), doors.seen);
  }

  @Test
  void aRequestThatNobodyAnswersSaysSo() {
    var door = doors.make(doors.door().on(Closed.class, Unlock.class, (closed, unlock) -> closed));

    assertThrows(NoReplyException.class, () -> door.ask(new Unlock(1)));
  }

  @Test
  void eachActorOfOneMachineHasAStateOfItsOwn() {
    var machine = doors.door();
    var front = machine.newActor(doors.scope.named("front"));
    var back = machine.newActor(doors.scope.named("back"));

    front.sendMessage(new Push("Ada"));

    assertEquals(List.of(new Open("Ada"), new Closed()), List.of(front.ask(new Look()), back.ask(new Look())));
  }

  @Test
  void interceptorSeesInternalMessagesOfMachine() {
    var how = doors.scope.anonymous().intercept((Object message, Handler.Task next) -> {
      doors.seen.add(message.toString());
      next.run();
    });
    var door = doors.door().onEnter(Closed.class, closed -> {}).newActor(how);

    door.sendMessage(new Push("Ada"));
    doors.clock.advance(DoorFixture.AWHILE);

    assertEquals(List.of("the beginning in Closed[]", "Push[by=Ada]", "the end of the time in Open[by=Ada]"),
        doors.seen);
  }

  @Test
  void machineIsNotChangedByRulesOfItsCopies() {
    var door = doors.door();
    doors.make(door.onEnter(Closed.class, closed -> doors.seen.add("told")));

    door.newActor(doors.scope.anonymous());

    assertEquals(List.of("told"), doors.seen);
  }

  /** W-33: the earlier library checked, then acted, on any thread. */
  @Test
  void noTransitionOfManySendersIsLost() throws Exception {
    doors.close();
    doors = new DoorFixture(Strategy.FIBER);
    var left = new AtomicInteger();
    var door = doors.make(doors.door().on(Open.class, Push.class, (open, push) -> new Closed()).onLeave(Door.class,
        any -> left.incrementAndGet()));

    var senders = new Thread[4];
    for (int i = 0; i < senders.length; i++) senders[i] = Thread.ofPlatform().start(() -> {
      for (int n = 0; n < 5_000; n++) door.sendMessage(new Push("Ada"));
    });
    for (var sender : senders) sender.join();
    door.close();

    assertEquals(20_000, left.get());
  }
}
