package io.fibry.nats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.cluster.Cluster;
import io.fibry.cluster.ClusterNetwork;
import io.fibry.cluster.TransportException;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.support.Certificates;
import io.fibry.support.FaultProxy;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.test.NatsServer;
import io.nats.client.Nats;
import io.nats.client.api.StreamConfiguration;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the errors that a node gets when it cannot join, and that they show no password. */
class JoinTest {
  private static final Duration LEASE = Duration.ofMinutes(1); // long enough for a busy machine

  private static Cluster join(ClusterNetwork network) {
    return join("bank", network);
  }

  private static Cluster join(String app, ClusterNetwork network) {
    return Cluster.join(app, network, options -> options.withNode("a").withLease(LEASE));
  }

  /** A server that sends its information and answers pings, but does nothing else. */
  private static final class FakeServer implements AutoCloseable {
    private final ServerSocket socket;

    FakeServer(String information) throws IOException {
      socket = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
      Thread.ofVirtual().start(() -> {
        while (!socket.isClosed()) try (var client = socket.accept()) {
          var out = client.getOutputStream();
          out.write(("INFO {" + information + "}\r\n").getBytes(StandardCharsets.US_ASCII));
          var in = client.getInputStream();
          for (int nextByte = in.read(); nextByte >= 0; nextByte = in.read())
            if (nextByte == 'P') out.write("PONG\r\n".getBytes(StandardCharsets.US_ASCII));
        } catch (IOException failure) {
          // the loop accepts the next client
        }
      });
    }

    NatsNetwork network() {
      return NatsNetwork.connectTo("nats://127.0.0.1:" + socket.getLocalPort());
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }

  private static String serverInformation(String version, boolean jetStream) {
    return "\"server_id\":\"x\",\"version\":\"" + version + "\",\"proto\":1,\"headers\":true,\"max_payload\":1048576,"
        + "\"jetstream\":" + jetStream;
  }

  @Test
  void serverOfTooOldVersionIsRefused() throws IOException {
    try (var oldServer = new FakeServer(serverInformation("2.9.10", true))) {
      String text = assertThrows(IllegalStateException.class, () -> join(oldServer.network())).getMessage();

      assertTrue(
          text.endsWith(" is of version 2.9.10; take 2.12.1 or newer, because older ones lack checks that Fibry needs"),
          text);
    }
  }

  @Test
  void serverWithoutJetStreamIsRefused() throws IOException {
    try (var server = new FakeServer(serverInformation("2.15.2", false))) {
      String text = assertThrows(IllegalStateException.class, () -> join(server.network())).getMessage();

      assertTrue(text.endsWith(" has no JetStream; start it with -js"), text);
    }
  }

  @Test
  void joinFailsWhenNoServerListens() {
    var failure = assertThrows(TransportException.class, () -> join(NatsNetwork.connectTo("nats://127.0.0.1:1")));

    assertEquals(Failure.DISCONNECTED, failure.failure());
    assertTrue(failure.getMessage().startsWith("no server of NATS can be used: Unable to connect to NATS servers: "),
        failure.getMessage());
    assertTrue(failure.getMessage().contains("127.0.0.1:1"), failure.getMessage());
  }

  @Test
  void wrongCredentialsAreReported() {
    Servers.assumeInstalled();
    try (var server = NatsServer.start(Servers.folder(), "authorization { user: ada, password: secret }\n")) {
      var failure = assertThrows(TransportException.class, () -> join(NatsNetwork.connectTo(server.url())));

      assertEquals(Failure.DENIED, failure.failure());
      assertTrue(failure.getMessage().startsWith("the server of NATS refuses this program: "), failure.getMessage());
      join(NatsNetwork.connectTo(server.url()).withOptions(options -> options.userInfo("ada", "secret"))).close();
    }
  }

