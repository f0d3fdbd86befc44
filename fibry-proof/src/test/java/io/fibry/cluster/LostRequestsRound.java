package io.fibry.cluster;

import io.fibry.ActorContext;
import io.fibry.ActorStoppedException;
import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.cluster.RemoteNetwork.Odds;
import io.fibry.pool.Entities;
import io.fibry.simulation.Simulation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Requests whose handlers take longer than a lease, and whose limits are far longer. Nodes join and
 * leave meanwhile, so that keys move. In two rounds of three nodes also crash or are cut off, and
 * messages are lost. No request waits for its limit; in the other rounds none is lost, either.
 */
final class LostRequestsRound {
  record Work(long id, long millis) implements Request<Work, Long> {}

  private static final int KEYS = 12;
  private static final int PARTS = 4;
  private static final int REQUESTS = 40;
  private static final int PAUSE = 1_000; // ms between two of them, at most
  private static final int WORK = 5_000; // ms, at most
  private static final int MOVES = 4;
  private static final Duration LEASE = Duration.ofSeconds(3);
  private static final Duration DELAYS = Duration.ofSeconds(1); // of a claim or an answer, on a slow network
  private static final Duration LIMIT = Duration.ofHours(1);
  private static final Duration LONG = Duration.ofMinutes(2); // requests to one key wait for each other

  private final class Home {
    private final Machine machine;
    private Cluster cluster; // null: it is joining, or has left

    Home(String name) {
      machine = machine(name);
      machine.node().start("join", () -> {
        while (cluster == null) join();
        return cluster;
      });
    }

    /** Tries as often as necessary. */
    private void join() throws InterruptedException {
      Cluster joined = null;
      try {
        joined = LostRequestsRound.this.join(machine);
        joined.host("place", Work.class, machine.scope().anonymous(), Duration.ofHours(1),
            (builder, key) -> builder.newActor((Work work, ActorContext<Work> context) -> {
              begun.put(work.id(), this);
              Thread.sleep(work.millis());
              context.reply(work, work.id());
            }));
        cluster = joined;
      } catch (TransportException | IllegalStateException | RequestException failed) {
        if (joined != null) joined.close();
        Thread.sleep(1_000);
      }
    }

    void leave() {
      machine.node().start("leave", () -> {
        cluster.close();
        return cluster = null;
      });
    }
  }

  private final Simulation simulation;
  private final SplittableRandom random;
  private final boolean onlyMoves;
  private final RemoteNetwork network;
  private final List<Home> homes = new ArrayList<>();
  private final Map<Long, Home> begun = new HashMap<>(); // where a request was last handled, by id
  private final Map<Long, Long> mustEnd = new HashMap<>(); // its home has crashed
  private final Map<Long, Long> ended = new HashMap<>(); // when; by id
  private final List<String> faults = new ArrayList<>();
  private int started;
  private boolean sent; // all

  LostRequestsRound(Simulation simulation) {
    this.simulation = simulation;
    this.random = simulation.random().split();
    this.onlyMoves = random.nextInt(3) == 0;
    this.network = new RemoteNetwork(random.split(), simulation.scope().openScope("servers"), true);
  }

  private Machine machine(String name) {
    var node = simulation.node(name);
    return network.add(new Machine(node, node.openScope(name)));
  }

  private Cluster join(Machine machine) {
    return Cluster.join("simulated", network, options -> options.withNode(machine.name()).withPartitions(PARTS)
        .withLease(LEASE).withSettleTime(Duration.ofMillis(300)).withScope(machine.scope().openScope("program")));
  }

  private void start() throws InterruptedException {
    var home = new Home("n" + ++started);
    homes.add(home);
    simulation.assertEventually("it has joined", LONG, () -> home.cluster != null);
  }

  /** {@return the broken promises} */
  List<String> play() throws InterruptedException {
    start();
    start();
    var front = join(machine("front"));
    var places = front.entities("place", Work.class);
    simulation.assertEventually("it knows the homes", LONG, () -> front.members().size() == 3);
    var own = random.split();
    simulation.client("asker", () -> ask(places, own));
    if (!onlyMoves) network.become(new Odds(random.nextInt(10), random.nextInt(20), 0));
    for (int i = 0; i < MOVES; i++) {
      Thread.sleep(random.nextInt(REQUESTS * PAUSE / 2 / MOVES));
      disturb();
    }
    simulation.assertEventually("all is sent", LONG, () -> sent);
    network.heal();
    simulation.assertEventually("all requests have an end", LONG, () -> ended.size() == REQUESTS);
    mustEnd.forEach((id, time) -> {
      if (ended.get(id) - time > 0) faults.add(id + " ended " + (ended.get(id) - time) / 1_000_000 + " ms too late");
    });
    for (var home : homes) home.machine.crash();
    front.close();
    return faults;
  }

  private void disturb() throws InterruptedException {
    if (homes.size() < 3) {
      start();
      return;
    }
    var some = homes.get(random.nextInt(homes.size()));
    switch (onlyMoves ? 0 : random.nextInt(3)) {
      case 0 -> {
        homes.remove(some);
        some.leave();
        simulation.assertEventually("it has left", LONG, () -> some.cluster == null);
      }
      case 1 -> {
        homes.remove(some);
        some.machine.crash();
        long end = System.nanoTime() + LEASE.plus(DELAYS).toNanos();
        begun.forEach((id, home) -> {
          if (home == some && !ended.containsKey(id)) mustEnd.put(id, end);
        });
      }
      default -> some.machine.cut(Duration.ofMillis(random.nextInt(2 * (int) LEASE.toMillis())));
    }
  }

  private Object ask(Entities<String, Work> places, SplittableRandom own) throws InterruptedException {
    for (long i = 1; i <= REQUESTS; i++) {
      long id = i;
      places.actor("k" + own.nextInt(KEYS)).sendMessageReturn(new Work(id, own.nextInt(WORK)), LIMIT)
          .whenComplete((same, failure) -> {
            ended.put(id, System.nanoTime());
            if (failure != null && !mayFail(failure)) faults.add(id + ": " + failure);
          });
      Thread.sleep(own.nextInt(PAUSE));
    }
    return sent = true;
  }

  /** A home that gives its keys away has ten seconds for what waits, and then ends its actors. */
  private boolean mayFail(Throwable failure) {
    return failure instanceof ActorStoppedException || failure instanceof RemoteFailureException
        || !onlyMoves && failure instanceof UnreachableException;
  }
}
