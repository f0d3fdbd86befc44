package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter.Reason;
import io.fibry.cluster.Places.Where;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.pool.Entities;
import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that a node stops answering before other nodes consider it dead. */
class NodeLeaseTest {
  private enum Fault {
    NONE, CUT, // CUT: no call of the node reaches the table
    DEAF, // calls of the node reach the table, and no answer comes back
    SLOW, // calls of the node wait until the test lets them continue
  }

  private static final Duration LEASE = Duration.ofSeconds(5);
  private static final Duration TICK = Duration.ofMillis(500);

  private final ManualScheduler clock = new ManualScheduler();
  private final MemoryNetwork network = MemoryNetwork.create(clock);
  private final ActorScope scope = ActorSystem.openScope("lease-test", options -> options.withScheduler(clock));
  private volatile Fault fault = Fault.NONE; // affects the calls by which node a uses the table
  private final CountDownLatch slowCall = new CountDownLatch(1); // counted down when a slow call begins
  private final CountDownLatch gate = new CountDownLatch(1);
  private volatile boolean notificationsAreLost; // true: nodes with a lossy watch get no changes of the table
  private volatile Duration clockError = Duration.ZERO; // of the wall clock of node a
  private final Cluster a = Cluster.join("bank", (app, node) -> withFaults(network.connect(app, node)),
      options -> options.withNode("a").withLease(LEASE).withPartitions(8).withScope(scope)
          .withWallClock(() -> clock.instant().plus(clockError)));

  @AfterEach
  void close() {
    gate.countDown();
    scope.close();
  }

  private ClusterTransport withFaults(ClusterTransport transport) {
    return Intercepted.of(ClusterTransport.class, transport, (method, arguments, call) -> {
      boolean isTableCall = method.getReturnType() != void.class && !method.getName().equals("subscribe")
          && !method.getName().equals("request") && !method.getName().equals("watch")
          && !method.getName().equals("maxBodyBytes");
      if (isTableCall && fault == Fault.SLOW) {
        slowCall.countDown();
        gate.await();
      }
      if (isTableCall && fault == Fault.CUT) throw new TransportException(Failure.DISCONNECTED, "made up");
      var answer = call.pass();
      if (isTableCall && fault == Fault.DEAF) throw new TransportException(Failure.UNKNOWN, "made up");
      return answer;
    });
  }

  private Cluster join(String node) {
    return Cluster.join("bank", network,
        options -> options.withNode(node).withLease(LEASE).withPartitions(8).withScope(scope));
  }

  private void passTime(Duration time) {
    for (var remaining = time; remaining.isPositive(); remaining = remaining.minus(TICK)) {
      clock.advance(TICK);
      assertTrue(scope.awaitQuiescence(Patience.LONG));
    }
  }

  /** Sends a request and waits for its effects. Returns the answer, or empty if none has come. */
  private static Optional<String> answer(Actor<Where> actor) {
    var answer = actor.sendMessageReturn(new Where());
    // waits for all scopes, because the network's readers do not belong to the test's scope
    assertTrue(ActorSystem.root().awaitQuiescence(Patience.LONG));
    if (!answer.isDone()) return Optional.empty();
    if (!answer.isCompletedExceptionally()) return Optional.of(answer.join());
    assertInstanceOf(UnavailableException.class, Patience.failure(answer));
    return Optional.empty();
  }

  private static void assertAnswers(String node, Actor<Where> actor) {
    assertEquals(node, Patience.value(actor.sendMessageReturn(new Where())));
  }

  @Test
  void cutOffNodeStopsAnsweringBeforeItsLeaseExpires() {
    Places.host(a, scope);
    var asker = join("asking");
    var place = asker.entities("place", Where.class).actor("x");
    Patience.eventually(() -> asker.members().size() == 2);
    assertAnswers("a", place);

    fault = Fault.CUT;
    passTime(LEASE.minusSeconds(3));
    assertAnswers("a", place);
    passTime(Duration.ofSeconds(1).plus(TICK));

    assertEquals(Optional.empty(), answer(place));
    assertEquals(2, asker.members().size());
    passTime(Duration.ofSeconds(3));
    Patience.eventually(() -> asker.members().size() == 1);
  }

