package io.fibry.nats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.RequestOutcome;
import io.fibry.cluster.Cluster;
import io.fibry.cluster.TransportException;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.cluster.UnavailableException;
import io.fibry.cluster.WorkQueue;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.nats.connection.AppSubjects;
import io.fibry.support.FaultProxy;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.test.NatsServer;
import io.nats.client.Nats;
import io.nats.client.api.StreamConfiguration;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests connections and nodes whose server fails, or refuses an operation. */
@ExtendWith(ServerEvidence.class)
class ServerFaultsTest {
  record Count() implements Request<Count, Integer> {}

  private static final Duration LEASE = Duration.ofMinutes(1); // long enough for a busy machine

  private final ActorScope scope = ActorSystem.openScope("faults");
  private NatsServer server;

  @BeforeEach
  void start() {
    server = Servers.start();
  }

  @AfterEach
  void end() {
    if (server != null) server.close();
    scope.close();
  }

  private ClusterTransport openTransport() {
    return Servers.network(server).connect("faults", "engine");
  }

  private Cluster join(String node) {
    return Cluster.join("faults", Servers.network(server),
        options -> options.withNode(node).withLease(LEASE).withScope(scope));
  }

  private Actor<Count> counter() {
    return scope.anonymous().initialState(() -> new int[1])
        .newActor((int[] counts, Count count, ActorContext<Count> context) -> context.reply(count, ++counts[0]));
  }

  private static WireMessage wire(String text) {
    return WireMessage.oneWay("x", Map.of(), text.getBytes());
  }

  private static boolean isPublished(ClusterTransport transport, String text) {
    try {
      transport.publish(wire(text));
      return true;
    } catch (TransportException failure) {
      assertEquals(Failure.DISCONNECTED, failure.failure());
      return false;
    }
  }

  @Test
  void transportReconnectsToRestartedServer() {
    var received = new LinkedBlockingQueue<String>();
    var versions = new LinkedBlockingQueue<Long>();
    try (var transport = openTransport()) {
      transport.subscribe("x", Optional.empty(), message -> received.add(new String(message.body())));
      transport.watch("k.", entry -> versions.add(entry.version()));
      long version = transport.create("k.1", new byte[1], Duration.ofMinutes(5)).orElseThrow();
      assertEquals(version, Patience.nextOf(versions));

      server.kill();
      Patience.eventually(() -> !isPublished(transport, "lost"));
      assertTrue(transport.connectionProblem().orElseThrow().startsWith("the connection to NATS is "));
      assertThrows(TransportException.class, () -> transport.get("k.1"));
      assertThrows(TransportException.class, () -> transport.create("k.2", new byte[1], Duration.ofMinutes(5)));
      server.restart();

      Patience.eventually(() -> isPublished(transport, "found"));
      assertEquals(Optional.empty(), transport.connectionProblem());
      String text = Patience.nextOf(received);
      // a message "lost" was sent before the client noticed the end of the server
      while (text.equals("lost")) text = Patience.nextOf(received);
      assertEquals("found", text);
      assertEquals(version, transport.get("k.1").orElseThrow().version());
      long nextVersion = transport.update("k.1", new byte[2], version, Duration.ofMinutes(5)).orElseThrow();
      assertEquals(nextVersion, Patience.nextOf(versions));
    }
  }

  /**
   * While the table has no stream, no server receives writes to it. This also happens while servers
   * elect a leader.
   */
  @Test
  void writeToTableWaitsUntilDeletedStreamExistsAgain() throws Exception {
    var client = Nats.connect(server.url());
    try (var transport = openTransport()) {
      client.jetStreamManagement().deleteStream(new AppSubjects("faults").tableStream());
      var version = new CompletableFuture<OptionalLong>();
      var writer = Patience.startFiber(() -> transport.create("k.1", new byte[1], Duration.ofMinutes(5)), version);
      Patience.awaitParked(writer);

      openTransport().close(); // makes the stream again

      assertTrue(Patience.value(version).isPresent());
    } finally {
      client.close();
    }
  }

  /** The server continues to run, but does not know the subscriptions of the former connection. */
  @Test
  void subscriptionIsRenewedWhenConnectionEnds() throws IOException {
    var received = new LinkedBlockingQueue<String>();
    try (var proxy = FaultProxy.to(server.url());
        var otherTransport = openTransport();
        var transport = NatsNetwork.connectTo(proxy.natsUrl()).connect("faults", "proxied")) {
      transport.subscribe("x", Optional.empty(), message -> received.add(new String(message.body())));
      for (int i = 0; i < 3; i++) {
        String text = "again " + i;
        proxy.closeConnections();
        Patience.eventually(() -> isPublished(otherTransport, text) && received.contains(text));
        Patience.eventually(() -> isPublished(transport, "back"));
      }
    }
  }

