package io.fibry.fsm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.Promise;
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
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Rules and machines that are refused before an actor is made. */
class FsmRulesTest {
  private final DoorFixture doors = new DoorFixture(Strategy.CALLER);
  private final Fsm<Door, Event> empty = Fsm.of(Door.class, Event.class, new Closed());
  private final Fsm<Door, Event> all = empty.on(Door.class, Event.class, (any, event) -> any);

  @AfterEach
  void closes() {
    doors.close();
  }

  private static void refused(String text, Executable code) {
    assertEquals(text, assertThrows(IllegalArgumentException.class, code).getMessage());
  }

  private void impossible(String text, Fsm<?, Event> machine) {
    assertEquals(text,
        assertThrows(IllegalStateException.class, () -> machine.newActor(doors.scope.named("never"))).getMessage());
  }

  private static void nameless(String what, Executable code) {
    assertEquals(what, assertThrows(NullPointerException.class, code).getMessage());
  }

  @Test
  void messageHasSingleRulePerState() {
    refused(
        "the machine of Door cannot be told twice what to do: it has on(Door, Event) already; leave one of them out",
        () -> all.on(Door.class, Event.class, (any, event) -> new Closed()));
    refused(
        "the machine of Door cannot be told twice what to do: it has postpone(Door, Event) already; leave one of "
            + "them out",
        () -> all.postpone(Door.class, Event.class));
    refused("the machine of Door cannot be told twice what to do: it has on(Open, Lock) already; leave one of them out",
        () -> empty.postpone(Open.class, Lock.class).on(Open.class, Lock.class, (open, lock) -> open));
  }

  @Test
  void stateHasSingleTimeout() {
    var timed = all.onTimeout(Open.class, DoorFixture.AWHILE, open -> new Closed());

    refused("the machine of Door cannot be told twice what to do: Open has a time already; leave one of them out",
        () -> timed.onTimeout(Open.class, DoorFixture.AWHILE, open -> open));
  }

  @Test
  void stateHasSingleEnterAndLeaveCode() {
    refused(
        "the machine of Door cannot be told twice what to do: it has code for entering Open already; leave one of "
            + "them out",
        () -> all.onEnter(Open.class, open -> {}).onEnter(Open.class, open -> {}));
    refused(
        "the machine of Door cannot be told twice what to do: it has code for leaving Open already; leave one of "
            + "them out",
        () -> all.onLeave(Open.class, open -> {}).onLeave(Open.class, open -> {}));
  }

  @Test
  void stateTimeoutIsMoreThanZero() {
    refused("the machine of Door cannot leave Open after 0 s: it would never be in it; give more than zero",
        () -> all.onTimeout(Open.class, Duration.ZERO, open -> open));
    refused("the machine of Door cannot leave Open after -1 s: it would never be in it; give more than zero",
        () -> all.onTimeout(Open.class, Duration.ofSeconds(-1), open -> open));
  }

  @Test
  @SuppressWarnings({"unchecked", "rawtypes"})
  void stateOrMessageOfAnotherMachineIsRefused() {
    refused("the initial state is a java.lang.String, not a io.fibry.fsm.DoorFixture$Door",
        () -> Fsm.of((Class) Door.class, Event.class, "open"));
    refused("the state is a java.lang.String, not a io.fibry.fsm.DoorFixture$Door",
        () -> ((Fsm) all).postpone(String.class, Lock.class));
    refused("the message is a java.lang.String, not a io.fibry.fsm.DoorFixture$Event",
        () -> ((Fsm) all).postpone(Open.class, String.class));
    refused("the state is a java.lang.String, not a io.fibry.fsm.DoorFixture$Door",
        () -> ((Fsm) all).onEnter(String.class, state -> {}));
    refused("the state is a java.lang.String, not a io.fibry.fsm.DoorFixture$Door",
        () -> ((Fsm) all).onTimeout(String.class, DoorFixture.AWHILE, state -> state));
  }

  @Test
  void nullIsRefusedByName() {
    nameless("states", () -> Fsm.of(null, Event.class, new Closed()));
    nameless("messages", () -> Fsm.of(Door.class, null, new Closed()));
    nameless("initial", () -> Fsm.of(Door.class, Event.class, null));
    nameless("state", () -> all.postpone(null, Lock.class));
    nameless("message", () -> all.postpone(Open.class, null));
    nameless("next", () -> all.on(Open.class, Lock.class, (Fsm.Transition<Open, Lock, Door, Event>) null));
    nameless("next", () -> all.onTimeout(Open.class, DoorFixture.AWHILE, null));
    nameless("time", () -> all.onTimeout(Open.class, null, open -> open));
    nameless("state", () -> all.onTimeout((Class<Open>) null, DoorFixture.AWHILE, open -> open));
    nameless("code", () -> all.onEnter(Open.class, null));
    nameless("state", () -> all.onLeave((Class<Open>) null, open -> {}));
    nameless("builder", () -> all.newActor(null));
  }

