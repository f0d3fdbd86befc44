package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter;
import io.fibry.Request;
import io.fibry.cluster.membership.NodeState;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.codec.Codec;
import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests how nodes join an app, leave it, and crash. */
class MembersTest {
  private static final Duration LEASE = Duration.ofSeconds(5);

  private final ManualScheduler clock = new ManualScheduler();
  private final MemoryNetwork network = MemoryNetwork.create(clock);
  private final ActorScope scope = ActorSystem.openScope("members", options -> options.withScheduler(clock));

  @AfterEach
  void close() {
    scope.close();
  }

  private Cluster join(String node, ClusterNetwork network) {
    return Cluster.join("bank", network, options -> options.withNode(node).withLease(LEASE).withScope(scope));
  }

  private Cluster join(String node) {
    return join(node, network);
  }

  private static List<String> names(Cluster node) {
    return node.members().stream().map(Cluster.Member::name).toList();
  }

  private static void await(Cluster node, String... names) {
    Patience.eventually(() -> names(node).equals(List.of(names)));
  }

  @Test
  void scopeReportOmitsMessagesOfInternalActors() {
    try (var a = join("a"); var b = join("b")) {
      a.entities("account", String.class);
      await(a, "a", "b");
      for (int i = 0; i < 20; i++) {
        clock.advance(LEASE.dividedBy(5)); // heartbeats
        assertTrue(scope.awaitQuiescence(Patience.LONG));
      }

      assertEquals(0, scope.report().sent(), () -> scope.report().toString());
      assertTrue(b.health().isAlive());
    }
  }

  /** So a pause of the process does not end a node whose clock a test moves. */
  @Test
  void timeOfDayOfNodeIsThatOfItsScopesClock() {
    clock.advance(Duration.ofDays(1));

    try (var a = join("a")) {
      assertEquals(clock.instant(), a.self().since());
    }
  }

  /** A transport may call the reader of a watch once more after its subscription is closed. */
  @Test
  void tableChangeAfterNodeHasLeftCausesNoDeadLetter() {
    var lastEntries = new ConcurrentHashMap<Consumer<ClusterTransport.Entry>, ClusterTransport.Entry>(); // by reader
    var deadLetters = new LinkedBlockingQueue<DeadLetter>();
    try (
        var ownScope = ActorSystem.openScope("own",
            options -> options.withScheduler(clock).withDeadLetterListener(deadLetters::add))) {
      var a = Cluster.join("bank", (app, name) -> recordingWatches(network.connect(app, name), lastEntries),
          options -> options.withNode("a").withLease(LEASE).withScope(ownScope));
      a.host("account", String.class, ownScope.anonymous(), Duration.ofMinutes(1),
          (builder, key) -> builder.newActor(text -> {}));
      Patience.eventually(() -> lastEntries.size() == 2);
      a.close();

      lastEntries.forEach(Consumer::accept);
      assertEquals(List.of(), List.copyOf(deadLetters));
    }
  }

  private static ClusterTransport recordingWatches(ClusterTransport transport,
      Map<Consumer<ClusterTransport.Entry>, ClusterTransport.Entry> lastEntries) {
    return Intercepted.of(ClusterTransport.class, transport, (method, arguments, call) -> {
      if (method.getName().equals("watch")) {
        @SuppressWarnings("unchecked") // the type that `watch` declares
        var reader = (Consumer<ClusterTransport.Entry>) arguments[1];
        arguments[1] = (Consumer<ClusterTransport.Entry>) entry -> {
          lastEntries.put(reader, entry);
          reader.accept(entry);
        };
      }
      return call.pass();
    });
  }

  record Hello() implements Request<Hello, String> {}

  @Test
  void scopeReportCountsRemoteRequestAsOneMessage() {
    try (var a = join("a"); var b = join("b")) {
      await(a, "a", "b");
      b.expose("greeter", Hello.class, scope.anonymous()
          .newActor((Hello hello, ActorContext<Hello> context) -> context.reply(hello, "hello")));
      var greeter = a.actor("greeter", Hello.class);
      for (int i = 0; i < 5; i++) assertEquals("hello", greeter.ask(new Hello()));
      assertTrue(scope.awaitQuiescence(Patience.LONG));

      assertEquals(5, scope.report().handled(), () -> scope.report().toString());
      assertEquals(5, scope.report().sent(), () -> scope.report().toString());
    }
  }

