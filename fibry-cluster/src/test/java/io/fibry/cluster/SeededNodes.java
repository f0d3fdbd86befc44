package io.fibry.cluster;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter;
import io.fibry.MailboxFullException;
import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.cluster.SeededHistory.End;
import io.fibry.cluster.SeededHome.Add;
import io.fibry.cluster.SeededHome.All;
import io.fibry.cluster.SeededHome.Message;
import io.fibry.cluster.SeededHome.Move;
import io.fibry.cluster.SeededHome.Read;
import io.fibry.cluster.SeededHome.Tell;
import io.fibry.cluster.SeededNetwork.Odds;
import io.fibry.pool.Entities;
import io.fibry.time.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

/**
 * One run of several nodes on a {@link SeededNetwork}: messages of all kinds, while nodes are cut
 * off, stand still, end without a word, leave and join. Then all heals, and everything must answer.
 * In one run of four, nodes only leave and join, so keys only move, and nothing may be lost.
 */
final class SeededNodes implements AutoCloseable {
  private static final Duration STEP = Duration.ofMillis(20);
  private static final Duration LONG_STEP = Duration.ofMillis(200);
  private static final Duration LEASE = Duration.ofSeconds(3);
  private static final Duration LONG_LEASE = Duration.ofSeconds(30); // no node that is slow to run is taken for gone
  private static final Duration CALM = Duration.ofMillis(300);
  private static final Duration LIMIT = Duration.ofSeconds(4); // of a request
  private static final Duration HEALING = Duration.ofSeconds(12);
  private static final Duration LOOKING = Duration.ofSeconds(65); // homes look once a minute at what waits at the store
  private static final Duration QUIET = Duration.ofMillis(3); // real time: what waits otherwise is not waited for
  private static final int PARTS = 4;
  private static final int KEYS = 6;
  private static final int NODES = 3;

  /** A process. */
  private record Process(String name, ActorScope scope, Future<Cluster> node) {}

  private record Transfer(long from, long to) {}

  private final Random random;
  private final boolean onlyMoves;
  private final ManualClock clock = new ManualClock();
  private final SeededNetwork network;
  private final SeededHistory history = new SeededHistory();
  private final ExecutorService operators = Executors.newVirtualThreadPerTaskExecutor();
  private final List<Process> processes = new ArrayList<>();
  private final List<Transfer> transfers = new ArrayList<>();
  private final List<Future<?>> keeps = new ArrayList<>(); // senders that wait until their message is stored
  private final Process front;
  private final Entities<String, Message> plain;
  private final Entities<String, Message> kept;
  private final Actor<Message> named;
  private long ids;
  private int started;

  SeededNodes(long seed) {
    this.random = new Random(seed);
    this.onlyMoves = seed % 4 == 0;
    this.network = new SeededNetwork(seed, clock);
    var scope = scope("front");
    this.front = new Process("front", scope, operators.submit(() -> join("front", scope)));
    for (int i = 0; i < NODES; i++) start();
    var cluster = awaited(front.node);
    this.plain = awaited(operators.submit(() -> cluster.entities("plain", Message.class)));
    this.kept = awaited(operators.submit(() -> cluster.entities(SeededHome.KEPT)));
    this.named = cluster.actor("named", Message.class);
    for (var one : processes) awaited(one.node);
  }

  // ---- nodes

  private ActorScope scope(String name) {
    return ActorSystem.openScope("seeded-" + name, options -> options.withScheduler(network.clockOf(name))
        .withDeadLetters(this::died).withDrainLimit(Duration.ofSeconds(1)).withGrace(Duration.ofMillis(100)));
  }

  private Cluster join(String name, ActorScope scope) {
    return Cluster.join("seeded", network, options -> options.withNode(name).withParts(PARTS)
        .withLease(onlyMoves ? LONG_LEASE : LEASE).withCalm(CALM).withScope(scope).withAskLimit(LIMIT)
        .withWallClock(network::instant));
  }

