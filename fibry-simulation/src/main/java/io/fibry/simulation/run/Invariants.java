package io.fibry.simulation.run;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The conditions that must hold after each step. Used by one simulated thread at a time, and by the
 * carrier.
 */
public final class Invariants {
  private final Map<String, BooleanSupplier> conditions = new LinkedHashMap<>(); // the conditions by their descriptions

  public void add(String description, BooleanSupplier condition) {
    conditions.put(description, condition);
  }

  /** {@return the failure of the first condition that is false or throws, or null if all hold} */
  @Nullable
  RunFailure findViolation() {
    for (var condition : conditions.entrySet()) {
      try {
        if (!condition.getValue().getAsBoolean())
          return RunFailure.of(RunFailure.FailureKind.INVARIANT_VIOLATED, "not always so: " + condition.getKey());
      } catch (Throwable thrown) {
        return RunFailure.ofException(thrown);
      }
    }
    return null;
  }
}
