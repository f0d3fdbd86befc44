package io.fibry.simulation;

import io.fibry.simulation.io.Network;
import io.fibry.simulation.run.SimulatedClock;
import io.fibry.text.Durations;
import java.time.Duration;

/**
 * The network between the sockets of a simulation, {@link java.net.Socket} and
 * {@link java.net.ServerSocket}. It has no latency by default, and connections do not break. A port
 * belongs to one server in the whole simulation, not on each node. Only threads of the simulation
 * may use it.
 */
public final class SimulatedNetwork {
  private final Network network;

  SimulatedNetwork(Network network) {
    this.network = network;
  }

  /**
   * Delays the arrival of written bytes. The bytes of a connection keep their order.
   *
   * @param min the shortest latency
   * @param max the longest latency; the latency is drawn for each write
   * @return this
   */
  public SimulatedNetwork withLatency(Duration min, Duration max) {
    if (min.isNegative() || max.compareTo(min) < 0)
      throw new IllegalArgumentException(
          "a latency cannot be from " + Durations.text(min) + " to " + Durations.text(max)
              + "; give a min of zero or more, and a max that is not shorter");
    network.setLatency(SimulatedClock.nanos(min), SimulatedClock.nanos(max));
    return this;
  }

  /**
   * Lets the bytes of one write arrive in several parts of random size.
   *
   * @return this
   */
  public SimulatedNetwork withFragmentation() {
    network.fragment();
    return this;
  }

  /**
   * Lets connections break, for both sides. This is a kind of fault like the kinds in
   * {@link Faults}.
   *
   * @param probability the probability of a break at each write
   * @return this
   */
  public SimulatedNetwork withDisconnects(double probability) {
    network.enableDisconnects(probability);
    return this;
  }

  /**
   * Separates two nodes: no byte arrives from the other node, open connections stay open, and
   * attempts to connect time out.
   *
   * @param first a node
   * @param second another node
   */
  public void partition(SimulatedNode first, SimulatedNode second) {
    network.separate(first.domain(), second.domain());
  }

  /** Ends all partitions. Bytes that were written during a partition arrive. */
  public void heal() {
    network.heal();
  }
}
