package io.fibry.nats;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.cluster.Cluster;
import io.fibry.durable.Histories;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.test.NatsServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Processes that own durable actors are paused for longer than their lease, and resumed, while
 * turns are being stored.
 */
@Soak(counterpart = "ClusterSimulationTest")
@ExtendWith(ServerEvidence.class)
class PausedOwnersTest {
  private static final int ROUNDS = Integer.getInteger("fibry.rounds", 20);
  private static final List<String> NAMES = List.of("a", "b");
  private static final int LONGEST = 2_000; // milliseconds, after others have taken over

  private final List<NatsServer> servers = new ArrayList<>();
  private final List<NodeProcess> nodes = new ArrayList<>();

  @BeforeEach
  void find() {
    Servers.assumeThere();
  }

  @AfterEach
  void end() {
    nodes.forEach(NodeProcess::close);
    servers.forEach(NatsServer::close);
  }

  @Test
  void pausedOwnersKeepConsistencyOnSingleServer() throws Exception {
    servers.add(NatsServer.start(Servers.folder()));
    pauseAgainAndAgain(1);
  }

  @Test
  void pausedOwnersKeepConsistencyOnThreeServers() throws Exception {
    servers.addAll(NatsServer.cluster(Servers.folder(), 3));
    pauseAgainAndAgain(3);
  }

  private void pauseAgainAndAgain(int replicas) throws Exception {
    String app = Servers.app();
    var urls = servers.stream().map(NatsServer::url).collect(Collectors.joining(","));
    var network = NatsNetwork.connectTo(urls).withReplicas(replicas);
    for (var name : NAMES)
      nodes.add(NodeProcess.start("-Xmx192m", Ledgers.class, app, urls, Integer.toString(replicas), name));
    nodes.forEach(NodeProcess::awaitJoined);
    try (var asking = Ledgers.join(app, network, "asking")) {
      Patience.eventually(
          () -> asking.members().stream().filter(one -> one.hosts().contains("ledger")).count() == NAMES.size());
      pauseAgainAndAgain(asking);
    }
  }

  private void pauseAgainAndAgain(Cluster asking) throws Exception {
    try (var ledgers = new Ledgers(asking)) {
      var random = new Random(ledgers.seed());
      for (int i = 0; i < ROUNDS; i++) pause(ledgers, i % NAMES.size(), random.nextInt(LONGEST));
      for (var name : NAMES) ledgers.awaitAnswerOf(name);
      assertEquals(List.of(), ledgers.faults(), () -> "-Dfibry.seed=" + ledgers.seed());
      Histories.check(asking.store(), "ledger");
      System.out.println(ROUNDS + " pauses, " + servers.size() + " servers: " + ledgers);
    }
  }

  private void pause(Ledgers ledgers, int victim, int longer) throws Exception {
    String name = NAMES.get(victim);
    ledgers.awaitAnswerOf(name);
    nodes.get(victim).pause();
    long begin = System.nanoTime();
    ledgers.awaitAllWithout(name, begin);
    var silence = System.nanoTime() - begin;
    long end = begin + Math.max(silence, Ledgers.LEASE.toNanos()) + TimeUnit.MILLISECONDS.toNanos(longer);
    ledgers.await("the end of the pause", () -> System.nanoTime() - end > 0);
    nodes.get(victim).goOn();
    System.out.printf("%s stood still for %.1f s, its keys were answered after %.1f s: %s%n", name,
        (System.nanoTime() - begin) / 1e9, silence / 1e9, ledgers);
  }
}
