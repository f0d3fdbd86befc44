package io.fibry.fsm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.ActorSystem;
import io.fibry.DeadLetter.Reason;
import io.fibry.Gate;
import io.fibry.Promise;
import io.fibry.Strategy;
import io.fibry.fsm.DoorFixture.Closed;
import io.fibry.fsm.DoorFixture.Look;
import io.fibry.fsm.DoorFixture.Open;
import io.fibry.fsm.DoorFixture.Push;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Times in states. */
class FsmTimesTest {
  private static final Duration ALMOST = DoorFixture.AWHILE.minusNanos(1);
  private static final Duration MOMENT = Duration.ofNanos(1);

  private final DoorFixture doors = new DoorFixture(Strategy.CALLER);

  @AfterEach
  void closes() {
    Gate.openAll();
    doors.close();
  }

  @Promise("23.3")
  @Test
  void timeoutComesAfterItsTimeInState() {
    var door = doors.make(doors.door());
    door.sendMessage(new Push("Ada"));

    doors.clock.advance(ALMOST);
    var before = door.ask(new Look());
    doors.clock.advance(MOMENT);
    var after = door.ask(new Look());

    assertEquals(List.of(new Open("Ada"), new Closed()), List.of(before, after));
  }

  @Test
  void timeoutOfInitialStateRunsFromBeginning() {
    var door = doors.make(doors.door().onTimeout(Closed.class, DoorFixture.AWHILE, closed -> new Open("the wind")));

    doors.clock.advance(DoorFixture.AWHILE);

    assertEquals(new Open("the wind"), door.ask(new Look()));
  }

  @Promise("23.3")
  @Test
  void timeoutOfLeftStateNeverComes() {
    var door = doors.make(doors.door().on(Open.class, Push.class, (open, push) -> new Closed()));
    door.sendMessage(new Push("Ada"));
    door.sendMessage(new Push("Ada"));
    long before = doors.scope.report().sent();

    doors.clock.advance(DoorFixture.AWHILE);

    assertEquals(before, doors.scope.report().sent());
  }

  @Test
  void reenteredStateHasWholeTimeout() {
    var door = doors.make(doors.door().on(Open.class, Push.class, (open, push) -> new Open(push.by())));
    door.sendMessage(new Push("Ada"));
    doors.clock.advance(ALMOST);
    door.sendMessage(new Push("Bob"));

    doors.clock.advance(ALMOST);
    var before = door.ask(new Look());
    doors.clock.advance(MOMENT);
    var after = door.ask(new Look());

    assertEquals(List.of(new Open("Bob"), new Closed()), List.of(before, after));
  }

  @Test
  void unchangedStateKeepsRemainingTimeout() {
    var door = doors.make(doors.door().on(Open.class, Push.class, (open, push) -> open));
    door.sendMessage(new Push("Ada"));
    doors.clock.advance(ALMOST);
    door.sendMessage(new Push("Bob"));

    doors.clock.advance(MOMENT);

    assertEquals(new Closed(), door.ask(new Look()));
  }

  @Test
  void messagesWaitingAtTimeoutComeFirst() {
    var doors = new DoorFixture(Strategy.FIBER);
    var gate = new Gate();
    var door = doors.make(doors.door().on(Open.class, Push.class, (open, push) -> {
      gate.pass();
      return open;
    }));
    door.sendMessage(new Push("Ada"));
    door.sendMessage(new Push("Ada"));
    Patience.await(gate.entered);

    var waiting = door.sendMessageReturn(new Look());
    doors.clock.advance(DoorFixture.AWHILE);
    var later = door.sendMessageReturn(new Look());
    gate.open();

    assertEquals(List.of(new Open("Ada"), new Closed()), List.of(Patience.value(waiting), Patience.value(later)));
    doors.close();
  }

