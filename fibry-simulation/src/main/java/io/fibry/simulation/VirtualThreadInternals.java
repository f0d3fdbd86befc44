package io.fibry.simulation;

import io.fibry.simulation.tap.JdkInternals;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.util.Set;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * The parts of the JDK's virtual threads that the loop needs and the JDK does not export. The agent
 * must be in place before this class is initialised, which fails with an error that names what is
 * missing.
 */
final class VirtualThreadInternals {
  private static final Class<?> VIRTUAL = JdkInternals.type("java.lang.VirtualThread");
  private static final MethodHandle BUILDER =
      JdkInternals.constructor(JdkInternals.type("java.lang.ThreadBuilders$VirtualThreadBuilder"), Executor.class)
          .asType(MethodType.methodType(Thread.Builder.OfVirtual.class, Executor.class));
  private static final VarHandle STATE = JdkInternals.field(VIRTUAL, "state", int.class);
  /**
   * The states of a thread that has left its carrier for a monitor; before Java 24 there are no
   * such states.
   */
  private static final Set<Integer> MONITORS = Runtime.version().feature() < 24
      ? Set.of()
      : Set.of(state("BLOCKED"), state("WAIT"), state("TIMED_WAIT"));
  private static final MethodHandle FORGET = forget();

  /** The reader of what the JDK's runnable has captured. Any thread: all readers are alike. */
  private static volatile @Nullable CapturedThread captured;

  private VirtualThreadInternals() {}

  /**
   * Makes virtual threads on a scheduler; virtual threads that they start have the same scheduler.
   */
  static Thread.Builder.OfVirtual builder(Executor scheduler) {
    try {
      return (Thread.Builder.OfVirtual) BUILDER.invokeExact(scheduler);
    } catch (Throwable failure) {
      throw unexpected(failure);
    }
  }

  /** The thread that a runnable runs: the JDK makes one runnable for a thread's whole life. */
  static Thread of(Runnable runnable) {
    var reader = captured;
    if (reader == null || reader.type != runnable.getClass())
      captured = reader = new CapturedThread(runnable.getClass());
    try {
      return (Thread) reader.thread.invokeExact(runnable);
    } catch (Throwable failure) {
      throw unexpected(failure);
    }
  }

  /** Whether the thread is off its carrier for a monitor, or in {@link Object#wait}. */
  static boolean waitsForMonitor(Thread thread) {
    return !MONITORS.isEmpty() && MONITORS.contains((int) STATE.getVolatile(thread));
  }

  /** Takes a thread that will never end off the JDK's list of threads, which would keep it. */
  static void forget(Thread thread) {
    try {
      FORGET.invoke(thread);
    } catch (Throwable failure) {
      throw unexpected(failure);
    }
  }

  private static int state(String name) {
    return (int) JdkInternals.shared(VIRTUAL, name, int.class).get();
  }

  private static MethodHandle forget() {
    var container = JdkInternals.type("jdk.internal.vm.ThreadContainer");
    var remove = JdkInternals.method(container, Runtime.version().feature() < 24 ? "onExit" : "remove", void.class,
        Thread.class);
    try {
      return remove
          .bindTo(
              JdkInternals.function(JdkInternals.type("jdk.internal.vm.ThreadContainers"), "root", container).invoke());
    } catch (Throwable failure) {
      throw unexpected(failure);
    }
  }

  private static IllegalStateException unexpected(Throwable failure) {
    return new IllegalStateException("the JDK's own code failed", failure);
  }

  /** The class of the JDK's runnable, and how the thread is read from it. */
  private static final class CapturedThread {
    private final Class<?> type;
    private final MethodHandle thread;

    private CapturedThread(Class<?> type) {
      this.type = type;
      this.thread = JdkInternals.captured(type).asType(MethodType.methodType(Thread.class, Runnable.class));
    }
  }
}
