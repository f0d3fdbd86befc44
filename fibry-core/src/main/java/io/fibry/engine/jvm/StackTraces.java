package io.fibry.engine.jvm;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

/**
 * Takes stack traces of threads. The JDK looks for ever for the stack of a fiber that it has lost
 * (no memory). A stack trace of a fiber therefore has a limit, and while a late one is being taken
 * there is no other.
 */
public final class StackTraces {
  private static final StackTraceElement[] UNKNOWN = {};
  private static volatile Future<?> late = CompletableFuture.completedFuture(null); // the last that was

  private StackTraces() {}

  /** Returns an empty array if the stack is not known. */
  public static StackTraceElement[] of(Thread thread) {
    if (!thread.isVirtual()) return thread.getStackTrace();
    if (!late.isDone()) return UNKNOWN;
    var look = BoundedCall.run(thread::getStackTrace, () -> {});
    if (!look.isDone()) late = look;
    var stack = look.getNow(null);
    return stack == null ? UNKNOWN : stack;
  }
}
