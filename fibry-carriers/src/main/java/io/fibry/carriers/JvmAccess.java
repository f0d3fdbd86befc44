package io.fibry.carriers;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * The two methods of {@code java.lang} that the JDK does not offer to libraries. When the JDK gets
 * an API for schedulers of virtual threads, only this class changes.
 */
final class JvmAccess {
  private static final int NO_INHERITED_LOCALS = 1 << 2; // Thread.NO_INHERIT_THREAD_LOCALS
  private static final @Nullable MethodHandle NEW_THREAD;
  private static final @Nullable MethodHandle CARRIER;

  static {
    MethodHandle newThread = null;
    MethodHandle carrier = null;
    try {
      var maker = Class.forName("java.lang.ThreadBuilders").getDeclaredMethod("newVirtualThread", Executor.class,
          String.class, int.class, Runnable.class);
      maker.setAccessible(true);
      var current = Thread.class.getDeclaredMethod("currentCarrierThread");
      current.setAccessible(true);
      var lookup = MethodHandles.lookup();
      newThread = lookup.unreflect(maker)
          .asType(MethodType.methodType(Thread.class, Executor.class, String.class, int.class, Runnable.class));
      carrier = lookup.unreflect(current);
    } catch (ReflectiveOperationException | RuntimeException absent) { // `isPossible` returns false
    }
    NEW_THREAD = newThread;
    CARRIER = carrier;
  }

  private JvmAccess() {}

  /** Returns whether this JVM has both methods, and its virtual threads accept a scheduler. */
  static boolean isPossible() {
    if (NEW_THREAD == null || CARRIER == null) return false;
    try {
      newThread(Runnable::run, () -> {});
      return currentCarrier() != null;
    } catch (RuntimeException noContinuations) {
      return false;
    }
  }

  /** Makes a virtual thread of a scheduler. It inherits no thread-locals and is not started. */
  static Thread newThread(Executor scheduler, Runnable task) {
    try {
      return (Thread) NEW_THREAD.invokeExact(scheduler, (String) null, NO_INHERITED_LOCALS, task);
    } catch (RuntimeException | Error failure) {
      throw failure;
    } catch (Throwable checked) {
      throw new IllegalStateException(checked);
    }
  }

  /**
   * Returns the platform thread that runs the caller. The result is valid until the caller parks or
   * yields.
   */
  static Thread currentCarrier() {
    try {
      return (Thread) CARRIER.invokeExact();
    } catch (RuntimeException | Error failure) {
      throw failure;
    } catch (Throwable checked) {
      throw new IllegalStateException(checked);
    }
  }
}
