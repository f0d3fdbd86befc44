package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.cluster.History.End;
import io.fibry.cluster.Ledgers.Add;
import io.fibry.cluster.Ledgers.All;
import io.fibry.cluster.Ledgers.Message;
import io.fibry.cluster.Ledgers.Move;
import io.fibry.cluster.Ledgers.Read;
import io.fibry.cluster.Ledgers.Tell;
import io.fibry.cluster.RemoteNetwork.Odds;
import io.fibry.pool.Entities;
import io.fibry.simulation.Simulation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/**
 * Three nodes that have {@link Ledgers}, and a fourth that sends to them on a bad network, while
 * they crash, are paused, leave and are cut off. Then the network heals, and every ledger must
 * answer. In one round of three they only leave and come, so keys only move, and nothing may be
 * lost.
 */
final class ClusterRound {
  private static final int NODES = 3;
  private static final int KEYS = 6;
  private static final int KEYS_THAT_MOVE = 2; // fewer keys, so that several messages to one key are in the network
  private static final int SENDS = 150;
  private static final int PAUSE = 200; // ms between two of them, at most
  private static final Duration LIMIT = Duration.ofSeconds(4); // of a request
  private static final Duration STANDS = Duration.ofSeconds(6); // a thread, in the midst of a turn, say
  private static final Duration LEASE = Duration.ofSeconds(3);
  private static final Duration LONG_LEASE = Duration.ofSeconds(30); // its signs take most of a quiet round
  private static final Duration HEALING = Duration.ofSeconds(12); // pauses end, leases are over, parts have moved
  // For so long homes recognize duplicates by their ids
  private static final Duration FORGETTING = Duration.ofSeconds(11);
  private static final Duration MOVING = Duration.ofSeconds(5);
  private static final Duration LOOKING = Duration.ofSeconds(65); // homes look once a minute at what waits at the store
  private static final Duration LONG = Duration.ofMinutes(2);

  /** A machine, and what runs on it. */
  private final class Home {
    private final Machine machine;
    private Cluster cluster; // null: it is joining
    private boolean left;

    Home(String name) {
      this.machine = machine(name, options -> onlyMoves ? options : options.withDeadLetters(history::diedAtHome));
      machine.node().start("join", () -> {
        while (cluster == null) join();
        return null;
      });
    }

    /** Tries as often as necessary. */
    private void join() throws InterruptedException {
      Cluster joined = null;
      try {
        joined = ClusterRound.this.join(machine);
        new Ledgers(machine.name(), history).begin(joined, machine.scope());
        cluster = joined;
      } catch (TransportException | IllegalStateException | RequestException failed) {
        if (joined != null) joined.close();
        Thread.sleep(1_000);
      }
    }

    void leave() {
      machine.node().start("leave", () -> {
        while (cluster == null) Thread.sleep(100);
        cluster.close();
        machine.scope().close();
        left = true;
        return null;
      });
    }
  }

  private final Simulation simulation;
  private final SplittableRandom random;
  private final boolean onlyMoves;
  private final int keys;
  private final RemoteNetwork network;
  private final History history = new History();
  private final Machine front;
  private final List<Home> homes = new ArrayList<>();
  private final List<long[]> transfers = new ArrayList<>(); // a turn, and the message that it sends
  private Entities<String, Message> plain;
  private Entities<String, Message> kept;
  private Actor<Message> named;
  private int started;
  private int open; // senders that wait until their message is stored
  private long ids;

  ClusterRound(Simulation simulation) {
    this.simulation = simulation;
    this.random = simulation.random().split();
    this.onlyMoves = random.nextInt(3) == 0;
    this.keys = onlyMoves ? KEYS_THAT_MOVE : KEYS;
    this.network = new RemoteNetwork(random.split(), simulation.scope().openScope("servers"), random.nextBoolean());
    this.front = machine("front", options -> options.withDeadLetters(history::died));
  }

  private Machine machine(String name, UnaryOperator<ActorScope.Options> options) {
    var node = simulation.node(name);
    return network.add(new Machine(node, node.openScope(name).openScope("program", options)));
  }

  private Cluster join(Machine machine) {
    return Cluster.join("simulated", network, options -> options.withNode(machine.name()).withPartitions(4)
        .withLease(onlyMoves ? LONG_LEASE : LEASE).withSettleTime(Duration.ofMillis(300)).withScope(machine.scope())
        .withAskLimit(LIMIT));
  }

  private void start() {
    homes.add(new Home("n" + ++started));
  }

  void play() throws InterruptedException {
    for (int i = 0; i < NODES; i++) start();
    var sender = join(front);
    plain = sender.entities("plain", Message.class);
    kept = sender.entities(Ledgers.KEPT);
    named = sender.actor("named", Message.class);
    simulation.assertEventually("all have joined", LONG, () -> homes.stream().allMatch(home -> home.cluster != null));

    begin();
    int disturbances = (1 + random.nextInt(5)) * (onlyMoves ? 2 : 1);
    int sends = onlyMoves ? 2 * SENDS : SENDS;
    for (int i = 0; i < sends; i++) {
      send();
      if (random.nextInt(sends) < disturbances) disturb();
      if (random.nextBoolean()) Thread.sleep(random.nextInt(onlyMoves ? PAUSE / 4 : PAUSE));
    }
    network.heal();
    simulation.faults().stop();
    Thread.sleep(onlyMoves ? MOVING : HEALING);
    simulation.assertEventually("all have an end", LONG, () -> open == 0);
    if (areMissing()) Thread.sleep(LOOKING);
    check();
    end(List.copyOf(homes));
    sender.close();
  }

