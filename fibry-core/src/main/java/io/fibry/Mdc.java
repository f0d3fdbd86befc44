package io.fibry;

import java.util.Map;
import org.slf4j.MDC;

/**
 * Propagates the MDC of slf4j. The MDC is null if the slf4j provider has none, or if the thread has
 * never used it; null counts as an empty MDC.
 */
final class Mdc implements ContextPropagator<Map<String, String>> {
  static final Mdc INSTANCE = new Mdc();

  private Mdc() {}

  @Override
  public Map<String, String> capture() {
    var copy = MDC.getCopyOfContextMap();
    return copy == null ? Map.of() : copy;
  }

  /** Replaces the MDC even if the captured MDC is empty, because the thread may have an MDC. */
  @Override
  public AutoCloseable restore(Map<String, String> context) {
    var previous = capture();
    put(context);
    return () -> put(previous);
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
