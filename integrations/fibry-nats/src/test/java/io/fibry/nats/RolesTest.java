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
import io.fibry.nats.connection.NatsConnection;
import io.fibry.nats.connection.StoreSubjects;
import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend;
import io.fibry.store.spi.ViewOffset;
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
import java.time.Instant;
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

/** Tests that the permissions of a role suffice for its operations, and permit no others. */
class RolesTest {
  record Count() implements Request<Count, Integer> {}

  record Job(int number) {}

  private static final Duration MINUTE = Duration.ofMinutes(1); // long enough for a busy machine
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
  private Optional<StoreBackend> keeperStore = Optional.empty();

  @BeforeEach
  void begin() {
    Servers.assumeInstalled();
    folder = Servers.folder();
    String users = Stream.of(Role.values()).map(role -> "{ user: " + role + ", password: x, permissions: {\n"
        + NatsNetwork.permissions("bank", role) + "} }").collect(Collectors.joining("\n"));
    server = NatsServer.start(folder, "authorization { users: [ { user: admin, password: x }\n" + users + " ] }\n");
  }

  @AfterEach
  void end() {
    scope.close();
    keeperStore.ifPresent(Store::close);
    if (server != null) server.close();
  }

  private NatsNetwork network(Role user, Role role) {
    return Servers.network(server).withOptions(options -> options.userInfo(user.name(), "x")).withRole(role);
  }

  private Cluster join(String node, Role role) {
    return Cluster.join("bank", network(role, role),
        options -> options.withNode(node).withPartitions(4).withLease(MINUTE));
  }

  private StoreBackend open(Role role) {
    return StoreBackend.of(NatsStore.open(network(role, role), "bank"));
  }

  /** Connects a client without this library, as the user of a role or as the operator. */
  private Connection connect(String user) {
    try {
      return Nats.connect(new Options.Builder().server(server.url()).userInfo(user, "x")
          .inboxPrefix(user.equals(Role.ASKER.name()) ? "fb.bank.a.raw." : "fb.bank.r.raw.").build());
    } catch (IOException | InterruptedException failure) {
      throw new AssertionError(failure);
    }
  }

