package io.fibry.simulation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The network between the sockets of a simulation, {@link java.net.Socket} and
 * {@link java.net.ServerSocket}. It is fast and loses nothing by default. A port belongs to one
 * server in the whole simulation, on whatever node. For threads of the simulation.
 */
public final class SimulatedNetwork {
  private static final int FIRST_PORT = 40_000;

  /** Two places that hear nothing of each other. */
  private record NetworkCut(FailureDomain one, FailureDomain other) {
    boolean separates(FailureDomain from, FailureDomain to) {
      return from == one && to == other || from == other && to == one;
    }
  }

  private final SimulationRun run;
  private final Map<Integer, SimulatedSocket> servers = new TreeMap<>(); // by port
  private final List<SocketPipe> pipes = new ArrayList<>(); // that are open
  private final Set<NetworkCut> cuts = new HashSet<>();
  private long minLatency;
  private long latencyRange; // than the least, at most; ns
  private boolean pieces;
  private int ports = FIRST_PORT;

  SimulatedNetwork(SimulationRun run) {
    this.run = run;
  }

  // ---- what a program asks for

  /**
   * Lets what is written arrive later. The order of a connection's bytes stays.
   *
   * @param least time
   * @param max time, drawn for each write
   * @return this
   */
  public SimulatedNetwork withLatency(Duration least, Duration max) {
    if (least.isNegative() || max.compareTo(least) < 0)
      throw new IllegalArgumentException("a latency from " + least + " to " + max + "; give the lesser one first");
    this.minLatency = SimulatedClock.nanos(least);
    this.latencyRange = SimulatedClock.nanos(max) - this.minLatency;
    return this;
  }

  /**
   * Lets what is written at once arrive in parts.
   *
   * @return this
   */
  public SimulatedNetwork withFragmentation() {
    pieces = true;
    return this;
  }

  /**
   * Lets connections break, for both sides. Adds a fault, as {@link Faults} does.
   *
   * @param probability of each write
   * @return this
   */
  public SimulatedNetwork withDisconnects(double probability) {
    run.faults.enable(FaultKind.NETWORK, probability, 1);
    return this;
  }

  /**
   * Partitions two nodes: no byte arrives, connections stay open, and new connections are not
   * answered.
   *
   * @param one node
   * @param other node
   */
  public void partition(SimulatedNode one, SimulatedNode other) {
    cuts.add(new NetworkCut(one.domain(), other.domain()));
  }

  /** Ends all partitions: bytes written meanwhile arrive. */
  public void heal() {
    cuts.clear();
    for (var pipe : pipes) pipe.onArrival();
  }

  // ---- what sockets ask

  boolean isParted(FailureDomain from, FailureDomain to) {
    if (from.crashed || to.crashed) return true;
    for (var cut : cuts) if (cut.separates(from, to)) return true;
    return false;
  }

  /** In nanoseconds. */
  long withLatency() {
    return minLatency + (latencyRange == 0 ? 0 : run.faults.draw(FaultKind.NETWORK, latencyRange));
  }

  /** How many of some bytes arrive at once. */
  int piece(int bytes) {
    return pieces ? 1 + (int) run.faults.draw(FaultKind.NETWORK, bytes) : bytes;
  }

  boolean shouldBreak() {
    return run.faults.tryStrike(FaultKind.NETWORK);
  }

  int freePort() {
    do ports++; while (servers.containsKey(ports));
    return ports;
  }

  boolean bind(int port, SimulatedSocket server) {
    return servers.putIfAbsent(port, server) == null;
  }

  void unbind(int port, SimulatedSocket server) {
    servers.remove(port, server);
  }

  @Nullable
  SimulatedSocket server(int port) {
    return servers.get(port);
  }

  void add(SocketPipe pipe) {
    pipes.add(pipe);
  }

  void remove(SocketPipe pipe) {
    pipes.remove(pipe);
  }

  /** Called when the machine has restarted, without its former connections. */
  void onRestart(FailureDomain domain) {
    servers.values().removeIf(server -> server.domain() == domain);
    for (var pipe : List.copyOf(pipes)) if (pipe.from() == domain || pipe.to() == domain) pipe.breakOff();
  }
}
