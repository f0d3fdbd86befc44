package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Outcome;
import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.pool.Entities;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Entities of several nodes: where they live, and how they move. */
abstract class EntityPlacementContract {
  sealed interface Account {}
  record Pay(int cents) implements Account {}
  record Give(int cents) implements Account, Request<Give, Long> {}
  record Where() implements Account, Request<Where, String> {}

  private static final Duration CALM = Duration.ofMillis(300);
  private static final int PARTS = 32;
  private static final Duration LONG = Duration.ofMinutes(5);
  private static final long PAUSE = Soak.ON ? 0 : 5_000_000; // ns between two requests of an asker

  private final String app;
  private final TestNetwork network;
  private final ActorScope scope = ActorSystem.openScope("homes-test");
  private final Map<String, LongAdder> cents = new ConcurrentHashMap<>(); // as a store would have them
  private final Map<String, AtomicInteger> alive = new ConcurrentHashMap<>();
  private final AtomicBoolean twoAtOnce = new AtomicBoolean();

  EntityPlacementContract(String app, TestNetwork network) {
    this.app = app;
    this.network = network;
  }

  @AfterEach
  void close() {
    scope.close();
  }

  private Cluster join(String node) {
    return join(node, InstantSource.system());
  }

  private Cluster join(String node, InstantSource wall) {
    return Cluster.join(app, network,
        options -> options.withNode(node).withPartitions(PARTS).withSettleTime(CALM).withScope(scope)
            .withWallClock(wall));
  }

  private Entities<String, Account> home(Cluster node) {
    return node.host("account", Account.class, scope.anonymous(), LONG,
        (builder, key) -> birth(builder, key, node.self().name()));
  }

  private Actor<Account> birth(ActorBuilder<Object> builder, String key, String node) {
    var living = alive.computeIfAbsent(key, none -> new AtomicInteger());
    if (living.incrementAndGet() > 1) twoAtOnce.set(true);
    return builder.initialState(() -> key).onStop(state -> living.decrementAndGet())
        .newActor(
            (String state, Account message, ActorContext<Account> context) -> handle(state, message, context, node));
  }

  private void handle(String key, Account message, ActorContext<Account> context, String node) {
    var mine = cents.computeIfAbsent(key, none -> new LongAdder());
    switch (message) {
      case Pay pay -> mine.add(pay.cents());
      case Give give -> {
        mine.add(give.cents());
        context.reply(give, mine.sum());
      }
      case Where where -> context.reply(where, node);
    }
  }

  private static Entities<String, Account> addresses(Cluster node) {
    return node.entities("account", Account.class);
  }

  private static void awaitHosts(Cluster node, int hosts) {
    Patience.eventually(
        () -> node.members().stream().filter(one -> one.hosts().contains("account")).count() == hosts);
  }

  /** Costs less than to look where all keys are. */
  private static void awaitParts(Cluster node) {
    Patience.eventually(() -> node.health().partitions().getOrDefault("account", 0) > PARTS / 4);
  }

  private long sum() {
    return cents.values().stream().mapToLong(LongAdder::sum).sum();
  }

  @Test
  void singleNodeHostsAllKeys() {
    try (var a = join("a")) {
      var accounts = home(a);

      assertTrue(accounts.actor("ada").sendMessage(new Pay(5)));
      assertEquals(7, accounts.actor("ada").ask(new Give(2)));
      assertEquals(1, accounts.actor("grace").ask(new Give(1)));
      assertEquals(1, accounts.actor(" ada ").ask(new Give(1)));
      assertEquals(1, accounts.actor("Grüße\n%41").ask(new Give(1)));

      assertEquals(4, accounts.size());
      assertEquals("account/ada", accounts.actor("ada").name());
      assertEquals(accounts.actor("ada"), accounts.actor("ada"));
    }
  }

  @Test
  void keysAreSharedAndFound() {
    try (var a = join("a"); var b = join("b"); var c = join("c")) {
      home(a);
      home(b);
      awaitHosts(c, 2);
      awaitParts(b);
      var accounts = addresses(c);

      for (int i = 0; i < 100; i++) assertEquals(1, accounts.actor("k" + i).ask(new Give(1)));
      Patience.eventually(() -> nodes(accounts) == 2);

      assertFalse(twoAtOnce.get());
      assertEquals(100, sum());
    }
  }

  private static long nodes(Entities<String, Account> accounts) {
    return IntStream.range(0, 100).mapToObj(i -> accounts.actor("k" + i).ask(new Where())).distinct().count();
  }

