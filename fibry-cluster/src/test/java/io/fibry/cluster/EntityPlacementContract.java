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
import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.RequestOutcome;
import io.fibry.cluster.membership.PartitionAssignment;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.cluster.wire.Protocol;
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

/** Tests on which nodes entities run, and how they move between nodes. */
abstract class EntityPlacementContract {
  sealed interface Account {}
  record Credit(int cents) implements Account {}
  record Deposit(int cents) implements Account, Request<Deposit, Long> {}
  record Where() implements Account, Request<Where, String> {}

  private static final Duration SETTLE_TIME = Duration.ofMillis(300);
  private static final int PARTITIONS = 32;
  private static final Duration IDLE_LIMIT = Duration.ofMinutes(5);
  private static final long PAUSE = Soak.ON ? 0 : 5_000_000; // ns between two requests of an asker

  private final String app;
  private final TestNetwork network;
  private final ActorScope scope = ActorSystem.openScope("placement-test");
  private final Map<String, LongAdder> cents = new ConcurrentHashMap<>(); // by key; outlives actors
  private final Map<String, AtomicInteger> instances = new ConcurrentHashMap<>();
  private final AtomicBoolean hadTwoInstances = new AtomicBoolean();

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

  private Cluster join(String node, InstantSource wallClock) {
    return Cluster.join(app, network,
        options -> options.withNode(node).withPartitions(PARTITIONS).withSettleTime(SETTLE_TIME).withScope(scope)
            .withWallClock(wallClock));
  }

  private Entities<String, Account> host(Cluster node) {
    return node.host("account", Account.class, scope.anonymous(), IDLE_LIMIT,
        (builder, key) -> newAccount(builder, key, node.self().name()));
  }

  private Actor<Account> newAccount(ActorBuilder<Object> builder, String key, String node) {
    var instancesOfKey = instances.computeIfAbsent(key, k -> new AtomicInteger());
    if (instancesOfKey.incrementAndGet() > 1) hadTwoInstances.set(true);
    return builder.initialState(() -> key).onStop(state -> instancesOfKey.decrementAndGet())
        .newActor(
            (String state, Account message, ActorContext<Account> context) -> handle(state, message, context, node));
  }

  private void handle(String key, Account message, ActorContext<Account> context, String node) {
    var balance = cents.computeIfAbsent(key, k -> new LongAdder());
    switch (message) {
      case Credit credit -> balance.add(credit.cents());
      case Deposit deposit -> {
        balance.add(deposit.cents());
        context.reply(deposit, balance.sum());
      }
      case Where where -> context.reply(where, node);
    }
  }

  private static Entities<String, Account> accounts(Cluster node) {
    return node.entities("account", Account.class);
  }

  private static void awaitHosts(Cluster node, int hosts) {
    Patience.eventually(
        () -> node.members().stream().filter(member -> member.hosts().contains("account")).count() == hosts);
  }

  /**
   * Waits until the node has more than a quarter of the partitions. Asking all keys would be
   * slower.
   */
  private static void awaitPartitions(Cluster node) {
    Patience.eventually(() -> node.health().partitions().getOrDefault("account", 0) > PARTITIONS / 4);
  }

  private long sum() {
    return cents.values().stream().mapToLong(LongAdder::sum).sum();
  }

  @Test
  void singleNodeHostsAllKeys() {
    try (var a = join("a")) {
      var accounts = host(a);

      assertTrue(accounts.actor("ada").sendMessage(new Credit(5)));
      assertEquals(7, accounts.actor("ada").ask(new Deposit(2)));
      assertEquals(1, accounts.actor("grace").ask(new Deposit(1)));
      assertEquals(1, accounts.actor(" ada ").ask(new Deposit(1)));
      assertEquals(1, accounts.actor("Grüße\n%41").ask(new Deposit(1)));

      assertEquals(4, accounts.size());
      assertEquals("account/ada", accounts.actor("ada").name());
      assertEquals(accounts.actor("ada"), accounts.actor("ada"));
    }
  }

  @Test
  void requestsReachKeysSpreadOverTwoNodes() {
    try (var a = join("a"); var b = join("b"); var c = join("c")) {
      host(a);
      host(b);
      awaitHosts(c, 2);
      awaitPartitions(b);
      var accounts = accounts(c);

      for (int i = 0; i < 100; i++) assertEquals(1, accounts.actor("k" + i).ask(new Deposit(1)));
      Patience.eventually(() -> countNodes(accounts) == 2);

      assertFalse(hadTwoInstances.get());
      assertEquals(100, sum());
    }
  }

  private static long countNodes(Entities<String, Account> accounts) {
    return IntStream.range(0, 100).mapToObj(i -> accounts.actor("k" + i).ask(new Where())).distinct().count();
  }

