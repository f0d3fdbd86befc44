package io.fibry.simulation;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Conditions that must always hold. Used by one simulated thread at a time, and by the carrier.
 */
final class Invariants {
  private final Map<String, BooleanSupplier> all = new LinkedHashMap<>();

  void add(String what, BooleanSupplier fact) {
    all.put(what, fact);
  }

  /** {@return why the first condition that does not hold fails, or null if all hold} */
  @Nullable
  RunFailure look() {
    for (var one : all.entrySet()) {
      try {
        if (!one.getValue().getAsBoolean())
          return RunFailure.of(RunFailure.FailureKind.ALWAYS, "not always so: " + one.getKey());
      } catch (Throwable thrown) {
        return RunFailure.thrown(thrown);
      }
    }
    return null;
  }
}