  private void createStreams() {
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

  private static void appendTurn(StoreBackend store, String key, List<StoreBackend.PendingMessage> messages) {
    long life = store.load(actor(key)).life();
    store
        .append(StreamFixture.turnWithMessages(actor(key), life, 1, List.of(),
            messages.toArray(StoreBackend.PendingMessage[]::new)))
        .toCompletableFuture().join();
  }

  /** Returns the number of messages in the stream of turns, by subject. */
  private Map<String, Long> messageCounts() {
    var admin = connect("admin");
    try {
      return admin.jetStreamManagement().getStreamInfo(LOG, StreamInfoOptions.allSubjects())
          .getStreamState().getSubjectMap();
    } catch (Exception failure) {
      throw new AssertionError(failure);
    } finally {
      NatsConnection.close(admin);
    }
  }

  private long countTurns(String key) {
    return messageCounts().getOrDefault(new StoreSubjects("bank").turns(actor(key)), 0L);
  }

  private boolean hasPendingMessages() {
    return messageCounts().keySet().stream().anyMatch(subject -> subject.startsWith("fb.bank.m."));
  }

  // ---- nodes

  @Test
  void permissionsOfNodeRoleSufficeForNodes() throws Exception {
    createStreams();
    var news = new LinkedBlockingQueue<Count>();
    var doneJobs = new LinkedBlockingQueue<Job>();
    keeperStore = Optional.of(open(Role.KEEPER));
    try (var a = join("a", Role.NODE); var b = join("b", Role.NODE)) {
      a.expose("till", Count.class, scope.anonymous().newActor((count, context) -> context.reply(count, 7)));
      a.host(COUNTER, scope.anonymous(), MINUTE);
      a.topic("news", Count.class).subscribe(Mailbox.unbounded(), news::add);
      assertEquals(7, b.actor("till", Count.class).ask(new Count()));
      for (int i = 1; i <= 100; i++) assertEquals(i, b.entities(COUNTER).actor("x").ask(new Count()));
      for (int i = 0; i < 5; i++) assertTrue(b.entities(COUNTER).actor("x").sendMessage(new Count()));
      assertEquals(106, b.entities(COUNTER).actor("x").ask(new Count()));
      b.topic("news", Count.class).publish(new Count());
      assertEquals(new Count(), Patience.nextOf(news));
      a.queue("jobs", Job.class).consume(options -> options.withMaxAttempts(1), job -> {
        if (job.number() == 0) throw new IllegalStateException("made up");
        doneJobs.add(job);
      });
      for (int i = 0; i < 2; i++) a.queue("jobs", Job.class).put(new Job(i));
      Patience.eventually(() -> doneJobs.size() == 1 && a.queue("jobs", Job.class).size() == 0);
      assertTrue(a.queue("jobs", Job.class).discard(a.queue("jobs", Job.class).parked(2).getFirst()));
      Patience.eventually(() -> countTurns("x") < 100 && !hasPendingMessages()); // the keeper has deleted messages
    }

    assertEquals("", violations());
  }

  @Test
  void keeperDeletesTurnsThatNodeStoredWithoutKeeper() throws Exception {
    createStreams();
    try (var node = join("a", Role.NODE)) {
      node.host(COUNTER, scope.anonymous(), MINUTE);
      var x = node.entities(COUNTER).actor("x");
      for (int i = 1; i <= 100; i++) assertEquals(i, x.ask(new Count()));
      for (int i = 0; i < 50; i++) assertTrue(x.sendMessage(new Count()));
      assertEquals(151, x.ask(new Count()));
      assertTrue(countTurns("x") >= 100);
      assertTrue(hasPendingMessages());

      keeperStore = Optional.of(open(Role.KEEPER));
      for (int i = 0; i < 100; i++) x.ask(new Count());
      Patience.eventually(() -> countTurns("x") < 200 && !hasPendingMessages());
      assertEquals(252, x.ask(new Count()));
    }

    assertEquals("", violations());
  }

  @Test
  void nodeCannotDeleteStoredMessages() throws Exception {
    createStreams();
    try (var node = open(Role.NODE)) {
      appendTurn(node, "x", List.of());
    }
    var countsBefore = messageCounts();
    var client = connect(Role.NODE.name());
    try {
      var management = client.jetStreamManagement();
      assertThrows(Exception.class, () -> management.deleteMessage(LOG, 1));
      assertThrows(Exception.class, () -> management.deleteStream(LOG));
      assertThrows(Exception.class,
          () -> management.updateStream(connect("admin").jetStreamManagement().getStreamInfo(LOG).getConfiguration()));
      assertThrows(Exception.class, () -> management.purgeStream(LOG));
      for (var rollup : Stream.of("all", "sub").toList()) for (var subject : countsBefore.keySet()) {
        var refusal = assertThrows(Exception.class, () -> client.jetStream().publish(subject,
            new Headers().put("Nats-Rollup", rollup), new byte[0]));
        assertTrue(refusal.getMessage().contains("rollup"), refusal::getMessage);
      }
    } finally {
      NatsConnection.close(client);
    }

    assertEquals(countsBefore, messageCounts());
  }

  @Test
  void keeperRefusesNodesRequestToDeleteNeededTurns() throws Exception {
    createStreams();
    try (var keeper = open(Role.KEEPER)) {
      appendTurn(keeper, "x", List.of(StreamFixture.message(actor("z"), "m")));
      var countsBefore = messageCounts();
      var client = connect(Role.NODE.name());
      try {
        for (var filter : countsBefore.keySet()) assertRefused(client, filter, 1_000_000);
        for (var filter : Stream.of("", "fb.bank.j.>", "fb.bank.j.counter.*", ">", "$KV.FB_bank_own.>",
            "fb.shop.j.counter.x", "fb.bank.j.counter").toList())
          assertRefused(client, filter, 2);
        client.publish("fb.bank.k", PURGE, "{}".getBytes(StandardCharsets.UTF_8)); // a reply would purge the stream
        client.publish("fb.bank.k", "fb.bank.j.counter.x", "{}".getBytes(StandardCharsets.UTF_8));
        assertRefused(client, "fb.bank.j.counter.y", 0); // the keeper has thus handled both messages above
      } finally {
        NatsConnection.close(client);
      }

      assertEquals(countsBefore, messageCounts());
    }
  }

  /**
   * A node of an older version may ask the keeper to delete such events, and so may an attacker.
   */
  @Test
  void keeperKeepsEventsThatNamedViewHasNotRead() throws Exception {
    createStreams();
    var view = new ViewOffset("counter", "index", "").actor();
    var turnsOfX = new StoreSubjects("bank").turns(actor("x"));
    try (var keeper = open(Role.KEEPER); var node = open(Role.NODE)) {
      assertTrue(keeper.toString().contains(LOG)); // the open keeper deletes for the node
      long viewLife = node.load(view).life();
      appendFullState(node, view, viewLife, 1, new byte[0]);
      long life = node.load(actor("x")).life();
      node.append(StreamFixture.turnWithMessages(actor("x"), life, 1, List.of())).toCompletableFuture().join();
      appendFullState(node, actor("x"), life, 2, new byte[1]);
      long countBefore = countTurns("x");
      var admin = connect("admin");
      var client = connect(Role.NODE.name());
      try {
        assertRefused(client, turnsOfX, admin.jetStreamManagement().getLastMessage(LOG, turnsOfX).getSeq());
      } finally {
        NatsConnection.close(client);
        NatsConnection.close(admin);
      }
      assertEquals(countBefore, countTurns("x"));

      appendFullState(node, view, viewLife, 2, ViewOffset.forgottenBody());
      Patience.eventually(() -> countTurns("x") == 1);
    }
  }

  private static void appendFullState(StoreBackend store, Store.ActorId actor, long life, long number, byte[] body) {
    store.end(new StoreBackend.Turn(actor, life, number, Instant.now(), true, body, List.of(), List.of()))
        .toCompletableFuture().join();
  }

  private static void assertRefused(Connection client, String filter, long seq) throws Exception {
    String request = "{\"filter\":\"" + filter + "\",\"seq\":" + seq + "}";
    var answer = client.request("fb.bank.k", request.getBytes(StandardCharsets.UTF_8), Patience.LONG);
    var text = filter + ": " + new String(answer.getData(), StandardCharsets.UTF_8);
    assertTrue(text.contains("\"code\":403") && text.contains("not known to be dead"), text);
  }

  @Test
  void onlyKeepersCreateMissingStreams() {
    assertEquals("stream KV_FB_bank_own is missing, and a program with the role NODE does not create it; start a "
        + "program with the role KEEPER, which creates the stream when it first uses it",
        assertThrows(IllegalStateException.class, () -> join("a", Role.NODE)).getMessage());
    var refusal = assertThrows(TransportException.class, () -> join("q", Role.ASKER));
    assertEquals("no node of app 'bank' reads the table for node 'q' of app 'bank' with the role ASKER; start a "
        + "program with the role NODE or KEEPER", refusal.getMessage());
  }

  @Test
  void programWhoseUserLacksPermissionsOfRoleIsRefused() {
    createStreams();
    assertEquals("KEEPER subscribe to fb.bank.k; that needs a user with "
        + "NatsNetwork.permissions(\"bank\", Role.KEEPER)",
        textAfterRole(assertThrows(TransportException.class,
            () -> NatsStore.open(network(Role.NODE, Role.KEEPER), "bank"))));
  }

  private static String textAfterRole(Throwable refusal) {
    return refusal.getMessage().replaceAll(".* with the role ", "");
  }

  @Test
  void onlyKeepersOpenStreamThatAllowsRollups() throws Exception {
    createStreams();
    setRollups(true);
    open(Role.KEEPER).close();
    String refusal = assertThrows(IllegalStateException.class, () -> open(Role.NODE)).getMessage();
    assertTrue(refusal.contains("allow_rollup_hdrs is true instead of unset"), refusal);

    setRollups(false); // as an operator does
    open(Role.NODE).close();
  }

  private void setRollups(boolean areAllowed) throws Exception {
    var admin = connect("admin");
    try {
      var management = admin.jetStreamManagement();
      management.updateStream(StreamConfiguration.builder(management.getStreamInfo(LOG).getConfiguration())
          .allowRollup(areAllowed).build());
    } finally {
      NatsConnection.close(admin);
    }
  }

  // ---- askers

  @Test
  void permissionsOfAskerRoleSufficeForAsker() {
    createStreams();
    var node = join("a", Role.NODE);
    try (var asker = join("q", Role.ASKER)) {
      node.expose("till", Count.class, scope.anonymous().newActor((count, context) -> context.reply(count, 7)));
      node.host(COUNTER, scope.anonymous(), MINUTE);
      assertEquals(7, asker.actor("till", Count.class).ask(new Count()));
      for (int i = 1; i <= 5; i++) assertEquals(i, asker.entities(COUNTER).actor("x").ask(new Count()));
      assertTrue(asker.entities(COUNTER).actor("x").sendMessage(new Count()));
      assertEquals(7, asker.entities(COUNTER).actor("x").ask(new Count()));
      Patience.eventually(() -> asker.members().stream().map(Cluster.Member::name).toList().equals(
          List.of("a")));
      assertEquals(1, node.members().size()); // an asker is not a member
      assertTrue(asker.health().isAlive());
      try (var secondNode = join("b", Role.NODE)) { // reads the table for the asker after the close of the first node
        node.close();
        Patience.eventually(() -> asker.members().equals(List.of(secondNode.self())));
      }
    } finally {
      node.close();
    }

    assertEquals("", violations());
  }

  @Test
  void askerRoleIsDeniedAllOperationsExceptAsks() {
    createStreams();
    String remedy = "; choose the role NODE by NatsNetwork.withRole, and connect as a NATS user that has "
        + "NatsNetwork.permissions(\"bank\", Role.NODE)";
    String askerCannot = "node 'q' of app 'bank' with the role ASKER cannot ";
    try (var node = join("a", Role.NODE); var asker = join("q", Role.ASKER)) {
      assertEquals("a", node.self().name()); // this node reads the table for the asker
      assertDenied(askerCannot + "use the store" + remedy, asker::store);
      assertDenied(askerCannot + "use queue fb.bank.w.jobs" + remedy, () -> asker.queue("jobs", Job.class));
      assertDenied(askerCannot + "host entities" + remedy, () -> asker.host("counter", Count.class, scope.anonymous(),
          MINUTE, (builder, key) -> builder.newActor((count, context) -> {})));
      assertDenied(askerCannot + "subscribe to fb.bank.n.till" + remedy, () -> asker.expose("till", Count.class,
          scope.anonymous().newActor((count, context) -> {})));
      assertDenied(askerCannot + "subscribe to fb.bank.t.news" + remedy,
          () -> asker.topic("news", Count.class).subscribe(Mailbox.unbounded(), message -> {}));
      assertDenied(
          "the table of app 'bank' has no entry 'fb.bank.kind.other', and node 'q' of app 'bank' with the role ASKER "
              + "cannot create it; start a node with the role NODE first, which creates the entry",
          () -> asker.entities("other", Count.class));
    }
    assertDenied(askerCannot.replace("'q'", "'store'") + "open a store" + remedy, () -> open(Role.ASKER));
  }

  private static void assertDenied(String text, Executable code) {
    var refusal = assertThrows(TransportException.class, code);
    assertEquals(text, refusal.getMessage());
    assertEquals(TransportException.Failure.DENIED, refusal.failure());
  }

  @Test
  void clientWithAskerPermissionsCannotReachStores() throws Exception {
    createStreams();
    try (var keeper = join("a", Role.KEEPER)) {
      keeper.expose("till", Count.class, scope.anonymous().newActor((count, context) -> context.reply(count, 7)));
      appendTurn(StoreBackend.of(keeper.store()), "x", List.of());
      var countsBefore = messageCounts();
      var client = connect(Role.ASKER.name());
      try {
        var management = client.jetStreamManagement();
        assertThrows(Exception.class, () -> management.purgeStream(LOG));
        assertThrows(Exception.class, () -> management.getStreamInfo(LOG));
        assertThrows(Exception.class, () -> management.getMessage(LOG, 1));
        for (var subject : Stream
            .of("fb.bank.j.counter.x", "fb.bank.k", "$KV.FB_bank_own.fb.bank.node.a", "fb.bank.x.a",
                "fb.bank.w.jobs", "fb.bank.t.news", "fb.bank.r.a.1", "fb.bank.i.a.1")
            .toList())
          client.publish(subject, new byte[0]);
        client.publish("fb.bank.n.till", PURGE, new byte[0]); // the keeper may purge, but must not reply there
        client.publish("fb.bank.n.till", "fb.bank.j.counter.x", new byte[0]);
        // a reply of the server would be stored in the stream
        client.publish("$JS.API.STREAM.INFO.KV_FB_bank_own", "fb.bank.j.counter.x", new byte[0]);
        client.flush(Patience.LONG);
      } finally {
        NatsConnection.close(client);
      }
      try (var asker = join("q", Role.ASKER)) {
        assertEquals(7, asker.actor("till", Count.class).ask(new Count())); // the messages above are thus handled
        var refusal = assertThrows(RequestException.class, () -> join("r", Role.NODE).actor("gone", Count.class)
            .ask(new Count()));
        assertTrue(refusal.getMessage().contains("no node offers it"), refusal::getMessage);
      }

      assertEquals(countsBefore, messageCounts());
      Patience.eventually(() -> violations().lines().count() >= 11);
    }
  }
}