  @Test
  void untrustedCertificateIsReported() {
    Servers.assumeInstalled();
    var folder = Servers.folder();
    var certificate = Certificates.of("server", "EC");
    Certificates.write(certificate, folder.resolve("cert.pem"), folder.resolve("key.pem"));
    // the default limit of a handshake, two seconds, is too short for a busy machine
    String tls = "tls { cert_file: '%s/cert.pem', key_file: '%s/key.pem', timeout: 600 }\n".formatted(folder, folder);
    try (var server = NatsServer.start(folder, tls)) {
      var network = NatsNetwork.connectTo(server.url());
      var otherContext = Certificates.context(certificate, Certificates.of("other", "EC"));

      for (var untrustingNetwork : List.of(network.withTls(otherContext),
          NatsNetwork.connectTo(server.url().replace("nats:", "tls:")))) {
        var failure = assertThrows(TransportException.class, () -> join(untrustingNetwork));

        assertTrue(failure.getMessage().startsWith("no server of NATS can be used: "), failure.getMessage());
        assertTrue(failure.getMessage().contains("PKIX path building failed: "), failure.getMessage());
      }
      join(network.withTls(Certificates.context(certificate, certificate))).close();
    }
  }

  @Test
  void wrongCredentialsAreReportedEvenIfAnotherServerIsDown() {
    Servers.assumeInstalled();
    try (var server = NatsServer.start(Servers.folder(), "authorization { user: ada, password: secret }\n")) {
      var failure = assertThrows(TransportException.class,
          () -> join(NatsNetwork.connectTo("nats://127.0.0.1:1," + server.url())));

      assertTrue(failure.getMessage().contains("Authorization Violation"), failure.getMessage());
    }
  }

  @Test
  void passwordInUrlIsNeverShown() throws Exception {
    Servers.assumeInstalled();
    try (var server = NatsServer.start(Servers.folder(), "authorization { user: ada, password: secret }\n");
        var proxy = FaultProxy.to(server.url());
        var log = new Logged()) {
      String url = proxy.natsUrl().replace("//", "//ada:secret@");

      assertHidesPassword(
          assertThrows(TransportException.class, () -> join(NatsNetwork.connectTo(url.replace("secret", "secret2")))));
      assertHidesPassword(assertThrows(TransportException.class,
          () -> join(NatsNetwork.connectTo("nats://ada:secret@127.0.0.1:1,nats://secret@127.0.0.1:2"))));
      try (var node = join(NatsNetwork.connectTo(url))) {
        proxy.closeConnections();
        Patience.eventually(() -> !log.lines("connected again, to nats://***@127.0.0.1:").isEmpty());
        assertTrue(node.health().isAlive());
      }

      assertFalse(log.text().contains("secret"), log.text());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"nats://ada:secret@h:4222", "ada:secret@h:4222", "nats:ada:secret@h", "nats:/ada:secret@h",
    "nats://ada:secret", "nats://ada:se/secret@h", "nats://ada:se secret@h", "nats://ada:se,secret@h",
    "nats://h1, ada:secret@h2", "ws://h/?token=secret", "nats://secret@a b:nonsense", " nats://ada:secret@h "})
  void passwordIsHiddenInAllFormsOfUrl(String servers) {
    try {
      assertFalse(NatsNetwork.connectTo(servers).toString().contains("secret"),
          NatsNetwork.connectTo(servers)::toString);
    } catch (IllegalArgumentException refusal) {
      assertHidesPassword(refusal);
      assertTrue(refusal.getMessage().startsWith("a URL of a server of NATS is malformed; "), refusal::toString);
    }
    assertHidesPassword(assertThrows(RuntimeException.class, () -> join(
        NatsNetwork.connectTo("nats://127.0.0.1:1")
            .withOptions(options -> options.servers(servers.strip().split(","))))));
  }

  @Test
  void networkAsTextShowsServersAndHidesCredentials() {
    assertEquals("NATS at nats://***@n1:4222,tls://n2:4222,[::1]:4222,n3",
        NatsNetwork.connectTo("nats://ada:secret@n1:4222, tls://n2:4222,[::1]:4222,n3").toString());
  }

  private static void assertHidesPassword(Throwable failure) {
    for (var cause = failure; cause != null; cause = cause.getCause())
      assertFalse(String.valueOf(cause.getMessage()).contains("secret"), cause::toString);
  }

