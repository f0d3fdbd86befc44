package io.fibry.cluster;

import io.fibry.Actor;
import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.cluster.History.End;
import io.fibry.cluster.Ledgers.Add;
import io.fibry.cluster.Ledgers.AddOnce;
import io.fibry.cluster.Ledgers.All;
import io.fibry.cluster.Ledgers.Ledger;
import io.fibry.cluster.Ledgers.Message;
import io.fibry.cluster.Ledgers.Read;
import io.fibry.cluster.RemoteNetwork.Odds;
import io.fibry.durable.Durable;
import io.fibry.durable.EventContext;
import io.fibry.pool.Entities;
import io.fibry.simulation.Simulation;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/**
 * Two nodes own durable ledgers, and a third one asks them. An owner is paused for about as long as
 * its lease, and resumes, while turns are being stored. No turn is lost or stored twice, and no
 * answer is stale. The askers are quick when a lease ends, and when an owner resumes.
 * The wall clock of the servers may be set forward, too.
 */
final class PausedOwnersRound {
  private static final int OWNERS = 2;
  private static final int ASKERS = 3;
  private static final int PARTS = 8;
  private static final int QUICK = 6; // ms between two requests, at most
  private static final int SLOW = 600;
  private static final int TURN = 15; // ms, at most
  private static final Duration LATE_NEWS = Duration.ofSeconds(1); // the lease must do without them
  private static final Duration LEASE = Duration.ofSeconds(4);
  private static final Duration AROUND = Duration.ofMillis(20); // so long askers are quick
  private static final Duration STEP = Duration.ofMillis(50);
  private static final Duration LIMIT = Duration.ofMillis(600); // of a request
  private static final Duration LONG = Duration.ofMinutes(2);

  /** A fault that the checks must find. */
  enum Planted {
    NONE, CLOCKS_STOP, // of owners, while these are paused
    READS_ARE_CACHED, // an owner answers them by what it had stored itself
    EXPIRY_IS_AN_END // others do not wait for the lease of an owner whose entry a server drops
  }

  /** A clock and its timers, which stop while the machine is paused. */
  private record StoppingClock(Machine machine) implements Scheduler {
    @Override
    public long nanoTime() {
      return System.nanoTime() - machine.paused();
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
      return begin(delay, task);
    }

    @Override
    public Timer scheduleAtFixedRate(Duration initial, Duration period, Runnable task) {
      return scheduleWithFixedDelay(initial, period, task);
    }

    @Override
    public Timer scheduleWithFixedDelay(Duration initial, Duration delay, Runnable task) {
      var last = new Timer[1];
      last[0] = begin(initial, new Runnable() {
        @Override
        public void run() {
          task.run();
          last[0] = begin(delay, this);
        }
      });
      return () -> last[0].cancel();
    }

    private Timer begin(Duration delay, Runnable task) {
      long due = nanoTime() + delay.toNanos();
      return Scheduler.system().schedule(delay, () -> {
        long left = due - nanoTime();
        if (left > 0) begin(Duration.ofNanos(left), task);
        else task.run();
      });
    }
  }

  record Added(long id) {}

  private final Simulation simulation;
  private final SplittableRandom random;
  private final Planted fault;
  private final RemoteNetwork network;
  private final boolean newsAreLate;
  private final History history = new History();
  private final List<Machine> owners = new ArrayList<>();
  private final List<String> keys = new ArrayList<>(); // one of each owner
  private final List<String> forks = new ArrayList<>(); // of histories at the store
  private Entities<String, Message> ledgers;
  private final Map<String, Long> asked = new HashMap<>(); // last requests that were answered, by key
  private int joined; // owners
  private boolean isQuick; // askers
  private boolean isReading; // askers, and nothing else
  private boolean over;
  private int asking; // askers that have not ended
  private long ids;

  PausedOwnersRound(Simulation simulation, Planted fault) {
    this.simulation = simulation;
    this.random = simulation.random().split();
    this.fault = fault;
    this.newsAreLate = random.nextInt(4) > 0;
    this.network = new RemoteNetwork(random.split(), simulation.scope().openScope("servers"), random.nextBoolean());
    if (fault == Planted.EXPIRY_IS_AN_END) network.takeExpiryForAnEnd();
  }

