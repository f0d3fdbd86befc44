package io.fibry.testing;

import io.fibry.ContextPropagator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Records the steps of handlers. While a step is open, its name is the value of a thread-local. The
 * observer may fail at one of its calls.
 */
public final class RecordingObserver implements ContextPropagator<Object> {
  public final List<String> calls = new CopyOnWriteArrayList<>();
  public final List<HandlerStep> steps = new CopyOnWriteArrayList<>();
  private final ThreadLocal<String> current = new ThreadLocal<>();
  private final String failingCall;

  /** Makes an observer that does not fail. */
  public RecordingObserver() {
    this("");
  }

  /** Makes an observer that fails at the calls begin, ended or close. */
  public RecordingObserver(String failingCall) {
    this.failingCall = failingCall;
  }

  /** Returns the name of the step that is open on this thread, or null. */
  public String current() {
    return current.get();
  }

  @Override
  public Object capture() {
    return null;
  }

  @Override
  public AutoCloseable restore(Object captured) {
    throw new AssertionError("nothing was captured");
  }

  private void call(String name, String text) {
    calls.add(name + " " + text);
    if (name.equals(failingCall)) throw new IllegalStateException("broken observer");
  }

  @Override
  public StepObservation beginStep(HandlerStep step) {
    var previous = current.get();
    steps.add(step);
    call("begin", step.kind() + " " + step.name());
    current.set(step.name());
    return new StepObservation() {
      @Override
      public void ended(String outcome, Optional<Throwable> failure) {
        call("ended", outcome + failure.map(it -> " " + it.getMessage()).orElse(""));
      }

      @Override
      public Optional<String> traceId() {
        if (failingCall.equals("traceId")) throw new IllegalStateException("broken observer");
        return Optional.of("trace of " + step.name());
      }

      @Override
      public void close() {
        if (previous == null) current.remove();
        else current.set(previous);
        call("close", step.name());
      }
    };
  }
}