  @Test
  void streamWithOtherSettingsIsRefused() throws Exception {
    String app = Servers.app();
    var network = Servers.network();
    var client = Nats.connect(Servers.shared().url());
    try {
      client.jetStreamManagement().addStream(StreamConfiguration.builder().name("KV_FB_" + app + "_own")
          .subjects("$KV.FB_" + app + "_own.>").maxMessagesPerSubject(5).build());
    } finally {
      client.close();
    }

    var failure = assertThrows(IllegalStateException.class, () -> Cluster.join(app, network, options -> options));

    assertEquals("stream KV_FB_" + app
        + "_own differs from the stream that this program would create: allow_msg_ttl is unset instead of true; "
        + "allow_rollup_hdrs is unset instead of true; deny_delete is unset instead of true; max_msgs_per_subject is 5 "
        + "instead of 1; subject_delete_marker_ttl is unset instead of 3600000000000; change the stream by "
        + "the tools of NATS, or give the options of the nodes that made it",
        failure.getMessage());
  }

  @Test
  void replicasOnSingleServerAreRefused() {
    var network = Servers.network().withReplicas(3);

    var failure = assertThrows(IllegalStateException.class,
        () -> Cluster.join(Servers.app(), network, options -> options));

    assertTrue(failure.getMessage().contains("cannot be made: replicas > 1 not supported in non-clustered mode"),
        failure.getMessage());
  }

  @Test
  void defaultLeaseIsLongerWithSeveralReplicas() {
    var network = NatsNetwork.connectTo("nats://127.0.0.1:1");

    assertEquals(Duration.ofSeconds(6), network.lease());
    assertEquals(Duration.ofSeconds(20), network.withReplicas(3).lease());
  }

  @Test
  void nodeJoinsClusterOfThreeServers() {
    Servers.assumeInstalled();
    var servers = NatsServer.cluster(Servers.folder(), 3);
    try (var cluster = joinWhenAnswered(NatsNetwork.connectTo(servers.getFirst().url()).withReplicas(3))) {
      assertEquals("a", cluster.self().name());
    } finally {
      servers.forEach(NatsServer::close);
    }
  }

  /** Joins again if the servers take longer to elect leaders than a node waits for an answer. */
  private static Cluster joinWhenAnswered(NatsNetwork network) {
    var node = new AtomicReference<Cluster>();
    Patience.eventually("no node could join", () -> {
      try {
        node.set(join(network));
        return true;
      } catch (TransportException noAnswer) {
        return false;
      }
    });
    return node.get();
  }

  @Test
  void secondNodeWithSameNameIsRefused() {
    var network = Servers.network();
    String app = Servers.app();
    try (var node = join(app, network)) {
      assertTrue(node.health().isAlive());
      String text = assertThrows(IllegalStateException.class, () -> join(app, network)).getMessage();

      assertTrue(text.startsWith("a node 'a' of app '" + app + "' is alive, since "), text);
    }
    join(app, network).close();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 2, 4, 7, -1})
  void invalidReplicaCountIsRefused(int replicas) {
    assertEquals(replicas + " replicas; take 1, 3 or 5, because a majority decides",
        assertThrows(IllegalArgumentException.class, () -> NatsNetwork.connectTo("nats://x").withReplicas(replicas))
            .getMessage());
  }

  @Test
  void invalidServerAddressIsRefused() {
    for (var address : List.of("http://x y", "nats://:99999999"))
      assertThrows(IllegalArgumentException.class, () -> NatsNetwork.connectTo(address), address);
    assertThrows(NullPointerException.class, () -> NatsNetwork.connectTo(null));
  }

  @Test
  void joinTimesOutWhenServerIsSilent() throws Exception {
    try (var silentServer = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
      var failure = assertThrows(TransportException.class,
          () -> join(NatsNetwork.connectTo("nats://127.0.0.1:" + silentServer.getLocalPort())));

      assertEquals(Failure.DISCONNECTED, failure.failure());
    }
  }
}
