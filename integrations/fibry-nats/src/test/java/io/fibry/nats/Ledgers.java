package io.fibry.nats;

import io.fibry.Actor;
import io.fibry.ActorSystem;
import io.fibry.Outcome;
import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.cluster.Cluster;
import io.fibry.cluster.RemoteFailureException;
import io.fibry.cluster.UnavailableException;
import io.fibry.durable.Durable;
import io.fibry.durable.EventContext;
import io.fibry.durable.Idempotent;
import io.fibry.pool.Entities;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Durable lists of ids, on nodes that are processes. Askers in this process add ids and read the
 * length of the lists while a test causes faults. They note when they asked and got their answer.
 */
final class Ledgers implements AutoCloseable {
  sealed interface Message {}

  record Add(long id) implements Message, Request<Add, Place> {}

  /** Sent again and again until it is answered. */
  record AddOnce(String idempotencyKey, long id) implements Message, Idempotent, Request<AddOnce, Place> {}

  record Count() implements Message, Request<Count, Place> {}

  record All() implements Message, Request<All, Ledger> {}

  record Added(long id) {}

  record Ledger(List<Long> ids) {
    Ledger and(Added added) {
      var allIds = new ArrayList<>(ids);
      allIds.add(added.id());
      return new Ledger(allIds);
    }
  }

  /** The number of ids that the ledger has after the request, and the node that answered. */
  record Place(int ids, String node) {}

  /** An answer; the id is 0 if the request only read the ledger. */
  private record Answer(String key, long id, long beginTime, long endTime, int ids) {}

  private record Addition(String key, boolean isIdempotent) {}

  static final Duration LEASE = Duration.ofSeconds(4);
  private static final int KEYS = 32;
  private static final int ASKERS = 16;
  private static final int MAX_VIOLATIONS = 20; // in a report
  private static final Duration LIMIT = Duration.ofSeconds(2);

  private final long seed = Long.getLong("fibry.seed", System.nanoTime());
  private final Entities<String, Message> entities;
  private final AtomicLong lastId = new AtomicLong();
  private final AtomicLong answers = new AtomicLong();
  private final List<List<Answer>> answersByAsker = // each list is written by its asker only
      Stream.<List<Answer>>generate(ArrayList::new).limit(ASKERS).toList();
  private final Map<Long, Addition> additions = new ConcurrentHashMap<>(); // by id
  private final Map<Long, String> unhandled = new ConcurrentHashMap<>(); // texts of failures, by id
  private final Map<String, Map<String, Long>> lastAnswered = new ConcurrentHashMap<>(); // send time, by node and key
  private final Map<String, LongAdder> failures = new ConcurrentHashMap<>(); // by class
  private final AtomicBoolean stop = new AtomicBoolean();
  private final ExecutorService fibers = Executors.newVirtualThreadPerTaskExecutor();
  private final List<Future<?>> askers = new ArrayList<>();

  Ledgers(Cluster client) {
    System.out.println("ledgers: -Dfibry.seed=" + seed);
    entities = client.entities(kind("nowhere"));
    for (int i = 0; i < ASKERS; i++) {
      int asker = i;
      askers.add(fibers.submit(() -> run(asker)));
    }
  }

  long seed() {
    return seed;
  }

  // ---- nodes

  static Cluster join(String app, NatsNetwork network, String node) {
    return Cluster.join(app, network, options -> options.withNode(node).withLease(LEASE).withPartitions(32));
  }

  /** Runs a node. Arguments: its app, its servers, the number of replicas, and its name. */
  public static void main(String[] args) throws InterruptedException {
    var network = NatsNetwork.connectTo(args[1]).withReplicas(Integer.parseInt(args[2]));
    join(args[0], network, args[3]).host(kind(args[3]), ActorSystem.anonymous(), Duration.ofMinutes(5));
    NodeProcess.reportJoined();
    Thread.currentThread().join(); // until the process is killed
  }

  private static Durable<Message> kind(String node) {
    return Durable.kind("ledger", Message.class).events(Added.class, new Ledger(List.of()), Ledger::and)
        .handler((ledger, message, context) -> handle(ledger, message, context, node));
  }

  private static void handle(Ledger ledger, Message message, EventContext<Ledger, Added, Message> context,
      String node) {
    switch (message) {
      case Add add -> context.reply(add, new Place(context.persist(new Added(add.id())).ids().size(), node));
      case AddOnce add -> context.reply(add, new Place(context.persist(new Added(add.id())).ids().size(), node));
      case Count count -> context.reply(count, new Place(ledger.ids().size(), node));
      case All all -> context.reply(all, ledger);
    }
  }

  // ---- askers

  private void run(int asker) {
    var random = new Random(seed + asker);
    while (!stop.get()) {
      String key = "k" + random.nextInt(KEYS);
      switch (random.nextInt(3)) {
        case 0 -> isAnswered(asker, key, 0, new Count(), System.nanoTime());
        case 1 -> {
          long id = newId(key, false);
          isAnswered(asker, key, id, new Add(id), System.nanoTime());
        }
        default -> {
          long id = newId(key, true);
          var add = new AddOnce(Long.toString(id), id);
          long beginTime = System.nanoTime();
          while (!isAnswered(asker, key, id, add, beginTime)) if (fibers.isShutdown()) return;
        }
      }
    }
  }

  private long newId(String key, boolean isIdempotent) {
    long id = lastId.incrementAndGet();
    additions.put(id, new Addition(key, isIdempotent));
    return id;
  }

