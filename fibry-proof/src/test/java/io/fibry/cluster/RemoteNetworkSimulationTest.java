package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.cluster.RemoteNetwork.Odds;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.simulation.Simulation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that the network of {@link ClusterRound} keeps the promises that every transport keeps. */
@Tag("simulated")
class RemoteNetworkSimulationTest {
  private static final Duration CUT_TIME = Duration.ofSeconds(5);
  private static final Duration LONG_TIME = Duration.ofSeconds(10);

  private static void simulate(Simulation.Program program) {
    Simulation.run(options -> options.withSeeds(50), program);
  }

  private static RemoteNetwork network(Simulation simulation) {
    return new RemoteNetwork(simulation.random().split(), simulation.scope().openScope("servers"), true);
  }

  @Test
  void watcherGetsTableChangesInOrderAfterCutIsHealed() {
    simulate(sim -> {
      var network = network(sim);
      var machine = network.add(sim.node("reader"));
      network.add(sim.node("writer"));
      var versions = new ArrayList<Long>();
      try (var reader = network.connect("bank", "reader"); var writer = network.connect("bank", "writer")) {
        reader.watch("fb.", entry -> versions.add(entry.version()));
        network.setOdds(new Odds(0, 1_000, 0)); // all messages are slow
        machine.cut(CUT_TIME);
        writer.delete("fb.x", writer.create("fb.x", new byte[0], ClusterTransport.FOREVER).orElseThrow());
        Thread.sleep(150);

        network.heal();
        Thread.sleep(LONG_TIME);

        assertEquals(List.of(1L, 2L), versions);
      }
    });
  }

  @Test
  void messagesArriveInOrderUntilUnsubscribed() {
    simulate(sim -> {
      var network = network(sim);
      network.add(sim.node("reader"));
      network.add(sim.node("writer"));
      var received = new ArrayList<String>();
      try (var reader = network.connect("bank", "reader"); var writer = network.connect("bank", "writer")) {
        network.setOdds(new Odds(0, 500, 0));
        var subscription = reader.subscribe("fb.y", Optional.empty(),
            wire -> received.add(wire.header("n").orElseThrow()));
        for (int i = 0; i < 10; i++) writer.publish(WireMessage.oneWay("fb.y", Map.of("n", "" + i), new byte[0]));
        Thread.sleep(LONG_TIME);

        subscription.close();
        writer.publish(WireMessage.oneWay("fb.y", Map.of("n", "late"), new byte[0]));
        Thread.sleep(LONG_TIME);

        assertEquals(List.of("0", "1", "2", "3", "4", "5", "6", "7", "8", "9"), received);
      }
    });
  }

  @Test
  void lostReplyLeavesOutcomeUnknown() {
    simulate(sim -> {
      var network = network(sim);
      network.add(sim.node("writer"));
      try (var writer = network.connect("bank", "writer")) {
        network.setOdds(new Odds(0, 0, 1_000));
        var failure =
            assertThrows(TransportException.class, () -> writer.create("fb.x", new byte[0], ClusterTransport.FOREVER));
        assertEquals(Failure.UNKNOWN, failure.failure());

        network.heal();

        assertEquals(Optional.of(1L), writer.get("fb.x").map(ClusterTransport.Entry::version)); // the entry was created
      }
    });
  }
}