  @Test
  void lapsedNodeRejoinsWithNewLife() {
    Places.host(a, scope);
    var place = join("asking").entities("place", Where.class).actor("x");
    assertAnswers("a", place);
    String life = a.self().id();

    fault = Fault.CUT;
    passTime(LEASE.plusSeconds(3));
    assertEquals(Optional.empty(), answer(place));
    fault = Fault.NONE;
    passTime(LEASE);

    Patience.eventually(() -> a.members().contains(a.self()));
    assertNotEquals(life, a.self().id());
    Patience.eventually(() -> isAnsweredBy("a", place));
  }

  private boolean isAnsweredBy(String node, Actor<Where> place) {
    clock.advance(Duration.ofMillis(100));
    return answer(place).filter(node::equals).isPresent();
  }

  @Test
  void closingNodeLeavesWithinLimitWhenNetworkHangs() throws InterruptedException {
    fault = Fault.SLOW;
    clock.advance(LEASE.dividedBy(5)); // causes a heartbeat
    Patience.await(slowCall); // node a handles the heartbeat; its request to leave waits behind it, and can expire
    var closing = CompletableFuture.runAsync(a::close);
    Patience.eventually(() -> {
      clock.advance(LEASE);
      return scope.report().unhandled().getOrDefault(Reason.EXPIRED, 0L) > 0;
    });

    gate.countDown();

    Patience.value(closing);
  }

  /**
   * The ask limit is for requests of users, and does not limit calls that use the table. The table
   * is slow while the servers elect a leader.
   */
  @Test
  void exposeSucceedsWhenTableIsSlowerThanAskLimit() throws InterruptedException {
    var impatient = Cluster.join("bank", (app, node) -> withFaults(network.connect(app, node)),
        options -> options.withNode("impatient").withLease(LEASE).withPartitions(8).withScope(scope)
            .withAskLimit(Duration.ofSeconds(1)));
    Actor<Where> till = scope.anonymous().newActor((where, context) -> context.reply(where, "impatient"));
    fault = Fault.SLOW;
    var offering = CompletableFuture.runAsync(() -> impatient.expose("till", Where.class, till));
    Patience.await(slowCall);

    clock.advance(Duration.ofSeconds(2));
    gate.countDown();

    Patience.value(offering);
    assertEquals(Set.of("till"), impatient.self().offers());
  }

  @Test
  void keysOfLapsedNodeMoveToAnotherNode() {
    Places.host(a, scope);
    var b = join("b");
    var places = Places.host(b, scope);
    passTime(Duration.ofSeconds(10));
    var actorOfA = places.actor(keyAt("a", places));

    fault = Fault.CUT;
    passTime(LEASE.plusSeconds(3));

    Patience.eventually(() -> isAnsweredBy("b", actorOfA));
  }

  private String keyAt(String node, Entities<String, Where> places) {
    for (int i = 0; i < 1_000; i++) if (places.actor("k" + i).ask(new Where()).equals(node)) return "k" + i;
    throw new AssertionError("no key lives on node " + node);
  }

  @Test
  void nodeKeepsItsLifeWhenSomeHeartbeatAnswersAreLost() {
    Places.host(a, scope);
    var place = join("asking").entities("place", Where.class).actor("x");
    String life = a.self().id();

    for (int i = 0; i < 10; i++) {
      fault = Fault.DEAF;
      passTime(Duration.ofSeconds(1));
      fault = Fault.NONE;
      passTime(Duration.ofSeconds(1));
      assertAnswers("a", place);
    }

    assertEquals(life, a.self().id());
  }