  @Test
  void nodesContinueAfterServerRestart() {
    try (var a = join("a"); var b = join("b")) {
      a.expose("counter", Count.class, counter());
      var remoteCounter = b.actor("counter", Count.class);
      assertEquals(1, remoteCounter.ask(new Count()));

      server.kill();
      Patience.eventually(() -> {
        try {
          return remoteCounter.ask(new Count(), Duration.ofMillis(200)) < 0;
        } catch (UnavailableException failure) {
          return failure.outcome() == RequestOutcome.NOT_DONE;
        } catch (RuntimeException failure) {
          return false;
        }
      });
      server.restart();

      Patience.eventually(() -> {
        try {
          return remoteCounter.ask(new Count(), Duration.ofSeconds(1)) > 1;
        } catch (RuntimeException failure) {
          return false;
        }
      });
      Patience.eventually(() -> a.members().size() == 2 && b.members().size() == 2);
    }
  }

  @Test
  @EnabledOnOs(value = OS.LINUX, disabledReason = "only Linux shows the states of threads in files")
  void pauseOfServerStopsAllItsThreads() throws IOException {
    pauseAndResume(1);
  }

  /**
   * On a busy machine, a server runs for a moment after the signal to pause. It may handle a
   * request in that moment.
   */
  @Soak(counterpart = "ServerFaultsTest.pauseOfServerStopsAllItsThreads")
  @EnabledOnOs(value = OS.LINUX, disabledReason = "only Linux shows the states of threads in files")
  @Test
  void pauseOfServerStopsAllItsThreadsOnBusyMachine() throws IOException {
    var stop = new AtomicBoolean();
    for (int i = 0; i < 12; i++) Thread.ofPlatform().daemon().start(() -> {
      while (!stop.get()) Thread.onSpinWait();
    });
    try {
      pauseAndResume(50);
    } finally {
      stop.set(true);
    }
  }

  private void pauseAndResume(int times) throws IOException {
    server.close();
    var otherPids = pidsOfServers();
    server = Servers.start();
    var newPids = new TreeSet<>(pidsOfServers());
    newPids.removeAll(otherPids);
    assertEquals(1, newPids.size());
    var folder = Path.of("/proc/" + newPids.first() + "/task");
    for (int i = 0; i < times; i++) {
      server.pause();
      assertEquals(Set.of('T'), statesOfThreads(folder));
      server.resume();
    }
  }

  /** Returns the ids of all servers of this JVM, including the shared server. */
  private static Set<Long> pidsOfServers() {
    return ProcessHandle.current().children()
        .filter(child -> child.info().command().orElse("").endsWith("nats-server")).map(ProcessHandle::pid)
        .collect(Collectors.toSet());
  }

  private static Set<Character> statesOfThreads(Path folder) throws IOException {
    var states = new TreeSet<Character>();
    try (var threads = Files.newDirectoryStream(folder)) {
      for (var thread : threads) {
        var text = Files.readString(thread.resolve("stat"));
        states.add(text.charAt(text.lastIndexOf(')') + 2));
      }
    }
    return states;
  }

  @Test
  void queueConsumerContinuesAfterServerRestart() {
    var doneJobs = ConcurrentHashMap.<Integer>newKeySet();
    try (var a = join("a")) {
      var jobs = a.queue("jobs", Integer.class);
      jobs.consume(2, doneJobs::add);
      jobs.put(1);
      Patience.eventually(() -> doneJobs.contains(1));

      server.kill();
      server.restart();

      Patience.eventually(() -> isPut(jobs, 2));
      Patience.eventually(() -> doneJobs.contains(2) && size(jobs) == 0);
    }
  }

  /** Returns true if the queue has confirmed the job. */
  private static boolean isPut(WorkQueue<Integer> jobs, int job) {
    try {
      jobs.put(job);
      return true;
    } catch (TransportException failure) {
      return false;
    }
  }

  private static long size(WorkQueue<Integer> jobs) {
    try {
      return jobs.size();
    } catch (TransportException failure) {
      return -1;
    }
  }

  @Test
  void pausedServerOnlyDelaysRequests() {
    try (var a = join("a"); var b = join("b")) {
      a.expose("counter", Count.class, counter());
      var remoteCounter = b.actor("counter", Count.class);
      assertEquals(1, remoteCounter.ask(new Count()));

      server.pause();
      var answer = remoteCounter.sendMessageReturn(new Count());
      assertThrows(RuntimeException.class, () -> remoteCounter.ask(new Count(), Duration.ofMillis(300)));
      server.resume();

      assertEquals(2, Patience.value(answer));
    }
  }

