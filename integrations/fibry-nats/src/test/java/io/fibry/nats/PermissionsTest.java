package io.fibry.nats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.cluster.Cluster;
import io.fibry.cluster.TransportException;
import io.fibry.cluster.UnavailableException;
import io.fibry.durable.Durable;
import io.fibry.mailbox.Mailbox;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.test.NatsServer;
import io.nats.client.Nats;
import io.nats.client.Options;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests that the permissions of an app suffice for its nodes, and permit nothing else. */
class PermissionsTest {
  record Count() implements Request<Count, Integer> {}

  record Job(boolean mustFail) {}

  private static final Durable<Count> COUNTER = Durable.kind("counter", Count.class).snapshotEvery(2).storeMessages(9)
      .state(0).handler((number, count, context) -> {
        context.reply(count, number + 1);
        return number + 1;
      });

  private final ActorScope scope = ActorSystem.openScope("permissions-test");
  private Path folder;
  private NatsServer server;

  @BeforeEach
  void begin() {
    Servers.assumeInstalled();
    folder = Servers.folder();
    server = NatsServer.start(folder, authorization("x"));
  }

  private static String authorization(String password) {
    return "authorization { users: [ { user: bank, password: " + password + ", permissions: {\n"
        + NatsNetwork.permissions("bank") + "} } ] }\n";
  }

  @AfterEach
  void end() {
    scope.close();
    if (server != null) server.close();
  }

  private NatsNetwork network() {
    return Servers.network(server).withOptions(options -> options.userInfo("bank", "x"));
  }

  private Cluster join(String node) {
    return join(node, Duration.ofMinutes(1)); // long enough for a busy machine
  }

  private Cluster join(String node, Duration lease) {
    return Cluster.join("bank", network(), options -> options.withNode(node).withPartitions(4).withLease(lease));
  }

  @Test
  void permissionsSufficeForAllNodeOperations() throws Exception {
    var news = new LinkedBlockingQueue<Count>();
    try (var a = join("a"); var b = join("b")) {
      a.expose("till", Count.class, scope.anonymous().newActor((count, context) -> context.reply(count, 7)));
      a.host(COUNTER, scope.anonymous(), Duration.ofMinutes(1));
      a.topic("news", Count.class).subscribe(Mailbox.unbounded(), news::add);
      assertEquals(7, b.actor("till", Count.class).ask(new Count()));
      for (int i = 1; i <= 5; i++) assertEquals(i, b.entities(COUNTER).actor("x").ask(new Count()));
      assertTrue(b.entities(COUNTER).actor("x").sendMessage(new Count()));
      assertEquals(7, b.entities(COUNTER).actor("x").ask(new Count())); // 7, because the message was handled
      b.topic("news", Count.class).publish(new Count());
      assertEquals(new Count(), Patience.nextOf(news));
    }
    doWork();
    try (var store = StoreBackend.of(NatsStore.open(network(), "bank")); var history = store.history("counter", "")) {
      assertEquals(7, history.take().size());
    }

    assertEquals("", violations());
  }

  /** Puts two jobs. One is done; the other fails, is retried, and is discarded. */
  private void doWork() {
    var doneJobs = new LinkedBlockingQueue<Job>();
    try (var a = join("a")) {
      var jobs = a.queue("jobs", Job.class);
      jobs.consume(options -> options.withMaxAttempts(1), job -> {
        if (job.mustFail()) throw new IllegalStateException("made up");
        doneJobs.add(job);
      });
      jobs.put(new Job(true));
      jobs.put(new Job(false));
      Patience.eventually(() -> doneJobs.size() == 1 && jobs.size() == 0);
      var parkedJobs = jobs.parked(2);
      assertEquals(1, parkedJobs.size());
      assertTrue(jobs.retry(parkedJobs.getFirst()));
      Patience.eventually(() -> jobs.parked(2).size() == 1);
      assertTrue(jobs.discard(jobs.parked(2).getFirst()));
    }
  }

  private String violations() throws Exception {
    return String.join("\n",
        Files.readAllLines(folder.resolve("server.log")).stream().filter(line -> line.contains("iolation")).toList());
  }

  @Test
  void userOfAppCannotJoinOtherApp() {
    assertThrows(TransportException.class, () -> Cluster.join("shop", network(), options -> options.withNode("a")));
  }

  @Test
  void userOfAppCannotDeleteStreams() throws Exception {
    join("a").close();
    var client = Nats.connect(new Options.Builder().server(server.url()).userInfo("bank", "x")
        .inboxPrefix("fb.bank.r.x.").build());
    try {
      assertThrows(Exception.class, () -> client.jetStreamManagement().deleteStream("KV_FB_bank_own"));
      assertTrue(client.jetStreamManagement().getStreamInfo("KV_FB_bank_own").getStreamState().getMsgCount() > 0);
    } finally {
      client.close();
    }
  }

  @Soak(counterpart = "ServerFaultsTest.nodesContinueAfterServerRestart")
  @Test
  void nodeRecoversWhenItsPermissionIsRestored() throws Exception {
    var file = folder.resolve("server.conf");
    String originalText = Files.readString(file);
    var lease = Duration.ofSeconds(6);
    try (var a = join("a", lease); var b = join("b", lease)) {
      a.expose("till", Count.class, scope.anonymous().newActor((count, context) -> context.reply(count, 7)));
      var till = b.actor("till", Count.class);
      assertEquals(7, till.ask(new Count()));

      server.kill();
      Files.writeString(file, originalText.replace(authorization("x"), authorization("other")));
      server.restart();
      Patience.eventually(() -> !a.health().isAlive());
      assertThrows(UnavailableException.class, () -> till.ask(new Count()));
      assertTrue(b.health().connectionProblem().isPresent());

      server.kill();
      Files.writeString(file, originalText);
      server.restart();
      Patience.eventually(() -> a.health().isAlive() && b.health().isAlive());
      Patience.eventually(() -> isAnswered(till));
    }
  }

  private static boolean isAnswered(Actor<Count> till) {
    try {
      return till.ask(new Count()) == 7;
    } catch (RequestException failure) {
      return false;
    }
  }

  @Test
  void permissionsForAppNameWithQuotesAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> NatsNetwork.permissions("bank\"]}"));
  }
}
