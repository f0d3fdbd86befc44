package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Many runs of nodes on a bad network, each from a seed that is printed. A seed gives the same
 * faults again, not the same order of threads.
 */
class SeededNodesTest {
  private static final int SEEDS = Integer.getInteger("fibry.seeds", Boolean.getBoolean("fibry.soak") ? 2_000 : 25);

  @Test
  void whatIsPromisedHoldsOnABadNetwork() {
    long first = Long.getLong("fibry.seed", System.nanoTime());
    System.out.println("nodes on a bad network: -Dfibry.seed=" + first);
    for (long seed = first; seed < first + SEEDS; seed++) check(seed);
  }

  private static void check(long seed) {
    try (var nodes = new SeededNodes(seed)) {
      assertEquals(List.of(), nodes.run(), () -> "-Dfibry.seeds=1 -Dfibry.seed=" + seed + ": " + nodes);
    } catch (RuntimeException | AssertionError failure) {
      throw new AssertionError("-Dfibry.seeds=1 -Dfibry.seed=" + seed, failure);
    }
  }
}
