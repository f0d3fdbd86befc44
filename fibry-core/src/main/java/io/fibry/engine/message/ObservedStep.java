package io.fibry.engine.message;

import io.fibry.ContextPropagator;
import io.fibry.ContextPropagator.HandlerStep;
import io.fibry.ContextPropagator.StepObservation;
import io.fibry.engine.jvm.EngineLog;
import io.fibry.engine.jvm.MessageTexts;
import io.fibry.text.Lines;
import java.util.List;
import java.util.Optional;

/**
 * A step of a handler that the context propagators of a scope observe. If a propagator throws, the
 * exception is logged, and neither the step nor another propagator is affected. The fields are
 * final, so the store's thread may end a step that the handler's thread began.
 */
public final class ObservedStep implements StepObservation {
  private final List<ContextPropagator<?>> propagators;
  private final HandlerStep step;
  private final StepObservation[] observations; // one for each propagator; null if it has thrown

  private ObservedStep(List<ContextPropagator<?>> propagators, HandlerStep step, StepObservation[] observations) {
    this.propagators = propagators;
    this.step = step;
    this.observations = observations;
  }

  /** Begins a step at all propagators. Returns {@code NONE} if no propagator observes it. */
  public static StepObservation begin(List<ContextPropagator<?>> propagators, HandlerStep step) {
    StepObservation[] observations = null; // made for the first propagator that observes the step
    for (int i = 0; i < propagators.size(); i++) {
      try {
        var observation = propagators.get(i).beginStep(step);
        if (observation == NONE || observation == null) continue;
        if (observations == null) observations = new StepObservation[propagators.size()];
        observations[i] = observation;
      } catch (Throwable failure) {
        logFailure("begin", propagators.get(i), step, failure);
      }
    }
    return observations == null ? NONE : new ObservedStep(propagators, step, observations);
  }

  @Override
  public void ended(String outcome, Optional<Throwable> failure) {
    for (int i = observations.length - 1; i >= 0; i--) {
      try {
        if (observations[i] != null) observations[i].ended(outcome, failure);
      } catch (Throwable fault) {
        logFailure("end", propagators.get(i), step, fault);
      }
    }
  }

  /** Returns the id of the first propagator that has a trace. */
  @Override
  public Optional<String> traceId() {
    for (int i = 0; i < observations.length; i++) {
      try {
        var id = observations[i] == null ? Optional.<String>empty() : observations[i].traceId();
        if (id.isPresent()) return id;
      } catch (Throwable fault) {
        logFailure("name the trace of", propagators.get(i), step, fault);
      }
    }
    return Optional.empty();
  }

  @Override
  public void close() {
    for (int i = observations.length - 1; i >= 0; i--) {
      try {
        if (observations[i] != null) observations[i].close();
      } catch (Throwable fault) {
        logFailure("close", propagators.get(i), step, fault);
      }
    }
  }

  private static void logFailure(String verb, ContextPropagator<?> propagator, HandlerStep step, Throwable fault) {
    try {
      EngineLog.log().error("context propagator {} could not {} the {} '{}'", MessageTexts.describe(propagator), verb,
          step.kind(), Lines.line(step.name()), fault);
    } catch (Throwable error) { // no memory or no stack for the log line: the step must not be affected
    }
  }
}
