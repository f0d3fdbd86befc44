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
 * A unit that crashes and is paused as a whole, with its own copy of the objects of which a process
 * has one: a node, or the rest of the program. Threads and timers of a crashed place never
 * continue. Used by one simulated thread at a time.
 */
final class FailureDomain {

  /** Gives a simulated thread what its place has, and all others what the process has. */
  static final Environment WORLD = new Environment() {
    @Override
    public <T> T instanceFor(T ofProcess, Supplier<? extends T> maker) {
      return MachineLookup.machine() instanceof SimulationRun run ? run.currentDomain().localCopy(ofProcess, maker)
          : ofProcess;
    }

    @Override
    public void noteEvent(Object actor, Supplier<String> what) {
      if (MachineLookup.machine() instanceof SimulationRun run && run.trace != null)
        run.trace.note(run, (Actor<?>) actor, what.get());
    }
  };

  final String name;
  boolean crashed;
  private final SimulationRun run;
  private final Map<Object, Object> objects = new IdentityHashMap<>(); // by that of the process
  private final List<Runnable> heldTasks = new ArrayList<>(); // steps and timers that became due during the pause
  private boolean isPaused;
  private long pausedUntil;

  FailureDomain(SimulationRun run, String name) {
    this.run = run;
    this.name = name;
  }

  // ---- pauses

  boolean isPaused() {
    return isPaused;
  }

  /** The longest of several pauses counts. */
  void pauseUntil(long until) {
    pausedUntil = isPaused ? Math.max(pausedUntil, until) : until;
    isPaused = true;
  }

  /** All that was held happens, in its order; unless there is a longer pause. */
  void resume(long now) {
    if (crashed || !isPaused || now < pausedUntil) return;
    isPaused = false;
    var all = List.copyOf(heldTasks);
    heldTasks.clear();
    all.forEach(Runnable::run);
  }

  void hold(Runnable happens) {
    heldTasks.add(happens);
  }

  // ---- what a process has once

  @SuppressWarnings("unchecked") // each is of the type of that of the process
  private <T> T localCopy(T ofProcess, Supplier<? extends T> maker) {
    var known = objects.get(ofProcess);
    if (known == null) {
      YieldPoints.beginInitializer(); // no other thread makes a second one
      try {
        known = create(maker.get());
        objects.put(ofProcess, known);
      } finally {
        YieldPoints.endInitializer();
      }
    }
    return (T) known;
  }

  private Object create(Object single) {
    if (single instanceof Scheduler) return run.scheduler;
    if (single instanceof Scope root)
      root.configure(
          options -> options.withScheduler(run.scheduler).withContextPropagator(new MessageProbe(run, this)));
    return single;
  }
}