  @Test
  void machineThatNeverLeavesInitialStateIsRefused() {
    impossible(
        "the machine of Door would never leave its initial state: give it transitions by on(..) or onTimeout(..)",
        empty);
    impossible(
        "the machine of Door would never leave its initial state: give it transitions by on(..) or onTimeout(..)",
        empty.postpone(Closed.class, Event.class));
  }

  @Promise("23.4")
  @Test
  void messageThatNoStateTakesIsRefused() {
    var deaf = empty.on(Closed.class, Push.class, (closed, push) -> new Open(push.by()))
        .on(Door.class, Look.class, (any, look) -> any)
        .on(Locked.class, Unlock.class, (locked, unlock) -> new Closed());

    impossible(
        "the machine of Door takes Lock in no state; add a rule for one state or for all: "
            + "on(Door.class, Lock.class, ..)",
        deaf);
    impossible(
        "the machine of Door takes Lock in no state; add a rule for one state or for all: "
            + "on(Door.class, Lock.class, ..)",
        deaf.postpone(Open.class, Lock.class));
  }

  @Promise("23.4")
  @Test
  void postponingInStateWithoutExitIsRefused() {
    var trap = empty.on(Closed.class, Event.class, (closed, event) -> new Open("Ada")).postpone(Open.class, Lock.class);

    impossible("the machine of Door postpones Lock in Open, which nothing leads out of: it would wait forever", trap);
  }

  @Test
  void postponingInStateWithTimeoutIsAllowed() {
    empty.on(Closed.class, Event.class, (closed, event) -> new Open("Ada")).postpone(Open.class, Lock.class)
        .onTimeout(Open.class, DoorFixture.AWHILE, open -> new Closed()).newActor(doors.scope.anonymous());
  }

  @Promise("23.4")
  @Test
  void ambiguousRulesAreRefused() {
    var unclear =
        all.on(Closed.class, Event.class, (closed, event) -> closed).on(Door.class, Push.class, (any, push) -> any);

    impossible(
        "a message of class Push has the rules on(Door, Event) and on(Closed, Event) and on(Door, Push), and none "
            + "is the most specific; add a rule for that class itself",
        unclear);
  }

  sealed interface Wheel permits Fast, Loud {}
  sealed interface Fast extends Wheel permits Spinning {}
  sealed interface Loud extends Wheel permits Spinning {}
  record Spinning() implements Fast, Loud {}

  @Test
  void stateWithRulesOfTwoInterfacesIsRefused() {
    var wheel = Fsm.of(Wheel.class, Event.class, new Spinning()).on(Wheel.class, Event.class, (any, event) -> any);

    impossible(
        "a state of class Spinning has two times, onTimeout(Fast, 10 s) and onTimeout(Loud, 10 s), and none is the most "
            + "specific; add a rule for that class itself",
        wheel.onTimeout(Fast.class, DoorFixture.AWHILE, fast -> fast).onTimeout(Loud.class, DoorFixture.AWHILE,
            loud -> loud));
    impossible(
        "a state of class Spinning is entered with code for Fast and Loud, and none is the most specific; add a "
            + "rule for that class itself",
        wheel.onEnter(Fast.class, fast -> {}).onEnter(Loud.class, loud -> {}));
    impossible(
        "a state of class Spinning is left with code for Fast and Loud, and none is the most specific; add a "
            + "rule for that class itself",
        wheel.onLeave(Fast.class, fast -> {}).onLeave(Loud.class, loud -> {}));
  }

  @Test
  void aPriorityMailboxCannotRankTheMachinesOwnMessages() {
    var ordered = doors.scope.named("door").mailbox(Mailbox.priority((Event a, Event b) -> 0));
    String text =
        "the machine of Door sends itself messages, for its times and to begin, which a priority mailbox cannot "
            + "rank; give it another mailbox";

    refused(text, () -> all.onTimeout(Open.class, DoorFixture.AWHILE, open -> open).newActor(ordered));
    refused(text, () -> all.onEnter(Closed.class, closed -> {}).newActor(ordered));
    all.onEnter(Open.class, open -> {}).newActor(ordered).sendMessage(new Push("Ada"));
  }

  @Test
  void aMachineThatIsRefusedTakesNoName() {
    assertThrows(IllegalStateException.class, () -> empty.newActor(doors.scope.named("door")));

    doors.make(all);
  }
}
