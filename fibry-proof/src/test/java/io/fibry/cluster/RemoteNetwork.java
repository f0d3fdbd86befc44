package io.fibry.cluster;

import io.fibry.ActorScope;
import io.fibry.cluster.membership.NodeState;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.wire.Subjects;
import io.fibry.simulation.SimulatedNode;
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
 * A {@link MemoryNetwork} on a machine of its own, for threads of a simulation. Messages of nodes
 * to this machine take time and keep their order. They are lost while a node is cut off or has
 * crashed. In a round with faults, messages of all nodes may also be slow or lost, answers may not
 * arrive, connections may break, and nodes that wait for an answer may be paused.
 */
final class RemoteNetwork implements ClusterNetwork {
  private static final int QUICK_DELAY = 4; // max ms of a quick message
  private static final int SLOW_DELAY = 550;
  private static final int MAX_PAUSE = 6_000;

  /** The probabilities of faults, in thousandths. */
  record Odds(int lost, int slow, int unknown) {
    static final Odds NONE = new Odds(0, 0, 0);

    static Odds any(SplittableRandom random) {
      return new Odds(random.nextInt(3) * 5, random.nextInt(3) * 20, random.nextInt(3) * 20);
    }
  }

  private final SplittableRandom random;
  private final ActorScope servers;
  private final boolean isStoreSeparate;
  private final List<MemoryNetwork> networks = new ArrayList<>(List.of(MemoryNetwork.create())); // by server
  private final Map<String, Machine> machines = new LinkedHashMap<>(); // by node
  // Subscriptions to queues, by the subject of the queue
  private final Map<String, List<RemoteQueue.QueueSubscription>> subscriptions = new HashMap<>();
  private final ReentrantLock serverLock = new ReentrantLock();
  private final Map<String, NodeState> nodeStates = new HashMap<>(); // the node states that watches have read, by key
  private Odds odds = Odds.NONE;
  private boolean endsLifeAtExpiry;
  private int maxRouteDelay = 1; // exclusive bound, in ms

  /**
   * @param isStoreSeparate whether a node that is cut off still reaches the store, which must fence
   * it
   */
  RemoteNetwork(SplittableRandom random, ActorScope servers, boolean isStoreSeparate) {
    this.random = random;
    this.servers = servers;
    this.isStoreSeparate = isStoreSeparate;
  }

  /**
   * Adds servers, to which the machines are assigned in turns, so that messages go over routes
   * between servers.
   *
   * @param count how many servers are added
   * @param maxDelay the time in milliseconds after which a server knows a new subscription at
   * another server
   */
  void addServers(int count, int maxDelay) {
    for (int i = 0; i < count; i++) networks.add(MemoryNetwork.create());
    maxRouteDelay = maxDelay;
  }

  /** Adds a machine for the node, with a new scope. */
  Machine add(SimulatedNode node) {
    return add(node, node.openScope(node.name()));
  }

  /** @param scope a scope on the node, in which its program runs */
  Machine add(SimulatedNode node, ActorScope scope) {
    var machine = new Machine(node, scope);
    machines.put(machine.name(), machine);
    return machine;
  }

  void setOdds(Odds odds) {
    this.odds = odds;
  }

  void heal() {
    odds = Odds.NONE;
    machines.values().forEach(Machine::heal);
  }

  /** Sets the wall clock of the servers forward: they drop all entries that have a lease. */
  void dropLeases(String app) {
    toServers().add(delay(), () -> {
      var server = networks.getFirst().openTransport();
      for (var name : machines.keySet())
        server.get(new Subjects(app).keyOfNode(name)).ifPresent(entry -> server.delete(entry.key(), entry.version()));
    });
  }

  /**
   * Plants a fault: nodes consider a life ended when its entry is dropped, and do not wait for the
   * end of its lease.
   */
  void plantExpiryFault() {
    endsLifeAtExpiry = true;
  }

  /** {@return an entry as a watch gets it} */
  ClusterTransport.Entry asSeenByWatch(ClusterTransport.Entry entry) {
    if (!endsLifeAtExpiry) return entry;
    var state = entry.value().isEmpty() ? nodeStates.get(entry.key()) : null;
    if (entry.key().contains(".node."))
      NodeState.of(entry).ifPresent(newState -> nodeStates.put(entry.key(), newState));
    return state == null ? entry
        : new ClusterTransport.Entry(entry.key(), Optional.of(new NodeState(state.member(), state.ended(),
            state.lease(), Optional.of("its entry was dropped")).bytes()), entry.version());
  }

  @Override
  public ClusterTransport connect(String app, String node) {
    int server = List.copyOf(machines.keySet()).indexOf(node) % networks.size();
    return new RemoteMachineTransport(this, machines.get(node),
        new Routes(this, networks.stream().map(MemoryNetwork::openTransport).toList(), server));
  }

  /** {@return the store itself, without delays} */
  Store store() {
    return networks.getFirst().openTransport().store();
  }

  // ---- for connections

  /**
   * {@return a line to the servers, which do one thing at a time}. The lock of the line replaces
   * monitors of the servers. Threads that wait for monitors would make each step of a run slow.
   */
  DelayedLine toServers() {
    return new DelayedLine(servers, serverLock);
  }

  /** {@return the subscriptions of all machines to a queue} Used by the servers. */
  List<RemoteQueue.QueueSubscription> subscriptions(String subject) {
    return subscriptions.computeIfAbsent(subject, absent -> new ArrayList<>());
  }

  boolean isStoreSeparate() {
    return isStoreSeparate;
  }

  boolean isMessageLost() {
    return happens(odds.lost);
  }

  /** Returns whether an answer is lost, or a connection breaks. */
  boolean isAnswerLost() {
    return happens(odds.unknown);
  }

  void pauseSometimes(Machine machine) {
    if (happens(odds.unknown)) machine.pause(Duration.ofMillis(1 + random.nextInt(MAX_PAUSE)));
  }

  private boolean happens(int thousandths) {
    return thousandths > 0 && random.nextInt(1_000) < thousandths;
  }

  /** Returns whether a node that is cut off knows that its connection is cut. */
  boolean isCutKnown() {
    return random.nextBoolean();
  }

  /** {@return the time that a message takes, in nanoseconds} */
  long delay() {
    return 1_000_000L * (happens(odds.slow) ? random.nextInt(50, SLOW_DELAY) : random.nextInt(QUICK_DELAY));
  }

  /** {@return the time until another server knows of a subscription, in nanoseconds} */
  long subscriptionDelay() {
    return 1_000_000L * random.nextInt(maxRouteDelay);
  }

  /**
   * {@return the time that a notification of a table change takes} A message that is not slow
   * arrives before the notification of a later change. Otherwise keys could move while messages to
   * them are in flight, and the messages would lose their order.
   */
  long notificationDelay() {
    return 1_000_000L * QUICK_DELAY + delay();
  }
}
