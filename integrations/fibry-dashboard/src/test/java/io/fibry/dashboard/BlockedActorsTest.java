package io.fibry.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.ActorStats.ActorState;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests which actors only wait for another actor that is stalled. */
class BlockedActorsTest {
  private static final Duration LIMIT = Duration.ofSeconds(10);

  private static Stats stuck(String name) {
    return Stats.of(name).withState(ActorState.BUSY).withBusyFor(LIMIT);
  }

  private static Stats waiting(String name, String awaited) {
    return Stats.of(name).awaiting(awaited).withBusyFor(LIMIT);
  }

  private static List<String> blocked(Stats... actors) {
    var stats = Stream.of(actors).map(Stats::get).toList();
    var blocked = BlockedActors.of(stats, actor -> actor.busyFor().compareTo(LIMIT) >= 0);
    return stats.stream().filter(blocked::contains).map(actor -> actor.scope() + " " + actor.name()).toList();
  }

  @Test
  void actorsOfChainAreBlockedByItsEnd() {
    assertEquals(List.of("app packer", "app clerk"),
        blocked(stuck("stock"), waiting("packer", "stock"), waiting("clerk", "packer")));
  }

  @Test
  void awaitedActorMustBeStalled() {
    assertEquals(List.of(), blocked(stuck("stock").withBusyFor(LIMIT.minusNanos(1)), waiting("packer", "stock")));
    assertEquals(List.of("app packer"),
        blocked(Stats.of("stock").withState(ActorState.SUSPENDED), waiting("packer", "stock")));
    assertEquals(List.of("app packer"),
        blocked(Stats.of("stock").withState(ActorState.CUT_OFF), waiting("packer", "stock")));
    assertEquals(List.of(), blocked(stuck("other"), waiting("packer", "stock")));
  }

  @Test
  void shortWaitIsNotBlocked() {
    assertEquals(List.of(), blocked(stuck("stock"), waiting("packer", "stock").withBusyFor(LIMIT.minusNanos(1))));
  }

  @Test
  void onlyActorsOutsideOfCycleAreBlocked() {
    assertEquals(List.of("app clerk"), blocked(waiting("prices", "discounts"), waiting("discounts", "prices"),
        waiting("clerk", "prices")));
    assertEquals(List.of(), blocked(waiting("self", "self")));
  }

  @Test
  void actorOfSameScopeIsMeantIfSeveralHaveTheName() {
    var far = stuck("stock").inScope("far");
    assertEquals(List.of("app packer"), blocked(far, waiting("packer", "stock")));
    assertEquals(List.of(), blocked(far, Stats.of("stock"), waiting("packer", "stock")));
    assertEquals(List.of("far packer"), blocked(far, Stats.of("stock"), waiting("packer", "stock").inScope("far")));
    assertEquals(List.of(), blocked(far, stuck("stock").inScope("near"), waiting("packer", "stock")));
  }
}
