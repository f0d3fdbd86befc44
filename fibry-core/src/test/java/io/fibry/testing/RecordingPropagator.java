package io.fibry.testing;

import io.fibry.ContextPropagator;
import io.fibry.Handler;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.helpers.BasicMDCAdapter;
import org.slf4j.spi.MDCAdapter;

/**
 * Propagates one entry of its own MDC, because the logger of the tests has no MDC. Records how its
 * methods are called.
 */
public final class RecordingPropagator implements ContextPropagator<String> {
  public final AtomicInteger captures = new AtomicInteger();
  public final List<String> calls = Collections.synchronizedList(new ArrayList<>());
  private final MDCAdapter mdc = new BasicMDCAdapter();
  private final String key;

  public RecordingPropagator(String key) {
    this.key = key;
  }

  /** Returns the value of the entry on this thread, or null. */
  public String get() {
    return mdc.get(key);
  }

  /** Sets the value of the entry on this thread, and runs the code. */
  public void runWith(String value, Handler.Task code) {
    mdc.setContextMap(Map.of(key, value));
    try {
      code.run();
    } catch (Exception failure) {
      throw new AssertionError(failure);
    } finally {
      mdc.clear();
    }
  }

  @Override
  public String capture() {
    captures.incrementAndGet();
    return get();
  }

  @Override
  public AutoCloseable restore(String captured) {
    var oldValues = mdc.getCopyOfContextMap();
    calls.add("set " + key);
    mdc.put(key, captured);
    return () -> {
      calls.add("closed " + key);
      if (oldValues == null) mdc.clear();
      else mdc.setContextMap(oldValues);
    };
  }
}
