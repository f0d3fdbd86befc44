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
import io.fibry.cluster.membership.PartitionAssignment;
import io.fibry.durable.Durable;
import io.fibry.durable.EventSourcedContext;
import io.fibry.pool.Entities;
import io.fibry.simulation.Simulation;
import io.fibry.store.spi.StoreBackend;
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
 * Two nodes own durable ledgers, and a third node asks them. An owner is paused for about as long
 * as its lease, and resumes, while turns are being stored. No turn is lost or stored twice, and no
 * answer is stale. Askers send at short intervals while a lease ends and while an owner resumes.
 * The wall clock of the servers may be set forward, too.
 */
final class PausedOwnersRound {
  private static final int OWNERS = 2;
  private static final int KEYS_PER_OWNER = 4;
  private static final int ASKERS = 3;
  private static final int PARTITIONS = 8;
  private static final int QUICK_PAUSE = 6; // max ms between two requests of a quick asker
  private static final int SLOW_PAUSE = 600;
  private static final int TURN_TIME = 15; // max ms that a turn takes
  // how late a node may hear of changes in the cluster's table; leases must work nevertheless
  private static final Duration NOTIFICATION_DELAY = Duration.ofSeconds(1);
  private static final Duration LEASE = Duration.ofSeconds(4);
  private static final Duration QUICK_TIME = Duration.ofMillis(20); // askers are quick for this time around a pause
  private static final Duration STEP = Duration.ofMillis(50);
  private static final Duration ASK_LIMIT = Duration.ofMillis(600); // of a request
  private static final Duration MAX_WAIT = Duration.ofMinutes(2);

  /** A fault that the checks must find. */
  enum PlantedFault {
    NONE, CLOCKS_STOP, // the clocks of owners stop while the owners are paused
    READS_ARE_CACHED, // an owner answers reads from a cache of its own writes
    TAKEOVER_BEFORE_LEASE_END // other nodes do not wait for the end of a lease whose entry a server drops
  }

  /** A clock with timers, which stop while the machine is paused. */
  private record StoppingClock(Machine machine) implements Scheduler {
    @Override
    public long nanoTime() {
      return System.nanoTime() - machine.totalPause();
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
      var timer = new StoppingTimer(this);
      timer.start(delay, () -> {
        timer.isOver = true;
        task.run();
      });
      return timer;
    }

    @Override
    public Timer scheduleAtFixedRate(Duration initial, Duration period, Runnable task) {
      return scheduleWithFixedDelay(initial, period, task);
    }

    @Override
    public Timer scheduleWithFixedDelay(Duration initial, Duration delay, Runnable task) {
      var timer = new StoppingTimer(this);
      timer.start(initial, new Runnable() {
        @Override
        public void run() {
          task.run();
          timer.start(delay, this);
        }
      });
      return timer;
    }
  }

  /** A timer that starts timers of the system, one after another, until it is due or cancelled. */
  private static final class StoppingTimer implements Scheduler.Timer {
    private final StoppingClock clock;
    private Scheduler.Timer systemTimer;
    private boolean isOver; // cancelled, or its only run has started

    StoppingTimer(StoppingClock clock) {
      this.clock = clock;
    }

    /** Runs the task after the delay on the clock, unless this timer is cancelled before. */
    void start(Duration delay, Runnable task) {
      if (isOver) return;
      long due = clock.nanoTime() + delay.toNanos();
      systemTimer = Scheduler.system().schedule(delay, () -> {
        long remaining = due - clock.nanoTime();
        if (remaining > 0) start(Duration.ofNanos(remaining), task);
        else task.run();
      });
    }

    @Override
    public boolean cancel() {
      boolean isFirst = !isOver;
      isOver = true;
      systemTimer.cancel();
      return isFirst;
    }
  }

  record Added(long id) {}

  private final Simulation simulation;
  private final SplittableRandom random;
  private final PlantedFault fault;
  private final RemoteNetwork network;
  private final boolean areNotificationsLate;
  private final History history = new History();
  private final List<Machine> owners = new ArrayList<>();
  private final List<String> keys = new ArrayList<>(); // of the owners
  private final List<String> turnErrors = new ArrayList<>(); // turns that the store has in the wrong order
  private Entities<String, Message> ledgers;
  // Time at which the last answered request was sent, by key
  private final Map<String, Long> lastAnswered = new HashMap<>();
  private int joinedOwners; // owners that have joined
  private boolean isQuick; // askers pause only briefly
  private boolean isReading; // askers send only reads
  private boolean isOver;
  private int activeAskers; // askers that have not ended
  private long lastId;

  PausedOwnersRound(Simulation simulation, PlantedFault fault) {
    this.simulation = simulation;
    this.random = simulation.random().split();
    this.fault = fault;
    this.areNotificationsLate = random.nextInt(4) > 0;
    this.network = new RemoteNetwork(random.split(), simulation.scope().openScope("servers"), random.nextBoolean());
    if (fault == PlantedFault.TAKEOVER_BEFORE_LEASE_END) network.plantExpiryFault();
  }