  @Test
  void movingKeysNeitherLoseNorRepeatRequests() throws Exception {
    try (var a = join("a"); var asker = join("asking")) {
      host(a);
      awaitHosts(asker, 1);
      var accounts = accounts(asker);
      var stop = new AtomicBoolean();
      try (var askers = Executors.newVirtualThreadPerTaskExecutor()) {
        var tasks = IntStream.range(0, 8).mapToObj(i -> askers.submit(depositUntilStopped(accounts, i, stop))).toList();
        try {
          for (int i = 0; i < (Soak.ON ? 3 : 2); i++) {
            try (var b = join("b")) {
              host(b);
              awaitPartitions(b);
              Patience.eventually(() -> countNodes(accounts) == 2);
            }
            Patience.eventually(() -> countNodes(accounts) == 1);
          }
        } finally { // otherwise the close of the executor waits for the askers
          stop.set(true);
        }
        long deposited = 0;
        for (var task : tasks) deposited += Patience.value(task);

        assertEquals(deposited, sum());
        assertFalse(hadTwoInstances.get());
      }
    }
  }

  @Test
  void requestsSurviveSimultaneousJoinAndLeave() throws Exception {
    try (var asker = join("asking"); var askers = Executors.newVirtualThreadPerTaskExecutor()) {
      var owner = join("n0");
      host(owner);
      awaitHosts(asker, 1);
      var accounts = accounts(asker);
      var stop = new AtomicBoolean();
      var tasks = IntStream.range(0, 8).mapToObj(i -> askers.submit(depositUntilStopped(accounts, i, stop))).toList();
      try {
        for (int i = 1; i <= (Soak.ON ? 4 : 3); i++) {
          var successor = join("n" + i);
          var hosting = askers.submit(() -> host(successor));
          owner.close();
          Patience.value(hosting);
          owner = successor;
        }
      } finally { // otherwise the close of the executor waits for the askers
        stop.set(true);
      }
      long deposited = 0;
      for (var task : tasks) deposited += Patience.value(task);
      owner.close();

      assertEquals(deposited, sum());
      assertFalse(hadTwoInstances.get());
    }
  }

  private static Callable<Long> depositUntilStopped(Entities<String, Account> accounts, int asker, AtomicBoolean stop) {
    return () -> {
      long deposited = 0;
      for (int i = 0; !stop.get(); i++, deposited++) {
        accounts.actor(asker + "-" + i % 50).ask(new Deposit(1));
        LockSupport.parkNanos(PAUSE);
      }
      return deposited;
    };
  }

  @Test
  void senderOrderHoldsWhileActorMoves() {
    try (var a = join("a"); var asker = join("asking")) {
      host(a);
      awaitHosts(asker, 1);
      var accounts = accounts(asker);
      for (int i = 0; i < (Soak.ON ? 5 : 2); i++) try (var b = join("b")) {
        host(b);
        var nodeB = new Cluster.Member("b", "", Set.of("account"), Set.of(), Instant.EPOCH);
        var nodeA = new Cluster.Member("a", "", Set.of("account"), Set.of(), Instant.EPOCH);
        var ada = accounts.actor(IntStream.range(0, 1_000).mapToObj(n -> "ada" + n)
            .filter(key -> PartitionAssignment
                .preferredNode("account", PartitionAssignment.partitionOf(key, PARTITIONS), List.of(nodeA, nodeB))
                .orElseThrow().equals("b"))
            .findFirst().orElseThrow());

        Patience.eventually("the key did not move to node b", () -> {
          if (ada.ask(new Where()).equals("b")) return true;
          ada.sendMessage(new Credit(1));
          long sumBefore = ada.ask(new Deposit(0));
          ada.sendMessage(new Credit(1));
          assertEquals(sumBefore + 1, ada.ask(new Deposit(0)));
          LockSupport.parkNanos(PAUSE);
          return false;
        });
      }
    }
  }

  @Test
  void keysOfCrashedNodeMoveToAnotherNode() {
    var b = join("b");
    try (var a = join("a"); var asker = join("asking")) {
      host(a);
      host(b);
      awaitHosts(asker, 2);
      awaitPartitions(b);
      var accounts = accounts(asker);
      Patience.eventually(() -> countNodes(accounts) == 2);

      network.crash(b);

      for (int i = 0; i < 100; i++) {
        var actor = accounts.actor("k" + i);
        assertEquals("a", Patience.valueDespite(RequestException.class, // a request may be lost in the crash
            () -> actor.ask(new Where(), Duration.ofSeconds(1))));
      }
      assertEquals(1, countNodes(accounts));
    }
  }

  @Test
  void failingEntityFactoryAffectsNoOtherEntity() {
    try (var a = join("a")) {
      var accounts = a.host("account", Account.class, scope.anonymous(), IDLE_LIMIT, (builder, key) -> {
        if (key.startsWith("bad")) throw new IllegalStateException("made up");
        return newAccount(builder, key, "a");
      });
      for (int i = 0; i < 100; i++) {
        var bad = accounts.actor("bad" + i);
        bad.sendMessage(new Credit(1));
        assertEquals("made up",
            assertThrows(RemoteFailureException.class, () -> bad.ask(new Deposit(1))).getMessage());
        assertEquals(1, accounts.actor("good" + i).ask(new Deposit(1)));
      }
    }
  }