  @Test
  void nodesSeeEachOtherJoinAndLeave() {
    try (var a = join("a")) {
      await(a, "a");
      try (var b = join("b")) {
        await(a, "a", "b");
        await(b, "a", "b");
        assertEquals(a.self(), b.members().getFirst());
      }
      await(a, "a");
    }
  }

  @Test
  void watcherGetsMemberListAtEachJoinAndLeave() {
    var memberLists = new LinkedBlockingQueue<List<Cluster.Member>>();
    try (var a = join("a")) {
      await(a, "a");
      a.watchMembers(memberLists::add);
      assertEquals(List.of(a.self()), Patience.nextOf(memberLists));

      try (var b = join("b")) {
        assertEquals(List.of(a.self(), b.self()), Patience.nextOf(memberLists));
      }
      assertEquals(List.of(a.self()), Patience.nextOf(memberLists));
    }
  }

  @Test
  void crashedNodeLeavesMembershipWhenLeaseExpires() {
    var transportOfB = network.openTransport();
    try (var a = join("a"); var b = join("b", (app, node) -> transportOfB)) {
      await(a, "a", "b");
      await(b, "a", "b");

      transportOfB.close();
      for (int i = 0; i < 4; i++) clock.advance(LEASE.dividedBy(5));
      assertTrue(scope.awaitQuiescence(Patience.LONG));
      assertEquals(List.of("a", "b"), names(a));
      for (int i = 0; i < 6; i++) {
        clock.advance(LEASE.dividedBy(5));
        assertTrue(scope.awaitQuiescence(Patience.LONG));
      }

      await(a, "a");
    }
  }

  @Test
  void nodeStaysMemberBeyondFirstLeaseByItsHeartbeats() {
    try (var a = join("a")) {
      await(a, "a");
      for (int i = 0; i < 50; i++) {
        clock.advance(LEASE.dividedBy(5));
        assertTrue(scope.awaitQuiescence(Patience.LONG));
        assertEquals(List.of("a"), names(a));
      }
    }
  }

  @Test
  void nodeDeclaredDeadRejoins() {
    try (var a = join("a"); var transport = network.openTransport()) {
      await(a, "a");
      var entry = transport.get("fb.bank.node.a").orElseThrow();

      assertTrue(NodeState.of(entry).orElseThrow().end(transport, entry.key(), entry.version(), "a test ended it"));
      await(a);
      clock.advance(LEASE.dividedBy(5));
      assertTrue(scope.awaitQuiescence(Patience.LONG));
      clock.advance(LEASE.dividedBy(5));

      await(a, "a");
    }
  }

  /** Moves the clock in small steps until the node has joined, or was refused. */
  private void tick(CompletableFuture<Cluster> joinResult) {
    Patience.eventually(() -> {
      if (joinResult.isDone()) return true;
      clock.advance(LEASE.dividedBy(40));
      assertTrue(scope.awaitQuiescence(Patience.LONG)); // living nodes have sent their heartbeats
      return false;
    });
  }

  @Test
  void restartedNodeWaitsForLeaseOfItsPredecessor() {
    var transportOfB = network.openTransport();
    try (var a = join("a")) {
      String idBeforeCrash;
      try (var b = join("b", (app, node) -> transportOfB)) {
        await(a, "a", "b");
        idBeforeCrash = b.self().id();
        transportOfB.close(); // as if its process were killed
      }
      long killTime = clock.nanoTime();
      var joinResult = CompletableFuture.supplyAsync(() -> join("b"), Patience::startFiber);
      tick(joinResult);

      try (var restarted = Patience.value(joinResult)) {
        assertNotEquals(idBeforeCrash, restarted.self().id());
        await(a, "a", "b");
        assertTrue(clock.nanoTime() - killTime >= LEASE.toNanos() / 2, "the lease had not expired");
      }
    }
  }

