package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.RequestException;
import io.fibry.cluster.RemoteNetwork.Odds;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.durable.Idempotent;
import io.fibry.simulation.Simulation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Three nodes share the work of a queue, and a fourth one puts it there. They crash, are paused,
 * are cut off, leave and join. Afterwards all stored work is done, or was parked because it fails
 * each time; work is done again only if its node was disturbed. In every other round all workers
 * crash at the end, and a joining node does the rest of their work, the oldest first.
 */
final class WorkRound {
  sealed interface Work {
    long id();
  }

  record Job(long id) implements Work {}

  /** Fails each time. */
  record Bad(long id) implements Work {}

  /** Put again until it is stored. */
  record Bill(String idempotencyKey, long id) implements Work, Idempotent {}

  private record Attempt(Home home, long at) {
    /**
     * Whether it was disturbed, perhaps before it began, on its way to a machine that was paused.
     */
    boolean isDisturbed() {
      return home.disturbed >= at - TimeUnit.SECONDS.toNanos(1);
    }
  }

  private static final int NODES = 3;
  private static final int PUTS = 30;
  private static final int PAUSE = 600; // ms between two of them, at most
  private static final int LATEST = 20_000; // ms until the network heals
  private static final int MORE = 5; // after all workers have crashed
  private static final int AT_ONCE = 3;
  private static final int FEW_ATTEMPTS = 2; // so nodes that end may use them up
  private static final int MANY_ATTEMPTS = 8; // more than the disturbances of a round
  private static final int WORKING = 2_000; // ms, at most
  private static final Duration LONG_WORK = RemoteQueue.GIVEN_UP.plusSeconds(5);
  private static final Duration STANDS = Duration.ofSeconds(6);
  private static final Duration LONG = Duration.ofMinutes(10);

  /** A machine, and its work. */
  private final class Home {
    private final Machine machine;
    private final int atOnce;
    private Cluster cluster; // null: it is joining
    private boolean left;
    private long disturbed = Long.MIN_VALUE; // until then

    Home(String name, int atOnce) {
      this.machine = machine(name);
      this.atOnce = atOnce;
      machine.node().start("join", () -> {
        while (cluster == null) join();
        return null;
      });
    }

    /** Tries as often as necessary. */
    private void join() throws InterruptedException {
      Cluster joined = null;
      try {
        joined = WorkRound.this.join(machine);
        joined.queue("work", Work.class).consume(options -> options.withMaxParallel(atOnce).withMaxAttempts(attempts)
            .withBackoff(Duration.ofMillis(100), Duration.ofSeconds(1)), this::work);
        cluster = joined;
      } catch (TransportException | IllegalStateException | RequestException failed) {
        if (joined != null) joined.close();
        Thread.sleep(1_000);
      }
    }

    private void work(Work work) throws InterruptedException {
      begun.computeIfAbsent(work.id(), none -> new ArrayList<>()).add(new Attempt(this, System.nanoTime()));
      inOrder.add(work.id());
      Thread.sleep(random.nextInt(40) == 0 ? LONG_WORK : Duration.ofMillis(random.nextInt(WORKING)));
      if (work instanceof Bad) throw new IllegalStateException("made up");
      done.merge(work.id(), 1, Integer::sum);
    }

    void disturb(Duration time) {
      disturbed = Math.max(disturbed, System.nanoTime() + time.toNanos());
    }

    void leave() {
      disturb(Duration.ZERO); // long work is interrupted
      machine.node().start("leave", () -> {
        while (cluster == null) Thread.sleep(100);
        cluster.close();
        machine.scope().close();
        left = true;
        return null;
      });
    }

    void crash() {
      disturb(Duration.ZERO);
      machine.crash();
    }
  }

  private final Simulation simulation;
  private final SplittableRandom random;
  private final RemoteNetwork network;
  private final Machine front;
  private final List<Home> homes = new ArrayList<>();
  private final List<Home> leaving = new ArrayList<>();
  private final Set<Long> stored = new HashSet<>();
  private final Set<Long> notStored = new HashSet<>();
  private final Set<Long> bad = new HashSet<>();
  private final int attempts;
  private final Map<Long, List<Attempt>> begun = new TreeMap<>();
  private final Map<Long, Integer> done = new TreeMap<>(); // how often
  private final List<String> faults = new ArrayList<>();
  private List<Long> inOrder = new ArrayList<>(); // begun
  private WorkQueue<Work> queue;
  private boolean isRough; // the network loses something, or threads are late
  private int started;
  private long ids;

  WorkRound(Simulation simulation) {
    this.simulation = simulation;
    this.random = simulation.random().split();
    this.attempts = random.nextBoolean() ? FEW_ATTEMPTS : MANY_ATTEMPTS;
    this.network = new RemoteNetwork(random.split(), simulation.scope().openScope("servers"), true);
    this.front = machine("front");
  }

  private Machine machine(String name) {
    var node = simulation.node(name);
    return network.add(new Machine(node, node.openScope(name).openScope("program")));
  }