  // ---- bad input

  @Test
  void foreignWireMessagesAreIgnored() throws Exception {
    try (var a = join("a"); var foreign = network.connect(app, "foreign")) {
      var accounts = host(a);
      int partition = PartitionAssignment.partitionOf("ada", PARTITIONS);
      byte[] deposit = Protocol.of(Account.class).encode(new Deposit(5));
      String subject = "fb." + app + ".e.account.";

      for (int i = 0; i < PARTITIONS; i++)
        if (i != partition) foreign.publish(WireMessage.oneWay(subject + i, Map.of("Fb-K", "ada"), deposit));
      foreign.publish(WireMessage.oneWay(subject + partition, Map.of(), deposit));
      foreign.publish(
          WireMessage.oneWay(subject + partition, Map.of("Fb-K", "ada", "Fb-Keep", "x"), new byte[] {1, 2, 3}));
      foreign.publish(WireMessage.oneWay(subject + partition, Map.of("Fb-K", "ada", "Fb-Look", "x"), new byte[0]));
      for (var target : List.of("", "account", "account.", "account.x", "account.99999", "account.4000", "other.1"))
        foreign.publish(WireMessage.oneWay("fb." + app + ".x.a", Map.of("Fb-Part", target, "Fb-K", "ada"), deposit));

      assertEquals(1, accounts.actor("ada").ask(new Deposit(1)));
      assertEquals(1, accounts.size());
    }
  }

  @Test
  void healthReportsPartitionsAndConnectionOfNode() {
    var clockError = new AtomicReference<>(Duration.ZERO); // of the wall clock of b
    var b = join("b", () -> Instant.now().plus(clockError.get()));
    try (var a = join("a")) {
      host(a);
      host(b);
      awaitHosts(a, 2);
      Patience.eventually(() -> a.health().partitions().get("account")
          + b.health().partitions().get("account") == PARTITIONS && b.health().partitions().get("account") > 0);
      var healthOfA = a.health();
      assertEquals(new Cluster.Health(true, Optional.empty(), healthOfA.partitions(), 0), healthOfA);
      accounts(b).actor("ada").ask(new Deposit(1));
      Patience.eventually(() -> b.health().pendingRequests() == 0); // b may count the answer after the asker has it
      assertTrue(b.dump().matches("(?s)node 'b' of app '\\S+', alive, connected\nmembers:\n"
          + "  a, since \\S+, hosts account\n  b, since \\S+, hosts account\nhosts:\n"
          + "  account: \\d+ of " + PARTITIONS + " partitions, [01] actors\nrequests of others: 0 not answered\n"),
          b::dump);

      network.crash(b);
      assertTrue(b.health().connectionProblem().isPresent());
      clockError.set(TestNetwork.LEASE);
      assertFalse(b.health().isAlive());
      assertTrue(b.dump().startsWith("node 'b' of app '" + app + "', which others may declare dead, the connection "),
          b::dump);
    }
  }

  @Test
  void requestWithoutHostingNodeFailsAsNotDone() {
    try (var a = join("a")) {
      var ada = accounts(a).actor("ada");

      var failure = assertThrows(UnavailableException.class, () -> ada.ask(new Deposit(1)));

      assertEquals(RequestOutcome.NOT_DONE, failure.outcome());
      assertEquals("Deposit[cents=1] did not reach actor 'account/ada': no node hosts 'account'",
          failure.getMessage());
    }
  }

  @Test
  void nodeRefusesToHostKindThatItAlreadyHosts() {
    try (var a = join("a")) {
      var accounts = host(a);

      var failure = assertThrows(IllegalStateException.class, () -> host(a));

      assertEquals("node 'a' hosts 'account' already; close the entities that `host` returned first",
          failure.getMessage());
      accounts.close();
      assertEquals(1, host(a).actor("ada").ask(new Deposit(1)));
    }
  }

  @Test
  void nodeWithDifferentPartitionCountCannotUseKind() {
    try (var a = join("a"); var b = Cluster.join(app, network, options -> options.withNode("b"))) {
      host(a);

      var failure = assertThrows(IllegalStateException.class, () -> accounts(b));

      assertEquals(
          "the keys of 'account' are split into 32 partitions, and node 'b' wants 256; use withPartitions(32)",
          failure.getMessage());
    }
  }

  @Test
  void keyOutside1To512BytesIsRefused() {
    try (var a = join("a")) {
      var accounts = accounts(a);

      assertEquals("a key of 'account' has 0 bytes; take 1 to 512",
          assertThrows(IllegalArgumentException.class, () -> accounts.actor("")).getMessage());
      assertEquals("a key of 'account' has 514 bytes; take 1 to 512",
          assertThrows(IllegalArgumentException.class, () -> accounts.actor("ä".repeat(257))).getMessage());
      accounts.actor("ä".repeat(256));
      assertThrows(IllegalArgumentException.class, () -> a.entities("Account", Account.class));
    }
  }
}