  private Machine machine(String name) {
    var node = simulation.node(name);
    return network.add(new Machine(node, node.openScope(name)));
  }

  private Cluster join(Machine machine) {
    var clock = new StoppingClock(machine);
    boolean stops = fault == Planted.CLOCKS_STOP && !machine.name().equals("asking");
    var scope = machine.scope().openScope("program", options -> stops ? options.withScheduler(clock) : options);
    return Cluster.join("simulated", network, options -> {
      var all =
          options.withNode(machine.name()).withPartitions(PARTS).withLease(LEASE).withSettleTime(Duration.ofMillis(300))
              .withScope(scope).withAskLimit(LIMIT);
      return stops ? all.withWallClock(() -> Instant.EPOCH.plusNanos(clock.nanoTime())) : all;
    });
  }

  /** {@return the promises that were broken} */
  List<String> play() throws InterruptedException {
    var asking = join(machine("asking"));
    for (int i = 1; i <= OWNERS; i++) begin(machine("n" + i));
    ledgers = asking.entities(kind(new HashMap<>()));
    simulation.assertEventually("both own ledgers", LONG, () -> joined == OWNERS);
    for (var owner : owners) keys.add(keyOf(owner.name(), asking));
    network.become(random.nextInt(3) == 0 ? new Odds(0, 10, 10) : Odds.NONE);
    for (int i = 0; i < ASKERS; i++) {
      var own = random.split();
      this.asking++;
      simulation.client("asker" + i, () -> ask(own));
    }
    for (int pauses = 1 + random.nextInt(3); pauses > 0; pauses--) {
      if (random.nextInt(3) == 0) dropLeases();
      pause(owners.get(random.nextInt(OWNERS)));
    }
    network.heal();
    over = true;
    simulation.assertEventually("the askers have ended", LONG, () -> this.asking == 0);
    check();
    for (var one : owners) one.crash();
    asking.close();
    forks.addAll(history.faults());
    return forks;
  }

  /** A key whose owner is a certain node. */
  private static String keyOf(String node, Cluster cluster) {
    return Stream.iterate(0, i -> i + 1).map(i -> "k" + i)
        .filter(key -> PartitionAssignment
            .preferredNode("kept", PartitionAssignment.partitionOf(key, PARTS), cluster.members())
            .filter(node::equals).isPresent())
        .findFirst().orElseThrow();
  }

  private void begin(Machine machine) {
    owners.add(machine);
    var kind = kind(new HashMap<>());
    machine.node().start("join", () -> {
      join(machine).host(kind, machine.scope().anonymous(), Duration.ofMinutes(5));
      return ++joined;
    });
  }

  /**
   * Until others have its keys, and a little longer; or for about as long as its lease. It may also
   * be cut off meanwhile, as servers drop what a paused machine does not read.
   */
  private void pause(Machine owner) throws InterruptedException {
    Thread.sleep(random.nextInt(500));
    boolean isShort = random.nextInt(4) == 0;
    boolean isCut = random.nextBoolean();
    isQuick = !isCut; // no turn in flight, which would be refused: then the owner would read the store again
    Thread.sleep(AROUND);
    long begun = System.nanoTime();
    long end = begun + LEASE.plusMillis(random.nextInt(-1_000, 1_000)).toNanos();
    while (isShort ? System.nanoTime() < end : !isTaken(begun)) {
      hold(owner, STEP, isCut);
      isQuick &= System.nanoTime() - begun < AROUND.toNanos();
    }
    isQuick = true;
    hold(owner, STEP.plusMillis(random.nextInt(100)), isCut);
    isReading = isCut;
    hold(owner, AROUND, false);
    Thread.sleep(STEP.multipliedBy(2));
    isReading = false;
    isQuick = false;
  }

  /** The wall clock of the servers is set forward while owners live, or before one is paused. */
  private void dropLeases() throws InterruptedException {
    isQuick = true;
    Thread.sleep(AROUND);
    network.dropLeases("simulated");
    Thread.sleep(random.nextInt(1_000));
    isQuick = false;
  }

  /** Until then, and a step longer. */
  private void hold(Machine owner, Duration time, boolean isCut) throws InterruptedException {
    owner.pause(time.plus(STEP));
    if (isCut) owner.cut(time);
    if (newsAreLate) owner.delayNews(time.plus(LATE_NEWS));
    Thread.sleep(time);
  }

