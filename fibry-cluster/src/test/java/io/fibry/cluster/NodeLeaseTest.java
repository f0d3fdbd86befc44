package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter.Reason;
import io.fibry.Request;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.pool.Entities;
import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** When a node takes itself for dead: always before others do. */
class NodeLeaseTest {
  record Where() implements Request<Where, String> {}

  private enum Fault {
    NONE, CUT, // nothing leaves
    DEAF, // messages of the node arrive, and no answer comes back
    SLOW, // no answer comes back until the test releases it
  }

  private static final Duration LEASE = Duration.ofSeconds(5);
  private static final Duration TICK = Duration.ofMillis(500);

  private final ManualScheduler clock = new ManualScheduler();
  private final MemoryNetwork network = MemoryNetwork.create(clock);
  private final ActorScope scope = ActorSystem.openScope("lease-test", options -> options.withScheduler(clock));
  private volatile Fault fault = Fault.NONE; // of node a's table
  private final CountDownLatch held = new CountDownLatch(1); // the table has been asked since it is slow
  private final CountDownLatch cleanUp = new CountDownLatch(1);
  private volatile boolean newsAreLost; // of the table, for node b
  private volatile Duration wrong = Duration.ZERO; // the wall clock of node a
  private final Cluster a = Cluster.join("bank", (app, node) -> failing(network.connect(app, node)),
      options -> options.withNode("a").withLease(LEASE).withPartitions(8).withScope(scope)
          .withWallClock(() -> Instant.EPOCH.plusNanos(clock.nanoTime()).plus(wrong)));

  @AfterEach
  void close() {
    cleanUp.countDown();
    scope.close();
  }

  private ClusterTransport failing(ClusterTransport engine) {
    return Intercepted.of(ClusterTransport.class, engine, (method, given, call) -> {
      boolean ofTable = method.getReturnType() != void.class && !method.getName().equals("subscribe")
          && !method.getName().equals("request") && !method.getName().equals("watch")
          && !method.getName().equals("maxBodyBytes");
      if (ofTable && fault == Fault.SLOW) {
        held.countDown();
        cleanUp.await();
      }
      if (ofTable && fault == Fault.CUT) throw new TransportException(Failure.DISCONNECTED, "made up");
      var answer = call.pass();
      if (ofTable && fault == Fault.DEAF) throw new TransportException(Failure.UNKNOWN, "made up");
      return answer;
    });
  }

  private Entities<String, Where> home(Cluster node) {
    String name = node.self().name();
    return node.host("place", Where.class, scope.anonymous(), Duration.ofMinutes(5), (builder, key) -> builder
        .newActor((Where where, ActorContext<Where> context) -> context.reply(where, name)));
  }

  private Cluster join(String node) {
    return Cluster.join("bank", network,
        options -> options.withNode(node).withLease(LEASE).withPartitions(8).withScope(scope)
            .withWallClock(() -> Instant.EPOCH.plusNanos(clock.nanoTime())));
  }

  private void pass(Duration time) {
    for (var left = time; left.isPositive(); left = left.minus(TICK)) {
      clock.advance(TICK);
      assertTrue(scope.awaitQuiescence(Patience.LONG));
    }
  }

  /** Returns nothing if no answer has come when all is done that the request has caused. */
  private static Optional<String> answer(Actor<Where> actor) {
    var asked = actor.sendMessageReturn(new Where());
    assertTrue(ActorSystem.root().awaitQuiescence(Patience.LONG)); // the readers of the network are not of the scope
    if (!asked.isDone()) return Optional.empty();
    if (!asked.isCompletedExceptionally()) return Optional.of(asked.join());
    assertInstanceOf(UnreachableException.class, Patience.failure(asked));
    return Optional.empty();
  }

  private static void assertAnswers(String node, Actor<Where> actor) {
    assertEquals(node, Patience.value(actor.sendMessageReturn(new Where())));
  }

  @Test
  void cutOffNodeStopsAnsweringBeforeItsLeaseExpires() {
    home(a);
    var asking = join("asking");
    var place = asking.entities("place", Where.class).actor("x");
    Patience.eventually(() -> asking.members().size() == 2);
    assertAnswers("a", place);

    fault = Fault.CUT;
    pass(LEASE.minusSeconds(3));
    assertAnswers("a", place);
    pass(Duration.ofSeconds(1).plus(TICK));

    assertEquals(Optional.empty(), answer(place));
    assertEquals(2, asking.members().size());
    pass(Duration.ofSeconds(3));
    Patience.eventually(() -> asking.members().size() == 1);
  }

