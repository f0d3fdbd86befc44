package io.fibry.nats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.cluster.Cluster;
import io.fibry.cluster.TransportException;
import io.fibry.durable.Durable;
import io.fibry.mailbox.Mailbox;
import io.fibry.nats.NatsNetwork.Role;
import io.fibry.store.Store;
import io.fibry.support.Patience;
import io.fibry.test.NatsServer;
import io.nats.client.Connection;
import io.nats.client.Nats;
import io.nats.client.Options;
import io.nats.client.api.StreamConfiguration;
import io.nats.client.api.StreamInfoOptions;
import io.nats.client.impl.Headers;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** A server that lets each program of an app do what its role needs, and nothing else. */
class RolesTest {
  record Count() implements Request<Count, Integer> {}

  record Job(int number) {}

  private static final Duration LONG = Duration.ofMinutes(1); // a busy machine is not taken for dead
  private static final String PURGE = "$JS.API.STREAM.PURGE.FB_bank_log";
  private static final String LOG = "FB_bank_log";
  private static final Durable<Count> COUNTER = Durable.kind("counter", Count.class).snapshotEvery(2).storeMessages(9)
      .state(0).handler((number, count, context) -> {
        context.reply(count, number + 1);
        return number + 1;
      });

  private final ActorScope scope = ActorSystem.openScope("roles-test");
  private Path folder;
  private NatsServer server;
  private Optional<Store> keeper = Optional.empty();

  @BeforeEach
  void begin() {
    Servers.assumeThere();
    folder = Servers.folder();
    String users = Stream.of(Role.values()).map(role -> "{ user: " + role + ", password: x, permissions: {\n"
        + NatsNetwork.permissions("bank", role) + "} }").collect(Collectors.joining("\n"));
    server = NatsServer.start(folder, "authorization { users: [ { user: admin, password: x }\n" + users + " ] }\n");
  }

  @AfterEach
  void end() {
    scope.close();
    keeper.ifPresent(Store::close);
    if (server != null) server.close();
  }

  private NatsNetwork network(Role user, Role role) {
    return NatsNetwork.connectTo(server.url()).withOptions(options -> options.userInfo(user.name(), "x"))
        .withRole(role);
  }

  private Cluster join(String node, Role role) {
    return Cluster.join("bank", network(role, role),
        options -> options.withNode(node).withPartitions(4).withLease(LONG));
  }

  private Store open(Role role) {
    return NatsStore.open(network(role, role), "bank");
  }

  /** A program that is not of this library, with the password of a role, or of the operator. */
  private Connection raw(String user) {
    try {
      return Nats.connect(new Options.Builder().server(server.url()).userInfo(user, "x")
          .inboxPrefix(user.equals(Role.ASKER.name()) ? "fb.bank.a.raw." : "fb.bank.r.raw.").build());
    } catch (IOException | InterruptedException failed) {
      throw new AssertionError(failed);
    }
  }

  private void makeStreams() {
    try (var keeper = join("keeper", Role.KEEPER)) {
      keeper.store();
      keeper.queue("jobs", Job.class);
      keeper.entities(COUNTER);
    }
  }

