package io.fibry.cluster;

import io.fibry.cluster.LostException.Loss;
import io.fibry.store.MemoryStore;
import io.fibry.store.Store;
import io.fibry.time.ManualClock;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * A network whose delays, losses and faults are drawn from a seed, and whose time is a clock that a
 * test moves. Nodes can be cut off, stand still, and end without a word. Each draw depends on the
 * seed, the node, what it does and how often it has done that, and not on the order in which
 * threads run. Messages arrive on the thread that moves the clock. Thread-safe.
 */
final class SeededNetwork implements Network {
  private static final String ANSWERS = "_answer.";

  /** How bad the network is, of a thousand. */
  record Odds(int lost, int slow, int unknown) {
    static final Odds NONE = new Odds(0, 0, 0);
  }

  /** Who has subscribed. */
  record Reader(SeededEngine of, String subject, Optional<String> group, Consumer<Wire> reader) {}

  private final ManualClock clock;
  private final long seed;
  private final SeededTable table;
  private final MemoryStore store;
  private final Map<String, SeededEngine> engines = new ConcurrentHashMap<>(); // the last of each node
  private final Map<String, Long> draws = new ConcurrentHashMap<>(); // so far, by what for
  private final Map<String, List<Reader>> readers = new LinkedHashMap<>(); // by subject; under this object's monitor
  private final Map<String, SeededEngine> askers = new ConcurrentHashMap<>(); // by where answers go
  private volatile Odds odds = Odds.NONE;

  SeededNetwork(long seed, ManualClock clock) {
    this.seed = seed;
    this.clock = clock;
    this.table = new SeededTable(clock);
    this.store = MemoryStore.open(this::instant);
  }

  Instant instant() {
    return Instant.EPOCH.plusNanos(clock.nanoTime());
  }

  ManualClock clock() {
    return clock;
  }

  SeededTable table() {
    return table;
  }

  Store store() {
    return store;
  }

  @Override
  public SeededEngine connect(String app, String node) {
    var engine = new SeededEngine(this, node);
    engines.put(node, engine);
    return engine;
  }

  // ---- faults

  void become(Odds odds) {
    this.odds = odds;
  }

  Odds odds() {
    return odds;
  }

  /** What the last one to connect under this name has; null: none has. */
  SeededEngine engine(String node) {
    return engines.get(node);
  }

  /** From 0 to {@code most}, without it. */
  int draw(String what, int most) {
    long count = draws.merge(what, 1L, Long::sum);
    return (int) Math.floorMod(mix(seed * 31 + what.hashCode() + (count << 32)), (long) most);
  }

  /** With these odds, of a thousand. */
  boolean happens(String what, int of1000) {
    return of1000 > 0 && draw(what, 1_000) < of1000;
  }

  Duration delay(String what) {
    boolean slow = happens(what + " is slow", odds.slow);
    return Duration.ofMillis(slow ? 50 + draw(what, 500) : draw(what, 4));
  }

  /** Spreads bits, as SplitMix64 does. */
  private static long mix(long bits) {
    long z = bits + 0x9E3779B97F4A7C15L;
    z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
    z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
    return z ^ z >>> 31;
  }

  /** The clock of a node: it does nothing while the node stands still. */
  Scheduler clockOf(String node) {
    return new SeededClock(clock, () -> {
      var engine = engines.get(node);
      return engine == null ? 0 : engine.stillUntil();
    });
  }

  // ---- what servers do, on the clock's thread

  synchronized void add(Reader reader) {
    readers.computeIfAbsent(reader.subject, none -> new ArrayList<>()).add(reader);
  }

  synchronized void remove(Reader reader) {
    var all = readers.get(reader.subject);
    if (all != null && all.remove(reader) && all.isEmpty()) readers.remove(reader.subject);
  }

  private synchronized List<Reader> readersOf(String subject) {
    var groups = new LinkedHashMap<String, List<Reader>>();
    var chosen = new ArrayList<Reader>();
    for (var reader : readers.getOrDefault(subject, List.of()))
      if (reader.group.isEmpty()) chosen.add(reader);
      else groups.computeIfAbsent(reader.group.get(), none -> new ArrayList<>()).add(reader);
    groups.forEach((name, all) -> chosen.add(all.get(draw("group " + subject, all.size()))));
    return chosen;
  }

  /** A message has come from a node. */
  void route(SeededEngine from, Wire wire) {
    var asker = askers.get(wire.subject());
    if (asker != null) {
      asker.answer(wire);
      return;
    }
    var all = readersOf(wire.subject());
    for (var reader : all) reader.of.deliver(reader, wire);
    if (all.isEmpty()) wire.answerTo().ifPresent(from::nobody);
  }

  String answersOf(SeededEngine asker, CompletableFuture<Wire> answer) {
    String subject = ANSWERS + asker.node() + "." + draws.merge("answers", 1L, Long::sum);
    askers.put(subject, asker);
    answer.whenComplete((wire, failure) -> askers.remove(subject));
    return subject;
  }

  static LostException lost(Loss loss, String why) {
    return new LostException(loss, why);
  }
}
