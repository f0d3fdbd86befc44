package io.fibry.cluster;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.RequestException;
import io.fibry.cluster.Ledgers.Add;
import io.fibry.cluster.Ledgers.Message;
import io.fibry.cluster.Ledgers.Tell;
import io.fibry.pool.Entities;
import io.fibry.simulation.Simulation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Nodes at three servers join and leave, so that keys move. Meanwhile other nodes send messages and
 * requests through other servers. All messages must be handled once, and all requests answered.
 */
final class RoutesRound {
  /** How long a node forwards messages of a key that has moved. */
  static final Duration FORWARDING_TIME = Duration.ofMillis(300);
  private static final int SERVERS = 3;
  private static final int SENDERS = 3;
  private static final int KEYS = 12;
  private static final int PARTITIONS = 4;
  private static final int MOVES = 3;
  private static final int PAUSE = 80; // max ms between two messages of a sender
  // After this time all servers and nodes know each other
  private static final Duration SETTLE_TIME = Duration.ofSeconds(1);
  private static final Duration MAX_WAIT = Duration.ofMinutes(2);

  private interface Move {
    void run() throws InterruptedException;
  }

  private final class Host {
    private final Machine machine;
    private Cluster cluster; // null while the node joins, and after it has left

    Host(String name) {
      machine = network.add(simulation.node(name));
      machine.node().start("join", () -> {
        var joined = join(machine);
        joined.host("place", Message.class, machine.scope().anonymous(), Duration.ofMinutes(5),
            (builder, key) -> builder.newActor(RoutesRound.this::handle));
        return cluster = joined;
      });
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
  private final RemoteNetwork network;
  private final List<Host> hosts = new ArrayList<>(); // in the order of their start
  private final Map<Long, Integer> handled = new HashMap<>(); // counts by id
  private final List<String> errors = new ArrayList<>();
  private int startedHosts;
  private int activeSenders; // senders that have not ended
  private long lastId; // the id of the last message
  private boolean isOver;

  /** @param maxDelay the time after which a server knows a new subscription at another server */
  RoutesRound(Simulation simulation, Duration maxDelay) {
    this.simulation = simulation;
    this.random = simulation.random().split();
    this.network = new RemoteNetwork(random.split(), simulation.scope().openScope("servers"), true);
    network.addServers(SERVERS - 1, (int) maxDelay.toMillis());
  }

  private Cluster join(Machine machine) {
    return Cluster.join("simulated", network, options -> options.withNode(machine.name()).withPartitions(PARTITIONS)
        .withLease(Duration.ofSeconds(30)).withSettleTime(FORWARDING_TIME)
        .withScope(machine.scope().openScope("program")));
  }

  private void start() throws InterruptedException {
    var host = new Host("n" + ++startedHosts);
    hosts.add(host);
    simulation.assertEventually("the host has joined", MAX_WAIT, () -> host.cluster != null);
  }

  private void handle(Message message, ActorContext<Message> context) {
    switch (message) {
      case Add add -> {
        handled.merge(add.id(), 1, Integer::sum);
        context.reply(add, add.id());
      }
      case Tell tell -> handled.merge(tell.id(), 1, Integer::sum);
      default -> throw new IllegalStateException(message + " is not for these actors");
    }
  }

  /**
   * {@return descriptions of the broken promises, after nodes joined and left at random moments}
   */
  List<String> play() throws InterruptedException {
    return play(() -> {
      Thread.sleep(random.nextInt(1_000));
      if (hosts.size() < 2 || (hosts.size() == 2 && random.nextBoolean())) start();
      else leave(hosts.remove(random.nextInt(hosts.size())));
    });
  }

  /**
   * {@return descriptions of the broken promises, after nodes left as soon as others had joined}
   */
  List<String> playExchanges() throws InterruptedException {
    return play(() -> {
      Thread.sleep(random.nextInt(1_000));
      start();
      leave(hosts.removeFirst());
    });
  }

  private List<String> play(Move move) throws InterruptedException {
    start();
    start();
    var fronts = new ArrayList<Cluster>();
    for (int i = 0; i < SENDERS; i++) fronts.add(join(network.add(simulation.node("front" + i))));
    Thread.sleep(SETTLE_TIME);
    for (int i = 0; i < SENDERS; i++) {
      var front = fronts.get(i);
      var senderRandom = random.split();
      activeSenders++;
      simulation.client("sender" + i, () -> send(front.entities("place", Message.class), senderRandom));
    }
    for (int i = 0; i < MOVES; i++) move.run();
    isOver = true;
    simulation.assertEventually("the senders have ended", MAX_WAIT, () -> activeSenders == 0);
    fronts.forEach(Cluster::close); // after their messages have arrived
    for (var host : List.copyOf(hosts)) leave(host); // after all arrived messages are handled
    for (long id = 1; id <= lastId; id++) {
      int times = handled.getOrDefault(id, 0);
      if (times != 1) errors.add(id + " was handled " + times + " times");
    }
    return errors;
  }

  private void leave(Host host) throws InterruptedException {
    host.leave();
    simulation.assertEventually("the host has left", MAX_WAIT, () -> host.cluster == null);
  }

  /** Sends messages until the round is over; one message in four is not a request. */
  private Object send(Entities<String, Message> entities, SplittableRandom senderRandom) throws InterruptedException {
    while (!isOver) {
      Actor<Message> actor = entities.actor("k" + senderRandom.nextInt(KEYS));
      long id = ++lastId;
      if (senderRandom.nextInt(4) == 0) actor.sendMessage(new Tell(id));
      else try {
        actor.ask(new Add(id));
      } catch (RequestException | RemoteFailureException failure) {
        errors.add(id + ": " + failure.getMessage());
      }
      Thread.sleep(senderRandom.nextInt(PAUSE));
    }
    return --activeSenders;
  }
}
