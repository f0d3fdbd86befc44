package io.fibry.engine.cell;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter.Reason;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.testing.Clock;
import io.fibry.testing.FailingKey;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.StressRuns;
import io.fibry.testing.Variants;
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
  private final RecordedLetters letters = new RecordedLetters();
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope =
      Variants.scope(o -> o.withDeadLetterListener(letters).withScheduler(clock).withStrategy(Strategy.CALLER));
  private final List<Object> received = new ArrayList<>();
  private final Actor<Object> actor = scope.named("alarmed").newActor((Object m) -> {
    received.add(m);
  });

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  private void advanceMinutes(long minutes) {
    clock.advance(Duration.ofMinutes(minutes));
  }

  @Promise("12.1")
  @Test
  void delayedMessageArrivesOnceWhenDue() {
    actor.sendMessageLater("later", Duration.ofMinutes(2));

    advanceMinutes(1);
    boolean firedEarly = !received.isEmpty();
    advanceMinutes(10);

    assertFalse(firedEarly);
    assertEquals(List.of("later"), received);
  }

  @Promise("12.2")
  @Test
  void repeatedMessageArrivesAtEndOfEachPeriod() {
    actor.sendMessageEvery("tick", Duration.ofMinutes(2));

    advanceMinutes(1);
    assertEquals(0, received.size());
    advanceMinutes(1);
    assertEquals(1, received.size());
    advanceMinutes(4);
    assertEquals(3, received.size());
  }

  @Test
  void cancelledTimerSendsNothing() {
    var delayedTimer = actor.sendMessageLater("later", Duration.ofMinutes(1));
    var repeatedTimer = actor.sendMessageEvery("tick", Duration.ofMinutes(1));

    assertTrue(delayedTimer.cancel());
    assertTrue(repeatedTimer.cancel());
    advanceMinutes(5);

    assertEquals(List.of(), received);
    assertFalse(delayedTimer.cancel());
  }

  @Test
  void firedTimerCannotBeCancelled() {
    var delayedTimer = actor.sendMessageLater("later", Duration.ofMinutes(1));

    advanceMinutes(1);

    assertFalse(delayedTimer.cancel());
  }

  @Promise("12.3")
  @Test
  void newTimerReplacesTimerWithSameKey() {
    var first = actor.sendMessageLater("key", "first", Duration.ofMinutes(1));
    actor.sendMessageLater("other key", "other", Duration.ofMinutes(1));
    actor.sendMessageEvery("key", "second", Duration.ofMinutes(2));

    advanceMinutes(2);

    assertEquals(List.of("other", "second"), received);
    assertFalse(first.cancel());
  }

  @Test
  void cancelOfReplacedTimerKeepsNewTimer() {
    var first = actor.sendMessageLater("key", "first", Duration.ofMinutes(1));
    actor.sendMessageLater("key", "second", Duration.ofMinutes(1));

    first.cancel();
    actor.sendMessageLater("key", "third", Duration.ofMinutes(1));
    advanceMinutes(1);

    assertEquals(List.of("third"), received);
  }

  @Promise("12.3")
  @Test
  void timerIsKeptWhenItsReplacementIsRefused() {
    actor.sendMessageLater("key", "first", Duration.ofMinutes(1));

    assertThrows(IllegalArgumentException.class, () -> actor.sendMessageLater("key", "second", Duration.ofMinutes(-1)));
    advanceMinutes(1);

    assertEquals(List.of("first"), received);
  }

  @Promise("12.2")
  @Test
  void repeatedMessageIsSkippedWhileEarlierOneIsQueued() {
    var busyActor = scope.anonymous().newActor((Object m) -> {
      if (m instanceof Gate gate) gate.pass();
      else received.add(m);
    });
    var gate = Gate.occupy(busyActor);
    busyActor.sendMessageEvery("tick", Duration.ofMinutes(1));

    advanceMinutes(5);
    gate.open();
    Patience.eventually(() -> !ActorInternals.hasActivation(busyActor));
    busyActor.close();

    assertEquals(List.of("tick"), received);
  }

  @Promise("3.5")
  @Test
  void fullMailboxDropsTimerMessageAndTimerContinues() {
    var ticks = new CopyOnWriteArrayList<>();
    var tickHandled = new CountDownLatch(1);
    var busyActor =
        scope.anonymous().strategy(Strategy.FIBER).mailbox(Mailbox.bounded(1, Overflow.BLOCK)).newActor((Object m) -> {
          if (m instanceof Gate gate) gate.pass();
          else ticks.add(m);
          if (m.equals("tick")) tickHandled.countDown();
        });
    var gate = Gate.occupy(busyActor);
    busyActor.sendMessage("fills it");
    busyActor.sendMessageEvery("tick", Duration.ofMinutes(1));

    advanceMinutes(3);
    gate.open();
    Patience.eventually(() -> ticks.size() == 1);
    advanceMinutes(1);
    Patience.await(tickHandled);

    assertEquals(List.of("tick", "tick", "tick"), letters.messages(Reason.DROPPED));
    assertEquals(List.of("fills it", "tick"), ticks);
  }

  @Test
  void exitCancelsPendingTimers() {
    var delayedTimer = actor.sendMessageLater("later", Duration.ofMinutes(1));
    actor.sendMessageEvery("tick", Duration.ofMinutes(1));
    actor.sendMessageLater("alarm", "time-out", Duration.ofMinutes(1));
    actor.sendMessageLater("cancelled", Duration.ofMinutes(1)).cancel();

    actor.close();
    advanceMinutes(5);

    assertFalse(delayedTimer.cancel());
    assertEquals(List.of(), received);
    assertEquals(List.of("later"), letters.messages(Reason.TIMER_CANCELLED));
    assertEquals(1, letters.all.size());
  }

  @Test
  void pendingTimerMessagesBecomeDeadLettersInCreationOrder() {
    long seed = StressRuns.seed();
    System.out.println("timers of all kinds: -Dfibry.seed=" + seed);
    var random = new Random(seed);
    var timers = new LinkedHashMap<Object, Scheduler.Timer>(); // message -> timer
    var handled = new ArrayList<>();

    for (int i = 0; i < 2_000; i++) {
      int minutes = random.nextInt(1, 100);
      switch (random.nextInt(5)) {
        case 0 -> actor.sendMessageLater(minutes % 7, (Object) i, Duration.ofMinutes(100));
        case 1 -> {
          if (timers.isEmpty()) continue;
          var message = timers.keySet().stream().skip(random.nextInt(timers.size())).findFirst().orElseThrow();
          assertTrue(timers.remove(message).cancel(), "seed " + seed);
        }
        default -> {
          boolean isImmediate = minutes < 10;
          var timer = actor.sendMessageLater(i, isImmediate ? Duration.ZERO : Duration.ofDays(1));
          if (isImmediate) handled.add(i);
          else timers.put(i, timer);
        }
      }
      if (random.nextInt(20) == 0) clock.advance(Duration.ZERO);
    }
    clock.advance(Duration.ZERO);
    assertEquals(handled, received, "seed " + seed);
    actor.close();

    assertEquals(List.copyOf(timers.keySet()), letters.messages(), "seed " + seed);
  }

  @Test
  void timerIsNotSetWhenHashCodeOfItsKeyThrows() {
    assertThrows(IllegalStateException.class,
        () -> actor.sendMessageLater(new FailingKey(), "late", Duration.ofMinutes(1)));
    advanceMinutes(1);

    assertEquals(List.of(), received);
  }

  @Test
  void timerMessageToEndedActorIsDeadLetterAtOnce() {
    actor.close();

    var timer = actor.sendMessageLater("later", Duration.ofDays(1));

    assertEquals(List.of("later"), letters.messages(Reason.UNDELIVERED));
    assertFalse(timer.cancel());
  }

  @Test
  void handlerMaySetTimerForItsOwnActor() {
    var self = scope.anonymous().newActor((Object m, ActorContext<Object> context) -> {
      received.add(m);
      if (received.size() < 3) context.self().sendMessageLater(m, Duration.ofMinutes(1));
    });

    self.sendMessage("again");
    advanceMinutes(10);

    assertEquals(List.of("again", "again", "again"), received);
  }

  @Test
  void invalidTimesAreRefused() {
    var delayFailure =
        assertThrows(IllegalArgumentException.class, () -> actor.sendMessageLater("x", Duration.ofSeconds(-3)));
    var periodFailure = assertThrows(IllegalArgumentException.class, () -> actor.sendMessageEvery("x", Duration.ZERO));

    assertTrue(delayFailure.getMessage().contains("-3 s") && delayFailure.getMessage().contains("give zero or more"),
        delayFailure.getMessage());
    assertTrue(periodFailure.getMessage().contains("0 s") && periodFailure.getMessage().contains("more than zero"),
        periodFailure.getMessage());
  }

  @Test
  void negativeTimesAreRefusedEvenByEndedActor() {
    var endedActor = scope.anonymous().newActor((Object m) -> {});
    endedActor.close();
    var negativeTime = Duration.ofSeconds(Long.MIN_VALUE);

    for (var target : List.of(actor, endedActor, ActorSystem.anonymous().newActor((Object m) -> {}))) {
      var delayFailure = assertThrows(IllegalArgumentException.class, () -> target.sendMessageLater("x", negativeTime));
      var periodFailure =
          assertThrows(IllegalArgumentException.class, () -> target.sendMessageEvery("x", negativeTime));

      assertEquals("a delay of -for ever is negative; give zero or more", delayFailure.getMessage());
      assertEquals("a period of -for ever is not positive; give more than zero", periodFailure.getMessage());
    }
    assertEquals(List.of(), letters.all);
  }

  @Test
  void systemSchedulerSendsTimerMessages() {
    var ticks = new CountDownLatch(3);
    var tickingActor = Variants.scope(o -> o).anonymous().newActor((Object m) -> ticks.countDown());

    var timer = tickingActor.sendMessageEvery("tick", Duration.ofMillis(1));

    Patience.await(ticks);
    assertTrue(timer.cancel());
  }

  /**
   * A timer with a delay of zero may fire before the code that sets it has stored it. Its message
   * then sets a timer with the same key, which must stay set.
   */
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
    var callerScope = Variants.scope(o -> o.withScheduler(clock).withStrategy(Strategy.CALLER));
    var received = new ArrayList<Integer>();
    var actor = callerScope.anonymous().newActor((Integer n, ActorContext<Integer> context) -> {
      received.add(n);
      if (n < 3) context.self().sendMessageLater("key", n + 1, Duration.ofSeconds(1));
    });

    actor.sendMessageLater("key", 1, Duration.ZERO);
    clock.manual.advance(Duration.ofSeconds(5));

    assertEquals(List.of(1, 2, 3), received);
  }

  @Test
  void timerWithKeyMayFireBeforeItIsAdded() {
    var clock = new Clock() {
      @Override
      public Timer schedule(Duration delay, Runnable task) {
        task.run();
        return () -> false;
      }

      @Override
      public Timer scheduleAt(long dueNanos, Runnable task) {
        return schedule(Duration.ZERO, task);
      }
    };
    var callerScope = Variants.scope(o -> o.withScheduler(clock).withStrategy(Strategy.CALLER));
    var received = new ArrayList<Object>();
    var actor = callerScope.anonymous().newActor((Object m) -> received.add(m));
    actor.sendMessageEvery("periodic", Duration.ofSeconds(1)); // now the actor has timers, but no timer with a key

    var timer = actor.sendMessageLater("key", "once", Duration.ofSeconds(1));

    assertEquals(List.of("once"), received);
    assertFalse(timer.cancel());
  }
}
