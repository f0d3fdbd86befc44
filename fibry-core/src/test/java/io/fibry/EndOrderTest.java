package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fibry.pool.Entities;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Actors that end together end in the order in which they were made, not by identity hash, so runs
 * repeat.
 */
class EndOrderTest {
  private static final List<Integer> NUMBERS = IntStream.range(0, 40).boxed().toList();

  /** Notes which timers are cancelled. */
  private static final class Noting extends Clock {
    final List<Integer> cancelled = new CopyOnWriteArrayList<>();
    private int made;

    @Override
    public Timer schedule(Duration delay, Runnable task) {
      int number = made++;
      return () -> cancelled.add(number);
    }

    @Override
    public Timer scheduleAtFixedRate(Duration initial, Duration period, Runnable task) {
      return schedule(initial, task);
    }
  }

  /** A key whose hash is its identity. */
  private static final class Key {}

  @Test
  void actorTimersAreCancelledInCreationOrder() {
    var clock = new Noting();
    var actor = Variants.scope(o -> o.withScheduler(clock)).anonymous().newActor((Object m) -> {});
    for (var number : NUMBERS) actor.sendMessageLater(new Key(), number, Duration.ofDays(1));

    actor.sendPoisonPill();
    Patience.ended(actor::waitForExit);

    assertEquals(NUMBERS, clock.cancelled);
  }

  @Test
  void entityTimersAreCancelledInCreationOrder() {
    var clock = new Noting();
    var entities = Entities.open(Variants.scope(o -> o.withScheduler(clock)).anonymous(), Duration.ofDays(1),
        (ActorBuilder<Object> how, Integer key) -> how.newActor((Object m) -> {}));
    for (var number : NUMBERS) entities.actor(number % 7).sendMessageEvery(new Key(), number, Duration.ofDays(1));

    entities.close();

    assertEquals(NUMBERS, clock.cancelled);
  }

  @Test
  void closeHooksStartInRegistrationOrder() {
    var scope = ActorSystem.openScope("closing");
    var said = new ConcurrentSkipListMap<Long, Integer>(); // a thread started later has a greater id
    for (var number : NUMBERS) scope.onClosing(() -> {
      if (Thread.currentThread().isVirtual()) said.put(Thread.currentThread().threadId(), number);
    });

    Patience.joined(Thread.ofVirtual().start(scope::close));

    assumeTrue(said.size() == NUMBERS.size()); // else fibers were late, and threads of the platform came
    assertEquals(NUMBERS, List.copyOf(said.values()));
  }
}
