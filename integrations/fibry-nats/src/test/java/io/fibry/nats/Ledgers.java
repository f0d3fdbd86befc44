package io.fibry.nats;

import io.fibry.Actor;
import io.fibry.ActorSystem;
import io.fibry.Outcome;
import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.cluster.Cluster;
import io.fibry.cluster.RemoteFailureException;
import io.fibry.cluster.UnreachableException;
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
 * Durable lists of ids on nodes that are processes, and askers that add to them and read how long
 * they are, while a test makes trouble. This process sees when each was asked and answered.
 */
final class Ledgers implements AutoCloseable {
  sealed interface Message {}

  record Add(long id) implements Message, Request<Add, Place> {}

  /** Asked until it is answered. */
  record AddOnce(String idempotencyKey, long id) implements Message, Idempotent, Request<AddOnce, Place> {}

  record Count() implements Message, Request<Count, Place> {}

  record All() implements Message, Request<All, Ledger> {}

  record Added(long id) {}

  record Ledger(List<Long> ids) {
    Ledger and(Added added) {
      var more = new ArrayList<>(ids);
      more.add(added.id());
      return new Ledger(more);
    }
  }

  /** The number of ids that the ledger has after the request, and the node that answered. */
  record Place(int ids, String node) {}

  /** An answer; its id is 0 if the ledger was only read. */
  private record Seen(String key, long id, long begun, long ended, int ids) {}

  private record Sent(String key, boolean once) {}

  static final Duration LEASE = Duration.ofSeconds(4);
  private static final int KEYS = 32;
  private static final int ASKERS = 16;
  private static final int MOST_TOLD = 20; // faults
  private static final Duration LIMIT = Duration.ofSeconds(2);

  private final long seed = Long.getLong("fibry.seed", System.nanoTime());
  private final Entities<String, Message> entities;
  private final AtomicLong lastId = new AtomicLong();
  private final AtomicLong answers = new AtomicLong();
  private final List<List<Seen>> seen = // of each asker, which alone writes it
      Stream.<List<Seen>>generate(ArrayList::new).limit(ASKERS).toList();
  private final Map<Long, Sent> sent = new ConcurrentHashMap<>(); // by id
  private final Map<Long, String> unhandled = new ConcurrentHashMap<>(); // ids, with the text that their asker was told
  private final Map<String, Map<String, Long>> heard = new ConcurrentHashMap<>(); // by node and key: last asked
  private final Map<String, LongAdder> failures = new ConcurrentHashMap<>(); // by class
  private final AtomicBoolean end = new AtomicBoolean();
  private final ExecutorService fibers = Executors.newVirtualThreadPerTaskExecutor();
  private final List<Future<?>> askers = new ArrayList<>();