  /** All keys were answered to what was asked since then. */
  private boolean isTaken(long since) {
    return asked.size() == OWNERS && asked.values().stream().allMatch(at -> at > since);
  }

  // ---- the actors

  private Durable<Message> kind(Map<String, Long> cache) {
    return Durable.kind("kept", Message.class)
        .events(Added.class, new Ledger(List.of()), (Ledger ledger, Added added) -> ledger.with(added.id()))
        .handler((ledger, message, context) -> handle(cache, ledger, message, context));
  }

  private void handle(Map<String, Long> cache, Ledger ledger, Message message,
      EventContext<Ledger, Added, Message> context) throws InterruptedException {
    long count = ledger.ids().size();
    switch (message) {
      case Add add -> context.reply(add, add(cache, add.id(), context));
      case AddOnce add -> context.reply(add, add(cache, add.id(), context));
      case Read read -> context.reply(read,
          fault == Planted.READS_ARE_CACHED ? cache.getOrDefault(context.key(), count) : count);
      case All all -> context.reply(all, ledger);
      default -> throw new IllegalStateException(message + " is for others");
    }
  }

  /** It takes its time, so that pauses begin in the midst of it. */
  private long add(Map<String, Long> cache, long id, EventContext<Ledger, Added, Message> context)
      throws InterruptedException {
    Thread.sleep(random.nextInt(TURN));
    long count = context.persist(new Added(id)).ids().size();
    cache.put(context.key(), count);
    return count;
  }

  // ---- askers

  private Object ask(SplittableRandom own) throws InterruptedException {
    while (!over) {
      String key = keys.get(own.nextInt(OWNERS));
      long begun = System.nanoTime();
      switch (own.nextInt(4) + (isReading ? 2 : 0)) {
        case 0 -> {
          long id = sent("kept Add to " + key);
          history.ended(id, asked(id, key, new Add(id), begun));
        }
        case 1 -> {
          long id = sent("kept AddOnce to " + key);
          var add = new AddOnce("once " + id, id);
          while (asked(id, key, add, begun) != End.DONE) Thread.sleep(QUICK);
          history.ended(id, End.DONE);
        }
        default -> asked(0, key, new Read(), begun);
      }
      for (long end = System.nanoTime() + own.nextInt(SLOW) * 1_000_000L; !isQuick && System.nanoTime() < end;)
        Thread.sleep(STEP);
      Thread.sleep(own.nextInt(QUICK));
    }
    asking--;
    return null;
  }

  private long sent(String what) {
    long id = ++ids;
    history.sent(id, what);
    return id;
  }

  private <Q extends Message> End asked(long id, String key, Request<Q, Long> request, long begun) {
    long now = System.nanoTime();
    try {
      Actor<Message> ledger = ledgers.actor(key);
      long count = ledger.ask(request, LIMIT);
      asked.merge(key, now, Math::max);
      history.answered(id, key, begun, System.nanoTime(), count);
      return End.DONE;
    } catch (RequestException | RemoteFailureException failure) {
      return History.end(failure);
    }
  }

  private void check() throws InterruptedException {
    var all = new HashMap<String, List<Long>>();
    for (var key : keys) all.put(key, read(key));
    history.checkDurable(all);
    history.checkOrder();
    checkTurns();
  }

  /** The turns of each key are one row. */
  private void checkTurns() throws InterruptedException {
    var last = new HashMap<String, Long>();
    try (var turns = network.store().history("kept", "")) {
      for (var page = turns.poll(); !page.isEmpty(); page = turns.poll()) for (var turn : page) {
        Long before = last.put(turn.key(), turn.number());
        if (before != null && turn.number() <= before)
          forks.add("turn " + turn.number() + " of " + turn.key() + " is behind turn " + before);
      }
    }
  }

  /** An owner whose turn another one has refused may say so once. */
  private List<Long> read(String key) throws InterruptedException {
    for (long end = System.nanoTime() + LONG.toNanos();;) try {
      return ledgers.actor(key).ask(new All(), LIMIT).ids();
    } catch (RequestException | RemoteFailureException failure) {
      if (System.nanoTime() > end) throw failure;
      Thread.sleep(100);
    }
  }
}