  @Test
  void nodeReportsSubjectsThatItsUserMayNotUse() {
    server.close();
    server = NatsServer.start(Servers.folder(), """
        authorization { users: [
          { user: all, password: x }
          { user: few, password: x, permissions: {
            publish: { deny: ["fb.faults.n.secret"] }, subscribe: { deny: ["fb.faults.n.hidden"] } } } ] }
        """);
    var network = Servers.network(server);
    try (
        var privilegedNode = Cluster.join("faults", network.withOptions(options -> options.userInfo("all", "x")),
            options -> options.withNode("all").withLease(LEASE));
        var limitedNode = Cluster.join("faults", network.withOptions(options -> options.userInfo("few", "x")),
            options -> options.withNode("few").withLease(LEASE))) {
      privilegedNode.expose("secret", Count.class, counter());
      privilegedNode.expose("open", Count.class, counter());

      assertEquals(1, limitedNode.actor("open", Count.class).ask(new Count()));
      var sendFailure =
          assertThrows(UnavailableException.class, () -> limitedNode.actor("secret", Count.class).ask(new Count()));
      var subscribeFailure =
          assertThrows(TransportException.class, () -> limitedNode.expose("hidden", Count.class, counter()));

      assertEquals("Count[] did not reach actor 'secret': the server of NATS does not let node 'few' of app "
          + "'faults' with the role KEEPER send to fb.faults.n.secret; that needs a user with "
          + "NatsNetwork.permissions(\"faults\", Role.KEEPER)", sendFailure.getMessage());
      assertEquals("the server of NATS does not let node 'few' of app 'faults' with the role KEEPER subscribe to "
          + "fb.faults.n.hidden; that needs a user with NatsNetwork.permissions(\"faults\", Role.KEEPER)",
          subscribeFailure.getMessage());
      limitedNode.expose("shown", Count.class, counter());
    }
  }

  @Test
  void tooLongHeadersAreRefused() {
    try (var transport = openTransport()) {
      var failure = assertThrows(IllegalArgumentException.class,
          () -> transport.publish(WireMessage.oneWay("x", Map.of("Fb-Why", "w".repeat(9_000)), new byte[0])));

      assertTrue(failure.getMessage().endsWith(" bytes; at most 8192 can be sent"), failure.getMessage());
    }
  }

  @Test
  void messageOfMaxSizeArrives() {
    var lengths = new LinkedBlockingQueue<Integer>();
    try (var transport = openTransport()) {
      transport.subscribe("x", Optional.empty(), message -> lengths.add(message.body().length));

      transport
          .publish(WireMessage.oneWay("x", Map.of("Fb-Why", "w".repeat(8_000)), new byte[transport.maxBodyBytes()]));

      assertEquals(transport.maxBodyBytes(), Patience.nextOf(lengths));
    }
  }

  @Test
  void tooLargeWriteOfEntryIsDenied() throws Exception {
    try (var transport = openTransport()) {
      long version = transport.create("k.1", new byte[1], Duration.ofMinutes(5)).orElseThrow();
      var client = Nats.connect(server.url());
      var management = client.jetStreamManagement();
      var configuration = management.getStreamInfo(new AppSubjects("faults").tableStream()).getConfiguration();
      management.updateStream(StreamConfiguration.builder(configuration).maximumMessageSize(100).build());
      client.close();

      var failure = assertThrows(TransportException.class,
          () -> transport.update("k.1", new byte[1_000], version, Duration.ofMinutes(5)));

      assertEquals(Failure.DENIED, failure.failure(), failure::getMessage);
      assertTrue(failure.getMessage().startsWith("'k.1' could not be changed: message size exceeds maximum"),
          failure::getMessage);
      assertEquals(version, transport.get("k.1").orElseThrow().version());
    }
  }

  @Test
  void closedTransportRefusesSubscription() {
    var transport = openTransport();
    transport.close();

    var failure =
        assertThrows(TransportException.class, () -> transport.subscribe("x", Optional.empty(), message -> {}));

    assertEquals("there is no subscription to x, because the connection to NATS is closed",
        failure.getMessage());
  }

  @Test
  void tableEntriesSurviveServerCrash() {
    try (var transport = openTransport()) {
      long version = transport.create("k.1", new byte[1], Duration.ofMinutes(5)).orElseThrow();
      server.kill();
      server.restart();

      try (var otherTransport = openTransport()) {
        assertEquals(version, otherTransport.get("k.1").orElseThrow().version());
        assertTrue(otherTransport.create("k.2", new byte[1], Duration.ofMinutes(5)).orElseThrow() > version);
        assertEquals(List.of(true, false), List.of(otherTransport.delete("k.1", version),
            otherTransport.delete("k.1", version)));
      }
    }
  }
}
