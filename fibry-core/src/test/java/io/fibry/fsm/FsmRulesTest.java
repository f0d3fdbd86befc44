package io.fibry.fsm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

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
import io.fibry.testing.Promise;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Tests which rules and machines are refused before an actor is created. */
class FsmRulesTest {
  private final DoorFixture doors = new DoorFixture(Strategy.CALLER);
  private final Fsm<Door, Event> emptyMachine = Fsm.of(Door.class, Event.class, new Closed());
  private final Fsm<Door, Event> fullMachine = emptyMachine.on(Door.class, Event.class, (any, event) -> any);

  @AfterEach
  void close() {
    doors.close();
  }

  private static void assertRefused(String text, Executable code) {
    assertEquals(text, assertThrows(IllegalArgumentException.class, code).getMessage());
  }

  private void assertNotCreated(String text, Fsm<?, Event> machine) {
    assertEquals(text,
        assertThrows(IllegalStateException.class, () -> machine.newActor(doors.scope.named("never"))).getMessage());
  }

  private static void assertNullRefused(String parameter, Executable code) {
    assertEquals(parameter, assertThrows(NullPointerException.class, code).getMessage());
  }

  @Test
  void secondRuleForMessageInStateIsRefused() {
    assertRefused(
        "the machine of Door cannot have two rules for one case: it has on(Door, Event) already; leave one of them out",
        () -> fullMachine.on(Door.class, Event.class, (any, event) -> new Closed()));
    assertRefused(
        "the machine of Door cannot have two rules for one case: it has postpone(Door, Event) already; leave one of "
            + "them out",
        () -> fullMachine.postpone(Door.class, Event.class));
    assertRefused(
        "the machine of Door cannot have two rules for one case: it has on(Open, Lock) already; leave one of them out",
        () -> emptyMachine.postpone(Open.class, Lock.class).on(Open.class, Lock.class, (open, lock) -> open));
  }

  @Test
  void secondTimeoutRuleOfStateIsRefused() {
    var machineWithTimeout = fullMachine.onTimeout(Open.class, DoorFixture.OPEN_TIMEOUT, open -> new Closed());

    assertRefused(
        "the machine of Door cannot have two rules for one case: Open has a time limit already; leave one of them out",
        () -> machineWithTimeout.onTimeout(Open.class, DoorFixture.OPEN_TIMEOUT, open -> open));
  }

  @Test
  void stateWithTwoEnterOrTwoLeaveRulesIsRefused() {
    assertRefused(
        "the machine of Door cannot have two rules for one case: it has code for entering Open already; leave one of "
            + "them out",
        () -> fullMachine.onEnter(Open.class, open -> {}).onEnter(Open.class, open -> {}));
    assertRefused(
        "the machine of Door cannot have two rules for one case: it has code for leaving Open already; leave one of "
            + "them out",
        () -> fullMachine.onLeave(Open.class, open -> {}).onLeave(Open.class, open -> {}));
  }

  @Test
  void stateTimeoutOfZeroOrLessIsRefused() {
    assertRefused(
        "the machine of Door cannot leave Open after 0 s: it would never be in this state; give more than zero",
        () -> fullMachine.onTimeout(Open.class, Duration.ZERO, open -> open));
    assertRefused(
        "the machine of Door cannot leave Open after -1 s: it would never be in this state; give more than zero",
        () -> fullMachine.onTimeout(Open.class, Duration.ofSeconds(-1), open -> open));
  }

  @Test
  @SuppressWarnings({"unchecked", "rawtypes"})
  void ruleWithStateOrMessageOfForeignTypeIsRefused() {
    assertRefused("the initial state is a java.lang.String, not a io.fibry.fsm.DoorFixture$Door",
        () -> Fsm.of((Class) Door.class, Event.class, "open"));
    assertRefused("the state is a java.lang.String, not a io.fibry.fsm.DoorFixture$Door",
        () -> ((Fsm) fullMachine).postpone(String.class, Lock.class));
    assertRefused("the message is a java.lang.String, not a io.fibry.fsm.DoorFixture$Event",
        () -> ((Fsm) fullMachine).postpone(Open.class, String.class));
    assertRefused("the state is a java.lang.String, not a io.fibry.fsm.DoorFixture$Door",
        () -> ((Fsm) fullMachine).onEnter(String.class, state -> {}));
    assertRefused("the state is a java.lang.String, not a io.fibry.fsm.DoorFixture$Door",
        () -> ((Fsm) fullMachine).onTimeout(String.class, DoorFixture.OPEN_TIMEOUT, state -> state));
  }

  @Test
  void exceptionNamesNullArgument() {
    assertNullRefused("states", () -> Fsm.of(null, Event.class, new Closed()));
    assertNullRefused("messages", () -> Fsm.of(Door.class, null, new Closed()));
    assertNullRefused("initial", () -> Fsm.of(Door.class, Event.class, null));
    assertNullRefused("state", () -> fullMachine.postpone(null, Lock.class));
    assertNullRefused("message", () -> fullMachine.postpone(Open.class, null));
    assertNullRefused("next",
        () -> fullMachine.on(Open.class, Lock.class, (Fsm.Transition<Open, Lock, Door, Event>) null));
    assertNullRefused("next", () -> fullMachine.onTimeout(Open.class, DoorFixture.OPEN_TIMEOUT, null));
    assertNullRefused("time", () -> fullMachine.onTimeout(Open.class, null, open -> open));
    assertNullRefused("state", () -> fullMachine.onTimeout((Class<Open>) null, DoorFixture.OPEN_TIMEOUT, open -> open));
    assertNullRefused("code", () -> fullMachine.onEnter(Open.class, null));
    assertNullRefused("state", () -> fullMachine.onLeave((Class<Open>) null, open -> {}));
    assertNullRefused("builder", () -> fullMachine.newActor(null));
  }

