package io.fibry.engine.scope;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fibry.ActorBuilder;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter;
import io.fibry.pool.Entities;
import io.fibry.support.Patience;
import io.fibry.testing.Clock;
import io.fibry.testing.Variants;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Tests that timers are cancelled, and close hooks are started, in an order that depends only on
 * the order of their creation. An order by identity hash would differ between runs.
 */
class EndOrderTest {
  private static final List<Integer> NUMBERS = IntStream.range(0, 40).boxed().toList();

  /** A clock that numbers its timers, and records the numbers of cancelled timers. */
  private static final class RecordingClock extends Clock {
    final List<Integer> cancelled = new CopyOnWriteArrayList<>();
    private int timerCount;

    @Override
    public Timer schedule(Duration delay, Runnable task) {
      int number = timerCount++;
      return () -> cancelled.add(number);
    }

    @Override
    public Timer scheduleAtFixedRate(Duration initial, Duration period, Runnable task) {
      return schedule(initial, task);
    }
  }

  /** A key whose hash code is its identity hash code. */
  private static final class Key {}

  @Test
  void actorTimersAreCancelledInReverseCreationOrder() {
    var clock = new RecordingClock();
    var actor = Variants.scope(o -> o.withScheduler(clock)).anonymous().newActor((Object m) -> {});
    for (var number : NUMBERS) actor.sendMessageLater(new Key(), number, Duration.ofDays(1));

    actor.sendPoisonPill();
    Patience.awaitEnd(actor::waitForExit);

    assertEquals(NUMBERS.reversed(), clock.cancelled);
  }

  @Test
  void unsentMessagesAreDeadLettersInCreationOrder() {
    var scope = Variants.scope(o -> o.withScheduler(new RecordingClock()));
    var actor = scope.anonymous().newActor((Integer number) -> {});
    for (var number : NUMBERS) actor.sendMessageLater(number, Duration.ofDays(1));

    actor.sendPoisonPill();
    Patience.awaitEnd(actor::waitForExit);

    assertEquals(NUMBERS, scope.deadLetters().stream().map(DeadLetter::message).toList());
  }

  @Test
  void entityTimersAreCancelledInCreationOrder() {
    var clock = new RecordingClock();
    var entities = Entities.open(Variants.scope(o -> o.withScheduler(clock)).anonymous(), Duration.ofDays(1),
        (ActorBuilder<Object> builder, Integer key) -> builder.newActor((Object m) -> {}));
    for (var number : NUMBERS) entities.actor(number % 7).sendMessageEvery(new Key(), number, Duration.ofDays(1));

    entities.close();

    assertEquals(NUMBERS, clock.cancelled);
  }

  @Test
  void closeHooksStartInRegistrationOrder() {
    var scope = ActorSystem.openScope("closing");
    var numbersByThread = new ConcurrentSkipListMap<Long, Integer>(); // a thread started later has a greater id
    for (var number : NUMBERS) scope.onClosing(() -> {
      if (Thread.currentThread().isVirtual()) numbersByThread.put(Thread.currentThread().threadId(), number);
    });

    Patience.awaitEnd(Patience.startFiber(scope::close));

    // skips the check if a platform thread ran the hook of a late fiber, and recorded no number
    assumeTrue(numbersByThread.size() == NUMBERS.size());
    assertEquals(NUMBERS, List.copyOf(numbersByThread.values()));
  }
}
