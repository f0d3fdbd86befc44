package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorContext;
import io.fibry.Request;
import io.fibry.pool.Entities;
import io.fibry.simulation.SimulatedNode;
import io.fibry.simulation.Simulation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Collectors;

/**
 * Cuts one of three owners off for hours, so that the servers forget what happened during the cut.
 * Meanwhile another owner leaves, or crashes and perhaps joins again under its name at once, and a
 * new owner joins. After the cut all nodes must have the same members, and each key must have one
 * living owner.
 */
final class LongCutRound {
  private static final int OWNERS = 3;
  private static final int KEYS = 12;
  private static final int PARTITIONS = 8;
  private static final Duration LEASE = Duration.ofMinutes(1); // a shorter lease fills the hours with heartbeats
  private static final Duration SETTLE_TIME = Duration.ofMillis(300);
  private static final Duration LIMIT = Duration.ofMinutes(5); // of a request, longer than a takeover
  private static final Duration MAX_WAIT = LEASE.multipliedBy(4);

  /** Asks for the name of the node that has the entity. */
  record WhereRequest() implements Request<WhereRequest, String> {}

  private final class Owner {
    private final Machine machine;
    private Cluster cluster; // null until the owner has joined
    private Entities<String, WhereRequest> entities;
    private boolean hasLeft;

    Owner(SimulatedNode node) {
      machine = network.add(node);
      machine.node().start("join", () -> {
        var joined = LongCutRound.this.join(machine);
        entities = joined.host("place", WhereRequest.class, machine.scope().anonymous(), Duration.ofHours(9),
            (builder, key) -> builder.newActor(
                (WhereRequest where, ActorContext<WhereRequest> context) -> context.reply(where, machine.name())));
        return cluster = joined;
      });
    }

    void leave() {
      machine.node().start("leave", () -> {
        cluster.close();
        return hasLeft = true;
      });
    }
  }

  private final Simulation simulation;
  private final SplittableRandom random;
  private final RemoteNetwork network;
  private final List<Owner> owners = new ArrayList<>();
  private int startedOwners;

  LongCutRound(Simulation simulation) {
    this.simulation = simulation;
    this.random = simulation.random().split();
    this.network = new RemoteNetwork(random.split(), simulation.scope().openScope("servers"), random.nextBoolean());
  }

  private Cluster join(Machine machine) {
    return Cluster.join("simulated", network, options -> options.withNode(machine.name()).withPartitions(PARTITIONS)
        .withLease(LEASE).withSettleTime(SETTLE_TIME).withScope(machine.scope().openScope("program")));
  }

  private void start() throws InterruptedException {
    start(simulation.node("n" + ++startedOwners));
  }

  private void start(SimulatedNode node) throws InterruptedException {
    var owner = new Owner(node);
    owners.add(owner);
    simulation.assertEventually("the owner has joined", MAX_WAIT, () -> owner.cluster != null);
  }

  void play() throws InterruptedException {
    for (int i = 0; i < OWNERS; i++) start();
    var front = join(network.add(simulation.node("front")));
    var entities = front.entities("place", WhereRequest.class);
    awaitMembers(front);
    assertOwnersAreAlive(ownersByKey(entities));

    var cutOwner = owners.remove(random.nextInt(OWNERS));
    var cut = Duration.ofHours(1 + random.nextInt(3)).plusMinutes(random.nextInt(1, 60));
    cutOwner.machine.cut(cut);
    for (int events = 1 + random.nextInt(2); events > 0; events--) {
      Thread.sleep(Duration.ofMinutes(random.nextInt(20)));
      var endedOwner = endOneOwner();
      if (endedOwner.machine.isCrashed() && random.nextBoolean()) start(endedOwner.machine.node().restart());
      else if (random.nextBoolean()) start();
    }
    awaitMembers(front);
    assertOwnersAreAlive(ownersByKey(entities));
    assertFalse(cutOwner.cluster.health().isAlive());

    Thread.sleep(cut);
    owners.add(cutOwner);
    awaitMembers(front);
    for (var owner : owners) awaitMembers(owner.cluster);
    Thread.sleep(LEASE);
    var after = ownersByKey(entities);
    assertOwnersAreAlive(after);
    for (var owner : owners) assertEquals(after, ownersByKey(owner.entities), owner.machine.name());

    for (var owner : owners) owner.machine.crash();
    front.close();
  }

  private Owner endOneOwner() throws InterruptedException {
    var owner = owners.remove(random.nextInt(owners.size()));
    if (owners.isEmpty()) start();
    if (random.nextBoolean()) owner.machine.crash();
    else {
      owner.leave();
      simulation.assertEventually("the owner has left", MAX_WAIT, () -> owner.hasLeft);
    }
    return owner;
  }

  private Set<String> names() {
    return owners.stream().map(owner -> owner.machine.name()).collect(Collectors.toSet());
  }

  /** Waits until the node knows the living owners, and no other owner. */
  private void awaitMembers(Cluster cluster) throws InterruptedException {
    var expected = new HashSet<>(names());
    expected.add("front");
    simulation.assertEventually("members are " + expected, MAX_WAIT,
        () -> cluster.members().stream().map(Cluster.Member::name).collect(Collectors.toSet()).equals(expected));
  }

  private void assertOwnersAreAlive(Map<String, String> ownersByKey) {
    assertTrue(names().containsAll(ownersByKey.values()), () -> ownersByKey + " with nodes " + names());
  }

  private static Map<String, String> ownersByKey(Entities<String, WhereRequest> entities) {
    var owners = new HashMap<String, String>();
    for (int i = 0; i < KEYS; i++) owners.put("k" + i, entities.actor("k" + i).ask(new WhereRequest(), LIMIT));
    return owners;
  }
}
