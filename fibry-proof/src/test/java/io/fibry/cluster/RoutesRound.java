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
 * Nodes at three servers join and leave, so that keys move, while others ask and tell by other
 * servers. All messages are handled, once, and all requests are answered.
 */
final class RoutesRound {
  static final Duration CALM = Duration.ofMillis(300); // a node passes messages on for so long
  private static final int SERVERS = 3;
  private static final int SENDERS = 3;
  private static final int KEYS = 12;
  private static final int PARTS = 4;
  private static final int MOVES = 3;
  private static final int PAUSE = 80; // ms between two messages of a sender, at most
  private static final Duration SETTLING = Duration.ofSeconds(1); // all servers and nodes know each other
  private static final Duration LONG = Duration.ofMinutes(2);

  private interface Move {
    void run() throws InterruptedException;
  }

  private final class Home {
    private final Machine machine;
    private Cluster cluster; // null: it is joining, or has left

    Home(String name) {
      machine = machine(name);
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
  private final List<Home> homes = new ArrayList<>(); // the oldest first
  private final Map<Long, Integer> handled = new HashMap<>(); // how often, by id
  private final List<String> faults = new ArrayList<>();
  private int started;
  private int sending; // senders that have not ended
  private long sent; // the last id
  private boolean over;

  /** @param latest a server knows after this time what is subscribed at another one */
  RoutesRound(Simulation simulation, Duration latest) {
    this.simulation = simulation;
    this.random = simulation.random().split();
    this.network = new RemoteNetwork(random.split(), simulation.scope().openScope("servers"), true);
    network.addServers(SERVERS - 1, (int) latest.toMillis());
  }

  private Machine machine(String name) {
    var node = simulation.node(name);
    return network.add(new Machine(node, node.openScope(name)));
  }

  private Cluster join(Machine machine) {
    return Cluster.join("simulated", network, options -> options.withNode(machine.name()).withPartitions(PARTS)
        .withLease(Duration.ofSeconds(30)).withSettleTime(CALM).withScope(machine.scope().openScope("program")));
  }

  private void start() throws InterruptedException {
    var home = new Home("n" + ++started);
    homes.add(home);
    simulation.assertEventually("it has joined", LONG, () -> home.cluster != null);
  }

  private void handle(Message message, ActorContext<Message> context) {
    switch (message) {
      case Add add -> {
        handled.merge(add.id(), 1, Integer::sum);
        context.reply(add, add.id());
      }
      case Tell tell -> handled.merge(tell.id(), 1, Integer::sum);
      default -> throw new IllegalStateException(message + " is for others");
    }
  }

  /** {@return the broken promises, after nodes joined and left at random moments} */
  List<String> play() throws InterruptedException {
    return play(() -> {
      Thread.sleep(random.nextInt(1_000));
      if (homes.size() < 2 || (homes.size() == 2 && random.nextBoolean())) start();
      else leave(homes.remove(random.nextInt(homes.size())));
    });
  }

  /** {@return the broken promises, after nodes left as soon as others had joined} */
  List<String> playExchanges() throws InterruptedException {
    return play(() -> {
      Thread.sleep(random.nextInt(1_000));
      start();
      leave(homes.removeFirst());
    });
  }

  private List<String> play(Move move) throws InterruptedException {
    start();
    start();
    var fronts = new ArrayList<Cluster>();
    for (int i = 0; i < SENDERS; i++) fronts.add(join(machine("front" + i)));
    Thread.sleep(SETTLING);
    for (int i = 0; i < SENDERS; i++) {
      var front = fronts.get(i);
      var own = random.split();
      sending++;
      simulation.client("sender" + i, () -> send(front.entities("place", Message.class), own));
    }
    for (int i = 0; i < MOVES; i++) move.run();
    over = true;
    simulation.assertEventually("the senders have ended", LONG, () -> sending == 0);
    fronts.forEach(Cluster::close); // after what they sent has arrived
    for (var home : List.copyOf(homes)) leave(home); // after what has arrived is handled
    for (long id = 1; id <= sent; id++) {
      int times = handled.getOrDefault(id, 0);
      if (times != 1) faults.add(id + " was handled " + times + " times");
    }
    return faults;
  }

  private void leave(Home home) throws InterruptedException {
    home.leave();
    simulation.assertEventually("it has left", LONG, () -> home.cluster == null);
  }

  /** One message in four is not answered. */
  private Object send(Entities<String, Message> places, SplittableRandom own) throws InterruptedException {
    while (!over) {
      Actor<Message> place = places.actor("k" + own.nextInt(KEYS));
      long id = ++sent;
      if (own.nextInt(4) == 0) place.sendMessage(new Tell(id));
      else try {
        place.ask(new Add(id));
      } catch (RequestException | RemoteFailureException failure) {
        faults.add(id + ": " + failure.getMessage());
      }
      Thread.sleep(own.nextInt(PAUSE));
    }
    return --sending;
  }
}