  @Test
  void movesNeitherLoseNorRepeatRequests() throws Exception {
    try (var a = join("a"); var asking = join("asking")) {
      home(a);
      awaitHosts(asking, 1);
      var accounts = addresses(asking);
      var end = new AtomicBoolean();
      try (var askers = Executors.newVirtualThreadPerTaskExecutor()) {
        var all = IntStream.range(0, 8).mapToObj(i -> askers.submit(paying(accounts, i, end))).toList();
        for (int i = 0; i < (Soak.ON ? 3 : 2); i++) {
          try (var b = join("b")) {
            home(b);
            awaitParts(b);
            Patience.eventually(() -> nodes(accounts) == 2);
          }
          Patience.eventually(() -> nodes(accounts) == 1);
        }
        end.set(true);
        long paid = 0;
        for (var one : all) paid += Patience.value(one);

        assertEquals(paid, sum());
        assertFalse(twoAtOnce.get());
      }
    }
  }

  @Test
  void requestsSurviveSimultaneousJoinAndLeave() throws Exception {
    try (var asking = join("asking"); var askers = Executors.newVirtualThreadPerTaskExecutor()) {
      var last = join("n0");
      home(last);
      awaitHosts(asking, 1);
      var accounts = addresses(asking);
      var end = new AtomicBoolean();
      var all = IntStream.range(0, 8).mapToObj(i -> askers.submit(paying(accounts, i, end))).toList();
      for (int i = 1; i <= (Soak.ON ? 4 : 3); i++) {
        var next = join("n" + i);
        var joining = askers.submit(() -> home(next));
        last.close();
        Patience.value(joining);
        last = next;
      }
      end.set(true);
      long paid = 0;
      for (var one : all) paid += Patience.value(one);
      last.close();

      assertEquals(paid, sum());
      assertFalse(twoAtOnce.get());
    }
  }

  private static Callable<Long> paying(Entities<String, Account> accounts, int asker, AtomicBoolean end) {
    return () -> {
      long paid = 0;
      for (int i = 0; !end.get(); i++, paid++) {
        accounts.actor(asker + "-" + i % 50).ask(new Give(1));
        LockSupport.parkNanos(PAUSE);
      }
      return paid;
    };
  }

  @Test
  void senderOrderHoldsWhileActorMoves() {
    try (var a = join("a"); var asking = join("asking")) {
      home(a);
      awaitHosts(asking, 1);
      var accounts = addresses(asking);
      for (int i = 0; i < (Soak.ON ? 5 : 2); i++) try (var b = join("b")) {
        home(b);
        var there = new Cluster.Member("b", "", Set.of("account"), Set.of(), Instant.EPOCH);
        var here = new Cluster.Member("a", "", Set.of("account"), Set.of(), Instant.EPOCH);
        var ada = accounts.actor(IntStream.range(0, 1_000).mapToObj(n -> "ada" + n)
            .filter(key -> PartitionAssignment
                .preferredNode("account", PartitionAssignment.partitionOf(key, PARTS), List.of(here, there))
                .orElseThrow().equals("b"))
            .findFirst().orElseThrow());

        while (!ada.ask(new Where()).equals("b")) {
          ada.sendMessage(new Pay(1));
          long before = ada.ask(new Give(0));
          ada.sendMessage(new Pay(1));
          assertEquals(before + 1, ada.ask(new Give(0)));
          LockSupport.parkNanos(PAUSE);
        }
      }
    }
  }

  @Test
  void keysOfCrashedNodeMoveToAnotherNode() {
    var b = join("b");
    try (var a = join("a"); var asking = join("asking")) {
      home(a);
      home(b);
      awaitHosts(asking, 2);
      awaitParts(b);
      var accounts = addresses(asking);
      Patience.eventually(() -> nodes(accounts) == 2);

      network.end(b);

      for (int i = 0; i < 100; i++) answered(accounts.actor("k" + i));
      assertEquals(1, nodes(accounts));
    }
  }

  private static void answered(Actor<Account> actor) {
    while (true) try {
      assertEquals("a", actor.ask(new Where(), Duration.ofSeconds(1)));
      return;
    } catch (RequestException wasOnItsWay) {
      // once more
    }
  }

  @Test
  void failingEntityFactoryAffectsNoOtherEntity() {
    try (var a = join("a")) {
      var accounts = a.host("account", Account.class, scope.anonymous(), LONG, (builder, key) -> {
        if (key.startsWith("bad")) throw new IllegalStateException("made up");
        return birth(builder, key, "a");
      });
      for (int i = 0; i < 100; i++) {
        var bad = accounts.actor("bad" + i);
        bad.sendMessage(new Pay(1));
        assertEquals("made up",
            assertThrows(RemoteFailureException.class, () -> bad.ask(new Give(1))).getMessage());
        assertEquals(1, accounts.actor("good" + i).ask(new Give(1)));
      }
    }
  }

