package io.fibry.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorStats.ActorState;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests which actors only wait for another actor that is stalled. */
class BlockedActorsTest {
  private static final Duration LIMIT = Duration.ofSeconds(10);
  private static final int ACTORS = 10_000;
  private static final long MAX_MILLIS = 1_500; // of processor time

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

  @Test
  void actorsThatLeadIntoCycleAreBlocked() {
    assertEquals(List.of("app packer", "app clerk", "app guest"),
        blocked(waiting("packer", "prices"), waiting("clerk", "packer"), waiting("prices", "discounts"),
            waiting("discounts", "prices"), waiting("guest", "clerk"), waiting("self", "self"), waiting("x", "y"),
            waiting("y", "z"), waiting("z", "x")));
  }

  /** Each of these takes a time that is proportional to the number of actors. */
  @ParameterizedTest
  @ValueSource(strings = {"cycle", "chain", "scopes"})
  void timeGrowsWithNumberOfActorsOnly(String shape) {
    var actors = new ArrayList<>(List.of(waiting("0", "1").get(), waiting("1", "0").get(), stuck("end").get()));
    for (int i = 2; i < ACTORS; i++) {
      actors.add((switch (shape) {
        case "cycle" -> waiting("" + i, "0");
        case "chain" -> waiting("" + i, i + 1 < ACTORS ? "" + (i + 1) : "end");
        default -> waiting("stock", "stock").inScope("" + i);
      }).get());
    }
    long before = processorNanos();

    var blocked = BlockedActors.of(actors, actor -> actor.busyFor().compareTo(LIMIT) >= 0);

    long millis = (processorNanos() - before) / 1_000_000;
    assertEquals(shape.equals("scopes") ? 0 : ACTORS - 2, blocked.size());
    assertTrue(millis < MAX_MILLIS, millis + " ms");
  }

  private static long processorNanos() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }
}