  private String violations() {
    try {
      return Files.readAllLines(folder.resolve("server.log")).stream().filter(line -> line.contains("iolation"))
          .collect(Collectors.joining("\n"));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static Store.ActorId actor(String key) {
    return new Store.ActorId("counter", key);
  }

  private static void turn(Store store, String key, List<Store.PendingMessage> sends) {
    long life = store.load(actor(key)).life();
    store.append(StreamFixture.sending(actor(key), life, 1, List.of(), sends.toArray(Store.PendingMessage[]::new)))
        .toCompletableFuture().join();
  }

  /** How many messages the stream of turns has, by their subjects. */
  private Map<String, Long> stored() {
    var admin = raw("admin");
    try {
      return admin.jetStreamManagement().getStreamInfo(LOG, StreamInfoOptions.allSubjects())
          .getStreamState().getSubjectMap();
    } catch (Exception failure) {
      throw new AssertionError(failure);
    } finally {
      NatsNetwork.close(admin);
    }
  }

  private long turns(String key) {
    return stored().getOrDefault(new StoreSubjects("bank").turns(actor(key)), 0L);
  }

  private boolean someWait() {
    return stored().keySet().stream().anyMatch(one -> one.startsWith("fb.bank.m."));
  }

  // ---- nodes

  @Test
  void nodesNeedNoMoreThanTheirPermissions() throws Exception {
    makeStreams();
    var news = new LinkedBlockingQueue<Count>();
    var done = new LinkedBlockingQueue<Job>();
    keeper = Optional.of(open(Role.KEEPER));
    try (var a = join("a", Role.NODE); var b = join("b", Role.NODE)) {
      a.expose("till", Count.class, scope.anonymous().newActor((count, context) -> context.reply(count, 7)));
      a.host(COUNTER, scope.anonymous(), LONG);
      a.topic("news", Count.class).subscribe(Mailbox.unbounded(), news::add);
      assertEquals(7, b.actor("till", Count.class).ask(new Count()));
      for (int i = 1; i <= 100; i++) assertEquals(i, b.entities(COUNTER).actor("x").ask(new Count()));
      for (int i = 0; i < 5; i++) assertTrue(b.entities(COUNTER).actor("x").sendMessage(new Count()));
      assertEquals(106, b.entities(COUNTER).actor("x").ask(new Count()));
      b.topic("news", Count.class).publish(new Count());
      assertEquals(new Count(), Patience.next(news));
      a.queue("jobs", Job.class).consume(options -> options.withMaxAttempts(1), job -> {
        if (job.number() == 0) throw new IllegalStateException("made up");
        done.add(job);
      });
      for (int i = 0; i < 2; i++) a.queue("jobs", Job.class).put(new Job(i));
      Patience.eventually(() -> done.size() == 1 && a.queue("jobs", Job.class).size() == 0);
      assertTrue(a.queue("jobs", Job.class).discard(a.queue("jobs", Job.class).parked(2).getFirst()));
      Patience.eventually(() -> turns("x") < 100 && !someWait()); // the keeper has deleted the dead ones
    }

    assertEquals("", violations());
  }

  @Test
  void nodeRunsWithoutKeeperAndKeeperDeletesLater() throws Exception {
    makeStreams();
    try (var node = join("a", Role.NODE)) {
      node.host(COUNTER, scope.anonymous(), LONG);
      var x = node.entities(COUNTER).actor("x");
      for (int i = 1; i <= 100; i++) assertEquals(i, x.ask(new Count()));
      for (int i = 0; i < 50; i++) assertTrue(x.sendMessage(new Count()));
      assertEquals(151, x.ask(new Count()));
      assertTrue(turns("x") >= 100);
      assertTrue(someWait());

      keeper = Optional.of(open(Role.KEEPER));
      for (int i = 0; i < 100; i++) x.ask(new Count());
      Patience.eventually(() -> turns("x") < 200 && !someWait());
      assertEquals(252, x.ask(new Count()));
    }

    assertEquals("", violations());
  }

  @Test
  void nodeCannotErase() throws Exception {
    makeStreams();
    try (var node = open(Role.NODE)) {
      turn(node, "x", List.of());
    }
    var before = stored();
    var raw = raw(Role.NODE.name());
    try {
      var tools = raw.jetStreamManagement();
      assertThrows(Exception.class, () -> tools.deleteMessage(LOG, 1));
      assertThrows(Exception.class, () -> tools.deleteStream(LOG));
      assertThrows(Exception.class,
          () -> tools.updateStream(raw("admin").jetStreamManagement().getStreamInfo(LOG).getConfiguration()));
      assertThrows(Exception.class, () -> tools.purgeStream(LOG));
      for (var rollup : Stream.of("all", "sub").toList()) for (var subject : before.keySet()) {
        var refused = assertThrows(Exception.class, () -> raw.jetStream().publish(subject,
            new Headers().put("Nats-Rollup", rollup), new byte[0]));
        assertTrue(refused.getMessage().contains("rollup"), refused::getMessage);
      }
    } finally {
      NatsNetwork.close(raw);
    }

    assertEquals(before, stored());
  }

  @Test
  void keeperDeletesOnlyDeadTurnsForNodes() throws Exception {
    makeStreams();
    try (var keeper = open(Role.KEEPER)) {
      turn(keeper, "x", List.of(StreamFixture.message(actor("z"), "m")));
      var before = stored();
      var raw = raw(Role.NODE.name());
      try {
        for (var filter : before.keySet()) refused(raw, filter, 1_000_000);
        for (var filter : Stream.of("", "fb.bank.j.>", "fb.bank.j.counter.*", ">", "$KV.FB_bank_own.>",
            "fb.shop.j.counter.x", "fb.bank.j.counter").toList())
          refused(raw, filter, 2);
        raw.publish("fb.bank.k", PURGE, "{}".getBytes(StandardCharsets.UTF_8)); // the keeper may purge there
        raw.publish("fb.bank.k", "fb.bank.j.counter.x", "{}".getBytes(StandardCharsets.UTF_8));
        refused(raw, "fb.bank.j.counter.y", 0); // so those before are heard
      } finally {
        NatsNetwork.close(raw);
      }

      assertEquals(before, stored());
    }
  }

  private static void refused(Connection node, String filter, long seq) throws Exception {
    String call = "{\"filter\":\"" + filter + "\",\"seq\":" + seq + "}";
    var answer = node.request("fb.bank.k", call.getBytes(StandardCharsets.UTF_8), Patience.LONG);
    String text = new String(answer.getData(), StandardCharsets.UTF_8);
    assertTrue(text.contains("\"code\":403") && text.contains("not known to be dead"), filter + ": " + text);
  }

  @Test
  void onlyKeepersCreateMissingStreams() {
    assertEquals("stream KV_FB_bank_own is missing, and a program with the role NODE does not make it; start one with "
        + "the role KEEPER, which does when it first uses the stream",
        assertThrows(IllegalStateException.class, () -> join("a", Role.NODE)).getMessage());
    assertEquals("no node of app 'bank' reads the table for node 'q' of app 'bank' with the role ASKER; start one with "
        + "the role NODE or KEEPER", assertThrows(TransportException.class, () -> join("q", Role.ASKER)).getMessage());
  }

  @Test
  void programWithExcessiveRoleIsRefusedAtOnce() {
    makeStreams();
    assertEquals("KEEPER subscribe to fb.bank.k; that needs a user with "
        + "NatsNetwork.permissions(\"bank\", Role.KEEPER)",
        afterRole(assertThrows(TransportException.class,
            () -> NatsStore.open(network(Role.NODE, Role.KEEPER), "bank"))));
  }

  private static String afterRole(Throwable refused) {
    return refused.getMessage().replaceAll(".* with the role ", "");
  }

  @Test
  void streamThatAllowsRollupsIsForKeepersOnly() throws Exception {
    makeStreams();
    allowRollups(true);
    open(Role.KEEPER).close();
    String refused = assertThrows(IllegalStateException.class, () -> open(Role.NODE)).getMessage();
    assertTrue(refused.contains("allow_rollup_hdrs is true instead of unset"), refused);

    allowRollups(false); // as an operator does
    open(Role.NODE).close();
  }

  private void allowRollups(boolean allowed) throws Exception {
    var admin = raw("admin");
    try {
      var tools = admin.jetStreamManagement();
      tools.updateStream(StreamConfiguration.builder(tools.getStreamInfo(LOG).getConfiguration())
          .allowRollup(allowed).build());
    } finally {
      NatsNetwork.close(admin);
    }
  }

  // ---- askers

  @Test
  void askerNeedsNoMoreThanItsPermissions() {
    makeStreams();
    var node = join("a", Role.NODE);
    try (var asker = join("q", Role.ASKER)) {
      node.expose("till", Count.class, scope.anonymous().newActor((count, context) -> context.reply(count, 7)));
      node.host(COUNTER, scope.anonymous(), LONG);
      assertEquals(7, asker.actor("till", Count.class).ask(new Count()));
      for (int i = 1; i <= 5; i++) assertEquals(i, asker.entities(COUNTER).actor("x").ask(new Count()));
      assertTrue(asker.entities(COUNTER).actor("x").sendMessage(new Count()));
      assertEquals(7, asker.entities(COUNTER).actor("x").ask(new Count()));
      Patience.eventually(() -> asker.members().stream().map(Cluster.Member::name).toList().equals(
          List.of("a")));
      assertEquals(1, node.members().size()); // an asker is no member
      assertTrue(asker.health().isAlive());
      try (var other = join("b", Role.NODE)) { // reads the table for the asker from now on
        node.close();
        Patience.eventually(() -> asker.members().equals(List.of(other.self())));
      }
    } finally {
      node.close();
    }

    assertEquals("", violations());
  }

  @Test
  void askerIsDeniedAllOtherOperations() {
    makeStreams();
    String needs = "; that needs the role NODE, by NatsNetwork.withRole, and a user with "
        + "NatsNetwork.permissions(\"bank\", Role.NODE)";
    String who = "node 'q' of app 'bank' with the role ASKER cannot ";
    try (var node = join("a", Role.NODE); var asker = join("q", Role.ASKER)) {
      assertEquals("a", node.self().name()); // which reads the table for the asker
      denied(who + "use the store" + needs, asker::store);
      denied(who + "use queue fb.bank.w.jobs" + needs, () -> asker.queue("jobs", Job.class));
      denied(who + "host entities" + needs, () -> asker.host("counter", Count.class, scope.anonymous(), LONG,
          (how, key) -> how.newActor((count, context) -> {})));
      denied(who + "subscribe to fb.bank.n.till" + needs, () -> asker.expose("till", Count.class,
          scope.anonymous().newActor((count, context) -> {})));
      denied(who + "subscribe to fb.bank.t.news" + needs,
          () -> asker.topic("news", Count.class).subscribe(Mailbox.unbounded(), one -> {}));
      denied(
          "the table of app 'bank' has no entry 'fb.bank.kind.other', and node 'q' of app 'bank' with the role ASKER "
              + "cannot make it; start a node with the role NODE first, which does",
          () -> asker.entities("other", Count.class));
    }
    denied(who.replace("'q'", "'store'") + "open a store" + needs, () -> open(Role.ASKER));
  }

  private static void denied(String text, Executable code) {
    var refused = assertThrows(TransportException.class, code);
    assertEquals(text, refused.getMessage());
    assertEquals(TransportException.Failure.DENIED, refused.failure());
  }

  @Test
  void askerCannotReachStoresByOtherMeans() throws Exception {
    makeStreams();
    try (var keeper = join("a", Role.KEEPER)) {
      keeper.expose("till", Count.class, scope.anonymous().newActor((count, context) -> context.reply(count, 7)));
      turn(keeper.store(), "x", List.of());
      var before = stored();
      var raw = raw(Role.ASKER.name());
      try {
        var tools = raw.jetStreamManagement();
        assertThrows(Exception.class, () -> tools.purgeStream(LOG));
        assertThrows(Exception.class, () -> tools.getStreamInfo(LOG));
        assertThrows(Exception.class, () -> tools.getMessage(LOG, 1));
        for (var subject : Stream
            .of("fb.bank.j.counter.x", "fb.bank.k", "$KV.FB_bank_own.fb.bank.node.a", "fb.bank.x.a",
                "fb.bank.w.jobs", "fb.bank.t.news", "fb.bank.r.a.1", "fb.bank.i.a.1")
            .toList())
          raw.publish(subject, new byte[0]);
        raw.publish("fb.bank.n.till", PURGE, new byte[0]); // its node may purge, but must not answer there
        raw.publish("fb.bank.n.till", "fb.bank.j.counter.x", new byte[0]);
        // the server itself would answer into the stream
        raw.publish("$JS.API.STREAM.INFO.KV_FB_bank_own", "fb.bank.j.counter.x", new byte[0]);
        raw.flush(Patience.LONG);
      } finally {
        NatsNetwork.close(raw);
      }
      try (var asker = join("q", Role.ASKER)) {
        assertEquals(7, asker.actor("till", Count.class).ask(new Count())); // so those before are handled
        var refused = assertThrows(RequestException.class, () -> join("r", Role.NODE).actor("gone", Count.class)
            .ask(new Count()));
        assertTrue(refused.getMessage().contains("no node offers it"), refused::getMessage);
      }

      assertEquals(before, stored());
      Patience.eventually(() -> violations().lines().count() >= 11);
    }
  }
}