  @Test
  void machineThatNeverLeavesInitialStateIsRefused() {
    assertNotCreated(
        "the machine of Door would never leave its initial state: give it transitions by on(..) or onTimeout(..)",
        emptyMachine);
    assertNotCreated(
        "the machine of Door would never leave its initial state: give it transitions by on(..) or onTimeout(..)",
        emptyMachine.postpone(Closed.class, Event.class));
  }

  @Promise("23.4")
  @Test
  void messageTypeWithoutRuleIsRefused() {
    var machineWithoutLock = emptyMachine.on(Closed.class, Push.class, (closed, push) -> new Open(push.by()))
        .on(Door.class, Look.class, (any, look) -> any)
        .on(Locked.class, Unlock.class, (locked, unlock) -> new Closed());

    assertNotCreated(
        "the machine of Door takes Lock in no state; add a rule for one state or for all: "
            + "on(Door.class, Lock.class, ..)",
        machineWithoutLock);
    assertNotCreated(
        "the machine of Door takes Lock in no state; add a rule for one state or for all: "
            + "on(Door.class, Lock.class, ..)",
        machineWithoutLock.postpone(Open.class, Lock.class));
  }

  @Promise("23.4")
  @Test
  void postponingInStateThatNoRuleLeavesIsRefused() {
    var trappingMachine = emptyMachine.on(Closed.class, Event.class, (closed, event) -> new Open("Ada"))
        .postpone(Open.class, Lock.class);

    assertNotCreated("the machine of Door postpones Lock in Open, which no rule leaves: the message would wait forever",
        trappingMachine);
  }

  @Test
  void postponingInStateWithTimeoutIsAllowed() {
    emptyMachine.on(Closed.class, Event.class, (closed, event) -> new Open("Ada")).postpone(Open.class, Lock.class)
        .onTimeout(Open.class, DoorFixture.OPEN_TIMEOUT, open -> new Closed()).newActor(doors.scope.anonymous());
  }

  @Promise("23.4")
  @Test
  void ambiguousRulesAreRefused() {
    var ambiguousMachine =
        fullMachine.on(Closed.class, Event.class, (closed, event) -> closed)
            .on(Door.class, Push.class, (any, push) -> any);

    assertNotCreated(
        "a message of class Push has the rules on(Door, Event) and on(Closed, Event) and on(Door, Push), and none "
            + "of these rules is the most specific; add a rule for that class itself",
        ambiguousMachine);
  }

  sealed interface Wheel permits Fast, Loud {}
  sealed interface Fast extends Wheel permits Spinning {}
  sealed interface Loud extends Wheel permits Spinning {}
  record Spinning() implements Fast, Loud {}

  @Test
  void stateThatInheritsRulesOfTwoInterfacesIsRefused() {
    var wheel = Fsm.of(Wheel.class, Event.class, new Spinning()).on(Wheel.class, Event.class, (any, event) -> any);

    assertNotCreated(
        "a state of class Spinning has the time limits onTimeout(Fast, 10 s) and onTimeout(Loud, 10 s), and none "
            + "of these rules is the most specific; add a rule for that class itself",
        wheel.onTimeout(Fast.class, DoorFixture.OPEN_TIMEOUT, fast -> fast).onTimeout(Loud.class,
            DoorFixture.OPEN_TIMEOUT,
            loud -> loud));
    assertNotCreated(
        "a state of class Spinning is entered with code for Fast and Loud, and none of these rules is the most "
            + "specific; add a rule for that class itself",
        wheel.onEnter(Fast.class, fast -> {}).onEnter(Loud.class, loud -> {}));
    assertNotCreated(
        "a state of class Spinning is left with code for Fast and Loud, and none of these rules is the most "
            + "specific; add a rule for that class itself",
        wheel.onLeave(Fast.class, fast -> {}).onLeave(Loud.class, loud -> {}));
  }

  @Test
  void machineWithInternalMessagesRefusesPriorityMailbox() {
    var builder = doors.scope.named("door").mailbox(Mailbox.priority((Event a, Event b) -> 0));
    String text =
        "the machine of Door sends itself messages, at time limits and to enter its initial state, which a "
            + "priority mailbox cannot rank; give it another mailbox";

    assertRefused(text,
        () -> fullMachine.onTimeout(Open.class, DoorFixture.OPEN_TIMEOUT, open -> open).newActor(builder));
    assertRefused(text, () -> fullMachine.onEnter(Closed.class, closed -> {}).newActor(builder));
    fullMachine.onEnter(Open.class, open -> {}).newActor(builder).sendMessage(new Push("Ada"));
  }

  @Test
  void refusedMachineDoesNotOccupyName() {
    assertThrows(IllegalStateException.class, () -> emptyMachine.newActor(doors.scope.named("door")));

    doors.newDoor(fullMachine);
  }
}
