package io.fibry.cluster;

import io.fibry.Handler;
import io.fibry.TextContextPropagator;
import java.util.Map;

/** Propagates the tenant of a thread. Thread-safe. */
final class Tenant implements TextContextPropagator<String> {
  private static final ThreadLocal<String> NAME = new ThreadLocal<>();

  static String current() {
    return NAME.get() == null ? "nobody" : NAME.get();
  }

  static void with(String name, Handler.Task code) {
    NAME.set(name);
    try {
      code.run();
    } catch (Exception failure) {
      throw new AssertionError(failure);
    } finally {
      NAME.remove();
    }
  }

  @Override
  public String capture() {
    return NAME.get();
  }

  @Override
  public AutoCloseable restore(String captured) {
    String previous = NAME.get();
    NAME.set(captured);
    return () -> NAME.set(previous);
  }

  @Override
  public Map<String, String> write(String captured) {
    return Map.of("tenant", captured);
  }

  @Override
  public String read(Map<String, String> texts) {
    return texts.get("tenant");
  }
}
