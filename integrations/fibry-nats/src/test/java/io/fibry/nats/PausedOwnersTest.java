package io.fibry.nats;

import io.fibry.cluster.Cluster;
import io.fibry.durable.Ledgers;
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
 * Tests that no turn is lost when processes that own durable actors are paused in the middle of
 * writes, for longer than their lease, and then resumed.
 */
@Soak(counterpart = "ClusterSimulationTest")
@ExtendWith(ServerEvidence.class)
class PausedOwnersTest {
  private static final int ROUNDS = Integer.getInteger("fibry.rounds", 20);
  private static final List<String> NAMES = List.of("a", "b");
  private static final int MAX_EXTRA_MILLIS = 2_000; // of a pause, after the lease and the takeover

  private final List<NatsServer> servers = new ArrayList<>();
  private final List<NodeProcess> nodes = new ArrayList<>();

  @BeforeEach
  void assumeServerProgram() {
    Servers.assumeInstalled();
  }

  @AfterEach
  void end() {
    nodes.forEach(NodeProcess::close);
    servers.forEach(NatsServer::close);
  }

  @Test
  void pausedOwnersLoseNoTurnOnSingleServer() throws Exception {
    servers.add(NatsServer.start(Servers.folder()));
    pauseAgainAndAgain(1);
  }

  @Test
  void pausedOwnersLoseNoTurnOnThreeServers() throws Exception {
    servers.addAll(NatsServer.cluster(Servers.folder(), 3));
    pauseAgainAndAgain(3);
  }

  private void pauseAgainAndAgain(int replicas) throws Exception {
    String app = Servers.app();
    var urls = servers.stream().map(NatsServer::url).collect(Collectors.joining(","));
    for (var name : NAMES) nodes.add(LedgerNode.start(app, urls, replicas, name));
    nodes.forEach(NodeProcess::awaitJoined);
    try (var client = LedgerNode.join(app, LedgerNode.network(urls, replicas), "asking")) {
      Patience.eventually(
          () -> client.members().stream().filter(member -> member.hosts().contains("inbox")).count() == NAMES.size());
      pauseAgainAndAgain(client);
    }
  }

  private void pauseAgainAndAgain(Cluster client) throws Exception {
    try (var ledgers = new Ledgers(List.of(LedgerNode.addresses(client)))) {
      var random = new Random(ledgers.seed());
      for (int i = 0; i < ROUNDS; i++) pause(ledgers, i % NAMES.size(), random.nextInt(MAX_EXTRA_MILLIS));
      for (var name : NAMES) ledgers.awaitAnswerOf(name);
      ledgers.check(client.store());
      System.out.println(ROUNDS + " pauses, " + servers.size() + " servers: " + ledgers);
    }
  }

  private void pause(Ledgers ledgers, int nodeIndex, int extraMillis) throws Exception {
    String name = NAMES.get(nodeIndex);
    ledgers.awaitAnswerOf(name);
    nodes.get(nodeIndex).pause();
    long begin = System.nanoTime();
    ledgers.awaitAllLedgersWithout(name, begin);
    var takeoverTime = System.nanoTime() - begin;
    long end = begin + Math.max(takeoverTime, LedgerNode.LEASE.toNanos()) + TimeUnit.MILLISECONDS.toNanos(extraMillis);
    ledgers.await("the end of the pause", () -> System.nanoTime() - end > 0);
    nodes.get(nodeIndex).resume();
    System.out.printf("%s was paused for %.1f s, its keys were answered after %.1f s: %s%n", name,
        (System.nanoTime() - begin) / 1e9, takeoverTime / 1e9, ledgers);
  }
}
