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
 * Three nodes share the work of a queue, and a fourth node puts work into it. The nodes crash, are
 * paused, are cut off, leave and join. Afterwards all stored work is done or parked. Work is parked
 * if it fails each time, or if its nodes ended during all permitted attempts. Work is done twice
 * only if a node that did it was disturbed; the round checks this only while the network loses no
 * messages and no thread is delayed. In half of the rounds all workers crash at the end, and a new
 * node does the remaining work, the oldest first.
 */
final class WorkRound {
  sealed interface Work {
    long id();
  }

  record Job(long id) implements Work {}

  /** A piece of work that fails each time. */
  record FailingJob(long id) implements Work {}

  /** A piece of work that the round puts into the queue repeatedly until it is stored. */
  record Bill(String idempotencyKey, long id) implements Work, Idempotent {}

  private record Attempt(Worker worker, long start) {
    /**
     * Returns whether the attempt was disturbed, perhaps before it began, while its message was in
     * flight to a paused machine.
     */
    boolean isDisturbed() {
      return worker.disturbedUntil >= start - TimeUnit.SECONDS.toNanos(1);
    }
  }

  private static final int NODES = 3;
  private static final int PUTS = 30;
  private static final int MAX_PAUSE = 600; // max ms between two puts
  private static final int HEALING_TIME = 20_000; // max ms until the network heals
  private static final int LATE_PUTS = 5; // puts after all workers have crashed
  private static final int MAX_PARALLEL = 3;
  private static final int FEW_ATTEMPTS = 2; // may be used up by nodes that end during an attempt
  private static final int MANY_ATTEMPTS = 8; // hardly ever used up by the disturbances of a round
  private static final int MAX_SHORT_WORK = 2_000; // max ms of most attempts; one in 40 takes LONG_WORK_TIME
  private static final Duration LONG_WORK_TIME = RemoteQueue.HEARTBEAT_LIMIT.plusSeconds(5);
  private static final Duration THREAD_DELAY = Duration.ofSeconds(6);
  private static final Duration MAX_WAIT = Duration.ofMinutes(10);

  /** A node that handles work. */
  private final class Worker {
    private final Machine machine;
    private final int maxParallel;
    private Cluster cluster; // null while the node joins
    private boolean hasLeft;
    private long disturbedUntil = Long.MIN_VALUE; // the time until which the node counts as disturbed

    Worker(String name, int maxParallel) {
      this.machine = machine(name);
      this.maxParallel = maxParallel;
      machine.node().start("join", () -> {
        while (cluster == null) join();
        return null;
      });
    }

    /** Joins the cluster; called again until it succeeds. */
    private void join() throws InterruptedException {
      Cluster joined = null;
      try {
        joined = WorkRound.this.join(machine);
        joined.queue("work", Work.class).consume(options -> options.withMaxParallel(maxParallel)
            .withMaxAttempts(maxAttempts).withBackoff(Duration.ofMillis(100), Duration.ofSeconds(1)), this::work);
        cluster = joined;
      } catch (TransportException | IllegalStateException | RequestException failed) {
        if (joined != null) joined.close();
        Thread.sleep(1_000);
      }
    }

    private void work(Work work) throws InterruptedException {
      attemptsById.computeIfAbsent(work.id(), absent -> new ArrayList<>()).add(new Attempt(this, System.nanoTime()));
      begunIds.add(work.id());
      Thread.sleep(random.nextInt(40) == 0 ? LONG_WORK_TIME : Duration.ofMillis(random.nextInt(MAX_SHORT_WORK)));
      if (work instanceof FailingJob) throw new IllegalStateException("planned by the test");
      doneCounts.merge(work.id(), 1, Integer::sum);
    }

    void disturb(Duration time) {
      disturbedUntil = Math.max(disturbedUntil, System.nanoTime() + time.toNanos());
    }

