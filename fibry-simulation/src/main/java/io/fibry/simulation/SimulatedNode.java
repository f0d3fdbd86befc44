package io.fibry.simulation;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.store.folder.StorageDirectory;
import io.fibry.test.CrashDisk;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A simulated machine: actors and threads that can be paused or crash, and a disk that survives a
 * crash. For threads of the simulation.
 */
public final class SimulatedNode {
  private final Simulation simulation;
  private final FailureDomain domain;
  private final CrashDisk files;
  private @Nullable ActorScope root; // null: no scope was opened

  SimulatedNode(Simulation simulation, String name, CrashDisk files) {
    this.simulation = simulation;
    this.domain = new FailureDomain(simulation.run(), name);
    this.files = files;
  }

  /** {@return its name} */
  public String name() {
    return domain.name;
  }

  /**
   * Starts a thread on this node, as a program is started on a machine. The threads that it starts
   * in its turn are on this node, too. An exception that it throws fails the run.
   *
   * @param name of the thread
   * @param code the code of the thread
   * @return the thread
   */
  public Thread start(String name, Callable<?> code) {
    checkRuns();
    return simulation.thread(name, domain, code);
  }

  /**
   * Opens a scope whose actors are on this node, whichever thread sends to them. The scope is
   * closed after the program if it is still open.
   *
   * @param name of the scope
   * @return an open scope
   */
  public ActorScope openScope(String name) {
    checkRuns();
    var task = Objects.requireNonNull(simulation.run().current());
    var before = task.domain;
    task.domain = domain;
    try {
      root = ActorSystem.root();
      return root.openScope(name);
    } finally {
      task.domain = before;
    }
  }

  /**
   * Returns the disk of this node. After a {@link #crash}, only data that was forced is certain to
   * be there, as {@link CrashDisk#cutPower} says.
   *
   * @return the same one each time
   */
  public StorageDirectory disk() {
    return new NodeDisk(simulation.run(), domain, files);
  }

  /**
   * Lets operations of its disk fail, until it crashes. One that fails changes nothing. A force
   * that fails also forgets what it should have forced, as {@link CrashDisk} says.
   *
   * @param fails gets "create", "write", "sync", "rename", "delete" or "syncDirectory"; must not
   * wait
   */
  public void failDiskOperations(Predicate<String> fails) {
    files.beforeOperation(operation -> {
      if (!fails.test(operation)) return;
      simulation.trace(operation + " fails on the disk of " + domain.name);
      throw new UncheckedIOException(new IOException("made up: " + operation + " on the disk of " + domain.name));
    });
  }

  /**
   * Crashes this node as a power cut does: its threads do nothing more, not even a {@code finally},
   * and its timers are gone. Called on this node, it does not return.
   */
  public void crash() {
    if (domain.crashed) return;
    domain.crashed = true;
    simulation.trace("crash of " + domain.name);
    if (simulation.run().currentDomain() == domain) SimulatedThread.abandon();
  }

  /**
   * Pauses this node, as SIGSTOP or a long garbage collection pauses a process: its threads do
   * nothing, and its timers do not go off. Its clocks continue, and messages to it wait. Afterwards
   * threads and timers continue in the order in which they became ready or due. If pauses overlap,
   * the pause that ends last counts; a crash ends all pauses. Called on this node, it returns
   * afterwards.
   *
   * @param time by the run's clock, from now
   * @throws IllegalArgumentException if it is not positive
   * @throws IllegalStateException if it has crashed
   */
  public void freeze(Duration time) {
    if (!time.isPositive()) throw new IllegalArgumentException("a pause of " + time + "; give more than zero");
    checkRuns();
    simulation.trace("pause of " + domain.name + ", " + time);
    simulation.run().pause(domain, SimulatedClock.nanos(time));
  }

  /**
   * Starts the machine again.
   *
   * @return a node with the same name, with what a power cut has left on the disk
   * @throws IllegalStateException if it has not crashed
   */
  public SimulatedNode restart() {
    if (!domain.crashed)
      throw new IllegalStateException("node " + domain.name + " has not crashed; end it by crash() first");
    simulation.run().network.onRestart(domain);
    return simulation.node(domain.name, files.cutPower(simulation.run().faults.draw(FaultKind.DISKS, Long.MAX_VALUE)));
  }

  private void checkRuns() {
    if (domain.crashed) throw new IllegalStateException(
        "node " + domain.name + " has crashed; use the one that restart() returns");
  }

  FailureDomain domain() {
    return domain;
  }

  void close(Duration limit) {
    if (!domain.crashed && root != null) root.closeWithin(limit);
  }
}
