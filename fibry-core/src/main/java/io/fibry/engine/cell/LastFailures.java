package io.fibry.engine.cell;

import io.fibry.ActorStats.Failure;
import io.fibry.engine.jvm.MessageTexts;
import io.fibry.engine.message.Diagnosis.HandlerStack;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The last failure of each of the 100 actors of a scope that failed last, by their names. It keeps
 * no actor in memory. Actors that never fail cost nothing. The text and the stack of an exception
 * are made when statistics first read them, so that a failure stays cheap. Thread-safe.
 */
final class LastFailures {
  private static final int MAX_ACTORS = 100;
  private static final int MAX_FRAMES = 50; // of a stack

  /** A failure, first as the exception and then as statistics show it. */
  private static final class KeptFailure {
    private final Instant time;
    private volatile Object content; // a Throwable until an observer replaces it by its Failure

    KeptFailure(Throwable thrown, Instant time) {
      this.content = thrown;
      this.time = time;
    }

    /** Two observers that read at the same time make equal texts. */
    Failure read(boolean mayShowMessage) {
      if (content instanceof Throwable thrown) content =
          new Failure(time, thrown.getClass().getName(), mayShowMessage ? message(thrown) : Optional.empty(),
              stack(thrown));
      return (Failure) content;
    }
  }

  private final Map<String, KeptFailure> failures = new LinkedHashMap<>(); // guarded by this; the newest at the end

  synchronized void add(String actor, Throwable thrown, Instant time) {
    failures.remove(actor);
    failures.put(actor, new KeptFailure(thrown, time));
    if (failures.size() > MAX_ACTORS) failures.remove(failures.keySet().iterator().next());
  }

  /**
   * Returns the last failure of the actor; empty if it is not known. Runs user code without the
   * monitor.
   */
  Optional<Failure> find(String actor, boolean mayShowMessage) {
    KeptFailure failure;
    synchronized (this) {
      failure = failures.get(actor);
    }
    return failure == null ? Optional.empty() : Optional.of(failure.read(mayShowMessage));
  }

  private static Optional<String> message(Throwable thrown) {
    var text = MessageTexts.describe(thrown);
    var type = thrown.getClass().getName();
    if (text.equals(type)) return Optional.empty();
    return Optional.of(text.startsWith(type + ": ") ? text.substring(type.length() + 2) : text);
  }

  /** Returns the frames of the handler, without the frames of the engine around it. */
  private static List<StackTraceElement> stack(Throwable thrown) {
    StackTraceElement[] stack;
    try {
      stack = thrown.getStackTrace();
    } catch (Throwable userError) { // getStackTrace may be overridden
      return List.of();
    }
    int end = 0;
    while (end < stack.length && !isAttempt(stack[end])) end++;
    while (end > 0 && HandlerStack.isEngine(stack[end - 1])) end--;
    return List.of(Arrays.copyOf(stack, Math.min(end, MAX_FRAMES)));
  }

  /** Returns whether the frame is the engine's call of a handler. */
  private static boolean isAttempt(StackTraceElement frame) {
    return frame.getMethodName().equals("attempt") && frame.getClassName().equals(Activation.class.getName());
  }
}
