package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.cluster.SeededNetwork.Odds;
import io.fibry.time.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The network of {@link SeededNodes} keeps what every engine promises. */
class SeededNetworkTest {
  private static final int SEEDS = 50; // in some of them, only the first entry comes before the cut is healed

  @Test
  void newsKeepTheirOrderThoughACutIsHealed() {
    for (long seed = 0; seed < SEEDS; seed++)
      assertEquals(List.of(1L, 2L), versionsHeard(seed), "seed " + seed);
  }

  private static List<Long> versionsHeard(long seed) {
    var clock = new ManualClock();
    var network = new SeededNetwork(seed, clock);
    network.become(new Odds(0, 1_000, 0)); // all is slow
    var versions = new ArrayList<Long>();
    try (var node = network.connect("bank", "a")) {
      node.watch("fb.", entry -> versions.add(entry.version()));
      node.cut(Duration.ofSeconds(5));
      network.table().create("fb.x", new byte[0], Engine.FOR_EVER);
      network.table().delete("fb.x", 1);
      clock.advance(Duration.ofMillis(150));

      node.heal();
      clock.advance(Duration.ofSeconds(10));

      return versions;
    }
  }
}