  private Cluster join(Machine machine) {
    var clock = new StoppingClock(machine);
    boolean clockStops = fault == PlantedFault.CLOCKS_STOP && !machine.name().equals("asking");
    var scope = machine.scope().openScope("program", options -> clockStops ? options.withScheduler(clock) : options);
    return Cluster.join("simulated", network, options -> {
      var nodeOptions =
          options.withNode(machine.name()).withPartitions(PARTITIONS).withLease(LEASE)
              .withSettleTime(Duration.ofMillis(300)).withScope(scope).withAskLimit(ASK_LIMIT);
      return clockStops ? nodeOptions.withWallClock(() -> Instant.EPOCH.plusNanos(clock.nanoTime())) : nodeOptions;
    });
  }

  /** {@return descriptions of the broken promises} */
  List<String> play() throws InterruptedException {
    var askingNode = join(network.add(simulation.node("asking")));
    for (int i = 1; i <= OWNERS; i++) startOwner(network.add(simulation.node("n" + i)));
    ledgers = askingNode.entities(kind(new HashMap<>()));
    simulation.assertEventually("both nodes own ledgers", MAX_WAIT, () -> joinedOwners == OWNERS);
    for (var owner : owners) keys.addAll(keysOf(owner.name(), askingNode));
    network.setOdds(random.nextInt(3) == 0 ? new Odds(0, 10, 10) : Odds.NONE);
    for (int i = 0; i < ASKERS; i++) {
      var askerRandom = random.split();
      activeAskers++;
      simulation.client("asker" + i, () -> ask(askerRandom));
    }
    for (int pauses = 1 + random.nextInt(3); pauses > 0; pauses--) {
      if (random.nextBoolean()) dropLeases();
      pause(owners.get(random.nextInt(OWNERS)));
    }
    network.heal();
    isOver = true;
    simulation.assertEventually("the askers have ended", MAX_WAIT, () -> activeAskers == 0);
    check();
    for (var owner : owners) owner.crash();
    askingNode.close();
    turnErrors.addAll(history.faults());
    return turnErrors;
  }

  /** Returns keys that the node owns. */
  private static List<String> keysOf(String node, Cluster cluster) {
    return Stream.iterate(0, i -> i + 1).map(i -> "k" + i)
        .filter(key -> PartitionAssignment
            .preferredNode("kept", PartitionAssignment.partitionOf(key, PARTITIONS), cluster.members())
            .filter(node::equals).isPresent())
        .limit(KEYS_PER_OWNER).toList();
  }

  private void startOwner(Machine machine) {
    owners.add(machine);
    var kind = kind(new HashMap<>());
    machine.node().start("join", () -> {
      join(machine).host(kind, machine.scope().anonymous(), Duration.ofMinutes(5));
      return ++joinedOwners;
    });
  }

  /**
   * Pauses the owner either for about as long as its lease, or until requests for all keys are
   * answered and a little longer. Meanwhile the network may also drop the owner's messages, as
   * servers do when a paused machine does not read them.
   */
  private void pause(Machine owner) throws InterruptedException {
    Thread.sleep(random.nextInt(500));
    boolean isShort = random.nextInt(4) == 0;
    boolean isCut = random.nextBoolean();
    // If the owner is disconnected, the askers are slow, so that it has no turn to store: a refused
    // turn would make it read the store again.
    isQuick = !isCut;
    Thread.sleep(QUICK_TIME);
    long start = System.nanoTime();
    long end = start + LEASE.plusMillis(random.nextInt(-1_000, 1_000)).toNanos();
    while (isShort ? System.nanoTime() < end : !areAllAnswered(start)) {
      pauseFor(owner, STEP, isCut);
      isQuick &= System.nanoTime() - start < QUICK_TIME.toNanos();
    }
    isQuick = true;
    pauseFor(owner, STEP.plusMillis(random.nextInt(100)), isCut);
    isReading = isCut;
    pauseFor(owner, QUICK_TIME, false);
    Thread.sleep(STEP.multipliedBy(2));
    isReading = false;
    isQuick = false;
  }

  /**
   * Sets the wall clock of the servers forward while owners run, or before an owner is paused. One
   * owner may hear late that its entry was dropped. If another node took its partitions at once,
   * both nodes would handle requests.
   */
  private void dropLeases() throws InterruptedException {
    isQuick = true;
    Thread.sleep(QUICK_TIME);
    if (areNotificationsLate) owners.get(random.nextInt(OWNERS)).delayNotifications(NOTIFICATION_DELAY);
    network.dropLeases("simulated");
    Thread.sleep(random.nextInt(1_000));
    isQuick = false;
  }

