package io.fibry.simulation.io;

import io.fibry.simulation.run.FailureDomain;
import io.fibry.simulation.run.FaultKind;
import io.fibry.simulation.run.SimulationRun;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The servers, connections and partitions of one run. Used by one simulated thread at a time, and
 * by the carrier.
 */
public final class Network {
  private static final int FIRST_PORT = 40_000;

  /** Two failure domains between which no byte arrives. */
  private record NetworkCut(FailureDomain first, FailureDomain second) {
    boolean separates(FailureDomain from, FailureDomain to) {
      return from == first && to == second || from == second && to == first;
    }
  }

  private final SimulationRun run;
  private final Map<Integer, SimulatedSocket> servers = new TreeMap<>(); // by port
  private final List<SocketPipe> pipes = new ArrayList<>(); // the pipes that did not break
  private final Set<NetworkCut> cuts = new HashSet<>();
  private long minLatency; // ns
  private long latencyRange; // ns; the max latency minus the min latency
  private boolean isFragmented;
  private int lastPort = FIRST_PORT; // the port that was last given as a free port

  public Network(SimulationRun run) {
    this.run = run;
    run.socketMaker = isServer -> new SimulatedSocket(run, this, isServer);
  }

  // ---- requests of the program

  /** Sets the latency of each write: at least {@code min}, and at most {@code max} nanoseconds. */
  public void setLatency(long min, long max) {
    minLatency = min;
    latencyRange = max - min;
  }

  /** Lets the bytes of one write arrive in several parts of random size. */
  public void fragment() {
    isFragmented = true;
  }

  /** Lets connections break at a write, with a probability. */
  public void enableDisconnects(double probability) {
    run.faults.enable(FaultKind.NETWORK, probability, 1);
  }

  /** Separates two failure domains. */
  public void separate(FailureDomain first, FailureDomain second) {
    cuts.add(new NetworkCut(first, second));
  }

  /** Ends all partitions. Bytes that were written during a partition arrive. */
  public void heal() {
    cuts.clear();
    for (var pipe : pipes) pipe.wakeReaderOnArrival();
  }

  // ---- called by sockets

  /** Returns whether no byte arrives: a partition separates the domains, or one has crashed. */
  boolean isSeparated(FailureDomain from, FailureDomain to) {
    if (from.isCrashed || to.isCrashed) return true;
    for (var cut : cuts) if (cut.separates(from, to)) return true;
    return false;
  }

  /** Draws a latency in nanoseconds. */
  long drawLatency() {
    return minLatency + (latencyRange == 0 ? 0 : run.faults.draw(FaultKind.NETWORK, latencyRange));
  }

  /** Returns how many of the given bytes arrive together: all, or a random number of them. */
  int drawPieceSize(int bytes) {
    return isFragmented ? 1 + (int) run.faults.draw(FaultKind.NETWORK, bytes) : bytes;
  }

  /** Decides by chance whether a connection breaks now, and returns whether it does. */
  boolean shouldBreak() {
    return run.faults.tryStrike(FaultKind.NETWORK);
  }

  int freePort() {
    do lastPort++; while (servers.containsKey(lastPort));
    return lastPort;
  }

  boolean bind(int port, SimulatedSocket server) {
    return servers.putIfAbsent(port, server) == null;
  }

  void unbind(int port, SimulatedSocket server) {
    servers.remove(port, server);
  }

  @Nullable
  SimulatedSocket serverAt(int port) {
    return servers.get(port);
  }

  void add(SocketPipe pipe) {
    pipes.add(pipe);
  }

  void remove(SocketPipe pipe) {
    pipes.remove(pipe);
  }

  /** Called when a crashed node restarts: ends the servers and connections of the crashed node. */
  public void onRestart(FailureDomain domain) {
    servers.values().removeIf(server -> server.domain() == domain);
    for (var pipe : List.copyOf(pipes))
      if (pipe.writerDomain() == domain || pipe.readerDomain() == domain) pipe.breakConnection();
  }
}