  @Test
  void nodeEndsItsLifeWhenWallClockIsSetForward() {
    Places.host(a, scope);
    var place = join("asking").entities("place", Where.class).actor("x");
    String life = a.self().id();

    clockError = Duration.ofHours(1);

    assertEquals(Optional.empty(), answer(place));
    passTime(Duration.ofSeconds(2));
    assertNotEquals(life, a.self().id());
    Patience.eventually(() -> isAnsweredBy("a", place));
  }

  @Test
  void leaseIsNotExtendedWhenWallClockIsSetBack() {
    Places.host(a, scope);
    var place = join("asking").entities("place", Where.class).actor("x");
    String life = a.self().id();

    clockError = Duration.ofHours(-1);
    passTime(Duration.ofSeconds(20));

    assertAnswers("a", place);
    assertEquals(life, a.self().id());
    fault = Fault.CUT;
    passTime(LEASE);
    assertEquals(Optional.empty(), answer(place)); // the monotonic clock alone shows that the lease has expired
  }

  @Test
  void newNodeKeepsNameThatItTookFromNodeWithExpiredLease() {
    fault = Fault.CUT;
    passTime(LEASE.plusSeconds(3));
    var firstJoin = CompletableFuture.supplyAsync(() -> join("a"), Patience::startFiber);
    passUntilDone(firstJoin);
    var newNode = Patience.value(firstJoin);
    fault = Fault.NONE;
    passTime(LEASE);

    assertNotEquals(newNode.self().id(), a.self().id());
    Patience.eventually(() -> newNode.members().equals(List.of(newNode.self())));
    var secondJoin = CompletableFuture.supplyAsync(() -> join("a"), Patience::startFiber);
    passUntilDone(secondJoin);
    assertInstanceOf(IllegalStateException.class, Patience.failure(secondJoin));
    assertFalse(newNode.members().contains(a.self()));
  }

  @ParameterizedTest
  @EnumSource(value = Fault.class, names = {"CUT", "DEAF"})
  void restartedNodeJoinsDespiteNetworkOutage(Fault outage) {
    try (var killedNode = network.connect("bank", "b")) {
      killedNode.create("fb.bank.node.b", new byte[0], LEASE);
      var restart = new CompletableFuture<Cluster>();
      var thread = Patience.startFiber(() -> Cluster.join("bank", (app, node) -> withFaults(network.connect(app, node)),
          options -> options.withNode("b").withLease(LEASE).withPartitions(8).withScope(scope)), restart);
      passTimeWhileAsleep(thread, LEASE.minusSeconds(2));
      fault = outage;
      passTimeWhileAsleep(thread, Duration.ofSeconds(4));
      fault = Fault.NONE;
      passUntilDone(restart);

      assertTrue(Patience.value(restart).health().isAlive());
    }
  }

  /**
   * Drops the entry of a node, as a server does after its clock was set forward, because it then
   * considers all leases expired.
   */
  private void serverDropsEntryOf(String node) {
    try (var server = network.connect("bank", "server")) {
      var entry = server.get("fb.bank.node." + node).orElseThrow();
      assertTrue(server.delete(entry.key(), entry.version()));
    }
  }

  @Test
  void nodeWithDroppedEntryKeepsPartitionsUntilLeaseExpires() {
    Places.host(a, scope);
    var b = join("b");
    var places = Places.host(b, scope);
    passTime(Duration.ofSeconds(10));
    var actorOfA = places.actor(keyAt("a", places));

    fault = Fault.CUT; // the node does not learn that its entry is dropped
    serverDropsEntryOf("a");
    passTime(TICK.multipliedBy(2));

    assertAnswers("a", actorOfA);
    assertEquals(2, b.members().size());
    passTime(LEASE.minusSeconds(3).plus(TICK));
    assertEquals(Optional.empty(), answer(actorOfA)); // no node answers for two seconds
    passTime(Duration.ofSeconds(3));
    Patience.eventually(() -> isAnsweredBy("b", actorOfA));
    assertEquals(1, b.members().size());
  }

