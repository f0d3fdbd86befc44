package io.fibry.engine.jvm;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

/**
 * Takes stack traces of threads. If the JDK has lost the stack of a fiber for lack of memory, a
 * call for the stack trace of that fiber never returns. So taking the trace of a fiber has a time
 * limit. While a call that exceeded the limit still runs, no other call is started, and callers get
 * an empty array.
 */
public final class StackTraces {
  private static final StackTraceElement[] UNKNOWN = {};
  // The last call that exceeded its limit; done if no such call is running
  private static volatile Future<?> overdueCall = CompletableFuture.completedFuture(null);

  private StackTraces() {}

  /** Returns the stack trace, or an empty array if it is not known. */
  public static StackTraceElement[] of(Thread thread) {
    if (!thread.isVirtual()) return thread.getStackTrace();
    if (!overdueCall.isDone()) return UNKNOWN;
    var call = BoundedCall.run(thread::getStackTrace, () -> {});
    if (!call.isDone()) overdueCall = call;
    var stack = call.getNow(null);
    return stack == null ? UNKNOWN : stack;
  }

  /**
   * Returns whether the frame is the engine's delivery of a message to a handler. The stack of each
   * handler has one such frame, also in a retry.
   */
  public static boolean isDelivery(StackTraceElement frame) {
    return frame.getMethodName().equals("deliverInContext")
        && frame.getClassName().equals("io.fibry.engine.cell.Activation");
  }
}