  private <R extends Message & Request<R, Place>> boolean isAnswered(int asker, String key, long id, R request,
      long beginTime) {
    long sendTime = System.nanoTime();
    try {
      var answer = entities.actor(key).ask(request, LIMIT);
      answersByAsker.get(asker).add(new Answer(key, id, beginTime, System.nanoTime(), answer.ids()));
      lastAnswered.computeIfAbsent(answer.node(), node -> new ConcurrentHashMap<>()).merge(key, sendTime, Math::max);
      answers.incrementAndGet();
      return true;
    } catch (RequestException | CancellationException | RemoteFailureException failure) {
      String type = failure instanceof RemoteFailureException remote ? remote.type() : failure.getClass().getName();
      failures.computeIfAbsent(type, name -> new LongAdder()).increment();
      if (request instanceof Add && failure instanceof UnavailableException unreachable
          && unreachable.outcome() == Outcome.NOT_DONE)
        unhandled.put(id, unreachable.getMessage());
      return false;
    }
  }

  // ---- waiting

  /** Waits until the node has answered a request that was sent after this call. */
  void awaitAnswerOf(String node) {
    long now = System.nanoTime();
    await("an answer of " + node,
        () -> lastAnswered.getOrDefault(node, Map.of()).values().stream().anyMatch(time -> time >= now));
  }

  /** Waits until other nodes have answered requests to all keys, sent since that time. */
  void awaitAllKeysWithout(String node, long begin) {
    await("all keys without " + node, () -> IntStream.range(0, KEYS).allMatch(i -> lastAnswered.entrySet().stream()
        .anyMatch(entry -> !entry.getKey().equals(node) && entry.getValue().getOrDefault("k" + i, 0L) >= begin)));
  }

  /** Waits until the condition holds. Fails if an asker fails, or if no answers come any more. */
  void await(String description, BooleanSupplier condition) {
    Patience.progress(description + ": it did not come; -Dfibry.seed=" + seed + ", " + this, answers::get, () -> {
      for (var asker : askers) if (asker.state() == Future.State.FAILED)
        throw new AssertionError("an asker has failed", asker.exceptionNow());
      return condition.getAsBoolean();
    });
  }

  // ---- checks

  /** Ends the askers. Returns descriptions of all broken promises, up to a maximum. */
  List<String> violations() {
    stop.set(true);
    askers.forEach(Patience::value);
    var violations = new ArrayList<String>();
    var idsByKey = new TreeMap<String, List<Long>>();
    for (int i = 0; i < KEYS; i++) idsByKey.put("k" + i, readIds(entities.actor("k" + i)));
    idsByKey.forEach((key, ids) -> {
      var idsBefore = new HashSet<Long>();
      for (var id : ids) {
        if (!idsBefore.add(id)) violations.add(key + " has " + id + " twice: " + additions.get(id));
        if (!additions.containsKey(id) || !additions.get(id).key.equals(key))
          violations.add(key + " has " + id + ": " + additions.get(id));
        if (unhandled.containsKey(id))
          violations.add(key + " has " + id + ", although its asker got: " + unhandled.get(id));
      }
    });
    for (var answersOfAsker : answersByAsker) for (var answer : answersOfAsker) {
      var ids = idsByKey.get(answer.key);
      if (answer.id > 0 && (answer.ids > ids.size() || ids.get(answer.ids - 1) != answer.id))
        violations.add(answer + " has another place in the ledger, which has " + ids.size() + " ids");
    }
    for (var key : idsByKey.keySet()) checkOrder(key, violations);
    return violations.subList(0, Math.min(MAX_VIOLATIONS, violations.size()));
  }

  private static List<Long> readIds(Actor<Message> ledger) {
    var ids = new AtomicReference<List<Long>>();
    Patience.eventually(ledger + " is not answered", () -> {
      try {
        ids.set(ledger.ask(new All(), LIMIT).ids());
        return true;
      } catch (RequestException failure) {
        return false;
      }
    });
    return ids.get();
  }

  /**
   * Checks that a request sent after an answer reads at least as many ids as that answer had, or
   * adds its id behind them.
   */
  private void checkOrder(String key, List<String> violations) {
    var byBeginTime = answersByAsker.stream().flatMap(List::stream).filter(answer -> answer.key.equals(key))
        .toArray(Answer[]::new);
    var byEndTime = byBeginTime.clone();
    Arrays.sort(byBeginTime, (a, b) -> Long.compare(a.beginTime, b.beginTime));
    Arrays.sort(byEndTime, (a, b) -> Long.compare(a.endTime, b.endTime));
    Answer maxAnswer = null; // has the highest number of ids among the answers that had ended
    int next = 0;
    for (var answer : byBeginTime) {
      for (; byEndTime[next].endTime < answer.beginTime; next++)
        if (maxAnswer == null || byEndTime[next].ids > maxAnswer.ids) maxAnswer = byEndTime[next];
      if (maxAnswer != null && answer.ids < maxAnswer.ids + (answer.id > 0 ? 1 : 0))
        violations.add("stale: " + answer + " was asked after " + maxAnswer);
    }
  }

  @Override
  public String toString() {
    return answers + " answers to " + lastId + " ids and to readers, failures " + new TreeMap<>(failures);
  }

  @Override
  public void close() {
    stop.set(true);
    fibers.shutdownNow();
  }
}
