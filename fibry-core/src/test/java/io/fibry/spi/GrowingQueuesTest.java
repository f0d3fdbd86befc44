package io.fibry.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.spi.ActorTotals.Total;
import io.fibry.spi.ActorTotals.Worst;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.Variants;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the names of the actors whose mailboxes grow, and of those with the longest queues. */
class GrowingQueuesTest {
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = Variants.scope(options -> options.withScheduler(clock));

  @AfterEach
  void close() {
    Gate.openAll();
    scope.closeWithin(Duration.ZERO);
  }

  private ActorTotals totals(String... names) {
    return ActorTotals.of(scope, ActorNames.of(List.of(names)));
  }

  /** Returns an actor that handles its first message until all gates open. */
  private Actor<Object> stuckActor(String name) {
    Actor<Object> actor = scope.named(name).newActor(Gate::passOrThrow);
    Gate.occupy(actor);
    return actor;
  }

  private static void send(Actor<Object> actor, int count) {
    for (int i = 0; i < count; i++) actor.sendMessage(i);
  }

  private static Optional<Worst> worst(String actor, long count) {
    return Optional.of(new Worst(actor, count));
  }

  private Optional<Worst> worstAfterMinute(ActorTotals totals) {
    clock.advance(Duration.ofMinutes(1));
    return totals.read().getFirst().worstGrowing();
  }

  /** A full mailbox that does not grow must not hide a growing mailbox. */
  @Promise("19.26")
  @Test
  void totalsNameActorWhoseQueueGrowsMost() {
    var full = stuckActor("full");
    send(full, 1_000);
    var totals = totals("cart-*", "*");
    var slow = stuckActor("slow");
    send(slow, 99);
    assertEquals(Optional.empty(), totals.read().get(1).worstGrowing());

    send(slow, 1);

    assertEquals(List.of(Optional.empty(), worst("slow", 100)),
        totals.read().stream().map(Total::worstGrowing).toList());
    assertEquals(List.of(Optional.empty(), worst("full", 1_000)),
        totals.read().stream().map(Total::longestQueue).toList());
  }

  /** The growth is that of five to six minutes, and ends when the mailbox stops to grow. */
  @Promise("19.26")
  @Test
  void totalsNameActorOnlyWhileItsQueueGrows() {
    var totals = totals("*");
    var slow = stuckActor("slow");
    for (int minute = 1; minute < 6; minute++) {
      send(slow, 30);
      assertEquals(minute < 4 ? Optional.empty() : worst("slow", 30 * minute), worstAfterMinute(totals));
    }
    for (int minute = 6; minute < 20; minute++) {
      send(slow, 30);
      assertEquals(worst("slow", 180), worstAfterMinute(totals));
    }

    worstAfterMinute(totals);

    assertEquals(Optional.empty(), worstAfterMinute(totals));
    assertEquals(worst("slow", 570), totals.read().getFirst().longestQueue());
  }

  @Promise("19.26")
  @Test
  void totalsDoNotNameActorWhoseQueueDrains() {
    var totals = totals("*");
    var actor = stuckActor("actor");
    send(actor, 200);
    assertEquals(worst("actor", 200), worstAfterMinute(totals));
    Gate.openAll();
    assertTrue(scope.awaitQuiescence(Patience.LONG));
    Gate.occupy(actor);
    send(actor, 150);

    worstAfterMinute(totals);

    assertEquals(Optional.empty(), worstAfterMinute(totals));
  }

  /** Each new name is a new series of a monitoring system. */
  @Promise("19.26")
  @Test
  void growingActorRemainsNamedUntilAnotherHasGrownByTenthMore() {
    var totals = totals("*");
    var first = stuckActor("first");
    var second = stuckActor("second");
    send(first, 200);
    assertEquals(worst("first", 200), totals.read().getFirst().worstGrowing());
    send(second, 220);
    assertEquals(worst("first", 200), totals.read().getFirst().worstGrowing());

    send(second, 1);

    assertEquals(worst("second", 221), totals.read().getFirst().worstGrowing());
  }
}
