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
      return MachineLookup.machine() instanceof SimulationRun run ? run.place().own(ofProcess, maker) : ofProcess;
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
  private final Map<Object, Object> singles = new IdentityHashMap<>(); // by that of the process
  private final List<Runnable> held = new ArrayList<>(); // steps and timers that became due during the pause
  private boolean still;
  private long stillUntil;

  FailureDomain(SimulationRun run, String name) {
    this.run = run;
    this.name = name;
  }

  // ---- pauses

  boolean isStill() {
    return still;
  }

  /** The longest of several pauses counts. */
  void standStill(long until) {
    stillUntil = still ? Math.max(stillUntil, until) : until;
    still = true;
  }

  /** All that was held happens, in its order; unless there is a longer pause. */
  void goOn(long now) {
    if (crashed || !still || now < stillUntil) return;
    still = false;
    var all = List.copyOf(held);
    held.clear();
    all.forEach(Runnable::run);
  }

  void hold(Runnable happens) {
    held.add(happens);
  }

  // ---- what a process has once

  @SuppressWarnings("unchecked") // each is of the type of that of the process
  private <T> T own(T ofProcess, Supplier<? extends T> maker) {
    var known = singles.get(ofProcess);
    if (known == null) {
      YieldPoints.beginInitializer(); // no other thread makes a second one
      try {
        known = made(maker.get());
        singles.put(ofProcess, known);
      } finally {
        YieldPoints.endInitializer();
      }
    }
    return (T) known;
  }

  private Object made(Object single) {
    if (single instanceof Scheduler) return run.scheduler;
    if (single instanceof Scope root)
      root.configure(
          options -> options.withScheduler(run.scheduler).withContextPropagator(new MessageProbe(run, this)));
    return single;
  }
}
