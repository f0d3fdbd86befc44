package io.fibry.simulation;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Handler;
import io.fibry.simulation.io.Network;
import io.fibry.simulation.io.NodeDisk;
import io.fibry.simulation.run.FailureDomain;
import io.fibry.simulation.run.FaultKind;
import io.fibry.simulation.run.SimulatedClock;
import io.fibry.simulation.run.SimulatedThread;
import io.fibry.simulation.run.SimulationRun;
import io.fibry.store.folder.StorageDirectory;
import io.fibry.test.CrashDisk;
import io.fibry.text.Durations;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A simulated machine: actors and threads that can be paused or crash, and a disk that survives a
 * crash. Only threads of the simulation may use a node.
 */
public final class SimulatedNode {
  private final SimulationRun run;
  private final Network network;
  private final List<SimulatedNode> nodes; // all nodes of the run, also crashed nodes
  private final FailureDomain domain;
  private final CrashDisk files;
  private @Nullable ActorScope root; // the root scope of this node; null: no scope was opened

  SimulatedNode(SimulationRun run, Network network, List<SimulatedNode> nodes, String name, CrashDisk files) {
    this.run = run;
    this.network = network;
    this.nodes = nodes;
    this.domain = new FailureDomain(name);
    this.files = files;
    nodes.add(this);
  }

  /** {@return the name of this node} */
  public String name() {
    return domain.name;
  }

  /**
   * Starts a thread on this node, as a program is started on a machine. Threads that this thread
   * starts are on this node, too. If the code throws an exception, the run fails.
   *
   * @param name the name of the thread
   * @param code the code of the thread, whose result is ignored
   * @return the thread
   */
  public Thread start(String name, Callable<?> code) {
    Handler.Task task = Objects.requireNonNull(code, "code")::call;
    return start(name, task);
  }

  /**
   * Does the same as {@link #start(String, Callable)} for code that returns no value.
   *
   * @param name the name of the thread
   * @param code the code of the thread
   * @return the thread
   */
  public Thread start(String name, Handler.Task code) {
    requireNotCrashed();
    return run.startProgramThread(name, domain, code);
  }

  /**
   * Opens a scope whose actors are on this node, whichever thread sends to them. The scope is
   * closed after the program if it is still open.
   *
   * @param name the name of the scope
   * @return an open scope
   */
  public ActorScope openScope(String name) {
    requireNotCrashed();
    var fiber = Objects.requireNonNull(run.current());
    var previousDomain = fiber.domain;
    fiber.domain = domain;
    try {
      root = ActorSystem.root();
      return root.openScope(name);
    } finally {
      fiber.domain = previousDomain;
    }
  }

  /**
   * Returns the disk of this node. After a {@link #crash}, only data that was synced is certain to
   * be on the disk, as {@link CrashDisk#cutPower} describes.
   *
   * @return the disk; each call returns a view of the same files
   */
  public StorageDirectory disk() {
    return new NodeDisk(run, domain, files);
  }

  /**
   * Lets operations of this node's disk fail, until the node crashes. A failed operation changes no
   * file. The changes that a failed sync should have made durable stay volatile until they are
   * written again and then synced, as {@link CrashDisk} describes.
   *
   * @param fails returns whether an operation fails: "create", "write", "sync", "rename", "delete"
   * or "syncDirectory"; must not wait
   */
  public void failDiskOperations(Predicate<String> fails) {
    files.beforeOperation(operation -> {
      if (!fails.test(operation)) return;
      run.note(operation + " fails on the disk of " + domain.name);
      throw new UncheckedIOException(
          new IOException("simulated fault: " + operation + " on the disk of " + domain.name));
    });
  }

  /**
   * Crashes this node as a power cut does: its threads stop, without running {@code finally}
   * blocks, and its timers are lost. If a thread of this node calls this method, it does not
   * return.
   */
  public void crash() {
    if (domain.isCrashed) return;
    domain.isCrashed = true;
    run.note("crash of " + domain.name);
    if (run.currentDomain() == domain) SimulatedThread.parkAsCrashed();
  }

  /**
   * Pauses this node, as SIGSTOP or a long garbage collection pauses a process. Its threads do not
   * run, its timers do not fire, and messages to it wait, but its clocks continue. After the pause,
   * threads and timers continue in the order in which they became ready or due. If pauses overlap,
   * the pause that ends last counts; a crash ends all pauses. If a thread of this node calls this
   * method, it returns after the pause.
   *
   * @param time the length of the pause by the run's clock
   * @throws IllegalArgumentException if the time is not positive
   * @throws IllegalStateException if this node has crashed
   */
  public void freeze(Duration time) {
    if (!time.isPositive())
      throw new IllegalArgumentException("a pause of " + Durations.text(time) + " has no effect; give more than zero");
    requireNotCrashed();
    run.note("pause of " + domain.name + ", " + Durations.text(time));
    run.pause(domain, SimulatedClock.nanos(time));
  }

  /**
   * Starts a crashed node again.
   *
   * @return a new node with the same name, whose disk has the data that survived the power cut
   * @throws IllegalStateException if this node has not crashed
   */
  public SimulatedNode restart() {
    if (!domain.isCrashed)
      throw new IllegalStateException("node " + domain.name + " has not crashed; end it by crash() first");
    network.onRestart(domain);
    return new SimulatedNode(run, network, nodes, domain.name,
        files.cutPower(run.faults.draw(FaultKind.DISKS, Long.MAX_VALUE)));
  }

  private void requireNotCrashed() {
    if (domain.isCrashed) throw new IllegalStateException(
        "node " + domain.name + " has crashed; use the node that restart() returns");
  }

  FailureDomain domain() {
    return domain;
  }

  void close(Duration limit) {
    if (!domain.isCrashed && root != null) root.closeWithin(limit);
  }
}
