package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.DeadLetter.Reason;
import io.fibry.engine.cell.Inside;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TimersTest {
  private final Letters letters = new Letters();
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope =
      Variants.scope(o -> o.withDeadLetters(letters).withScheduler(clock).withStrategy(Strategy.CALLER));
  private final List<Object> seen = new ArrayList<>();
  private final Actor<Object> actor = scope.named("alarmed").newActor((Object m) -> {
    seen.add(m);
  });

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  private void minutes(long minutes) {
    clock.advance(Duration.ofMinutes(minutes));
  }

  @Promise("12.1")
  @Test
  void delayedMessageArrivesOnceWhenDue() {
    actor.sendMessageLater("later", Duration.ofMinutes(2));

    minutes(1);
    boolean early = !seen.isEmpty();
    minutes(10);

    assertFalse(early);
    assertEquals(List.of("later"), seen);
  }

  @Promise("12.2")
  @Test
  void repeatedMessageArrivesAtEndOfEachPeriod() {
    actor.sendMessageEvery("tick", Duration.ofMinutes(2));

    minutes(1);
    assertEquals(0, seen.size());
    minutes(1);
    assertEquals(1, seen.size());
    minutes(4);
    assertEquals(3, seen.size());
  }

  @Test
  void aCancelledTimerSendsNothing() {
    var later = actor.sendMessageLater("later", Duration.ofMinutes(1));
    var every = actor.sendMessageEvery("tick", Duration.ofMinutes(1));

    assertTrue(later.cancel());
    assertTrue(every.cancel());
    minutes(5);

    assertEquals(List.of(), seen);
    assertFalse(later.cancel());
  }

  @Test
  void firedTimerCannotBeCancelled() {
    var later = actor.sendMessageLater("later", Duration.ofMinutes(1));

    minutes(1);

    assertFalse(later.cancel());
  }

  @Promise("12.3")
  @Test
  void newTimerReplacesTimerWithSameKey() {
    var first = actor.sendMessageLater("key", "first", Duration.ofMinutes(1));
    actor.sendMessageLater("other key", "other", Duration.ofMinutes(1));
    actor.sendMessageEvery("key", "second", Duration.ofMinutes(2));

    minutes(2);

    assertEquals(List.of("other", "second"), seen);
    assertFalse(first.cancel());
  }

  @Test
  void cancellingAReplacedTimerLeavesItsSuccessor() {
    var first = actor.sendMessageLater("key", "first", Duration.ofMinutes(1));
    actor.sendMessageLater("key", "second", Duration.ofMinutes(1));

    first.cancel();
    actor.sendMessageLater("key", "third", Duration.ofMinutes(1));
    minutes(1);

    assertEquals(List.of("third"), seen);
  }

  @Promise("12.3")
  @Test
  void aReplacementThatCannotStartLeavesTheTimer() {
    actor.sendMessageLater("key", "first", Duration.ofMinutes(1));

    assertThrows(IllegalArgumentException.class, () -> actor.sendMessageLater("key", "second", Duration.ofMinutes(-1)));
    minutes(1);

    assertEquals(List.of("first"), seen);
  }

  @Promise("12.2")
  @Test
  void repeatedMessageIsSkippedWhileEarlierOneIsQueued() {
    var busy = scope.anonymous().newActor((Object m) -> {
      if (m instanceof Gate gate) gate.pass();
      else seen.add(m);
    });
    var gate = Gate.occupy(busy);
    busy.sendMessageEvery("tick", Duration.ofMinutes(1));

    minutes(5);
    gate.open();
    Patience.eventually(() -> !Inside.hasWorker(busy));
    busy.close();

    assertEquals(List.of("tick"), seen);
  }

  @Promise("3.5")
  @Test
  void fullMailboxDropsTimerMessageAndTimerContinues() {
    var ticks = new CopyOnWriteArrayList<>();
    var last = new CountDownLatch(1);
    var busy =
        scope.anonymous().strategy(Strategy.FIBER).mailbox(Mailbox.bounded(1, Overflow.BLOCK)).newActor((Object m) -> {
          if (m instanceof Gate gate) gate.pass();
          else ticks.add(m);
          if (m.equals("tick")) last.countDown();
        });
    var gate = Gate.occupy(busy);
    busy.sendMessage("fills it");
    busy.sendMessageEvery("tick", Duration.ofMinutes(1));

    minutes(3);
    gate.open();
    Patience.eventually(() -> ticks.size() == 1);
    minutes(1);
    Patience.await(last);

    assertEquals(List.of("tick", "tick", "tick"), letters.messages(Reason.DROPPED));
    assertEquals(List.of("fills it", "tick"), ticks);
  }

  @Test
  void exitCancelsPendingTimers() {
    var later = actor.sendMessageLater("later", Duration.ofMinutes(1));
    actor.sendMessageEvery("tick", Duration.ofMinutes(1));
    actor.sendMessageLater("alarm", "time-out", Duration.ofMinutes(1));
    actor.sendMessageLater("cancelled", Duration.ofMinutes(1)).cancel();

    actor.close();
    minutes(5);

    assertFalse(later.cancel());
    assertEquals(List.of(), seen);
    assertEquals(List.of("later"), letters.messages(Reason.TIMER_CANCELLED));
    assertEquals(1, letters.all.size());
  }

  @Test
  void exitReportsRemainingTimersInCreationOrder() {
    long seed = StressHarness.seed();
    System.out.println("timers of all kinds: -Dfibry.seed=" + seed);
    var random = new Random(seed);
    var left = new LinkedHashMap<Object, Scheduler.Timer>(); // message -> timer
    var handled = new ArrayList<>();

    for (int i = 0; i < 2_000; i++) {
      int minutes = random.nextInt(1, 100);
      switch (random.nextInt(5)) {
        case 0 -> actor.sendMessageLater(minutes % 7, (Object) i, Duration.ofMinutes(100));
        case 1 -> {
          if (left.isEmpty()) continue;
          var some = left.keySet().stream().skip(random.nextInt(left.size())).findFirst().orElseThrow();
          assertTrue(left.remove(some).cancel(), "seed " + seed);
        }
        default -> {
          boolean soon = minutes < 10;
          var timer = actor.sendMessageLater(i, soon ? Duration.ZERO : Duration.ofDays(1));
          if (soon) handled.add(i);
          else left.put(i, timer);
        }
      }
      if (random.nextInt(20) == 0) clock.advance(Duration.ZERO);
    }
    clock.advance(Duration.ZERO);
    assertEquals(handled, seen, "seed " + seed);
    actor.close();

    assertEquals(List.copyOf(left.keySet()), letters.messages(), "seed " + seed);
  }

  @Test
  void keyWithThrowingHashCodeSetsNoTimer() {
    assertThrows(IllegalStateException.class,
        () -> actor.sendMessageLater(new FailingKey(), "late", Duration.ofMinutes(1)));
    minutes(1);

    assertEquals(List.of(), seen);
  }

  @Test
  void aTimerOfAnEndedActorIsADeadLetterAtOnce() {
    actor.close();

    var timer = actor.sendMessageLater("later", Duration.ofDays(1));

    assertEquals(List.of("later"), letters.messages(Reason.UNDELIVERED));
    assertFalse(timer.cancel());
  }

  @Test
  void aHandlerMaySetItsOwnTimer() {
    var self = scope.anonymous().newActor((Object m, ActorContext<Object> context) -> {
      seen.add(m);
      if (seen.size() < 3) context.self().sendMessageLater(m, Duration.ofMinutes(1));
    });

    self.sendMessage("again");
    minutes(10);

    assertEquals(List.of("again", "again", "again"), seen);
  }

  @Test
  void invalidTimesAreRefused() {
    var past = assertThrows(IllegalArgumentException.class, () -> actor.sendMessageLater("x", Duration.ofSeconds(-3)));
    var never = assertThrows(IllegalArgumentException.class, () -> actor.sendMessageEvery("x", Duration.ZERO));

    assertTrue(past.getMessage().contains("-3 s") && past.getMessage().contains("give zero or more"),
        past.getMessage());
    assertTrue(never.getMessage().contains("0 s") && never.getMessage().contains("more than zero"),
        never.getMessage());
  }

  @Test
  void negativeTimesAreRefusedEvenByEndedActor() {
    var ended = scope.anonymous().newActor((Object m) -> {});
    ended.close();
    var longest = Duration.ofSeconds(Long.MIN_VALUE);

    for (var any : List.of(actor, ended, ActorSystem.anonymous().newActor((Object m) -> {}))) {
      var past = assertThrows(IllegalArgumentException.class, () -> any.sendMessageLater("x", longest));
      var never = assertThrows(IllegalArgumentException.class, () -> any.sendMessageEvery("x", longest));

      assertEquals("a delay of -for ever lies in the past; give zero or more", past.getMessage());
      assertEquals("a period of -for ever never ends; give more than zero", never.getMessage());
    }
    assertEquals(List.of(), letters.all);
  }

  @Test
  void systemSchedulerSendsTimerMessages() {
    var ticks = new CountDownLatch(3);
    var ticking = Variants.scope(o -> o).anonymous().newActor((Object m) -> ticks.countDown());

    var timer = ticking.sendMessageEvery("tick", Duration.ofMillis(1));

    Patience.await(ticks);
    assertTrue(timer.cancel());
  }

  /** The timer may fire before the sender has stored it. */
  @Test
  void immediateTimerDoesNotCancelTimerSetByItsMessage() {
    var clock = new Clock() {
      @Override
      public Timer schedule(Duration delay, Runnable task) {
        if (!delay.isZero()) return super.schedule(delay, task);
        task.run();
        return () -> false;
      }
    };
    var own = Variants.scope(o -> o.withScheduler(clock).withStrategy(Strategy.CALLER));
    var seen = new ArrayList<Integer>();
    var actor = own.anonymous().newActor((Integer n, ActorContext<Integer> context) -> {
      seen.add(n);
      if (n < 3) context.self().sendMessageLater("key", n + 1, Duration.ofSeconds(1));
    });

    actor.sendMessageLater("key", 1, Duration.ZERO);
    clock.manual.advance(Duration.ofSeconds(5));

    assertEquals(List.of(1, 2, 3), seen);
  }
}
