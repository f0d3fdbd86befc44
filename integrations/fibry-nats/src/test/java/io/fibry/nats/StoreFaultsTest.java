package io.fibry.nats;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.durable.Histories;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.test.NatsServer;
import io.nats.client.JetStreamApiException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import io.nats.client.Nats;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Durable actors whose servers fail. */
@Soak(counterpart = "ReplicasTest")
@ExtendWith(ServerEvidence.class)
class StoreFaultsTest {
  private static final Duration IDLE = Duration.ofSeconds(1);

  private final ActorScope scope = ActorSystem.openScope("store-faults");
  private final List<NatsServer> servers = new ArrayList<>();

  @BeforeEach
  void find() {
    Servers.assumeThere();
  }

  @AfterEach
  void end() {
    scope.close();
    servers.forEach(NatsServer::close);
  }

  private NatsStore open(int replicas) {
    var urls = servers.stream().map(NatsServer::url).collect(Collectors.joining(","));
    return NatsStore.open(NatsNetwork.at(urls).withReplicas(replicas), "faults");
  }

  @Test
  void aServerIsKilledAgainAndAgain() throws Exception {
    servers.add(NatsServer.start(Servers.folder()));
    try (var store = open(1);
        var accounts = Transfers.ACCOUNT.entities(scope.anonymous(), store, IDLE);
        var transfers = new Transfers(accounts)) {
      for (int i = 0; i < 5; i++) {
        transfers.awaitMore(100);
        servers.getFirst().kill();
        servers.getFirst().restart();
      }
      transfers.awaitMore(100);
      transfers.check();
      Histories.check(store, "account");
    }
  }

  @Test
  void aServerStandsStill() throws Exception {
    servers.add(NatsServer.start(Servers.folder()));
    try (var store = open(1);
        var accounts = Transfers.ACCOUNT.entities(scope.anonymous(), store, IDLE);
        var transfers = new Transfers(accounts)) {
      transfers.awaitMore(100);
      servers.getFirst().pause();
      transfers.awaitFailures(8); // each asker once
      servers.getFirst().goOn();
      transfers.awaitMore(100);
      transfers.check();
      Histories.check(store, "account");
    }
  }

  @Test
  void theLeaderOfThreeIsKilledAgainAndAgain() throws Exception {
    servers.addAll(NatsServer.cluster(Servers.folder(), 3));
    try (var store = open(3);
        var accounts = Transfers.ACCOUNT.entities(scope.anonymous(), store, IDLE);
        var transfers = new Transfers(accounts)) {
      for (int i = 0; i < 3; i++) {
        transfers.awaitMore(100);
        var leader = leader();
        leader.kill();
        transfers.awaitMore(50); // by the other two
        leader.restart();
      }
      transfers.awaitMore(100);
      transfers.check();
      Histories.check(store, "account");
    }
  }

  private NatsServer leader() throws Exception {
    var tools = Nats.connect(servers.stream().map(NatsServer::url).collect(Collectors.joining(",")));
    try {
      var leader = new AtomicReference<String>(); // null also while there is none
      Patience.eventually("no leader is elected", () -> {
        try {
          leader.set(tools.jetStreamManagement().getStreamInfo("FB_faults_log").getClusterInfo().getLeader());
        } catch (IOException | JetStreamApiException notYet) {
          return false;
        }
        return leader.get() != null;
      });
      return servers.get(Integer.parseInt(leader.get().substring(1))); // n0, n1, n2
    } finally {
      tools.close();
    }
  }

  @Test
  void theConnectionIsCut() throws Exception {
    servers.add(NatsServer.start(Servers.folder()));
    var one = FaultyStores.open(NatsNetwork.at(servers.getFirst().url()), "faults", options -> options);
    try (var store = one.store();
        var accounts = Transfers.ACCOUNT.entities(scope.anonymous(), store, IDLE);
        var transfers = new Transfers(accounts)) {
      transfers.awaitMore(100);
      one.cut();
      transfers.awaitFailures(8);
      assertTrue(transfers.answered() >= 100);
    }
  }
}