  // ---- bad input

  @Test
  void foreignWireMessagesAreIgnored() throws Exception {
    try (var a = join("a"); var foreign = network.connect(app, "foreign")) {
      var accounts = home(a);
      int part = PartitionAssignment.partitionOf("ada", PARTS);
      byte[] give = Protocol.of(Account.class).encode(new Give(5));
      String subject = "fb." + app + ".e.account.";

      for (int i = 0; i < PARTS; i++)
        if (i != part) foreign.publish(WireMessage.to(subject + i, Map.of("Fb-K", "ada"), give));
      foreign.publish(WireMessage.to(subject + part, Map.of(), give));
      foreign.publish(WireMessage.to(subject + part, Map.of("Fb-K", "ada", "Fb-Keep", "x"), new byte[] {1, 2, 3}));
      foreign.publish(WireMessage.to(subject + part, Map.of("Fb-K", "ada", "Fb-Look", "x"), new byte[0]));
      for (var wrong : List.of("", "account", "account.", "account.x", "account.99999", "account.4000", "other.1"))
        foreign.publish(WireMessage.to("fb." + app + ".x.a", Map.of("Fb-Part", wrong, "Fb-K", "ada"), give));

      assertEquals(1, accounts.actor("ada").ask(new Give(1)));
      assertEquals(1, accounts.size());
    }
  }

  @Test
  void healthReportsPartitionsAndConnectionOfNode() {
    var wrong = new AtomicReference<>(Duration.ZERO); // the wall clock of b
    var b = join("b", () -> Instant.now().plus(wrong.get()));
    try (var a = join("a")) {
      home(a);
      home(b);
      awaitHosts(a, 2);
      Patience.eventually(() -> a.health().partitions().get("account") + b.health().partitions().get("account") == PARTS
          && b.health().partitions().get("account") > 0);
      var now = a.health();
      assertEquals(new Cluster.Health(true, Optional.empty(), now.partitions(), 0), now);
      addresses(b).actor("ada").ask(new Give(1));
      Patience.eventually(() -> b.health().pendingRequests() == 0); // its asker may hear of it first
      assertTrue(b.dump().matches("(?s)node 'b' of app '\\S+', alive, connected\nmembers:\n"
          + "  a, since \\S+, home to account\n  b, since \\S+, home to account\nhome to:\n"
          + "  account: \\d+ of " + PARTS + " parts, [01] actors\nrequests of others: 0 not answered\n"), b::dump);

      network.end(b);
      assertTrue(b.health().connectionProblem().isPresent());
      wrong.set(TestNetwork.LEASE);
      assertFalse(b.health().isAlive());
      assertTrue(b.dump().startsWith("node 'b' of app '" + app + "', which others may declare dead, the connection "),
          b::dump);
    }
  }

  @Test
  void requestWithoutHostingNodeIsUnreachable() {
    try (var a = join("a")) {
      var ada = addresses(a).actor("ada");

      var failure = assertThrows(UnreachableException.class, () -> ada.ask(new Give(1)));

      assertEquals(Outcome.NOT_DONE, failure.outcome());
      assertEquals("Give[cents=1] did not reach actor 'account/ada': no node is home to 'account'",
          failure.getMessage());
    }
  }

  @Test
  void nodeHostsKindOnlyOnce() {
    try (var a = join("a")) {
      var first = home(a);

      var failure = assertThrows(IllegalStateException.class, () -> home(a));

      assertEquals("node 'a' is home to 'account' already; close those entities", failure.getMessage());
      first.close();
      assertEquals(1, home(a).actor("ada").ask(new Give(1)));
    }
  }

  @Test
  void allNodesHaveTheSameNumberOfParts() {
    try (var a = join("a"); var other = Cluster.join(app, network, options -> options.withNode("b"))) {
      home(a);

      var failure = assertThrows(IllegalStateException.class, () -> addresses(other));

      assertEquals("the keys of 'account' are split into 32 parts, and node 'b' wants 256; join withPartitions(32)",
          failure.getMessage());
    }
  }

  @Test
  void aKeyHasALimit() {
    try (var a = join("a")) {
      var accounts = addresses(a);

      assertEquals("a key of 'account' has 0 bytes; take 1 to 512",
          assertThrows(IllegalArgumentException.class, () -> accounts.actor("")).getMessage());
      assertEquals("a key of 'account' has 514 bytes; take 1 to 512",
          assertThrows(IllegalArgumentException.class, () -> accounts.actor("ä".repeat(257))).getMessage());
      accounts.actor("ä".repeat(256));
      assertThrows(IllegalArgumentException.class, () -> a.entities("Account", Account.class));
    }
  }
}
