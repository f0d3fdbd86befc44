package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.Actor;
import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.RequestOutcome;
import io.fibry.pool.Entities;
import io.fibry.store.Store;
import io.fibry.store.StoreException;
import io.fibry.store.spi.StoreBackend;
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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Durable lists of ids, and a checker of them. Askers add ids and read the length of the lists
 * while a test causes faults. Each asker notes when it asked, and when it got which answer. At the
 * end {@link #violations} compares the notes with the lists. Half of the lists are inboxes: actors
 * that store messages before they handle them.
 */
public final class Ledgers implements AutoCloseable {
  public sealed interface Message {}

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

  /** Gives the actors of both kinds by key, through one node. */
  public record Addresses(Entities<String, Message> ledgers, Entities<String, Message> inboxes) {
    private Actor<Message> actor(int index) {
      return (index % 2 == 0 ? ledgers : inboxes).actor("k" + index);
    }
  }

  /** The number of ids that the ledger has after the request, and the node that answered. */
  record Place(int ids, String node) {}

  /** An answer; the id is 0 if the request only read the ledger. */
  private record Answer(int ledger, long id, long beginTime, long endTime, int ids) {}

  private record Addition(int ledger, boolean isIdempotent) {}

  private static final int LEDGERS = 32;
  private static final int ASKERS = 16;
  private static final int MAX_STORED = 1_000; // pending messages of an inbox
  private static final int MAX_VIOLATIONS = 20; // in a report
  private static final Duration LIMIT = Duration.ofSeconds(2);
  private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(10); // after a failure

  private final long seed = Long.getLong("fibry.seed", System.nanoTime());
  private final Supplier<List<Addresses>> addressesByNode;
  private final boolean hasOneNode; // whether at most one node answers at a time
  private final AtomicLong lastId = new AtomicLong();
  private final AtomicLong answers = new AtomicLong();
  private final List<List<Answer>> answersByAsker = // each list is written by its asker only
      Stream.<List<Answer>>generate(ArrayList::new).limit(ASKERS).toList();
  private final Map<Long, Addition> additions = new ConcurrentHashMap<>(); // by id
  // Texts of failures, by id. A refusal says that the id is not added. A promise says that the id
  // will be added.
  private final Map<Long, String> refusals = new ConcurrentHashMap<>();
  private final Map<Long, String> promises = new ConcurrentHashMap<>();
  // Send times of the last answered requests, by node and ledger
  private final Map<String, Map<Integer, Long>> lastAnswered = new ConcurrentHashMap<>();
  private final Map<String, LongAdder> failures = new ConcurrentHashMap<>(); // by class
  private volatile String lastFailure = "";
  private final AtomicBoolean stop = new AtomicBoolean();
  private final ExecutorService fibers = Executors.newVirtualThreadPerTaskExecutor();
  private final List<Future<?>> askers = new ArrayList<>();

  /**
   * Starts askers, which send each request through one of the nodes. If there are several nodes,
   * actors move between them. A node that has lost an actor may answer reads until it notices the
   * loss.
   */
  public Ledgers(List<Addresses> addressesByNode) {
    this(() -> addressesByNode, addressesByNode.size() == 1);
  }

  /** Starts askers, which send each request to the node that the test has at that time. */
  public Ledgers(Supplier<Addresses> addresses) {
    this(() -> List.of(addresses.get()), true);
  }

  private Ledgers(Supplier<List<Addresses>> addressesByNode, boolean hasOneNode) {
    System.out.println("ledgers: -Dfibry.seed=" + seed);
    this.addressesByNode = addressesByNode;
    this.hasOneNode = hasOneNode;
    for (int i = 0; i < ASKERS; i++) {
      int asker = i;
      askers.add(fibers.submit(() -> run(asker)));
    }
  }

  public long seed() {
    return seed;
  }

  /** Returns the number of requests that were answered until now. */
  public long answerCount() {
    return answers.get();
  }

  // ---- actors

  /** Returns the kind of ledgers whose messages are not stored, for a node. */
  public static Durable<Message> kind(String node) {
    return withHandler(Durable.kind("ledger", Message.class), node);
  }

  /** Returns the kind of ledgers whose messages are stored, for a node. */
  public static Durable<Message> inboxKind(String node) {
    return withHandler(Durable.kind("inbox", Message.class).storeMessages(MAX_STORED), node);
  }

  private static Durable<Message> withHandler(Durable.Builder<Message> kind, String node) {
    return kind.events(Added.class, new Ledger(List.of()), Ledger::and)
        .handler((ledger, message, context) -> handle(ledger, message, context, node));
  }

  private static void handle(Ledger ledger, Message message, EventSourcedContext<Ledger, Added, Message> context,
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
      int ledger = random.nextInt(LEDGERS);
      var actor = actor(ledger, random);
      switch (random.nextInt(3)) {
        case 0 -> isAnswered(asker, ledger, actor, 0, new Count(), System.nanoTime());
        case 1 -> {
          long id = newId(ledger, false);
          isAnswered(asker, ledger, actor, id, new Add(id), System.nanoTime());
        }
        default -> {
          long id = newId(ledger, true);
          var add = new AddOnce(Long.toString(id), id);
          long beginTime = System.nanoTime();
          while (!isAnswered(asker, ledger, actor, id, add, beginTime)) {
            if (fibers.isShutdown()) return;
            actor = actor(ledger, random);
          }
        }
      }
    }
  }

  private Actor<Message> actor(int ledger, Random random) {
    var nodes = addressesByNode.get();
    return nodes.get(random.nextInt(nodes.size())).actor(ledger);
  }

  private long newId(int ledger, boolean isIdempotent) {
    long id = lastId.incrementAndGet();
    additions.put(id, new Addition(ledger, isIdempotent));
    return id;
  }

  private <R extends Message & Request<R, Place>> boolean isAnswered(int asker, int ledger, Actor<Message> actor,
      long id, R request, long beginTime) {
    long sendTime = System.nanoTime();
    try {
      var answer = actor.ask(request, LIMIT);
      answersByAsker.get(asker).add(new Answer(ledger, id, beginTime, System.nanoTime(), answer.ids()));
      if (!(request instanceof AddOnce)) // another node may have handled an AddOnce earlier
        lastAnswered.computeIfAbsent(answer.node(), node -> new ConcurrentHashMap<>())
            .merge(ledger, sendTime, Math::max);
      answers.incrementAndGet();
      return true;
    } catch (RuntimeException failure) {
      if (!isExpected(failure)) throw failure;
      failures.computeIfAbsent(failure.getClass().getSimpleName(), name -> new LongAdder()).increment();
      lastFailure = failure.toString();
      var outcome = RequestException.outcomeOf(failure, request);
      if (request instanceof Add && outcome == RequestOutcome.NOT_DONE) refusals.put(id, failure.toString());
      if (id > 0 && outcome == RequestOutcome.WILL_BE_DONE) promises.put(id, failure.toString());
      LockSupport.parkNanos(PAUSE); // so that failing askers leave the processors to the nodes
      return false;
    }
  }

  private static boolean isExpected(RuntimeException failure) {
    return failure instanceof RequestException || failure instanceof StoreException
        || failure instanceof CancellationException
        || failure.getClass().getPackageName().equals("io.fibry.cluster");
  }

  // ---- waiting

  /** Waits until the node has answered a request that was sent after this call. */
  public void awaitAnswerOf(String node) {
    long now = System.nanoTime();
    await("an answer of " + node,
        () -> lastAnswered.getOrDefault(node, Map.of()).values().stream().anyMatch(time -> time >= now));
  }

  /** Waits until each ledger has answered a request that was sent since that time. */
  public void awaitAllLedgers(long begin) {
    awaitAllLedgersWithout("no node", begin);
  }

  /** Waits until other nodes have answered, for each ledger, a request sent since that time. */
  public void awaitAllLedgersWithout(String node, long begin) {
    await("all ledgers without " + node, () -> IntStream.range(0, LEDGERS).allMatch(i -> lastAnswered.entrySet()
        .stream().anyMatch(entry -> !entry.getKey().equals(node) && entry.getValue().getOrDefault(i, 0L) >= begin)));
  }

  /** Waits until this many further requests are answered. */
  public void awaitMore(int count) {
    long goal = answers.get() + count;
    await(count + " more answers", () -> answers.get() >= goal);
  }

  /** Waits until the condition holds. Fails if an asker fails, or if no answers come any more. */
  public void await(String description, BooleanSupplier condition) {
    try {
      Patience.progress(description + " did not come", answers::get, () -> {
        for (var asker : askers) if (asker.state() == Future.State.FAILED)
          throw new AssertionError("an asker has failed", asker.exceptionNow());
        return condition.getAsBoolean();
      });
    } catch (AssertionError failure) {
      throw new AssertionError("-Dfibry.seed=" + seed + ", " + this + ", " + failure.getMessage(), failure);
    }
  }

  // ---- checks

  /** Ends the askers, asserts that all promises are kept, and checks the ledgers' histories. */
  public void check(Store store) throws InterruptedException {
    check(addressesByNode.get().getFirst(), store);
  }

  /**
   * Checks the same as {@link #check(Store)}, but reads the ledgers through these addresses. If
   * there are several nodes, the addresses must be of a new node.
   */
  public void check(Addresses reader, Store store) throws InterruptedException {
    assertNoViolation(reader);
    checkHistories(store);
  }

  /** Ends the askers, and asserts that all promises are kept. */
  public void assertNoViolation(Addresses reader) {
    assertEquals(List.of(), violations(reader), () -> "-Dfibry.seed=" + seed);
  }

  /** Returns descriptions of all broken promises, up to a maximum. */
  private List<String> violations(Addresses reader) {
    stop.set(true);
    askers.forEach(Patience::value);
    var violations = new ArrayList<String>();
    var idsByLedger = new ArrayList<List<Long>>();
    boolean isWaiting = true; // false after a ledger lacked promised ids, so that a failing test ends soon
    for (int i = 0; i < LEDGERS; i++) {
      var promisedIds = promisedIds(i);
      var ids = readIds(reader.actor(i), isWaiting ? promisedIds : List.of());
      isWaiting &= ids.containsAll(promisedIds);
      idsByLedger.add(ids);
    }
    for (int i = 0; i < LEDGERS; i++) checkIds(i, idsByLedger.get(i), violations);
    for (var answersOfAsker : answersByAsker) for (var answer : answersOfAsker) {
      var ids = idsByLedger.get(answer.ledger);
      if (answer.id > 0 && (answer.ids > ids.size() || ids.get(answer.ids - 1) != answer.id))
        violations.add(answer + " has another place in the ledger, which has " + ids.size() + " ids");
    }
    for (int i = 0; i < LEDGERS; i++) checkOrder(i, violations);
    return violations.subList(0, Math.min(MAX_VIOLATIONS, violations.size()));
  }

  /**
   * Waits until no message is pending for an inbox, and then checks the histories of all ledgers.
   */
  public static void checkHistories(Store store) throws InterruptedException {
    Patience.eventually("messages are still pending for inboxes", () -> {
      var isPending = new AtomicBoolean();
      StoreBackend.of(store).forEachPending("inbox", (actor, due) -> isPending.set(true));
      return !isPending.get();
    });
    for (var kind : List.of("ledger", "inbox")) Histories.check(store, kind);
  }

  private List<Long> promisedIds(int ledger) {
    return promises.keySet().stream().filter(id -> additions.get(id).ledger == ledger).toList();
  }

  private void checkIds(int ledger, List<Long> ids, List<String> violations) {
    var idsBefore = new HashSet<Long>();
    for (var id : ids) {
      var addition = additions.get(id);
      if (!idsBefore.add(id)) violations.add("ledger " + ledger + " has " + id + " twice: " + addition);
      if (addition == null || addition.ledger != ledger)
        violations.add("ledger " + ledger + " has " + id + ": " + addition);
      if (refusals.containsKey(id))
        violations.add("ledger " + ledger + " has " + id + ", although its asker got: " + refusals.get(id));
    }
    for (var id : promisedIds(ledger)) if (!idsBefore.contains(id))
      violations.add("ledger " + ledger + " lacks " + id + ", although its asker got: " + promises.get(id));
  }

  /** Returns the ids of a ledger. Waits until it has the promised ids, which may be added late. */
  private static List<Long> readIds(Actor<Message> ledger, List<Long> promisedIds) {
    var ids = new AtomicReference<List<Long>>();
    boolean isComplete = Patience.comesTrue(() -> {
      try {
        ids.set(ledger.ask(new All(), LIMIT).ids());
        return ids.get().containsAll(promisedIds);
      } catch (RuntimeException failure) {
        if (!isExpected(failure)) throw failure;
        return false;
      }
    });
    if (!isComplete && ids.get() == null) throw new AssertionError(ledger + " is not answered");
    return ids.get();
  }

  /**
   * Checks that a request sent after an answer reads at least as many ids as that answer had, or
   * adds its id behind them. If there are several nodes at a time, only additions are checked.
   */
  private void checkOrder(int ledger, List<String> violations) {
    var byBeginTime = answersByAsker.stream().flatMap(List::stream)
        .filter(answer -> answer.ledger == ledger && (answer.id > 0 || hasOneNode))
        .toArray(Answer[]::new);
    var byEndTime = byBeginTime.clone();
    Arrays.sort(byBeginTime, (a, b) -> Long.compare(a.beginTime, b.beginTime));
    Arrays.sort(byEndTime, (a, b) -> Long.compare(a.endTime, b.endTime));
    Answer maxAnswer = null; // has the most ids of all answers that ended before the current answer began
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
    return answers + " answers to " + lastId + " ids and to readers, " + refusals.size() + " refused, "
        + promises.size() + " promised, failures " + new TreeMap<>(failures)
        + (lastFailure.isEmpty() ? "" : ", the last: " + lastFailure);
  }

  @Override
  public void close() {
    stop.set(true);
    fibers.shutdownNow();
  }
}
