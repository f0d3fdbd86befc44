package io.fibry.cluster;

import io.fibry.ActorScope;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.store.Store;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A {@link MemoryNetwork} on a machine of its own: messages of nodes to it take time, keep their
 * order, and are lost while a node is cut off or has crashed. It may also be bad for all nodes:
 * then messages are slow or lost, answers do not come, connections break, and nodes are paused
 * while they wait. For threads of a simulation.
 */
final class RemoteNetwork implements ClusterNetwork {
  private static final int QUICK = 4; // ms, at most
  private static final int SLOW = 550;
  private static final int STILL = 6_000;

  /** How bad it is, of a thousand each. */
  record Odds(int lost, int slow, int unknown) {
    static final Odds NONE = new Odds(0, 0, 0);

    static Odds any(SplittableRandom random) {
      return new Odds(random.nextInt(3) * 5, random.nextInt(3) * 20, random.nextInt(3) * 20);
    }
  }

  private final SplittableRandom random;
  private final ActorScope servers;
  private final boolean storeIsApart;
  private final List<MemoryNetwork> networks = new ArrayList<>(List.of(MemoryNetwork.create())); // by server
  private final Map<String, Machine> machines = new LinkedHashMap<>(); // by node
  private final Map<String, List<RemoteQueue.Taking>> takings = new HashMap<>(); // by the subject of the queue
  private final ReentrantLock turn = new ReentrantLock();
  private final Map<String, NodeState> nodes = new HashMap<>(); // that watches were told of, by key
  private Odds odds = Odds.NONE;
  private boolean expiryIsAnEnd;
  private int latestLearning = 1; // ms, exclusive

  /** @param storeIsApart a node that is cut off still reaches it, so it must fence */
  RemoteNetwork(SplittableRandom random, ActorScope servers, boolean storeIsApart) {
    this.random = random;
    this.servers = servers;
    this.storeIsApart = storeIsApart;
  }

  /**
   * Adds servers. Machines are at them in turns, so that messages go over routes.
   *
   * @param latest after this time a server knows what is subscribed at another one, in milliseconds
   */
  void addServers(int more, int latest) {
    for (int i = 0; i < more; i++) networks.add(MemoryNetwork.create());
    latestLearning = latest;
  }

  Machine add(Machine machine) {
    machines.put(machine.name(), machine);
    return machine;
  }

  void become(Odds odds) {
    this.odds = odds;
  }

  void heal() {
    odds = Odds.NONE;
    machines.values().forEach(Machine::heal);
  }

  /** The wall clock of the servers is set forward: they drop all entries that have a lease. */
  void dropLeases(String app) {
    toServers().add(delay(), () -> {
      var server = networks.getFirst().openTransport();
      for (var name : machines.keySet())
        server.get(new Subjects(app).keyOfNode(name)).ifPresent(entry -> server.delete(entry.key(), entry.version()));
    });
  }

  /** Plants a fault: nodes take a life for over when its entry is dropped, and do not wait. */
  void takeExpiryForAnEnd() {
    expiryIsAnEnd = true;
  }

  /** {@return what a watch tells of an entry} */
  ClusterTransport.Entry told(ClusterTransport.Entry entry) {
    if (!expiryIsAnEnd) return entry;
    var node = entry.value().isEmpty() ? nodes.get(entry.key()) : null;
    if (entry.key().contains(".node.")) NodeState.of(entry).ifPresent(one -> nodes.put(entry.key(), one));
    return node == null ? entry
        : new ClusterTransport.Entry(entry.key(), Optional.of(new NodeState(node.member(), node.ended(), node.lease(),
            Optional.of("its entry was dropped")).bytes()), entry.version());
  }

  @Override
  public ClusterTransport connect(String app, String node) {
    int own = List.copyOf(machines.keySet()).indexOf(node) % networks.size();
    return new Remote(this, machines.get(node),
        new Routes(this, networks.stream().map(MemoryNetwork::openTransport).toList(), own));
  }

  /** {@return the store, without a way to it} */
  Store store() {
    return networks.getFirst().openTransport().store();
  }

  // ---- for connections

  /**
   * {@return a way to the servers, which do one thing at a time} Threads that wait for monitors
   * of theirs would make each step of a run slow.
   */
  Line toServers() {
    return new Line(servers, turn);
  }

  /** {@return the takers of a queue's pieces, on all machines} For the servers. */
  List<RemoteQueue.Taking> takings(String subject) {
    return takings.computeIfAbsent(subject, none -> new ArrayList<>());
  }

  boolean storeIsApart() {
    return storeIsApart;
  }

  boolean loses() {
    return happens(odds.lost);
  }

  /** An answer does not come, or a connection breaks. */
  boolean isUnknown() {
    return happens(odds.unknown);
  }

  void mayPause(Machine machine) {
    if (happens(odds.unknown)) machine.pause(Duration.ofMillis(1 + random.nextInt(STILL)));
  }

  private boolean happens(int of1000) {
    return of1000 > 0 && random.nextInt(1_000) < of1000;
  }

  /** A node that is cut off may know it. */
  boolean knows() {
    return random.nextBoolean();
  }

  /** {@return how long a message takes, in nanoseconds} */
  long delay() {
    return 1_000_000L * (happens(odds.slow) ? random.nextInt(50, SLOW) : random.nextInt(QUICK));
  }

  /** {@return how long it takes until another server knows of a subscription, in nanoseconds} */
  long learning() {
    return 1_000_000L * random.nextInt(latestLearning);
  }

  /**
   * {@return how long news of the table take} A message that is not slow arrives before news of
   * later changes. Otherwise keys move while messages to them lose their place in the order.
   */
  long delayOfNews() {
    return 1_000_000L * QUICK + delay();
  }
}
