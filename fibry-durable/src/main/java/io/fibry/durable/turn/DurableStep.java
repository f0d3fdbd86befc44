package io.fibry.durable.turn;

import io.fibry.ContextPropagator.HandlerStep;
import io.fibry.ContextPropagator.StepKind;
import io.fibry.ContextPropagator.StepObservation;
import io.fibry.spi.BlockBuilder;
import io.fibry.store.Store;
import java.util.Map;

/** A step or a commit of a durable actor, as context propagators see it. */
record DurableStep(StepKind kind, String name, Store.ActorId id) implements HandlerStep {

  /** Begins a step of a turn. Allocates nothing if the scope has no context propagators. */
  static StepObservation begin(BlockBuilder<?> blockBuilder, String name, Store.ActorId id) {
    return blockBuilder.hasPropagators() ? blockBuilder.beginStep(new DurableStep(StepKind.DURABLE_STEP, name, id))
        : StepObservation.NONE;
  }

  /** Begins the commit of a turn. Allocates nothing if the scope has no context propagators. */
  static StepObservation beginCommit(BlockBuilder<?> blockBuilder, Store.ActorId id) {
    return blockBuilder.hasPropagators() ? blockBuilder.beginStep(new DurableStep(StepKind.COMMIT, id.kind(), id))
        : StepObservation.NONE;
  }

  @Override
  public Map<String, Object> attributes() {
    return Map.of("fibry.actor.kind", id.kind(), "fibry.actor.key", id.key());
  }

  @Override
  public Map<String, String> senderTexts() {
    return Map.of();
  }
}