  /** Each leaves what the others have, or all crash, which takes less time. */
  private void end(List<Home> all) throws InterruptedException {
    boolean leave = random.nextInt(4) == 0;
    for (var home : all)
      if (leave) home.leave();
      else home.machine.crash();
    if (leave) simulation.assertEventually("all have left", LONG, () -> all.stream().allMatch(home -> home.left));
  }

  private void begin() throws InterruptedException {
    if (onlyMoves) return;
    if (random.nextBoolean()) Thread.sleep(FORGETTING);
    network.become(Odds.any(random));
    simulation.faults().withDelays(0.001, STANDS);
  }

  private void disturb() {
    var some = homes.get(random.nextInt(homes.size()));
    var time = Duration.ofMillis(50 + random.nextInt(6_000));
    switch (onlyMoves ? random.nextInt(2) : random.nextInt(7)) {
      case 0 -> {
        homes.remove(some);
        some.leave();
        start();
      }
      case 1 -> start();
      case 2 -> {
        homes.remove(some);
        some.machine.crash();
        history.crashed(some.machine.name());
        start();
      }
      case 3 -> some.machine.pause(time);
      case 4 -> some.machine.cut(time);
      case 5 -> front.pause(time.dividedBy(3));
      default -> front.cut(time.dividedBy(3));
    }
  }

  // ---- messages

  private void send() {
    String key = "k" + random.nextInt(keys);
    long id = ++ids;
    switch (random.nextInt(8)) {
      case 0 -> ask(id, "plain Add to " + key, "", plain.actor(key), new Add(id));
      case 1 -> tell(id, "plain Tell to " + key, plain.actor(key));
      case 2 -> ask(id, "plain Add to named", "", named, new Add(id));
      case 3 -> tell(id, "plain Tell to named", named);
      case 4 -> ask(id, "kept Add to " + key, key, kept.actor(key), new Add(id));
      case 5 -> keep(id, "kept Tell to " + key, kept.actor(key));
      case 6 -> {
        long other = ++ids;
        String to = "k" + random.nextInt(keys);
        transfers.add(new long[] {id, other});
        ask(id, "kept Move from " + key + " to " + to, key, kept.actor(key), new Move(id, to, other));
      }
      default -> ask(0, "kept Read of " + key, key, kept.actor(key), new Read());
    }
  }

  private <Q extends Message> void ask(long id, String what, String key, Actor<Message> actor,
      Request<Q, Long> request) {
    if (id != 0) history.sent(id, what);
    long begun = System.nanoTime();
    open++;
    actor.sendMessageReturn(request, LIMIT).whenComplete((count, failure) -> {
      open--;
      if (failure == null && !key.isEmpty()) history.answered(id, key, begun, System.nanoTime(), count);
      if (id != 0) history.ended(id, failure == null ? End.DONE : History.end(failure));
    });
  }

  private void tell(long id, String what, Actor<Message> actor) {
    history.sent(id, what);
    history.ended(id, End.DONE); // until it is a dead letter
    if (!actor.sendMessage(new Tell(id))) history.died(id, End.UNKNOWN);
  }

  private void keep(long id, String what, Actor<Message> actor) {
    history.sent(id, what);
    open++;
    simulation.client("keeps", () -> {
      history.ended(id, actor.sendMessage(new Tell(id)) ? End.DONE : End.UNKNOWN);
      open--;
      return null;
    });
  }

  // ---- what must hold

  private Map<String, List<Long>> ledgers() {
    var ledgers = new HashMap<String, List<Long>>();
    for (int i = 0; i < keys; i++) ledgers.put("k" + i, kept.actor("k" + i).ask(new All(), LIMIT).ids());
    return ledgers;
  }

  private static Set<Long> ids(Map<String, List<Long>> ledgers) {
    return ledgers.values().stream().flatMap(List::stream).collect(Collectors.toSet());
  }

  private boolean areMissing() {
    var stored = ids(ledgers());
    return transfers.stream().anyMatch(one -> stored.contains(one[0]) && !stored.contains(one[1]));
  }

  private void check() {
    var ledgers = ledgers();
    for (var key : ledgers.keySet()) plain.actor(key).ask(new Read(), LIMIT);
    history.checkPlain();
    history.checkDurable(ledgers);
    history.checkOrder();
    var stored = ids(ledgers);
    for (var one : transfers) history.checkTransfer(one[0], one[1], stored);
    if (onlyMoves) history.checkMoves(stored);
    assertEquals(List.of(), history.faults());
  }
}