  @Test
  void lapsedNodeRejoinsWithNewLife() {
    home(a);
    var place = join("asking").entities("place", Where.class).actor("x");
    assertAnswers("a", place);
    String life = a.self().id();

    fault = Fault.CUT;
    pass(LEASE.plusSeconds(3));
    assertEquals(Optional.empty(), answer(place));
    fault = Fault.NONE;
    pass(LEASE);

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
    clock.advance(LEASE.dividedBy(5)); // a heartbeat
    held.await(); // so that the leave waits behind it, because a message that is being handled does not expire
    var leaving = CompletableFuture.runAsync(a::close);
    Patience.eventually(() -> {
      clock.advance(LEASE);
      return scope.report().unhandled().getOrDefault(Reason.EXPIRED, 0L) > 0;
    });

    cleanUp.countDown();

    Patience.value(leaving);
  }

  @Test
  void keysOfLapsedNodeMoveToAnotherNode() {
    home(a);
    var b = join("b");
    var placed = home(b);
    pass(Duration.ofSeconds(10));
    var ofA = placed.actor(keyAt("a", placed));

    fault = Fault.CUT;
    pass(LEASE.plusSeconds(3));

    Patience.eventually(() -> isAnsweredBy("b", ofA));
  }

  private String keyAt(String node, Entities<String, Where> places) {
    for (int i = 0; i < 1_000; i++) if (places.actor("k" + i).ask(new Where()).equals(node)) return "k" + i;
    throw new AssertionError("no key lives on node " + node);
  }

  @Test
  void unacknowledgedHeartbeatCounts() {
    home(a);
    var place = join("asking").entities("place", Where.class).actor("x");
    String life = a.self().id();

    for (int i = 0; i < 10; i++) {
      fault = Fault.DEAF;
      pass(Duration.ofSeconds(1));
      fault = Fault.NONE;
      pass(Duration.ofSeconds(1));
      assertAnswers("a", place);
    }

    assertEquals(life, a.self().id());
  }

  @Test
  void wallClockSetForwardEndsLife() {
    home(a);
    var place = join("asking").entities("place", Where.class).actor("x");
    String life = a.self().id();

    wrong = Duration.ofHours(1);

    assertEquals(Optional.empty(), answer(place));
    pass(Duration.ofSeconds(2));
    assertNotEquals(life, a.self().id());
    Patience.eventually(() -> isAnsweredBy("a", place));
  }

  @Test
  void wallClockSetBackDoesNotExtendLease() {
    home(a);
    var place = join("asking").entities("place", Where.class).actor("x");
    String life = a.self().id();

    wrong = Duration.ofHours(-1);
    pass(Duration.ofSeconds(20));

    assertAnswers("a", place);
    assertEquals(life, a.self().id());
    fault = Fault.CUT;
    pass(LEASE);
    assertEquals(Optional.empty(), answer(place)); // the other clock is enough
  }

  @Test
  void nameTakenDuringLapseStaysWithNewNode() {
    fault = Fault.CUT;
    pass(LEASE.plusSeconds(3));
    var taking = CompletableFuture.supplyAsync(() -> join("a"), Patience::startFiber);
    passUntilDone(taking);
    var other = Patience.value(taking);
    fault = Fault.NONE;
    pass(LEASE);

    assertNotEquals(other.self().id(), a.self().id());
    Patience.eventually(() -> other.members().equals(List.of(other.self())));
    var joining = CompletableFuture.supplyAsync(() -> join("a"), Patience::startFiber);
    passUntilDone(joining);
    assertInstanceOf(IllegalStateException.class, Patience.failure(joining));
    assertFalse(other.members().contains(a.self()));
  }

  @ParameterizedTest
  @EnumSource(value = Fault.class, names = {"CUT", "DEAF"})
  void restartedNodeJoinsDespiteNetworkOutage(Fault meanwhile) {
    try (var killed = network.connect("bank", "b")) {
      killed.create("fb.bank.node.b", new byte[0], LEASE);
      var joining = new CompletableFuture<Cluster>();
      var thread = Patience.startFiber(() -> Cluster.join("bank", (app, node) -> failing(network.connect(app, node)),
          options -> options.withNode("b").withLease(LEASE).withPartitions(8).withScope(scope)), joining);
      passAsleep(thread, LEASE.minusSeconds(2));
      fault = meanwhile;
      passAsleep(thread, Duration.ofSeconds(4));
      fault = Fault.NONE;
      passUntilDone(joining);

      assertTrue(Patience.value(joining).health().isAlive());
    }
  }

