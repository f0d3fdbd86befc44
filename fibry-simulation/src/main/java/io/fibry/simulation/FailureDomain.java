package io.fibry.simulation;

import io.fibry.Actor;
import io.fibry.engine.scope.Scope;
import io.fibry.engine.world.Environment;
import io.fibry.simulation.tap.MachineLookup;
import io.fibry.time.Scheduler;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * A unit that crashes or is paused as a whole: a node, or the part of the program outside of all
 * nodes. It has its own instance of each object that a process has once, such as the root scope.
 * After a crash, its threads and timers never continue. Used by one simulated thread at a time.
 */
final class FailureDomain {

  /**
   * Gives a simulated thread the instances of its failure domain. All other threads get the
   * instances of the process.
   */
  static final Environment ENVIRONMENT = new Environment() {
    @Override
    public <T> T instanceFor(T processInstance, Supplier<? extends T> maker) {
      return MachineLookup.machine() instanceof SimulationRun run
          ? run.currentDomain().localCopy(processInstance, maker)
          : processInstance;
    }

    @Override
    public void recordEvent(Object actor, Supplier<String> text) {
      if (MachineLookup.machine() instanceof SimulationRun run && run.trace != null)
        run.trace.note(run, (Actor<?>) actor, text);
    }
  };

  final String name;
  boolean isCrashed;
  private final SimulationRun run;
  private final Map<Object, Object> instances = new IdentityHashMap<>(); // key: the process's own instance
  private final List<Runnable> heldTasks = new ArrayList<>(); // steps and timers that became due during the pause
  private boolean isPaused;
  private long pausedUntil; // ns by the run's clock

  FailureDomain(SimulationRun run, String name) {
    this.run = run;
    this.name = name;
  }

  // ---- pauses

  boolean isPaused() {
    return isPaused;
  }

  /** Begins a pause. If pauses overlap, the pause that ends last counts. */
  void pauseUntil(long until) {
    pausedUntil = isPaused ? Math.max(pausedUntil, until) : until;
    isPaused = true;
  }

  /** Runs all held tasks in their order, unless the domain has crashed or is paused for longer. */
  void resume(long now) {
    if (isCrashed || !isPaused || now < pausedUntil) return;
    isPaused = false;
    var tasks = List.copyOf(heldTasks);
    heldTasks.clear();
    tasks.forEach(Runnable::run);
  }

  /** Keeps a task that {@link #resume} runs when the pause has ended. */
  void hold(Runnable task) {
    heldTasks.add(task);
  }

  // ---- objects that a process has once

  @SuppressWarnings("unchecked") // each instance has the type of the process's instance
  private <T> T localCopy(T processInstance, Supplier<? extends T> maker) {
    var copy = instances.get(processInstance);
    if (copy == null) {
      YieldPoints.beginInitializer(); // so that no other thread runs and makes a second instance
      try {
        copy = adapt(maker.get());
        instances.put(processInstance, copy);
      } finally {
        YieldPoints.endInitializer();
      }
    }
    return (T) copy;
  }

  /**
   * Replaces a scheduler by the run's, and lets a root scope use the run's scheduler and a
   * {@link MessageProbe}.
   */
  private Object adapt(Object instance) {
    if (instance instanceof Scheduler) return run.scheduler;
    if (instance instanceof Scope root)
      root.configure(
          options -> options.withScheduler(run.scheduler).withContextPropagator(new MessageProbe(run, this)));
    return instance;
  }
}
