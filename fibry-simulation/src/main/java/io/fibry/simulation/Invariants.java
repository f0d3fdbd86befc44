package io.fibry.simulation;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Conditions that must always hold. Used by one simulated thread at a time, and by the carrier.
 */
final class Invariants {
  private final Map<String, BooleanSupplier> conditions = new LinkedHashMap<>();

  void add(String what, BooleanSupplier fact) {
    conditions.put(what, fact);
  }

  /** {@return why the first condition that does not hold fails, or null if all hold} */
  @Nullable
  RunFailure findViolation() {
    for (var one : conditions.entrySet()) {
      try {
        if (!one.getValue().getAsBoolean())
          return RunFailure.of(RunFailure.FailureKind.INVARIANT_VIOLATED, "not always so: " + one.getKey());
      } catch (Throwable thrown) {
        return RunFailure.thrown(thrown);
      }
    }
    return null;
  }
}