  @Test
  @SuppressWarnings("try") // close() is called on purpose while b is a member
  void nodeClosedAfterItsScopeLeavesMembershipAtOnce() {
    try (var a = join("a");
        var scopeOfB = ActorSystem.openScope("of-b", options -> options.withScheduler(clock))) {
      try (var b = Cluster.join("bank", network,
          options -> options.withNode("b").withLease(LEASE).withScope(scopeOfB))) {
        await(a, "a", "b");
        scopeOfB.close();
      }

      await(a, "a"); // no lease can expire, because the test does not advance the clock
    }
  }

  @Test
  void joinTakesOverUndecodableEntryThatChangedOnce() {
    try (var transport = network.openTransport()) {
      long version = transport.create("fb.bank.node.a", new byte[0], ClusterTransport.FOREVER).orElseThrow();
      var joinResult = new CompletableFuture<Cluster>();
      var thread = Patience.startFiber(() -> join("a"), joinResult);
      Patience.eventually(() -> clock.isAsleep(thread));
      transport.update("fb.bank.node.a", new byte[1], version, ClusterTransport.FOREVER).orElseThrow();
      tick(joinResult);

      try (var a = Patience.value(joinResult)) {
        await(a, "a");
      }
    }
  }

  @Test
  void joinWaitingForLeaseCanBeInterrupted() {
    try (var transport = network.openTransport()) {
      transport.create("fb.bank.node.a", new byte[0], ClusterTransport.FOREVER);
      var joinResult = new CompletableFuture<Cluster>();
      var thread = Patience.startFiber(() -> join("a"), joinResult);
      Patience.eventually(() -> clock.isAsleep(thread));
      thread.interrupt();

      assertEquals("node 'a' of app 'bank' did not join, because its thread was interrupted while it waited for "
          + "the lease of the previous node to expire", Patience.failure(joinResult).getMessage());
    }
  }

  @Test
  void joinWaitingForLeaseFailsWhenScopeCloses() {
    try (var transport = network.openTransport()) {
      long version = transport.create("fb.bank.node.a", new byte[0], ClusterTransport.FOREVER).orElseThrow();
      var joinResult = new CompletableFuture<Cluster>();
      var thread = Patience.startFiber(() -> join("a"), joinResult);
      Patience.eventually(() -> clock.isAsleep(thread));
      transport.delete("fb.bank.node.a", version);
      scope.close();
      clock.advance(LEASE);

      assertEquals("node 'a' of app 'bank' did not join, because its scope was closed while it waited for "
          + "the lease of the previous node to expire", Patience.failure(joinResult).getMessage());
      assertEquals(Optional.empty(), transport.get("fb.bank.node.a"));
    }
  }

  @Test
  void secondNodeWithSameNameIsRefused() {
    try (var a = join("a")) {
      var joinResult = CompletableFuture.supplyAsync(() -> join("a"), Patience::startFiber);
      tick(joinResult);

      var failure = assertThrows(IllegalStateException.class, () -> {
        throw Patience.failure(joinResult);
      });
      assertEquals(
          "a node 'a' of app 'bank' is alive, since " + a.self().since() + "; give this node another name",
          failure.getMessage());
    }
    try (var restarted = join("a")) {
      await(restarted, "a");
    }
  }

  record Form(int version) {}

  @Test
  void joinIsRefusedWhenWireFormatDiffers() {
    try (var transport = network.openTransport()) {
      transport.create("fb.bank.form", Codec.of(Form.class).encode(new Form(2)), ClusterTransport.FOREVER);

      var failure = assertThrows(IllegalStateException.class, () -> join("a"));

      assertEquals(
          "the nodes of app 'bank' exchange messages of version 2, and this library knows version 1; use the "
              + "version of the library that these nodes use",
          failure.getMessage());
    }
  }

  @Test
  void nodesWithoutNameGetDifferentNames() {
    try (var a = Cluster.local("bank"); var b = Cluster.local("bank")) {
      assertNotEquals(a.self().name(), b.self().name());
    }
  }

  @Test
  void leaseTooShortForHeartbeatsIsRefused() {
    var failure = assertThrows(IllegalArgumentException.class,
        () -> Cluster.join("bank", network, options -> options.withLease(Duration.ofMillis(2_999))));

    assertEquals("a lease of 2999 ms; give 3 seconds or more, because the node sends five heartbeats in this time",
        failure.getMessage());
  }
}
