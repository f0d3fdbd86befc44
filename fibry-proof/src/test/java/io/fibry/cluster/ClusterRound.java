package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.DeadLetter;
import io.fibry.MailboxFullException;
import io.fibry.Request;
import io.fibry.cluster.SeededHistory.End;
import io.fibry.cluster.SeededHome.Add;
import io.fibry.cluster.SeededHome.All;
import io.fibry.cluster.SeededHome.Message;
import io.fibry.cluster.SeededHome.Move;
import io.fibry.cluster.SeededHome.Read;
import io.fibry.cluster.SeededHome.Tell;
import io.fibry.pool.Entities;
import io.fibry.simulation.Node;
import io.fibry.simulation.Simulation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Collectors;

/**
 * Three nodes that are home to the entities of {@link SeededHome}, and a fourth that sends to them
 * while they crash, leave and are cut off. In one round of three they only leave and come, so keys
 * only move, and nothing may be lost.
 */
final class ClusterRound {
  private static final int NODES = 3;
  private static final int KEYS = 4;
  private static final int SENDS = 40;
  private static final int DISTURBANCES = 3;
  private static final Duration LIMIT = Duration.ofSeconds(4); // of a request
  private static final Duration STANDS = Duration.ofSeconds(6); // a thread, in the midst of a turn, say
  private static final Duration HEALING = Duration.ofSeconds(12);
  private static final Duration LOOKING = Duration.ofSeconds(65); // homes look once a minute at what waits at the store
  private static final Duration LONG = Duration.ofMinutes(2);

  /** A machine, and what runs on it. */
  private final class Home {
    private final Node node;
    private final ActorScope scope;
    private Cluster cluster; // null: it is joining

    Home(String name, Node node) {
      this.node = node;
      this.scope = node.openScope(name);
      network.add(name, scope);
      node.start("join", () -> {
        while (cluster == null) join(name);
        return null;
      });
    }

    private void join(String name) throws InterruptedException {
      Cluster joined = null;
      try {
        joined = ClusterRound.this.join(name, scope);
        new SeededHome(name, history).begin(joined, scope);
        cluster = joined;
      } catch (RuntimeException failed) { // cut off just then
        if (joined != null) joined.close();
        Thread.sleep(1_000);
      }
    }

    void leave() {
      node.start("leave", () -> {
        while (cluster == null) Thread.sleep(100);
        cluster.close();
        scope.close();
        return null;
      });
    }
  }

  private final Simulation simulation;
  private final SplittableRandom random;
  private final boolean onlyMoves;
  private final RemoteNetwork network;
  private final SeededHistory history = new SeededHistory();
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
    this.network = new RemoteNetwork(random.split(), simulation.scope().openScope("servers"));
  }

  private Cluster join(String name, ActorScope scope) {
    return Cluster.join("simulated", network, options -> options.withNode(name).withParts(4)
        .withLease(Duration.ofSeconds(3)).withCalm(Duration.ofMillis(300)).withScope(scope).withAskLimit(LIMIT));
  }

  private void start() {
    String name = "n" + ++started;
    homes.add(new Home(name, simulation.node(name)));
  }

  void play() throws InterruptedException {
    var scope = simulation.scope().openScope("front", options -> options.withDeadLetters(this::died));
    network.add("front", scope);
    for (int i = 0; i < NODES; i++) start();
    var front = join("front", scope);
    plain = front.entities("plain", Message.class);
    kept = front.entities(SeededHome.KEPT);
    named = front.actor("named", Message.class);
    simulation.eventually("all have joined", LONG, () -> homes.stream().allMatch(home -> home.cluster != null));

    if (!onlyMoves) simulation.faults().delays(0.001, STANDS);
    for (int i = 0; i < SENDS; i++) {
      send();
      if (random.nextInt(SENDS) < DISTURBANCES) disturb();
      Thread.sleep(random.nextInt(300));
    }
    network.heal();
    simulation.faults().stop();
    Thread.sleep(HEALING);
    simulation.eventually("all have an end", LONG, () -> open == 0);
    if (areMissing()) Thread.sleep(LOOKING);
    check();
    for (var home : homes) home.leave();
    Thread.sleep(Duration.ofSeconds(20));
    front.close();
  }

  private void disturb() {
    var some = homes.get(random.nextInt(homes.size()));
    switch (onlyMoves ? random.nextInt(2) : random.nextInt(4)) {
      case 0 -> {
        homes.remove(some);
        some.leave();
        start();
      }
      case 1 -> start();
      case 2 -> {
        homes.remove(some);
        some.node.crash();
        start();
      }
      default -> {
        network.cut(some.scope.name());
        simulation.client("heals", () -> {
          Thread.sleep(random.nextInt(6_000));
          network.heal();
          return null;
        });
      }
    }
  }

  // ---- messages

  private void send() {
    String key = "k" + random.nextInt(KEYS);
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
        String to = "k" + random.nextInt(KEYS);
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
      if (id != 0) history.ended(id, failure == null ? End.DONE : end(failure));
    });
  }

  private static End end(Throwable failure) {
    return switch (failure) {
      case UnreachableException far when !far.mayHaveRun() -> End.NOT_HANDLED;
      case MailboxFullException full -> End.NOT_HANDLED;
      default -> End.UNKNOWN;
    };
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

  private void died(DeadLetter letter) {
    if (letter.message() instanceof Outbox.Lost lost && lost.tell().message() instanceof Tell tell)
      history.died(tell.id(), lost.why() instanceof UnreachableException far && !far.mayHaveRun() ? End.NOT_HANDLED
          : End.UNKNOWN);
  }

  // ---- what must hold

  private Map<String, List<Long>> ledgers() {
    var ledgers = new HashMap<String, List<Long>>();
    for (int i = 0; i < KEYS; i++) ledgers.put("k" + i, kept.actor("k" + i).ask(new All(), LIMIT).ids());
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
