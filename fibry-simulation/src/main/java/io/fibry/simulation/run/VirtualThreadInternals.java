package io.fibry.simulation.run;

import io.fibry.simulation.tap.JdkInternals;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.util.Set;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Access to private parts of the JDK's virtual threads. The agent must have started before this
 * class is initialized. If the JDK lacks such a part, the initialization fails with an error that
 * names the part.
 */
public final class VirtualThreadInternals {
  private static final Class<?> VIRTUAL_THREAD = JdkInternals.type("java.lang.VirtualThread");
  private static final MethodHandle BUILDER =
      JdkInternals.constructor(JdkInternals.type("java.lang.ThreadBuilders$VirtualThreadBuilder"), Executor.class)
          .asType(MethodType.methodType(Thread.Builder.OfVirtual.class, Executor.class));
  private static final VarHandle STATE = JdkInternals.field(VIRTUAL_THREAD, "state", int.class);
  /**
   * The states of a virtual thread that has left its carrier to wait for a monitor. Empty before
   * Java 24, where such a thread keeps its carrier.
   */
  private static final Set<Integer> MONITOR_STATES = Runtime.version().feature() < 24
      ? Set.of()
      : Set.of(state("BLOCKED"), state("WAIT"), state("TIMED_WAIT"));
  private static final MethodHandle FORGET = findForget();

  /**
   * Reads the thread from a runnable of the JDK; null before the first use. Written and read by any
   * thread; a race is harmless, because all getters for one class are equal.
   */
  private static volatile @Nullable CapturedThread threadGetter;

  private VirtualThreadInternals() {}

  /**
   * Returns a builder of virtual threads with the given scheduler. Virtual threads that these
   * threads start have the same scheduler.
   */
  public static Thread.Builder.OfVirtual builder(Executor scheduler) {
    try {
      return (Thread.Builder.OfVirtual) BUILDER.invokeExact(scheduler);
    } catch (Throwable failure) {
      throw unexpected(failure);
    }
  }

  /**
   * Returns the thread that a runnable runs. The JDK uses one runnable for all steps of a thread.
   */
  static Thread threadOf(Runnable runnable) {
    var reader = threadGetter;
    if (reader == null || reader.type != runnable.getClass())
      threadGetter = reader = new CapturedThread(runnable.getClass());
    try {
      return (Thread) reader.thread.invokeExact(runnable);
    } catch (Throwable failure) {
      throw unexpected(failure);
    }
  }

  /**
   * Returns whether a thread has left its carrier to wait for a monitor, or in {@link Object#wait}.
   */
  static boolean isWaitingForMonitor(Thread thread) {
    return !MONITOR_STATES.isEmpty() && MONITOR_STATES.contains((int) STATE.getVolatile(thread));
  }

  /** Removes a thread that will never end from the JDK's list, which would keep it in memory. */
  static void forget(Thread thread) {
    try {
      FORGET.invoke(thread);
    } catch (Throwable failure) {
      throw unexpected(failure);
    }
  }

  private static int state(String name) {
    return (int) JdkInternals.staticField(VIRTUAL_THREAD, name, int.class).get();
  }

  private static MethodHandle findForget() {
    var container = JdkInternals.type("jdk.internal.vm.ThreadContainer");
    var remove = JdkInternals.method(container, Runtime.version().feature() < 24 ? "onExit" : "remove", void.class,
        Thread.class);
    try {
      return remove
          .bindTo(
              JdkInternals.staticMethod(JdkInternals.type("jdk.internal.vm.ThreadContainers"), "root", container)
                  .invoke());
    } catch (Throwable failure) {
      throw unexpected(failure);
    }
  }

  private static IllegalStateException unexpected(Throwable failure) {
    return new IllegalStateException("the JDK's own code failed", failure);
  }

  /** The class of the JDK's runnables for virtual threads, and the getter of their thread. */
  private static final class CapturedThread {
    private final Class<?> type;
    private final MethodHandle thread;

    private CapturedThread(Class<?> type) {
      this.type = type;
      this.thread = JdkInternals.capturedGetter(type).asType(MethodType.methodType(Thread.class, Runnable.class));
    }
  }
}