  private void start() {
    String name = "n" + ++started;
    var scope = scope(name);
    processes.add(new Process(name, scope, operators.submit(() -> begin(name, scope))));
  }

  /** As often as it takes: a node whose start failed is started again. */
  private Cluster begin(String name, ActorScope scope) throws InterruptedException {
    while (true) try {
      return home(name, scope);
    } catch (LostException | IllegalStateException | RequestException failed) {
      network.clock().sleepUntil(clock.nanoTime() + LEASE.toNanos());
    }
  }

  private Cluster home(String name, ActorScope scope) {
    var cluster = join(name, scope);
    boolean begun = false;
    try {
      new SeededHome(name, history).begin(cluster, scope);
      begun = true;
      return cluster;
    } finally {
      if (!begun) cluster.close();
    }
  }

  /** Moves the time until it is there. */
  private <T> T awaited(Future<T> future) {
    long end = clock.nanoTime() + Duration.ofMinutes(2).toNanos();
    while (!isDone(future) && clock.nanoTime() < end) pass(STEP);
    if (!future.isDone()) throw new AssertionError("this takes for ever\n" + dumps());
    if (future.state() == Future.State.FAILED) throw new AssertionError("this failed", future.exceptionNow());
    return future.resultNow();
  }

  /** A thread without a scope needs some real time, too, before the clock goes on. */
  private static boolean isDone(Future<?> future) {
    try {
      future.get(1, TimeUnit.MILLISECONDS);
      return true;
    } catch (TimeoutException | ExecutionException | CancellationException | InterruptedException notSoFar) {
      return future.isDone();
    }
  }

