package io.fibry.nats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Outcome;
import io.fibry.Request;
import io.fibry.cluster.Cluster;
import io.fibry.cluster.TransportException;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.cluster.UnreachableException;
import io.fibry.cluster.WorkQueue;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.test.NatsServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
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

/** The faults of connections and nodes when their server fails, or refuses them. */
@ExtendWith(ServerEvidence.class)
class FaultsTest {
  record Count() implements Request<Count, Integer> {}

  private static final Duration LEASE = Duration.ofMinutes(1); // a busy machine is not taken for dead

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

  private ClusterTransport engine() {
    return NatsNetwork.connectTo(server.url()).connect("faults", "engine");
  }

  private Cluster join(String node) {
    return Cluster.join("faults", NatsNetwork.connectTo(server.url()),
        options -> options.withNode(node).withLease(LEASE).withScope(scope));
  }

  private Actor<Count> counter() {
    return scope.anonymous().initialState(() -> new int[1])
        .newActor((int[] counts, Count count, ActorContext<Count> context) -> context.reply(count, ++counts[0]));
  }

  private static WireMessage wire(String text) {
    return WireMessage.to("x", Map.of(), text.getBytes());
  }

  private static boolean publishes(ClusterTransport engine, String text) {
    try {
      engine.publish(wire(text));
      return true;
    } catch (TransportException cut) {
      assertEquals(Failure.DISCONNECTED, cut.failure());
      return false;
    }
  }

  @Test
  void restartedServerIsUsedAgain() throws InterruptedException {
    var got = new LinkedBlockingQueue<String>();
    var seen = new LinkedBlockingQueue<Long>();
    try (var engine = engine()) {
      engine.subscribe("x", Optional.empty(), one -> got.add(new String(one.body())));
      engine.watch("k.", entry -> seen.add(entry.version()));
      long version = engine.create("k.1", new byte[1], Duration.ofMinutes(5)).orElseThrow();
      assertEquals(version, seen.take());

      server.kill();
      Patience.eventually(() -> !publishes(engine, "lost"));
      assertTrue(engine.connectionProblem().orElseThrow().startsWith("the connection to NATS is "));
      assertThrows(TransportException.class, () -> engine.get("k.1"));
      assertThrows(TransportException.class, () -> engine.create("k.2", new byte[1], Duration.ofMinutes(5)));
      server.restart();

      Patience.eventually(() -> publishes(engine, "found"));
      assertEquals(Optional.empty(), engine.connectionProblem());
      String one = got.take();
      while (one.equals("lost")) one = got.take(); // it left before the end was known
      assertEquals("found", one);
      assertEquals(version, engine.get("k.1").orElseThrow().version());
      long next = engine.update("k.1", new byte[2], version, Duration.ofMinutes(5)).orElseThrow();
      assertEquals(next, Patience.next(seen));
    }
  }

  /** The server has not ended, and knows nothing of the subscription of the connection before. */
  @Test
  void clientWhoseConnectionEndsConnectsAgain() throws IOException {
    var got = new LinkedBlockingQueue<String>();
    try (var cable = Cable.to(server.url());
        var other = engine();
        var engine = NatsNetwork.connectTo(cable.url()).connect("faults", "cabled")) {
      engine.subscribe("x", Optional.empty(), one -> got.add(new String(one.body())));
      for (int i = 0; i < 3; i++) {
        String text = "again " + i;
        cable.mend(); // ends its connections
        Patience.eventually(() -> publishes(other, text) && got.contains(text));
        Patience.eventually(() -> publishes(engine, "back"));
      }
    }
  }

  @Test
  void nodesGoOnWhenTheirServerComesBack() {
    try (var a = join("a"); var b = join("b")) {
      a.expose("counter", Count.class, counter());
      var far = b.actor("counter", Count.class);
      assertEquals(1, far.ask(new Count()));

      server.kill();
      Patience.eventually(() -> {
        try {
          return far.ask(new Count(), Duration.ofMillis(200)) < 0;
        } catch (UnreachableException cut) {
          return cut.outcome() == Outcome.NOT_DONE;
        } catch (RuntimeException unknown) {
          return false;
        }
      });
      server.restart();

      Patience.eventually(() -> {
        try {
          return far.ask(new Count(), Duration.ofSeconds(1)) > 1;
        } catch (RuntimeException notYet) {
          return false;
        }
      });
      Patience.eventually(() -> a.members().size() == 2 && b.members().size() == 2);
    }
  }

  @Test
  @EnabledOnOs(value = OS.LINUX, disabledReason = "other kernels do not tell the states of threads in files")
  void aPausedServerStandsStill() throws IOException {
    pauseAndGoOn(1);
  }

  /**
   * After the signal alone, the server gets some turns on a processor, and answers the next calls.
   */
  @Soak(counterpart = "FaultsTest.aPausedServerStandsStill")
  @EnabledOnOs(value = OS.LINUX, disabledReason = "other kernels do not tell the states of threads in files")
  @Test
  void aPausedServerStandsStillThoughTheMachineIsBusy() throws IOException {
    var done = new AtomicBoolean();
    for (int i = 0; i < 12; i++) Thread.ofPlatform().daemon().start(() -> {
      while (!done.get()) Thread.onSpinWait();
    });
    try {
      pauseAndGoOn(50);
    } finally {
      done.set(true);
    }
  }