  private Cluster join(Machine machine) {
    return Cluster.join("simulated", network,
        options -> options.withNode(machine.name()).withLease(Duration.ofSeconds(30)).withScope(machine.scope()));
  }

  private Home start(int atOnce) {
    var home = new Home("n" + ++started, atOnce);
    homes.add(home);
    return home;
  }

  void play() throws InterruptedException {
    for (int i = 0; i < NODES; i++) start(1 + random.nextInt(AT_ONCE));
    var sender = join(front);
    queue = sender.queue("work", Work.class);
    simulation.assertEventually("all have joined", LONG, () -> homes.stream().allMatch(home -> home.cluster != null));
    if (random.nextBoolean()) {
      isRough = true;
      network.become(new Odds(random.nextInt(3) * 20, random.nextInt(3) * 20, random.nextInt(3) * 20));
      simulation.faults().withDelays(0.001, STANDS);
    }
    int disturbances = random.nextInt(6);
    for (int i = 0; i < PUTS; i++) {
      put();
      if (random.nextInt(PUTS) < disturbances) disturb();
      if (random.nextBoolean()) Thread.sleep(random.nextInt(PAUSE));
    }
    Thread.sleep(random.nextInt(LATEST)); // so that work is parked while the network is bad, too
    network.heal();
    simulation.faults().stop();
    if (random.nextBoolean()) replaceAll();
    simulation.assertEventually("all work is done", LONG, this::isEmpty);
    check();
    for (var home : homes) home.crash();
    for (var home : leaving) home.crash(); // it may be joining, so that it could not leave
    sender.close();
  }

  private void disturb() {
    var some = homes.get(random.nextInt(homes.size()));
    var time = Duration.ofMillis(50 + random.nextInt(25_000)); // also for longer than a piece is left to it
    switch (random.nextInt(6)) {
      case 0 -> {
        homes.remove(some);
        leaving.add(some);
        some.leave();
        start(1 + random.nextInt(AT_ONCE));
      }
      case 1, 2 -> {
        homes.remove(some);
        some.crash();
        start(1 + random.nextInt(AT_ONCE));
      }
      case 3 -> {
        some.disturb(time);
        some.machine.pause(time);
      }
      case 4 -> {
        some.disturb(time);
        some.machine.cut(time);
      }
      default -> front.cut(time.dividedBy(10));
    }
  }

  private void put() throws InterruptedException {
    long id = ++ids;
    switch (random.nextInt(8)) {
      case 0, 1 -> {
        bad.add(id);
        put(new Bad(id));
      }
      case 2, 3 -> {
        var bill = new Bill("bill " + id, id);
        while (!put(bill)) Thread.sleep(500);
        if (random.nextBoolean()) put(bill);
      }
      default -> put(new Job(id));
    }
  }

  /** Returns false if it is not stored, or if that is unknown. */
  private boolean put(Work work) {
    try {
      queue.put(work);
      stored.add(work.id());
      return true;
    } catch (TransportException lost) {
      if (lost.failure() == Failure.DISCONNECTED && work instanceof Job) notStored.add(work.id());
      return false;
    }
  }

  /** The servers have given up what the workers had, before the next one comes. */
  private void replaceAll() throws InterruptedException {
    simulation.assertEventually("they have left", LONG, () -> leaving.stream().allMatch(home -> home.left));
    for (var home : List.copyOf(homes)) home.crash();
    homes.clear();
    for (int i = 0; i < MORE; i++) put();
    Thread.sleep(RemoteQueue.GIVEN_UP.plusSeconds(5));
    inOrder = new ArrayList<>();
    start(1);
    simulation.assertEventually("all work was begun", LONG, this::isEmpty);
    var first = inOrder.stream().distinct().toList();
    assertEquals(first.stream().sorted().toList(), first, "the oldest first");
  }

  /** A thread may still be late, so that an answer comes too late. */
  private boolean isEmpty() {
    try {
      return queue.size() == 0;
    } catch (TransportException unknown) {
      return false;
    }
  }

  private List<WorkQueue.ParkedWork<Work>> aside() {
    while (true) try {
      return queue.parked(1_000);
    } catch (TransportException unknown) {
      Line.sleepUntil(System.nanoTime() + STANDS.toNanos());
    }
  }

  private void check() {
    var aside = aside().stream().collect(Collectors.toMap(one -> one.work().orElseThrow().id(), one -> one));
    for (long id : stored)
      if (!aside.containsKey(id) && !done.containsKey(id)) faults.add(id + " is stored, and neither done nor aside");
    aside.forEach((id, one) -> {
      boolean used = attempts == FEW_ATTEMPTS && one.reason().contains("did not end");
      if (!bad.contains(id) && !used) faults.add(id + " is aside: " + one.reason());
    });
    for (long id : notStored) if (begun.containsKey(id)) faults.add(id + " was not stored, and was begun");
    if (!isRough) done.forEach((id, times) -> {
      if (times > 1 && begun.get(id).stream().noneMatch(Attempt::isDisturbed))
        faults.add(id + " was done " + times + " times, and no node of it was disturbed");
    });
    assertEquals(List.of(), faults);
  }
}
