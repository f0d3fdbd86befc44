package io.fibry.fsm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.DeadLetter.Reason;
import io.fibry.Handler;
import io.fibry.NoReplyException;
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
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import io.fibry.testing.Variants;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests the states and transitions of state machines. */
class FsmTest {
  private DoorFixture doors = new DoorFixture(Strategy.CALLER);

  @AfterEach
  void close() {
    doors.close();
  }

  static Iterable<String> strategies() {
    return Variants.STRATEGIES.keySet();
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void machineHandlesMessagesAndTimeoutOnAnyStrategy(String strategy) {
    doors.close();
    doors = new DoorFixture(Variants.STRATEGIES.get(strategy));
    var door = doors.newDoor(doors.recordingDoor());

    door.sendMessage(new Push("Ada"));
    door.sendMessage(new Lock(1234));
    var earlyUnlock = door.sendMessageReturn(new Unlock(9));
    var openState = door.ask(new Look());
    doors.clock.advance(DoorFixture.OPEN_TIMEOUT);
    Patience.eventually(() -> door.ask(new Look()) instanceof Locked);
    boolean isOpen = door.ask(new Unlock(1234));
    door.close();

    // the machine does not take Unlock, because the door was not locked
    assertInstanceOf(IllegalStateException.class, Patience.failure(earlyUnlock));
    assertEquals(new Open("Ada"), openState);
    assertTrue(isOpen);
    assertEquals(List.of("+Closed[]", "-Closed[]", "+Open[by=Ada]", "-Open[by=Ada]", "+Closed[]", "-Closed[]",
        "+Locked[code=1234]", "-Locked[code=1234]", "+Closed[]"), doors.records);
    assertEquals(List.of(), doors.letters.messages());
  }

  @Test
  void initialStateIsEnteredWhenActorIsCreated() {
    doors.newDoor(doors.recordingDoor());

    assertEquals(List.of("+Closed[]"), doors.records);
  }

  @Promise("23.7")
  @Test
  void transitionToSameStateObjectRunsNoExitOrEntryAction() {
    var door = doors.newDoor(doors.recordingDoor());
    door.sendMessage(new Lock(1));
    doors.records.clear();

    boolean isOpen = door.ask(new Unlock(2));

    assertEquals(false, isOpen);
    assertEquals(List.of(), doors.records);
  }

  @Promise("23.7")
  @Test
  void changeToEqualStateRunsExitAndEntryActions() {
    var door = doors.newDoor(doors.recordingDoor().on(Open.class, Push.class, (open, push) -> new Open(push.by())));
    door.sendMessage(new Push("Ada"));
    doors.records.clear();

    door.sendMessage(new Push("Ada"));

    assertEquals(List.of("-Open[by=Ada]", "+Open[by=Ada]"), doors.records);
  }

  @Promise("23.1")
  @Test
  void exceptionForUnknownMessageListsAcceptedMessages() {
    var door = doors.newDoor(doors.door());

    var failure = assertThrows(IllegalStateException.class, () -> door.ask(new Unlock(1)));

    assertEquals(
        "actor 'door' is in state Closed[] and does not take Unlock[code=1]; there it takes Push, Lock, Look. Add "
            + "a rule by on(Closed.class, Unlock.class, ..), or postpone the message",
        failure.getMessage());
  }

  @Test
  void messageUnknownInStateFailsAndChangesNoState() {
    var door = doors.newDoor(doors.recordingDoor());
    door.sendMessage(new Lock(1));
    doors.records.clear();

    door.sendMessage(new Push("Ada"));

    assertEquals(List.of(new Push("Ada")), doors.letters.messages(Reason.FAILED));
    assertEquals(new Locked(1), door.ask(new Look()));
    assertEquals(List.of(), doors.records);
  }

  @Test
  void mostSpecificRuleWins() {
    var door = doors.newDoor(doors.door().on(Door.class, Push.class, (any, push) -> new Open("anybody")).on(Door.class,
        Event.class, (any, event) -> new Locked(0)));

    door.sendMessage(new Push("Ada")); // there is a rule for Push in Closed
    var firstState = door.ask(new Look());
    door.sendMessage(new Push("Bob")); // there is a rule for Push in any door
    var secondState = door.ask(new Look());
    door.sendMessage(new Unlock(7)); // there is a rule for any event only
    var thirdState = door.ask(new Look());

    assertEquals(List.of(new Open("Ada"), new Open("anybody"), new Locked(0)),
        List.of(firstState, secondState, thirdState));
  }

  sealed interface Lamp permits Off, Shining {}
  record Off() implements Lamp {}
  non-sealed interface Shining extends Lamp {}
  record Red() implements Shining {}

  record Switch() {}

  @Test
  void ruleOfUnsealedTypeAppliesToItsSubtypes() {
    var lamp = Fsm.of(Lamp.class, Object.class, new Off())
        .on(Off.class, Switch.class, (off, event) -> new Red())
        .on(Shining.class, Object.class, (shining, any) -> new Off())
        .onEnter(Shining.class, shining -> doors.records.add("shines " + shining))
        .newActor(doors.scope.anonymous());

    lamp.sendMessage(new Switch());
    lamp.sendMessage("anything");
    lamp.sendMessage(new Switch());

    assertEquals(List.of("shines Red[]", "shines Red[]"), doors.records);
  }

  @Test
  void requestThatTransitionDoesNotAnswerFails() {
    var door = doors.newDoor(doors.door().on(Closed.class, Unlock.class, (closed, unlock) -> closed));

    assertThrows(NoReplyException.class, () -> door.ask(new Unlock(1)));
  }

  @Test
  void eachActorOfMachineHasItsOwnState() {
    var machine = doors.door();
    var frontDoor = machine.newActor(doors.scope.named("front"));
    var backDoor = machine.newActor(doors.scope.named("back"));

    frontDoor.sendMessage(new Push("Ada"));

    assertEquals(List.of(new Open("Ada"), new Closed()), List.of(frontDoor.ask(new Look()), backDoor.ask(new Look())));
  }

  @Test
  void interceptorSeesInternalMessagesOfMachine() {
    var builder = doors.scope.anonymous().intercept((Object message, Handler.Task next) -> {
      doors.records.add(message.toString());
      next.run();
    });
    var door = doors.door().onEnter(Closed.class, closed -> {}).newActor(builder);

    door.sendMessage(new Push("Ada"));
    doors.clock.advance(DoorFixture.OPEN_TIMEOUT);

    assertEquals(
        List.of("the entry of the initial state Closed[]", "Push[by=Ada]", "the timeout of the state Open[by=Ada]"),
        doors.records);
  }

  @Test
  void ruleAddedToCopyDoesNotChangeOriginalMachine() {
    var door = doors.door();
    doors.newDoor(door.onEnter(Closed.class, closed -> doors.records.add("entered")));

    door.newActor(doors.scope.anonymous());

    assertEquals(List.of("entered"), doors.records);
  }

  @Test
  void machineMakesTransitionForEachMessageOfManySenders() throws Exception {
    doors.close();
    doors = new DoorFixture(Strategy.FIBER);
    var departures = new AtomicInteger();
    var door = doors.newDoor(doors.door().on(Open.class, Push.class, (open, push) -> new Closed()).onLeave(Door.class,
        any -> departures.incrementAndGet()));

    var senders = new Thread[4];
    for (int i = 0; i < senders.length; i++) senders[i] = Thread.ofPlatform().start(() -> {
      for (int n = 0; n < 5_000; n++) door.sendMessage(new Push("Ada"));
    });
    for (var sender : senders) sender.join();
    door.close();

    assertEquals(20_000, departures.get());
  }
}