  private void pass(Duration step) {
    front.scope.awaitQuiet(QUIET);
    for (var one : processes) if (network.engine(one.name) == null || !network.engine(one.name).isStill())
      one.scope.awaitQuiet(QUIET);
    clock.advance(step);
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
        transfers.add(new Transfer(id, other));
        ask(id, "kept Move from " + key + " to " + to, key, kept.actor(key), new Move(id, to, other));
      }
      default -> ask(0, "kept Read of " + key, key, kept.actor(key), new Read());
    }
  }

  private <Q extends Message> void ask(long id, String what, String key, Actor<Message> actor,
      Request<Q, Long> request) {
    if (id != 0) history.sent(id, what);
    long begun = clock.nanoTime();
    actor.sendMessageReturn(request, LIMIT).whenComplete((count, failure) -> {
      if (failure == null && !key.isEmpty()) history.answered(id, key, begun, clock.nanoTime(), count);
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
    keeps.add(operators.submit(() -> history.ended(id, actor.sendMessage(new Tell(id)) ? End.DONE : End.UNKNOWN)));
  }

  /** At the sender. */
  private void died(DeadLetter letter) {
    if (letter.message() instanceof Outbox.Lost lost && lost.tell().message() instanceof Tell tell)
      history.died(tell.id(), lost.why() instanceof UnreachableException far && !far.mayHaveRun() ? End.NOT_HANDLED
          : End.UNKNOWN);
  }

  // ---- faults

  private void disturb() {
    var some = processes.get(random.nextInt(processes.size()));
    var engine = network.engine(some.name);
    var time = Duration.ofMillis(50 + random.nextInt(6_000));
    switch (onlyMoves ? 4 + random.nextInt(2) : random.nextInt(6)) {
      case 0 -> {
        if (engine != null) engine.standStill(time);
      }
      case 1 -> {
        if (engine != null) engine.cut(time);
      }
      case 2 -> network.engine("front").cut(time.dividedBy(3));
      case 3 -> {
        if (engine == null) break;
        engine.close(); // as by a kill: it says nothing more
        end(some, some.scope::close);
        start();
      }
      case 4 -> {
        end(some, () -> end(some));
        start();
      }
      default -> start();
    }
  }

  private static <T> T awaitedReally(Future<T> future) {
    try {
      return future.get();
    } catch (Exception failed) {
      throw new IllegalStateException(failed);
    }
  }

  private void end(Process some, Runnable how) {
    processes.remove(some);
    operators.submit(how);
  }

  // ---- the run

  /** {@return what was promised and did not hold} */
  List<String> run() {
    var bad = new Odds(random.nextInt(3) * 5, random.nextInt(3) * 20, random.nextInt(3) * 20);
    network.become(onlyMoves ? Odds.NONE : bad);
    int disturbances = (1 + random.nextInt(5)) * (onlyMoves ? 2 : 1);
    int steps = 400;
    for (int i = 0; i < steps; i++) {
      for (int n = random.nextInt(onlyMoves ? 4 : 3); n > 0; n--) send();
      if (random.nextInt(steps) < disturbances) disturb();
      pass(STEP);
    }
    heal();
    var ledgers = ledgers();
    if (areMissing(ledgers)) {
      passAll(LOOKING, LONG_STEP);
      ledgers = ledgers();
    }
    history.checkPlain();
    history.checkDurable(ledgers);
    var all = ids(ledgers);
    for (var one : transfers) history.checkTransfer(one.from, one.to, all);
    history.checkOrder();
    if (onlyMoves) history.checkMoves(all);
    return history.faults();
  }

  private static Set<Long> ids(Map<String, List<Long>> ledgers) {
    return ledgers.values().stream().flatMap(List::stream).collect(Collectors.toSet());
  }

  private boolean areMissing(Map<String, List<Long>> ledgers) {
    var all = ids(ledgers);
    return transfers.stream().anyMatch(one -> all.contains(one.from) && !all.contains(one.to));
  }

  private void heal() {
    network.become(Odds.NONE);
    for (var one : processes) if (network.engine(one.name) != null) network.engine(one.name).heal();
    network.engine("front").heal();
    if (onlyMoves) passAll(LIMIT, STEP); // what a home must store first takes a step or two each
    passAll(HEALING, LONG_STEP);
    for (var one : processes) awaited(one.node);
    keeps.forEach(this::awaited);
  }

  private void passAll(Duration time, Duration step) {
    for (var left = time; left.isPositive(); left = left.minus(step)) pass(step);
  }

  private Map<String, List<Long>> ledgers() {
    var ledgers = new HashMap<String, List<Long>>();
    for (int i = 0; i < KEYS; i++) {
      String key = "k" + i;
      awaitedNow(plain.actor(key).sendMessageReturn(new Read(), LIMIT));
      ledgers.put(key, awaitedNow(kept.actor(key).sendMessageReturn(new All(), LIMIT)).ids());
    }
    return ledgers;
  }

  private <T> T awaitedNow(Future<T> answer) {
    long end = clock.nanoTime() + LIMIT.toNanos() * 2;
    while (!isDone(answer) && clock.nanoTime() < end) pass(STEP);
    if (answer.state() != Future.State.SUCCESS) throw new AssertionError("after all has healed: "
        + (answer.isDone() ? answer.exceptionNow() : "no end") + "\n" + dumps());
    return answer.resultNow();
  }

  private String dumps() {
    return String.join("\n", processes.stream()
        .filter(one -> one.node.isDone()).map(one -> one.node.resultNow().dump() + one.scope.dump().lines()
            .filter(line -> !line.contains(": idle")).collect(Collectors.joining("\n")))
        .toList());
  }

  private static void end(Process one) {
    awaitedReally(one.node).close();
    one.scope.close();
  }

  @Override
  public void close() {
    var all = new ArrayList<>(processes);
    all.add(front);
    for (var end : all.stream().map(one -> operators.submit(() -> end(one))).toList()) awaited(end);
    operators.shutdownNow();
  }

  @Override
  public String toString() {
    return history + ", " + started + " nodes";
  }
}