  Ledgers(Cluster asking) {
    System.out.println("ledgers: -Dfibry.seed=" + seed);
    entities = asking.entities(kind("nowhere"));
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

  /** A node: its app, its servers, on how many of them things are kept, and its name. */
  public static void main(String[] args) throws InterruptedException {
    var network = NatsNetwork.connectTo(args[1]).withReplicas(Integer.parseInt(args[2]));
    join(args[0], network, args[3]).host(kind(args[3]), ActorSystem.anonymous(), Duration.ofMinutes(5));
    NodeProcess.tellJoined();
    Thread.currentThread().join(); // until it is killed
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
    while (!end.get()) {
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
          long begun = System.nanoTime();
          while (!isAnswered(asker, key, id, add, begun)) if (fibers.isShutdown()) return;
        }
      }
    }
  }

  private long newId(String key, boolean once) {
    long id = lastId.incrementAndGet();
    sent.put(id, new Sent(key, once));
    return id;
  }

  private <R extends Message & Request<R, Place>> boolean isAnswered(int asker, String key, long id, R request,
      long begun) {
    long asked = System.nanoTime();
    try {
      var place = entities.actor(key).ask(request, LIMIT);
      seen.get(asker).add(new Seen(key, id, begun, System.nanoTime(), place.ids()));
      heard.computeIfAbsent(place.node(), none -> new ConcurrentHashMap<>()).merge(key, asked, Math::max);
      answers.incrementAndGet();
      return true;
    } catch (RequestException | CancellationException | RemoteFailureException failure) {
      String type = failure instanceof RemoteFailureException far ? far.type() : failure.getClass().getName();
      failures.computeIfAbsent(type, none -> new LongAdder()).increment();
      if (request instanceof Add && failure instanceof UnreachableException lost && lost.outcome() == Outcome.NOT_DONE)
        unhandled.put(id, lost.getMessage());
      return false;
    }
  }

  // ---- what a test waits for

  /** The node has answered what was asked from now on. */
  void awaitAnswerOf(String node) {
    long now = System.nanoTime();
    await("an answer of " + node, () -> heard.getOrDefault(node, Map.of()).values().stream().anyMatch(at -> at >= now));
  }

  /** Each key was answered by another node, to what was asked from then on. */
  void awaitAllWithout(String node, long since) {
    await("all keys without " + node, () -> IntStream.range(0, KEYS).allMatch(i -> heard.entrySet().stream()
        .anyMatch(one -> !one.getKey().equals(node) && one.getValue().getOrDefault("k" + i, 0L) >= since)));
  }

  /** Waits while the askers continue, as long as they are answered. */
  void await(String what, BooleanSupplier fact) {
    Patience.progress(what + ": it never came; -Dfibry.seed=" + seed + ", " + this, answers::get, () -> {
      for (var one : askers) if (one.state() == Future.State.FAILED)
        throw new AssertionError("an asker has failed", one.exceptionNow());
      return fact.getAsBoolean();
    });
  }

  // ---- what must hold

  /** Ends the askers. Returns the broken promises. */
  List<String> faults() {
    end.set(true);
    askers.forEach(Patience::value);
    var faults = new ArrayList<String>();
    var all = new TreeMap<String, List<Long>>();
    for (int i = 0; i < KEYS; i++) all.put("k" + i, read(entities.actor("k" + i)));
    all.forEach((key, ids) -> {
      var before = new HashSet<Long>();
      for (var id : ids) {
        if (!before.add(id)) faults.add(key + " has " + id + " twice: " + sent.get(id));
        if (!sent.containsKey(id) || !sent.get(id).key.equals(key))
          faults.add(key + " has " + id + ": " + sent.get(id));
        if (unhandled.containsKey(id)) faults.add(key + " has " + id + " in spite of: " + unhandled.get(id));
      }
    });
    for (var own : seen) for (var one : own) {
      var ids = all.get(one.key);
      if (one.id > 0 && (one.ids > ids.size() || ids.get(one.ids - 1) != one.id))
        faults.add(one + " is not the place where the ledger has it, of " + ids.size());
    }
    for (var key : all.keySet()) checkOrder(key, faults);
    return faults.subList(0, Math.min(MOST_TOLD, faults.size()));
  }

  private static List<Long> read(Actor<Message> ledger) {
    var ids = new AtomicReference<List<Long>>();
    Patience.eventually(ledger + " is not answered", () -> {
      try {
        ids.set(ledger.ask(new All(), LIMIT).ids());
        return true;
      } catch (RequestException again) {
        return false;
      }
    });
    return ids.get();
  }

  /**
   * A request that was sent after an answer sees no less than that answer, and is added behind it.
   */
  private void checkOrder(String key, List<String> faults) {
    var begun = seen.stream().flatMap(List::stream).filter(one -> one.key.equals(key)).toArray(Seen[]::new);
    var ended = begun.clone();
    Arrays.sort(begun, (a, b) -> Long.compare(a.begun, b.begun));
    Arrays.sort(ended, (a, b) -> Long.compare(a.ended, b.ended));
    Seen before = null; // has the highest number of ids among the answers that had ended
    int next = 0;
    for (var one : begun) {
      for (; ended[next].ended < one.begun; next++)
        if (before == null || ended[next].ids > before.ids) before = ended[next];
      if (before != null && one.ids < before.ids + (one.id > 0 ? 1 : 0))
        faults.add("stale: " + one + " was asked after " + before);
    }
  }

  @Override
  public String toString() {
    return answers + " answers to " + lastId + " ids and to readers, failures " + new TreeMap<>(failures);
  }

  @Override
  public void close() {
    end.set(true);
    fibers.shutdownNow();
  }
}
