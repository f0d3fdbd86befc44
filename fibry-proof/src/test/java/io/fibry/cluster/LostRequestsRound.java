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
 * Sends requests whose handlers may take longer than a lease, and whose limits are an hour. Nodes
 * join and leave meanwhile, so that keys move. In two thirds of the rounds nodes also crash or are
 * cut off, and messages are lost. No request may wait for its limit. In the rounds without these
 * faults, no request may be lost either.
 */
final class LostRequestsRound {
  record Work(long id, long millis) implements Request<Work, Long> {}

  private static final int KEYS = 12;
  private static final int PARTITIONS = 4;
  private static final int REQUESTS = 40;
  private static final int PAUSE = 1_000; // max ms between two requests
  private static final int WORK_TIME = 5_000; // max ms that a request takes
  private static final int MOVES = 4;
  private static final Duration LEASE = Duration.ofSeconds(3);
  // Delay of a keep-alive or an answer on a slow network
  private static final Duration NETWORK_DELAY = Duration.ofSeconds(1);
  private static final Duration LIMIT = Duration.ofHours(1);
  // Long, because the requests to one key are handled one after the other
  private static final Duration MAX_WAIT = Duration.ofMinutes(2);

  private final class Host {
    private final Machine machine;
    private Cluster cluster; // null while the node joins, and after it has left

    Host(String name) {
      machine = network.add(simulation.node(name));
      machine.node().start("join", () -> {
        while (cluster == null) join();
        return cluster;
      });
    }

    /** Joins the cluster; called again until it succeeds. */
    private void join() throws InterruptedException {
      Cluster joined = null;
      try {
        joined = LostRequestsRound.this.join(machine);
        joined.host("place", Work.class, machine.scope().anonymous(), Duration.ofHours(1),
            (builder, key) -> builder.newActor((Work work, ActorContext<Work> context) -> {
              handlers.put(work.id(), this);
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
  private final List<Host> hosts = new ArrayList<>();
  private final Map<Long, Host> handlers = new HashMap<>(); // the host that handled a request last, by id
  private final Map<Long, Long> deadlines = new HashMap<>(); // latest ends of requests whose host has crashed, by id
  private final Map<Long, Long> endTimes = new HashMap<>(); // by id
  private final List<String> errors = new ArrayList<>();
  private int startedHosts;
  private boolean areAllSent; // whether all requests were sent

  LostRequestsRound(Simulation simulation) {
    this.simulation = simulation;
    this.random = simulation.random().split();
    this.onlyMoves = random.nextInt(3) == 0;
    this.network = new RemoteNetwork(random.split(), simulation.scope().openScope("servers"), true);
  }

  private Cluster join(Machine machine) {
    return Cluster.join("simulated", network, options -> options.withNode(machine.name()).withPartitions(PARTITIONS)
        .withLease(LEASE).withSettleTime(Duration.ofMillis(300)).withScope(machine.scope().openScope("program")));
  }

  private void start() throws InterruptedException {
    var host = new Host("n" + ++startedHosts);
    hosts.add(host);
    simulation.assertEventually("the host has joined", MAX_WAIT, () -> host.cluster != null);
  }

  /** {@return descriptions of the broken promises} */
  List<String> play() throws InterruptedException {
    start();
    start();
    var front = join(network.add(simulation.node("front")));
    var entities = front.entities("place", Work.class);
    simulation.assertEventually("the asking node knows both hosts", MAX_WAIT, () -> front.members().size() == 3);
    var askerRandom = random.split();
    simulation.client("asker", () -> ask(entities, askerRandom));
    if (!onlyMoves) network.setOdds(new Odds(random.nextInt(10), random.nextInt(20), 0));
    for (int i = 0; i < MOVES; i++) {
      Thread.sleep(random.nextInt(REQUESTS * PAUSE / 2 / MOVES));
      disturb();
    }
    simulation.assertEventually("all requests were sent", MAX_WAIT, () -> areAllSent);
    network.heal();
    simulation.assertEventually("all requests have ended", MAX_WAIT, () -> endTimes.size() == REQUESTS);
    deadlines.forEach((id, time) -> {
      if (endTimes.get(id) - time > 0)
        errors.add(id + " ended " + (endTimes.get(id) - time) / 1_000_000 + " ms too late");
    });
    for (var host : hosts) host.machine.crash();
    front.close();
    return errors;
  }

  private void disturb() throws InterruptedException {
    if (hosts.size() < 3) {
      start();
      return;
    }
    var disturbedHost = hosts.get(random.nextInt(hosts.size()));
    switch (onlyMoves ? 0 : random.nextInt(3)) {
      case 0 -> {
        hosts.remove(disturbedHost);
        disturbedHost.leave();
        simulation.assertEventually("the host has left", MAX_WAIT, () -> disturbedHost.cluster == null);
      }
      case 1 -> {
        hosts.remove(disturbedHost);
        disturbedHost.machine.crash();
        long end = System.nanoTime() + LEASE.plus(NETWORK_DELAY).toNanos();
        handlers.forEach((id, host) -> {
          if (host == disturbedHost && !endTimes.containsKey(id)) deadlines.put(id, end);
        });
      }
      default -> disturbedHost.machine.cut(Duration.ofMillis(random.nextInt(2 * (int) LEASE.toMillis())));
    }
  }

  private Object ask(Entities<String, Work> entities, SplittableRandom askerRandom) throws InterruptedException {
    for (long i = 1; i <= REQUESTS; i++) {
      long id = i;
      entities.actor("k" + askerRandom.nextInt(KEYS))
          .sendMessageReturn(new Work(id, askerRandom.nextInt(WORK_TIME)), LIMIT)
          .whenComplete((result, failure) -> {
            endTimes.put(id, System.nanoTime());
            if (failure != null && !mayFail(failure)) errors.add(id + ": " + failure);
          });
      Thread.sleep(askerRandom.nextInt(PAUSE));
    }
    return areAllSent = true;
  }

  /**
   * Returns whether a request may fail with this exception. A host that gives its keys away handles
   * waiting requests for at most ten seconds, and then ends its actors.
   */
  private boolean mayFail(Throwable failure) {
    return failure instanceof ActorStoppedException || failure instanceof RemoteFailureException
        || !onlyMoves && failure instanceof UnavailableException;
  }
}
