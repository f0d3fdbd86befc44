package io.fibry;

import java.util.Map;
import org.slf4j.MDC;

/**
 * Takes the MDC of slf4j along. Of what is behind slf4j some have no MDC, or none for a thread that
 * never used it: they answer null, which is an empty one.
 */
final class Mdc implements ActorScope.Carrier<Map<String, String>> {
  static final Mdc CARRIER = new Mdc();

  private Mdc() {}

  @Override
  public Map<String, String> capture() {
    var copy = MDC.getCopyOfContextMap();
    return copy == null ? Map.of() : copy;
  }

  /** An empty one is set too: a thread that is not ours may have one of its own. */
  @Override
  public AutoCloseable set(Map<String, String> captured) {
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
