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
 * Three nodes host {@link Ledgers}, and a fourth node sends messages to these on a bad network,
 * while nodes crash, are paused, leave and are cut off. The network heals at the end, and every
 * ledger must answer. In a third of the rounds nodes only leave and join: then keys only move, and
 * no message may be lost.
 */
final class ClusterRound {
  private static final int NODES = 3;
  private static final int KEYS = 6;
  private static final int MOVING_KEYS = 2; // several messages to the same key must be in flight
  private static final int SENDS = 150;
  private static final int PAUSE = 200; // max ms between two sends
  private static final Duration LIMIT = Duration.ofSeconds(4); // of a request
  // Max delay of a thread, also in the middle of a turn
  private static final Duration THREAD_DELAY = Duration.ofSeconds(6);
  private static final Duration LEASE = Duration.ofSeconds(3);
  // For rounds in which keys only move: shorter leases would cause many heartbeats
  private static final Duration LONG_LEASE = Duration.ofSeconds(30);
  // Wait after the network heals: until pauses and leases have ended, and partitions have moved
  private static final Duration HEALING_TIME = Duration.ofSeconds(12);
  // How long owners recognize duplicates by their ids
  private static final Duration DUPLICATE_LIMIT = Duration.ofSeconds(11);
  private static final Duration MOVE_TIME = Duration.ofSeconds(5);
  // Longer than the minute between two checks of the store by couriers
  private static final Duration COURIER_WAIT = Duration.ofSeconds(65);
  private static final Duration MAX_WAIT = Duration.ofMinutes(2);

  /** A node that hosts ledgers. */
  private final class LedgerNode {
    private final Machine machine;
    private Cluster cluster; // null while the node joins
    private boolean hasLeft;

    LedgerNode(String name) {
      this.machine =
          machine(name, options -> onlyMoves ? options : options.withDeadLetterListener(history::deadLetterAtOwner));
      machine.node().start("join", () -> {
        while (cluster == null) join();
        return null;
      });
    }