  @Test
  void earlierTimeoutIsIgnored() {
    var doors = new DoorFixture(Strategy.FIBER);
    var gate = new Gate();
    var door = doors.make(doors.door().on(Open.class, Push.class, (open, push) -> {
      gate.pass();
      return new Open(push.by());
    }));
    door.sendMessage(new Push("Ada"));
    door.sendMessage(new Push("Bob"));
    Patience.await(gate.entered);
    // Ada's time is over, but its end is queued behind Bob
    doors.clock.advance(DoorFixture.AWHILE);

    gate.open();
    var state = door.ask(new Look());

    assertEquals(new Open("Bob"), state);
    doors.close();
  }

  @Test
  void timeoutRepeatsWhileItsCodeKeepsState() {
    var tries = new AtomicInteger();
    var door = doors.make(doors.door().onTimeout(Closed.class, DoorFixture.AWHILE,
        closed -> tries.incrementAndGet() < 3 ? closed : new Open("the wind")));

    doors.clock.advance(DoorFixture.AWHILE.multipliedBy(2));
    var before = door.ask(new Look());
    doors.clock.advance(DoorFixture.AWHILE);
    var after = door.ask(new Look());

    assertEquals(List.of(new Closed(), new Open("the wind")), List.of(before, after));
  }

  @Test
  void timeoutCodeThatThrowsIsRetriedAfterSameTime() {
    var tries = new AtomicInteger();
    var door = doors.make(doors.door().onTimeout(Closed.class, DoorFixture.AWHILE, closed -> {
      if (tries.incrementAndGet() < 2) throw new IllegalStateException("stuck");
      return new Open("the wind");
    }));

    doors.clock.advance(DoorFixture.AWHILE);
    var before = door.ask(new Look());
    doors.clock.advance(DoorFixture.AWHILE);
    var after = door.ask(new Look());

    assertEquals(List.of(new Closed(), new Open("the wind")), List.of(before, after));
    assertEquals("the end of the time in Closed[]", doors.letters.messages(Reason.FAILED).getFirst().toString());
  }

  @Test
  void timeoutDroppedByFullMailboxComesAgain() {
    var doors = new DoorFixture(Strategy.FIBER);
    var gate = new Gate();
    var machine = doors.door().on(Open.class, Push.class, (open, push) -> {
      gate.pass();
      return open;
    });
    var door = machine.newActor(doors.scope.named("door").mailbox(Mailbox.bounded(1, Overflow.REJECT)));
    door.sendMessage(new Push("Ada"));
    Patience.eventually(() -> door.sendMessage(new Push("Ada")));
    Patience.await(gate.entered);
    door.sendMessage(new Push("Ada"));
    doors.clock.advance(DoorFixture.AWHILE); // no room

    gate.open();
    Patience.eventually(() -> doors.scope.awaitQuiescence(Patience.LONG) && door.ask(new Look()) instanceof Open);
    doors.clock.advance(DoorFixture.AWHILE);

    Patience.eventually(() -> doors.scope.awaitQuiescence(Patience.LONG) && door.ask(new Look()) instanceof Closed);
    // told on a thread of its own
    Patience.eventually(() -> doors.letters.all.stream()
        .anyMatch(letter -> letter.message().toString().equals("the end of the time in Open[by=Ada]")));
    doors.close();
  }

  @Test
  void timeoutsEndWithTheirActor() {
    var door = doors.make(doors.door());
    door.sendMessage(new Push("Ada"));
    door.close();

    doors.clock.advance(DoorFixture.AWHILE);

    assertEquals(List.of(), doors.letters.messages());
  }

  @Test
  void timeoutComesOnSystemClock() {
    try (var scope = ActorSystem.openScope("real")) {
      var left = new CountDownLatch(1);
      doors.door().onTimeout(Closed.class, Duration.ofMillis(5), closed -> new Open("the wind"))
          .onEnter(Open.class, open -> left.countDown()).newActor(scope.anonymous());

      Patience.await(left);
    }
  }
}