  /** Pauses the owner for the given time and one step longer, and returns after the given time. */
  private void pauseFor(Machine owner, Duration time, boolean isCut) throws InterruptedException {
    owner.pause(time.plus(STEP));
    if (isCut) owner.cut(time);
    if (areNotificationsLate) owner.delayNotifications(time.plus(NOTIFICATION_DELAY));
    Thread.sleep(time);
  }

  /** Returns whether, for each key, a request that was sent after the given time was answered. */
  private boolean areAllAnswered(long since) {
    return lastAnswered.size() == keys.size() && lastAnswered.values().stream().allMatch(time -> time > since);
  }

  // ---- the actors

  private Durable<Message> kind(Map<String, Long> cache) {
    return Durable.kind("kept", Message.class)
        .events(Added.class, new Ledger(List.of()), (Ledger ledger, Added added) -> ledger.with(added.id()))
        .handler((ledger, message, context) -> handle(cache, ledger, message, context));
  }

  private void handle(Map<String, Long> cache, Ledger ledger, Message message,
      EventSourcedContext<Ledger, Added, Message> context) throws InterruptedException {
    long count = ledger.ids().size();
    switch (message) {
      case Add add -> context.reply(add, add(cache, add.id(), context));
      case AddOnce add -> context.reply(add, add(cache, add.id(), context));
      case Read read -> context.reply(read,
          fault == PlantedFault.READS_ARE_CACHED ? cache.getOrDefault(context.key(), count) : count);
      case All request -> context.reply(request, ledger);
      default -> throw new IllegalStateException(message + " is not for ledgers");
    }
  }

  /** Sleeps before it persists, so that a pause may begin in the middle of a turn. */
  private long add(Map<String, Long> cache, long id, EventSourcedContext<Ledger, Added, Message> context)
      throws InterruptedException {
    Thread.sleep(random.nextInt(TURN_TIME));
    long count = context.persist(new Added(id)).ids().size();
    cache.put(context.key(), count);
    return count;
  }

  // ---- askers

  private Object ask(SplittableRandom askerRandom) throws InterruptedException {
    while (!isOver) {
      String key = keys.get(askerRandom.nextInt(keys.size()));
      long start = System.nanoTime();
      switch (askerRandom.nextInt(4) + (isReading ? 2 : 0)) {
        case 0 -> {
          long id = newId("durable Add to " + key);
          history.ended(id, request(id, key, new Add(id), start));
        }
        case 1 -> {
          long id = newId("durable AddOnce to " + key);
          var add = new AddOnce("once " + id, id);
          while (request(id, key, add, start) != End.DONE) Thread.sleep(QUICK_PAUSE);
          history.ended(id, End.DONE);
        }
        default -> request(0, key, new Read(), start);
      }
      for (long end = System.nanoTime() + askerRandom.nextInt(SLOW_PAUSE) * 1_000_000L;
          !isQuick && System.nanoTime() < end;)
        Thread.sleep(STEP);
      Thread.sleep(askerRandom.nextInt(QUICK_PAUSE));
    }
    activeAskers--;
    return null;
  }

  private long newId(String description) {
    long id = ++lastId;
    history.sent(id, description);
    return id;
  }

  private <Q extends Message> End request(long id, String key, Request<Q, Long> request, long start) {
    long sent = System.nanoTime();
    try {
      Actor<Message> ledger = ledgers.actor(key);
      long count = ledger.ask(request, ASK_LIMIT);
      lastAnswered.merge(key, sent, Math::max);
      history.answered(id, key, start, System.nanoTime(), count);
      return End.DONE;
    } catch (RequestException | RemoteFailureException failure) {
      return History.end(failure);
    }
  }

  private void check() throws InterruptedException {
    var idsByKey = new HashMap<String, List<Long>>();
    for (var key : keys) idsByKey.put(key, read(key));
    history.checkDurable(idsByKey);
    history.checkOrder();
    checkTurns();
  }

  /** Checks that the numbers of the turns of each key increase. */
  private void checkTurns() throws InterruptedException {
    var lastTurns = new HashMap<String, Long>();
    try (var turns = StoreBackend.of(network.store()).history("kept", "")) {
      for (var page = turns.poll(); !page.isEmpty(); page = turns.poll()) for (var turn : page) {
        Long previous = lastTurns.put(turn.key(), turn.number());
        if (previous != null && turn.number() <= previous)
          turnErrors.add("turn " + turn.number() + " of " + turn.key() + " is behind turn " + previous);
      }
    }
  }

  /** Repeats a read that fails, because an owner may report a refused turn to one later request. */
  private List<Long> read(String key) throws InterruptedException {
    for (long end = System.nanoTime() + MAX_WAIT.toNanos();;) try {
      return ledgers.actor(key).ask(new All(), ASK_LIMIT).ids();
    } catch (RequestException | RemoteFailureException failure) {
      if (System.nanoTime() > end) throw failure;
      Thread.sleep(100);
    }
  }
}
