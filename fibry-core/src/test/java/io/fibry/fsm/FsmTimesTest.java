package io.fibry.fsm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.DeadLetter.Reason;
import io.fibry.Gate;
import io.fibry.Patience;
import io.fibry.Promise;
import io.fibry.Strategy;
import io.fibry.fsm.House.Closed;
import io.fibry.fsm.House.Look;
import io.fibry.fsm.House.Open;
import io.fibry.fsm.House.Push;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What happens after so long in a state. */
@Timeout(60)
class FsmTimesTest {
  private static final Duration ALMOST = House.AWHILE.minusNanos(1);
  private static final Duration MOMENT = Duration.ofNanos(1);

  private final House house = new House(Strategy.CALLER);

  @AfterEach
  void closes() {
    Gate.openAll();
    house.close();
  }

  @Promise("23.3")
  @Test
  void theTimeIsOverAfterSoLongInTheState() {
    var door = house.make(house.door());
    door.sendMessage(new Push("Ada"));

    house.clock.advance(ALMOST);
    var before = door.ask(new Look());
    house.clock.advance(MOMENT);
    var after = door.ask(new Look());

    assertEquals(List.of(new Open("Ada"), new Closed()), List.of(before, after));
  }

  @Test
  void itRunsFromTheBeginningInTheInitialState() {
    var door = house.make(house.door().after(Closed.class, House.AWHILE, closed -> new Open("the wind")));

    house.clock.advance(House.AWHILE);

    assertEquals(new Open("the wind"), door.ask(new Look()));
  }

  @Promise("23.3")
  @Test
  void whoLeavesTheStateHearsNoMoreOfIt() {
    var door = house.make(house.door().on(Open.class, Push.class, (open, push) -> new Closed()));
    door.sendMessage(new Push("Ada"));
    door.sendMessage(new Push("Ada"));
    long before = house.scope.report().sent();

    house.clock.advance(House.AWHILE);

    assertEquals(before, house.scope.report().sent());
  }

  @Test
  void whoEntersItAnewHasTheWholeTime() {
    var door = house.make(house.door().on(Open.class, Push.class, (open, push) -> new Open(push.by())));
    door.sendMessage(new Push("Ada"));
    house.clock.advance(ALMOST);
    door.sendMessage(new Push("Bob"));

    house.clock.advance(ALMOST);
    var before = door.ask(new Look());
    house.clock.advance(MOMENT);
    var after = door.ask(new Look());

    assertEquals(List.of(new Open("Bob"), new Closed()), List.of(before, after));
  }

  @Test
  void whoStaysHasWhatIsLeft() {
    var door = house.make(house.door().on(Open.class, Push.class, (open, push) -> open));
    door.sendMessage(new Push("Ada"));
    house.clock.advance(ALMOST);
    door.sendMessage(new Push("Bob"));

    house.clock.advance(MOMENT);

    assertEquals(new Closed(), door.ask(new Look()));
  }

  @Test
  void whatWaitsWhenTheTimeIsOverComesFirst() {
    var house = new House(Strategy.FIBER);
    var gate = new Gate();
    var door = house.make(house.door().on(Open.class, Push.class, (open, push) -> {
      gate.pass();
      return open;
    }));
    door.sendMessage(new Push("Ada"));
    door.sendMessage(new Push("Ada"));
    Patience.await(gate.entered);

    var waiting = door.sendMessageReturn(new Look());
    house.clock.advance(House.AWHILE);
    var later = door.sendMessageReturn(new Look());
    gate.open();

    assertEquals(List.of(new Open("Ada"), new Closed()), List.of(Patience.value(waiting), Patience.value(later)));
    house.close();
  }

  /**
   * A stale end of the time: the state was left, and entered again, while it lay in the mailbox.
   */
  @Test
  void theEndOfAnEarlierTimeIsOfNoAccount() {
    var house = new House(Strategy.FIBER);
    var gate = new Gate();
    var door = house.make(house.door().on(Open.class, Push.class, (open, push) -> {
      gate.pass();
      return new Open(push.by());
    }));
    door.sendMessage(new Push("Ada"));
    door.sendMessage(new Push("Bob"));
    Patience.await(gate.entered);
    // Ada's is over, and lies behind the message that lets Bob in
    house.clock.advance(House.AWHILE);

    gate.open();
    var state = door.ask(new Look());

    assertEquals(new Open("Bob"), state);
    house.close();
  }

  @Test
  void whileTheCodeStaysItComesAgainAfterTheSameTime() {
    var tries = new AtomicInteger();
    var door = house.make(house.door().after(Closed.class, House.AWHILE,
        closed -> tries.incrementAndGet() < 3 ? closed : new Open("the wind")));

    house.clock.advance(House.AWHILE.multipliedBy(2));
    var before = door.ask(new Look());
    house.clock.advance(House.AWHILE);
    var after = door.ask(new Look());

    assertEquals(List.of(new Closed(), new Open("the wind")), List.of(before, after));
  }

  @Test
  void codeThatThrowsIsTriedAgainAfterTheSameTime() {
    var tries = new AtomicInteger();
    var door = house.make(house.door().after(Closed.class, House.AWHILE, closed -> {
      if (tries.incrementAndGet() < 2) throw new IllegalStateException("stuck");
      return new Open("the wind");
    }));

    house.clock.advance(House.AWHILE);
    var before = door.ask(new Look());
    house.clock.advance(House.AWHILE);
    var after = door.ask(new Look());

    assertEquals(List.of(new Closed(), new Open("the wind")), List.of(before, after));
    assertEquals("the end of the time in Closed[]", house.letters.messages(Reason.FAILED).getFirst().toString());
  }

  @Test
  void whatAFullMailboxDropsComesAgain() {
    var house = new House(Strategy.FIBER);
    var gate = new Gate();
    var machine = house.door().on(Open.class, Push.class, (open, push) -> {
      gate.pass();
      return open;
    });
    var door = machine.newActor(house.scope.named("door").mailbox(Mailbox.bounded(1, Overflow.REJECT)));
    door.sendMessage(new Push("Ada"));
    Patience.eventually(() -> door.sendMessage(new Push("Ada")));
    Patience.await(gate.entered);
    door.sendMessage(new Push("Ada"));
    house.clock.advance(House.AWHILE); // no room

    gate.open();
    Patience.eventually(() -> house.scope.awaitQuiet(Patience.LONG) && door.ask(new Look()) instanceof Open);
    house.clock.advance(House.AWHILE);

    Patience.eventually(() -> house.scope.awaitQuiet(Patience.LONG) && door.ask(new Look()) instanceof Closed);
    assertTrue(
        house.letters.all.stream()
            .anyMatch(letter -> letter.message().toString().equals("the end of the time in Open[by=Ada]")),
        house.letters.all::toString);
    house.close();
  }

  @Test
  void theTimesOfAnActorEndWithIt() {
    var door = house.make(house.door());
    door.sendMessage(new Push("Ada"));
    door.close();

    house.clock.advance(House.AWHILE);

    assertEquals(List.of(), house.letters.messages());
  }

  @Test
  void onTheSystemsClockItComesToo() {
    try (var scope = ActorSystem.openScope("real")) {
      var left = new CountDownLatch(1);
      house.door().after(Closed.class, Duration.ofMillis(5), closed -> new Open("the wind"))
          .entering(Open.class, open -> left.countDown()).newActor(scope.anonymous());

      Patience.await(left);
    }
  }
}