    void leave() {
      disturb(Duration.ZERO); // because leaving interrupts long work
      machine.node().start("leave", () -> {
        while (cluster == null) Thread.sleep(100);
        cluster.close();
        machine.scope().close();
        hasLeft = true;
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
  private final List<Worker> workers = new ArrayList<>();
  private final List<Worker> leaving = new ArrayList<>();
  private final Set<Long> storedIds = new HashSet<>();
  private final Set<Long> notStoredIds = new HashSet<>();
  private final Set<Long> failingIds = new HashSet<>();
  private final int maxAttempts;
  private final Map<Long, List<Attempt>> attemptsById = new TreeMap<>();
  private final Map<Long, Integer> doneCounts = new TreeMap<>(); // counts by id
  private final List<String> errors = new ArrayList<>();
  private List<Long> begunIds = new ArrayList<>(); // in the order in which work was begun
  private WorkQueue<Work> queue;
  private boolean hasFaults; // the network loses messages, or threads are delayed
  private int startedNodes;
  private long lastId;

  WorkRound(Simulation simulation) {
    this.simulation = simulation;
    this.random = simulation.random().split();
    this.maxAttempts = random.nextBoolean() ? FEW_ATTEMPTS : MANY_ATTEMPTS;
    this.network = new RemoteNetwork(random.split(), simulation.scope().openScope("servers"), true);
    this.front = machine("front");
  }

  private Machine machine(String name) {
    var node = simulation.node(name);
    return network.add(node, node.openScope(name).openScope("program"));
  }

  private Cluster join(Machine machine) {
    return Cluster.join("simulated", network,
        options -> options.withNode(machine.name()).withLease(Duration.ofSeconds(30)).withScope(machine.scope()));
  }

  private Worker start(int maxParallel) {
    var worker = new Worker("n" + ++startedNodes, maxParallel);
    workers.add(worker);
    return worker;
  }

  void play() throws InterruptedException {
    for (int i = 0; i < NODES; i++) start(1 + random.nextInt(MAX_PARALLEL));
    var sender = join(front);
    queue = sender.queue("work", Work.class);
    simulation.assertEventually("all nodes have joined", MAX_WAIT,
        () -> workers.stream().allMatch(worker -> worker.cluster != null));
    if (random.nextBoolean()) {
      hasFaults = true;
      network.setOdds(new Odds(random.nextInt(3) * 20, random.nextInt(3) * 20, random.nextInt(3) * 20));
      simulation.faults().withDelays(0.001, THREAD_DELAY);
    }
    int disturbances = random.nextInt(6);
    for (int i = 0; i < PUTS; i++) {
      put();
      if (random.nextInt(PUTS) < disturbances) disturb();
      if (random.nextBoolean()) Thread.sleep(random.nextInt(MAX_PAUSE));
    }
    Thread.sleep(random.nextInt(HEALING_TIME)); // work is parked also while the network has faults
    network.heal();
    simulation.faults().stop();
    if (random.nextBoolean()) replaceAllWorkers();
    simulation.assertEventually("all work is done", MAX_WAIT, this::isEmpty);
    check();
    for (var worker : workers) worker.crash();
    for (var worker : leaving) worker.crash(); // a node that is still joining cannot leave
    sender.close();
  }

  private void disturb() {
    var node = workers.get(random.nextInt(workers.size()));
    var time = Duration.ofMillis(50 + random.nextInt(25_000)); // may be longer than the lease of an attempt
    switch (random.nextInt(6)) {
      case 0 -> {
        workers.remove(node);
        leaving.add(node);
        node.leave();
        start(1 + random.nextInt(MAX_PARALLEL));
      }
      case 1, 2 -> {
        workers.remove(node);
        node.crash();
        start(1 + random.nextInt(MAX_PARALLEL));
      }
      case 3 -> {
        node.disturb(time);
        node.machine.pause(time);
      }
      case 4 -> {
        node.disturb(time);
        node.machine.cut(time);
      }
      default -> front.cut(time.dividedBy(10));
    }
  }

  private void put() throws InterruptedException {
    long id = ++lastId;
    switch (random.nextInt(8)) {
      case 0, 1 -> {
        failingIds.add(id);
        put(new FailingJob(id));
      }
      case 2, 3 -> {
        var bill = new Bill("bill " + id, id);
        while (!put(bill)) Thread.sleep(500);
        if (random.nextBoolean()) put(bill);
      }
      default -> put(new Job(id));
    }
  }

  /** Returns false if the work is not stored, or if the outcome is unknown. */
  private boolean put(Work work) {
    try {
      queue.put(work);
      storedIds.add(work.id());
      return true;
    } catch (TransportException lost) {
      if (lost.failure() == Failure.DISCONNECTED && work instanceof Job) notStoredIds.add(work.id());
      return false;
    }
  }

  /**
   * Crashes all nodes, and starts a new node after the servers have released the work of the
   * crashed nodes.
   */
  private void replaceAllWorkers() throws InterruptedException {
    simulation.assertEventually("leaving nodes have left", MAX_WAIT,
        () -> leaving.stream().allMatch(worker -> worker.hasLeft));
    for (var worker : List.copyOf(workers)) worker.crash();
    workers.clear();
    for (int i = 0; i < LATE_PUTS; i++) put();
    Thread.sleep(RemoteQueue.HEARTBEAT_LIMIT.plusSeconds(5));
    begunIds = new ArrayList<>();
    start(1);
    simulation.assertEventually("the new node has done or parked all work", MAX_WAIT, this::isEmpty);
    var begunOnce = begunIds.stream().distinct().toList();
    assertEquals(begunOnce.stream().sorted().toList(), begunOnce, "the work in the order in which it was begun");
  }

  /**
   * Returns whether the queue is known to be empty. The size is unknown if a delayed thread holds
   * back the answer for too long.
   */
  private boolean isEmpty() {
    try {
      return queue.size() == 0;
    } catch (TransportException unknown) {
      return false;
    }
  }

  private List<WorkQueue.ParkedWork<Work>> parkedWork() {
    while (true) try {
      return queue.parked(1_000);
    } catch (TransportException unknown) {
      DelayedLine.sleepUntil(System.nanoTime() + THREAD_DELAY.toNanos());
    }
  }

  private void check() {
    var parked = parkedWork().stream().collect(Collectors.toMap(it -> it.work().orElseThrow().id(), it -> it));
    for (long id : storedIds)
      if (!parked.containsKey(id) && !doneCounts.containsKey(id))
        errors.add(id + " is stored, and neither done nor parked");
    parked.forEach((id, work) -> {
      boolean isUsedUp = maxAttempts == FEW_ATTEMPTS && work.reason().contains("did not end");
      if (!failingIds.contains(id) && !isUsedUp) errors.add(id + " is parked: " + work.reason());
    });
    for (long id : notStoredIds) if (attemptsById.containsKey(id)) errors.add(id + " was not stored, but was begun");
    if (!hasFaults) doneCounts.forEach((id, times) -> {
      if (times > 1 && attemptsById.get(id).stream().noneMatch(Attempt::isDisturbed))
        errors.add(id + " was done " + times + " times, although no node that did it was disturbed");
    });
    assertEquals(List.of(), errors);
  }
}