  private void pauseAndGoOn(int times) throws IOException {
    server.close();
    var others = pidsOfServers();
    server = Servers.start();
    var own = new TreeSet<>(pidsOfServers());
    own.removeAll(others);
    assertEquals(1, own.size());
    var folder = Path.of("/proc/" + own.first() + "/task");
    for (int i = 0; i < times; i++) {
      server.pause();
      assertEquals(Set.of('T'), statesOfThreads(folder));
      server.resume();
    }
  }

  /** Returns the processes of this JVM; a few tests share one. */
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
  void workGoesOnWhenItsServerComesBack() {
    var done = ConcurrentHashMap.<Integer>newKeySet();
    try (var a = join("a")) {
      var jobs = a.queue("jobs", Integer.class);
      jobs.consume(2, done::add);
      jobs.put(1);
      Patience.eventually(() -> done.contains(1));

      server.kill();
      server.restart();

      Patience.eventually(() -> isPut(jobs, 2));
      Patience.eventually(() -> done.contains(2) && size(jobs) == 0);
    }
  }

  /** Whether it is known. */
  private static boolean isPut(WorkQueue<Integer> jobs, int job) {
    try {
      jobs.put(job);
      return true;
    } catch (TransportException again) {
      return false;
    }
  }

  private static long size(WorkQueue<Integer> jobs) {
    try {
      return jobs.size();
    } catch (TransportException again) {
      return -1;
    }
  }

  @Test
  void pausedServerOnlyDelaysRequests() {
    try (var a = join("a"); var b = join("b")) {
      a.expose("counter", Count.class, counter());
      var far = b.actor("counter", Count.class);
      assertEquals(1, far.ask(new Count()));

      server.pause();
      var answer = far.sendMessageReturn(new Count());
      assertThrows(RuntimeException.class, () -> far.ask(new Count(), Duration.ofMillis(300)));
      server.resume();

      assertEquals(2, Patience.value(answer));
    }
  }

  @Test
  void forbiddenSubjectIsReported() {
    server.close();
    server = NatsServer.start(Servers.folder(), """
        authorization { users: [
          { user: all, password: x }
          { user: few, password: x, permissions: {
            publish: { deny: ["fb.faults.n.secret"] }, subscribe: { deny: ["fb.faults.n.hidden"] } } } ] }
        """);
    var network = NatsNetwork.connectTo(server.url());
    try (
        var all = Cluster.join("faults", network.withOptions(options -> options.userInfo("all", "x")),
            options -> options.withNode("all").withLease(LEASE));
        var few = Cluster.join("faults", network.withOptions(options -> options.userInfo("few", "x")),
            options -> options.withNode("few").withLease(LEASE))) {
      all.expose("secret", Count.class, counter());
      all.expose("open", Count.class, counter());

      assertEquals(1, few.actor("open", Count.class).ask(new Count()));
      var failure =
          assertThrows(UnreachableException.class, () -> few.actor("secret", Count.class).ask(new Count()));
      var refused =
          assertThrows(TransportException.class, () -> few.expose("hidden", Count.class, counter()));

      assertEquals("Count[] did not reach actor 'secret': the server of NATS does not let node 'few' of app "
          + "'faults' with the role KEEPER send to fb.faults.n.secret; that needs a user with "
          + "NatsNetwork.permissions(\"faults\", Role.KEEPER)", failure.getMessage());
      assertEquals("the server of NATS does not let node 'few' of app 'faults' with the role KEEPER subscribe to "
          + "fb.faults.n.hidden; that needs a user with NatsNetwork.permissions(\"faults\", Role.KEEPER)",
          refused.getMessage());
      few.expose("shown", Count.class, counter());
    }
  }

  @Test
  void headersThatAreTooLongAreRefused() {
    try (var engine = engine()) {
      var failure = assertThrows(IllegalArgumentException.class,
          () -> engine.publish(WireMessage.to("x", Map.of("Fb-Why", "w".repeat(9_000)), new byte[0])));

      assertTrue(failure.getMessage().endsWith(" bytes; at most 8192 can be sent"), failure.getMessage());
    }
  }

  @Test
  void theLargestMessageArrives() {
    var got = new LinkedBlockingQueue<Integer>();
    try (var engine = engine()) {
      engine.subscribe("x", Optional.empty(), one -> got.add(one.body().length));

      engine.publish(WireMessage.to("x", Map.of("Fb-Why", "w".repeat(8_000)), new byte[engine.maxBodyBytes()]));

      assertEquals(engine.maxBodyBytes(), Patience.next(got));
    }
  }

  @Test
  void entriesSurviveACrashOfTheServer() {
    try (var engine = engine()) {
      long version = engine.create("k.1", new byte[1], Duration.ofMinutes(5)).orElseThrow();
      server.kill();
      server.restart();

      try (var other = engine()) {
        assertEquals(version, other.get("k.1").orElseThrow().version());
        assertTrue(other.create("k.2", new byte[1], Duration.ofMinutes(5)).orElseThrow() > version);
        assertEquals(List.of(true, false), List.of(other.delete("k.1", version), other.delete("k.1", version)));
      }
    }
  }
}