  /**
   * Drops an entry as a server does whose clock is set forward: it takes each entry with a lease
   * for expired.
   */
  private void serverDropsEntryOf(String node) {
    try (var server = network.connect("bank", "server")) {
      var entry = server.get("fb.bank.node." + node).orElseThrow();
      assertTrue(server.delete(entry.key(), entry.version()));
    }
  }

  @Test
  void nodeWithDroppedEntryKeepsPartitionsUntilLeaseExpires() {
    home(a);
    var b = join("b");
    var placed = home(b);
    pass(Duration.ofSeconds(10));
    var ofA = placed.actor(keyAt("a", placed));

    fault = Fault.CUT; // it does not learn of that, and answers until its lease is over
    serverDropsEntryOf("a");
    pass(TICK.multipliedBy(2));

    assertAnswers("a", ofA);
    assertEquals(2, b.members().size());
    pass(LEASE.minusSeconds(3).plus(TICK));
    assertEquals(Optional.empty(), answer(ofA)); // of neither, for two seconds
    pass(Duration.ofSeconds(3));
    Patience.eventually(() -> isAnsweredBy("b", ofA));
    assertEquals(1, b.members().size());
  }

  @Test
  void nodeWithDroppedEntryRejoinsAtNextHeartbeat() {
    home(a);
    var placed = join("asking").entities("place", Where.class);
    var place = placed.actor("x");
    assertAnswers("a", place);
    String life = a.self().id();

    serverDropsEntryOf("a");
    pass(LEASE.dividedBy(5));

    Patience.eventually(() -> isAnsweredBy("a", place));
    assertNotEquals(life, a.self().id());
  }

  @Test
  void nodeWithUnheardHeartbeatsIsNotDeclaredDead() {
    home(a);
    var b = Cluster.join("bank", (app, node) -> hearingLittle(network.connect(app, node)),
        options -> options.withNode("b").withLease(LEASE).withPartitions(8).withScope(scope));
    var placed = home(b);
    pass(Duration.ofSeconds(10));
    var ofA = placed.actor(keyAt("a", placed));
    String life = a.self().id();

    newsAreLost = true;
    pass(LEASE.multipliedBy(3));

    assertAnswers("a", ofA);
    assertEquals(life, a.self().id());
    assertEquals(2, b.members().size());
  }

  private ClusterTransport hearingLittle(ClusterTransport engine) {
    return Intercepted.of(ClusterTransport.class, engine, (method, given, call) -> method.getName().equals("watch")
        ? engine.watch((String) given[0], entry -> pass(entry, given[1]))
        : call.pass());
  }

  @SuppressWarnings("unchecked") // a reader of entries
  private void pass(ClusterTransport.Entry entry, Object reader) {
    if (!newsAreLost) ((Consumer<ClusterTransport.Entry>) reader).accept(entry);
  }

  /** It joins after the entry was dropped, and so has seen no heartbeat of the node. */
  @Test
  void lateJoinerWaitsForLeaseOfUnseenLife() {
    var ofA = home(a).actor("x");
    fault = Fault.CUT;
    serverDropsEntryOf("a");

    var b = join("b");
    var homes = CompletableFuture.supplyAsync(() -> home(b), Patience::startFiber);
    Patience.eventually(() -> b.members().stream().anyMatch(one -> one.hosts().contains("place")));
    pass(TICK.multipliedBy(2));

    assertAnswers("a", ofA);
    passUntilDone(homes);
    var place = Patience.value(homes).actor("x");
    pass(LEASE);
    Patience.eventually(() -> isAnsweredBy("b", place));
  }

  /** The monotonic clock of a suspended machine stops; its wall clock is right when it resumes. */
  @Test
  void suspendedNodeAnswersNothingWhenItResumes() {
    home(a);
    var place = join("asking").entities("place", Where.class).actor("x");
    assertAnswers("a", place);

    wrong = LEASE.minusSeconds(2); // so long it was suspended: no time has passed by the other clock

    assertEquals(Optional.empty(), answer(place));
    pass(Duration.ofSeconds(2));
    Patience.eventually(() -> isAnsweredBy("a", place));
  }

  private void passUntilDone(CompletableFuture<?> joining) {
    Patience.eventually(() -> {
      pass(TICK);
      return joining.isDone();
    });
  }

  /** Time passes while a thread looks again and again. */
  private void passAsleep(Thread thread, Duration time) {
    for (var left = time; left.isPositive(); left = left.minus(TICK)) {
      Patience.eventually(() -> clock.isAsleep(thread));
      pass(TICK);
    }
    Patience.eventually(() -> clock.isAsleep(thread));
  }
}
