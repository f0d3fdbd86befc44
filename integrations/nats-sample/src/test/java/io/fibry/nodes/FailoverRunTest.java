package io.fibry.nodes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fibry.support.Soak;
import io.fibry.test.NatsServer;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FailoverRunTest {
  private static final Duration RUN_TIME = Duration.ofSeconds(Long.getLong("fibry.seconds", 10));

  @TempDir
  Path folder;

  @BeforeEach
  void requireServer() {
    boolean isFound = NatsServer.find().isPresent();
    assertTrue(isFound || !"required".equals(System.getProperty("fibry.nats")), "no nats-server");
    assumeTrue(isFound, "no nats-server; CONTRIBUTING.md says how to get one");
  }

  @Test
  void noMoneyIsLostWithoutKills() throws Exception {
    var result = FailoverRun.run(folder, Duration.ZERO);

    assertEquals(100_000, result.totalCents());
  }

  @Soak(counterpart = "ClusterSimulationTest")
  @Test
  void noMoneyIsLostWhenNodesAreKilled() throws Exception {
    var result = FailoverRun.run(folder, RUN_TIME);

    assertEquals(100_000, result.totalCents());
    assertTrue(result.killed() > 0);
  }
}
