package io.fibry;

import java.util.Map;
import org.slf4j.MDC;

/**
 * Carries the MDC of slf4j. A provider without one, or a thread that never used it, has null, which
 * counts as empty.
 */
final class Mdc implements ContextPropagator<Map<String, String>> {
  static final Mdc CARRIER = new Mdc();

  private Mdc() {}

  @Override
  public Map<String, String> capture() {
    var copy = MDC.getCopyOfContextMap();
    return copy == null ? Map.of() : copy;
  }

  /** Sets an empty one too, since a thread of the user may have its own. */
  @Override
  public AutoCloseable restore(Map<String, String> captured) {
    var before = capture();
    put(captured);
    return () -> put(before);
  }

  private static void put(Map<String, String> values) {
    if (values.isEmpty()) MDC.clear();
    else MDC.setContextMap(values);
  }

  @Override
  public String toString() {
    return "mdc()";
  }
}
