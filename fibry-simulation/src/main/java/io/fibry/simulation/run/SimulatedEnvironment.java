package io.fibry.simulation.run;

import io.fibry.Actor;
import io.fibry.engine.scope.Scope;
import io.fibry.engine.world.Environment;
import io.fibry.simulation.tap.MachineLookup;
import io.fibry.time.Scheduler;
import java.util.function.Supplier;

/**
 * Gives a simulated thread the instances of its failure domain. All other threads get the instances
 * of the process.
 */
final class SimulatedEnvironment extends Environment {

  @Override
  @SuppressWarnings("unchecked") // each instance has the type of the process's instance
  public <T> T instanceFor(T processInstance, Supplier<? extends T> maker) {
    if (!(MachineLookup.machine() instanceof SimulationRun run)) return processInstance;
    var domain = run.currentDomain();
    var copy = domain.instances.get(processInstance);
    if (copy == null) {
      var fiber = run.current();
      if (fiber != null) fiber.initializerDepth++; // so that no other thread runs and makes a second instance
      try {
        copy = adapt(maker.get(), run, domain);
        domain.instances.put(processInstance, copy);
      } finally {
        if (fiber != null) fiber.initializerDepth--;
      }
    }
    return (T) copy;
  }

  /**
   * Replaces a scheduler by a {@link SimulatedScheduler}, and lets a root scope use such a
   * scheduler and a {@link MessageProbe}.
   */
  private static Object adapt(Object instance, SimulationRun run, FailureDomain domain) {
    if (instance instanceof Scheduler) return new SimulatedScheduler(run);
    if (instance instanceof Scope root)
      root.configure(options -> options.withScheduler(new SimulatedScheduler(run))
          .withContextPropagator(new MessageProbe(run, domain)));
    return instance;
  }

  @Override
  public void recordEvent(Object actor, Supplier<String> text) {
    if (MachineLookup.machine() instanceof SimulationRun run && run.trace != null)
      run.trace.note((Actor<?>) actor, text);
  }
}