    /** Joins the cluster; called again until it succeeds. */
    private void join() throws InterruptedException {
      Cluster joined = null;
      try {
        joined = ClusterRound.this.join(machine);
        new Ledgers(machine.name(), history).host(joined, machine.scope());
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
        hasLeft = true;
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
  private final List<LedgerNode> ledgerNodes = new ArrayList<>();
  // The id of each Move, and the id of the message that its turn sends
  private final List<long[]> transfers = new ArrayList<>();
  private Entities<String, Message> plain;
  private Entities<String, Message> durable;
  private Actor<Message> named;
  private int startedNodes;
  private int openRequests; // requests and sends that have not ended
  private long lastId;

  ClusterRound(Simulation simulation) {
    this.simulation = simulation;
    this.random = simulation.random().split();
    this.onlyMoves = random.nextInt(3) == 0;
    this.keys = onlyMoves ? MOVING_KEYS : KEYS;
    this.network = new RemoteNetwork(random.split(), simulation.scope().openScope("servers"), random.nextBoolean());
    this.front = machine("front", options -> options.withDeadLetterListener(history::deadLetter));
  }

  private Machine machine(String name, UnaryOperator<ActorScope.Options> options) {
    var node = simulation.node(name);
    return network.add(node, node.openScope(name).openScope("program", options));
  }

  private Cluster join(Machine machine) {
    return Cluster.join("simulated", network, options -> options.withNode(machine.name()).withPartitions(4)
        .withLease(onlyMoves ? LONG_LEASE : LEASE).withSettleTime(Duration.ofMillis(300)).withScope(machine.scope())
        .withAskLimit(LIMIT));
  }

  private void start() {
    ledgerNodes.add(new LedgerNode("n" + ++startedNodes));
  }

  void play() throws InterruptedException {
    for (int i = 0; i < NODES; i++) start();
    var sender = join(front);
    plain = sender.entities("plain", Message.class);
    durable = sender.entities(Ledgers.LEDGER);
    named = sender.actor("named", Message.class);
    simulation.assertEventually("all nodes have joined", MAX_WAIT,
        () -> ledgerNodes.stream().allMatch(node -> node.cluster != null));

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
    Thread.sleep(onlyMoves ? MOVE_TIME : HEALING_TIME);
    simulation.assertEventually("all requests have ended", MAX_WAIT, () -> openRequests == 0);
    if (areMessagesMissing()) Thread.sleep(COURIER_WAIT);
    check();
    endAll(List.copyOf(ledgerNodes));
    sender.close();
  }

  /** Ends all nodes: they leave one after the other, or all crash, which takes less time. */
  private void endAll(List<LedgerNode> nodes) throws InterruptedException {
    boolean leave = random.nextInt(4) == 0;
    for (var node : nodes)
      if (leave) node.leave();
      else node.machine.crash();
    if (leave) simulation.assertEventually("all nodes have left", MAX_WAIT,
        () -> nodes.stream().allMatch(node -> node.hasLeft));
  }

  private void begin() throws InterruptedException {
    if (onlyMoves) return;
    if (random.nextBoolean()) Thread.sleep(DUPLICATE_LIMIT);
    network.setOdds(Odds.any(random));
    simulation.faults().withDelays(0.001, THREAD_DELAY);
  }

  private void disturb() {
    var node = ledgerNodes.get(random.nextInt(ledgerNodes.size()));
    var time = Duration.ofMillis(50 + random.nextInt(6_000));
    switch (onlyMoves ? random.nextInt(2) : random.nextInt(7)) {
      case 0 -> {
        ledgerNodes.remove(node);
        node.leave();
        start();
      }
      case 1 -> start();
      case 2 -> {
        ledgerNodes.remove(node);
        node.machine.crash();
        history.crashed(node.machine.name());
        start();
      }
      case 3 -> node.machine.pause(time);
      case 4 -> node.machine.cut(time);
      case 5 -> front.pause(time.dividedBy(3));
      default -> front.cut(time.dividedBy(3));
    }
  }

  // ---- messages

  private void send() {
    String key = "k" + random.nextInt(keys);
    long id = ++lastId;
    switch (random.nextInt(8)) {
      case 0 -> ask(id, "plain Add to " + key, "", plain.actor(key), new Add(id));
      case 1 -> tell(id, "plain Tell to " + key, plain.actor(key));
      case 2 -> ask(id, "plain Add to named", "", named, new Add(id));
      case 3 -> tell(id, "plain Tell to named", named);
      case 4 -> ask(id, "durable Add to " + key, key, durable.actor(key), new Add(id));
      case 5 -> storeMessage(id, "durable Tell to " + key, durable.actor(key));
      case 6 -> {
        long sentId = ++lastId;
        String receiver = "k" + random.nextInt(keys);
        transfers.add(new long[] {id, sentId});
        ask(id, "durable Move from " + key + " to " + receiver, key, durable.actor(key),
            new Move(id, receiver, sentId));
      }
      default -> ask(0, "durable Read of " + key, key, durable.actor(key), new Read());
    }
  }

  private <Q extends Message> void ask(long id, String description, String key, Actor<Message> actor,
      Request<Q, Long> request) {
    if (id != 0) history.sent(id, description);
    long start = System.nanoTime();
    openRequests++;
    actor.sendMessageReturn(request, LIMIT).whenComplete((count, failure) -> {
      openRequests--;
      if (failure == null && !key.isEmpty()) history.answered(id, key, start, System.nanoTime(), count);
      if (id != 0) history.ended(id, failure == null ? End.DONE : History.end(failure));
    });
  }

  private void tell(long id, String description, Actor<Message> actor) {
    history.sent(id, description);
    history.ended(id, End.DONE); // replaced if the message becomes a dead letter
    if (!actor.sendMessage(new Tell(id))) history.deadLetter(id, End.UNKNOWN);
  }

  private void storeMessage(long id, String description, Actor<Message> actor) {
    history.sent(id, description);
    openRequests++;
    simulation.client("stores", () -> {
      history.ended(id, actor.sendMessage(new Tell(id)) ? End.DONE : End.UNKNOWN);
      openRequests--;
      return null;
    });
  }

  // ---- checks

  private Map<String, List<Long>> ledgers() {
    var ledgers = new HashMap<String, List<Long>>();
    for (int i = 0; i < keys; i++) ledgers.put("k" + i, durable.actor("k" + i).ask(new All(), LIMIT).ids());
    return ledgers;
  }

  private static Set<Long> idsOf(Map<String, List<Long>> ledgers) {
    return ledgers.values().stream().flatMap(List::stream).collect(Collectors.toSet());
  }

  private boolean areMessagesMissing() {
    var stored = idsOf(ledgers());
    return history.isAnyPending(stored)
        || transfers.stream().anyMatch(ids -> stored.contains(ids[0]) && !stored.contains(ids[1]));
  }

  private void check() {
    var ledgers = ledgers();
    for (var key : ledgers.keySet()) plain.actor(key).ask(new Read(), LIMIT);
    history.checkPlain();
    history.checkDurable(ledgers);
    history.checkOrder();
    var stored = idsOf(ledgers);
    for (var ids : transfers) history.checkTransfer(ids[0], ids[1], stored);
    if (onlyMoves) history.checkMoves(stored);
    assertEquals(List.of(), history.faults());
  }
}