  @Test
  void nodeWithDroppedEntryRejoinsAtNextHeartbeat() {
    Places.host(a, scope);
    var places = join("asking").entities("place", Where.class);
    var place = places.actor("x");
    assertAnswers("a", place);
    String life = a.self().id();

    serverDropsEntryOf("a");
    passTime(LEASE.dividedBy(5));

    Patience.eventually(() -> isAnsweredBy("a", place));
    assertNotEquals(life, a.self().id());
  }

  @Test
  void nodeIsNotDeclaredDeadWhenNotificationsAreLost() {
    Places.host(a, scope);
    var b = Cluster.join("bank", (app, node) -> withLossyWatch(network.connect(app, node)),
        options -> options.withNode("b").withLease(LEASE).withPartitions(8).withScope(scope));
    var places = Places.host(b, scope);
    passTime(Duration.ofSeconds(10));
    var actorOfA = places.actor(keyAt("a", places));
    String life = a.self().id();

    notificationsAreLost = true;
    passTime(LEASE.multipliedBy(3));

    assertAnswers("a", actorOfA);
    assertEquals(life, a.self().id());
    assertEquals(2, b.members().size());
  }

  private ClusterTransport withLossyWatch(ClusterTransport transport) {
    return Intercepted.of(ClusterTransport.class, transport,
        (method, arguments, call) -> method.getName().equals("watch")
            ? transport.watch((String) arguments[0], entry -> notify(entry, arguments[1]))
            : call.pass());
  }

  @SuppressWarnings("unchecked") // the second argument of watch is a consumer of entries
  private void notify(ClusterTransport.Entry entry, Object reader) {
    if (!notificationsAreLost) ((Consumer<ClusterTransport.Entry>) reader).accept(entry);
  }

  /** Node b joins after the entry of node a was dropped, so it has seen no heartbeat of node a. */
  @Test
  void newNodeTakesNoKeysOfDroppedNodeUntilItsLeaseExpires() {
    var actorOfA = Places.host(a, scope).actor("x");
    fault = Fault.CUT;
    serverDropsEntryOf("a");

    var b = join("b");
    var hosting = CompletableFuture.supplyAsync(() -> Places.host(b, scope), Patience::startFiber);
    Patience.eventually(() -> b.members().stream().anyMatch(member -> member.hosts().contains("place")));
    passTime(TICK.multipliedBy(2));

    assertAnswers("a", actorOfA);
    passUntilDone(hosting);
    var place = Patience.value(hosting).actor("x");
    passTime(LEASE);
    Patience.eventually(() -> isAnsweredBy("b", place));
  }

  /** The monotonic clock of a suspended machine stops; its wall clock is right when it resumes. */
  @Test
  void resumedNodeAnswersNothingUntilItRejoins() {
    Places.host(a, scope);
    var place = join("asking").entities("place", Where.class).actor("x");
    assertAnswers("a", place);

    clockError = LEASE.minusSeconds(2); // the time for which the node was suspended

    assertEquals(Optional.empty(), answer(place));
    passTime(Duration.ofSeconds(2));
    Patience.eventually(() -> isAnsweredBy("a", place));
  }

  private void passUntilDone(CompletableFuture<?> future) {
    Patience.eventually(() -> {
      passTime(TICK);
      return future.isDone();
    });
  }

  /** Moves the clock, and before each tick waits until the thread sleeps again. */
  private void passTimeWhileAsleep(Thread thread, Duration time) {
    for (var remaining = time; remaining.isPositive(); remaining = remaining.minus(TICK)) {
      Patience.eventually(() -> clock.isAsleep(thread));
      passTime(TICK);
    }
    Patience.eventually(() -> clock.isAsleep(thread));
  }
}
