package io.fibry.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.FailurePolicy;
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
  private static final int MAX_COUNTED = 100_000;

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

  /** At the limit of the count, it is unknown whether the mailbox still grows. */
  @Promise("19.26")
  @Test
  void queueAtLimitOfCountIsNamedAsGrowing() {
    var huge = stuckActor("huge");
    send(huge, MAX_COUNTED + 1);
    var totals = totals("*");

    assertEquals(worst("huge", 100), worstAfterMinute(totals));
    assertEquals(worst("huge", MAX_COUNTED), totals.read().getFirst().longestQueue());

    for (var inner : List.of("inner-1", "inner-2")) {
      Actor<Object> full = scope.openScope(inner).named("full").newActor(Gate::passOrThrow);
      Gate.occupy(full);
      send(full, MAX_COUNTED * 3 / 4);
    }
    assertEquals(worst("full", MAX_COUNTED * 3 / 2), totals.read().getFirst().worstGrowing());
    for (int minute = 0; minute < 7; minute++) worstAfterMinute(totals);

    assertEquals(worst("huge", 100), totals.read().getFirst().worstGrowing());
  }

  @Promise("19.26")
  @Test
  void longestQueueRemainsNamedUntilAnotherIsTenthLonger() {
    var totals = totals("*");
    var first = stuckActor("first");
    var second = stuckActor("second");
    send(first, 200);
    assertEquals(worst("first", 200), totals.read().getFirst().longestQueue());
    send(second, 220);
    assertEquals(worst("first", 200), totals.read().getFirst().longestQueue());

    send(second, 1);
    assertEquals(worst("second", 221), totals.read().getFirst().longestQueue());
    send(first, 22);

    assertEquals(worst("second", 221), totals.read().getFirst().longestQueue());
  }

  private Actor<Object> failingActor(String name, Duration pause) {
    return scope.named(name).initialState(Object::new)
        .onFailure(FailurePolicy.restart().withBackoff(pause, pause).withoutLog())
        .newActor((Object state, Object message) -> {
          throw new IllegalStateException("planned");
        });
  }

  private void suspend(Actor<Object> actor, ActorTotals totals, int suspended) {
    actor.sendMessage("fails");
    Patience.eventually(() -> totals.read().stream().mapToInt(Total::suspended).sum() == suspended);
  }

  private static List<String> suspendedActors(ActorTotals totals) {
    return totals.read().stream().map(total -> total.suspendedActor().orElseThrow().actor()).toList();
  }

  @Promise("19.26")
  @Test
  void suspendedActorRemainsNamedWhileItIsSuspended() {
    var totals = totals("a-*", "b-*");
    var actors = List.of(failingActor("a-long", Duration.ofHours(2)), failingActor("a-short", Duration.ofHours(1)),
        failingActor("b-short", Duration.ofHours(1)), failingActor("b-long", Duration.ofHours(2)));
    suspend(actors.get(1), totals, 1);
    suspend(actors.get(2), totals, 2);
    assertEquals(List.of("a-short", "b-short"), suspendedActors(totals));

    suspend(actors.get(0), totals, 3);
    suspend(actors.get(3), totals, 4);
    assertEquals(List.of("a-short", "b-short"), suspendedActors(totals));
    clock.advance(Duration.ofHours(1));

    Patience.eventually(() -> suspendedActors(totals).equals(List.of("a-long", "b-long")));
  }
}
