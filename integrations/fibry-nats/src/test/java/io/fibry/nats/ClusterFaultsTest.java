package io.fibry.nats;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.cluster.Cluster;
import io.fibry.cluster.TransportException;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.durable.Ledgers;
import io.fibry.support.FaultProxy;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.test.NatsServer;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Checks {@link Ledgers} on three nodes that are processes, while faults of all kinds happen, often
 * two at once. Each node reaches its servers through proxies.
 */
@Soak(counterpart = "ClusterSimulationTest")
@ExtendWith(ServerEvidence.class)
class ClusterFaultsTest {
  private static final int ROUNDS = Integer.getInteger("fibry.rounds", 30);
  private static final List<String> NAMES = List.of("a", "b", "c");
  private static final int MAX_FAULT_MILLIS = 10_000; // two leases and a half

  /** A fault of a node, of its network or of a server. */
  private enum Fault {
    KILL_NODE, PAUSE_NODE, HOLD, SLOW, DROP, DROP_ANSWERS, CLOSE_CONNECTIONS, EXPIRE_LEASE, KILL_SERVER, PAUSE_SERVER
  }

  private final String app = Servers.app();
  private final List<NatsServer> servers = new ArrayList<>();
  private final Map<String, List<FaultProxy>> proxies = new TreeMap<>(); // by node, one for each server
  private final Map<String, NodeProcess> nodes = new TreeMap<>();
  private final Map<Fault, Integer> counts = new TreeMap<>();
  private Random random;

  @BeforeEach
  void assumeServerProgram() {
    Servers.assumeInstalled();
  }

  @AfterEach
  void end() throws IOException {
    nodes.values().forEach(NodeProcess::close);
    for (var proxiesOfNode : proxies.values()) for (var proxy : proxiesOfNode) proxy.close();
    servers.forEach(NatsServer::close);
  }

  @Test
  void ledgersMatchAnswersDespiteFaultsOnSingleServer() throws Exception {
    servers.add(NatsServer.start(Servers.folder()));
    causeFaults();
  }

  @Test
  void ledgersMatchAnswersDespiteFaultsOnThreeServers() throws Exception {
    servers.addAll(NatsServer.cluster(Servers.folder(), 3));
    causeFaults();
  }

  private void causeFaults() throws Exception {
    for (var name : NAMES) {
      var proxiesOfNode = new ArrayList<FaultProxy>();
      for (var server : servers) proxiesOfNode.add(FaultProxy.to(server.url()));
      proxies.put(name, proxiesOfNode);
      nodes.put(name, start(name));
    }
    nodes.values().forEach(NodeProcess::awaitJoined);
    try (var client = LedgerNode.join(app, LedgerNode.network(urls(), servers.size()), "asking")) {
      Patience.eventually(
          () -> client.members().stream().filter(member -> member.hosts().contains("inbox")).count() == NAMES.size());
      causeFaults(client);
    } finally {
      var folder = Servers.folder(); // kept as evidence if the test fails
      for (var node : nodes.entrySet())
        Files.writeString(folder.resolve(node.getKey() + ".log"), node.getValue().output());
    }
  }

  private String urls() {
    return servers.stream().map(NatsServer::url).collect(Collectors.joining(","));
  }

  private NodeProcess start(String name) {
    var urls = proxies.get(name).stream().map(FaultProxy::natsUrl).collect(Collectors.joining(","));
    return LedgerNode.start(app, urls, servers.size(), name);
  }

  private void causeFaults(Cluster client) throws Exception {
    try (var ledgers = new Ledgers(List.of(LedgerNode.addresses(client)))) {
      random = new Random(ledgers.seed());
      for (int i = 0; i < ROUNDS; i++) causeFaults(ledgers);
      for (var name : NAMES) {
        assertTrue(nodes.get(name).isAlive(), () -> "node " + name + " has ended: " + nodes.get(name).output());
        ledgers.awaitAnswerOf(name);
      }
      ledgers.check(client.store());
      System.out.println(counts + ", " + servers.size() + " servers: " + ledgers);
    }
  }

  /**
   * Causes one or two faults, and ends them. Waits until the servers have recovered, and then until
   * all ledgers answer again.
   */
  private void causeFaults(Ledgers ledgers) {
    var faults = new TreeMap<Fault, String>(); // with the node that it affects
    for (int i = 0; i <= random.nextInt(2); i++)
      faults.put(Fault.values()[random.nextInt(Fault.values().length)], NAMES.get(random.nextInt(NAMES.size())));
    var server = servers.get(random.nextInt(servers.size()));
    if (faults.containsKey(Fault.KILL_NODE)) faults.remove(Fault.PAUSE_NODE); // a dead process cannot be paused
    if (faults.containsKey(Fault.KILL_SERVER)) faults.remove(Fault.PAUSE_SERVER);

    ledgers.awaitMore(random.nextInt(200));
    long begin = System.nanoTime();
    long end = begin + TimeUnit.MILLISECONDS.toNanos(random.nextInt(MAX_FAULT_MILLIS));
    faults.forEach((fault, node) -> begin(fault, node, server));
    ledgers.await("the end of the faults " + faults, () -> System.nanoTime() - end > 0);
    faults.forEach((fault, node) -> end(fault, node, server));
    long healed = System.nanoTime();
    StreamRecovery.await(servers);
    StreamRecovery.run(servers, () -> ledgers.awaitAllLedgers(healed));
    System.out.printf("%s for %.1f s, all ledgers answered %.1f s later: %s%n", faults, (healed - begin) / 1e9,
        (System.nanoTime() - healed) / 1e9, ledgers);
  }

  private void begin(Fault fault, String node, NatsServer server) {
    counts.merge(fault, 1, Integer::sum);
    switch (fault) {
      case KILL_NODE -> nodes.get(node).kill();
      case PAUSE_NODE -> nodes.get(node).pause();
      case HOLD, SLOW, DROP, DROP_ANSWERS -> setMode(node, FaultProxy.Mode.valueOf(fault.name()));
      case CLOSE_CONNECTIONS -> proxies.get(node).forEach(FaultProxy::closeConnections);
      case EXPIRE_LEASE -> expireLease(node);
      case KILL_SERVER -> server.kill();
      case PAUSE_SERVER -> server.pause();
    }
  }

  private void end(Fault fault, String node, NatsServer server) {
    switch (fault) {
      case KILL_NODE -> nodes.put(node, start(node)); // under the same name, perhaps before the old lease ends
      case PAUSE_NODE -> nodes.get(node).resume();
      case HOLD, SLOW, DROP, DROP_ANSWERS -> setMode(node, FaultProxy.Mode.FORWARD);
      case CLOSE_CONNECTIONS, EXPIRE_LEASE -> {
      }
      case KILL_SERVER -> server.restart();
      case PAUSE_SERVER -> server.resume();
    }
  }

  private void setMode(String node, FaultProxy.Mode mode) {
    proxies.get(node).forEach(proxy -> proxy.set(mode));
  }

  /** Deletes the entry of the node, as a server does whose clock is set forward. */
  private void expireLease(String node) {
    String key = "fb." + app + ".node." + node;
    try (ClusterTransport transport = LedgerNode.network(urls(), servers.size()).connect(app, "clock")) {
      transport.get(key).ifPresent(entry -> transport.delete(key, entry.version()));
    } catch (TransportException failure) {
      System.out.println("no lease was deleted: " + failure.getMessage());
    }
  }
}
