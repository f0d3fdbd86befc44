package io.fibry.simulation.tap;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.util.concurrent.Executor;

/**
 * Finds the machine of a simulated thread. A virtual thread is simulated if its scheduler is a
 * {@link SimulatedMachine}; the carrier of that machine is simulated, too. The other classes of
 * this package call it in each redirected call. Threads that are not simulated see the real
 * machine.
 */
public final class MachineLookup {
  /**
   * Whether this JDK is 25 or later. Otherwise it is 21, because versions between 21 and 25 are not
   * supported.
   */
  static final boolean IS_JAVA_25_OR_LATER = Runtime.version().feature() >= 25;

  private static final VarHandle SCHEDULER =
      JdkInternals.field(JdkInternals.type("java.lang.VirtualThread"), "scheduler", Executor.class);

  private MachineLookup() {}

  /** Returns the machine of this thread, or null if the thread is not simulated. */
  public static SimulatedMachine machine() {
    return machine(Thread.currentThread());
  }

  /** Returns the machine of a thread, or null if the thread is not simulated. */
  public static SimulatedMachine machine(Thread thread) {
    if (!thread.isVirtual()) return thread instanceof SimulationThread carrier ? carrier.machine : null;
    return (Executor) SCHEDULER.get(thread) instanceof SimulatedMachine machine ? machine : null;
  }

  /** Returns the exception for a call of a simulated thread that cannot be simulated. */
  static UnsupportedOperationException unsupported(String action, String reason) {
    return new UnsupportedOperationException(
        "the simulated thread '" + Thread.currentThread().getName() + "' " + action + " at " + caller() + ", "
            + reason);
  }

  /** Returns the first frame of the stack that belongs neither to this package nor to the JDK. */
  private static String caller() {
    return StackWalker.getInstance()
        .walk(frames -> frames.filter(frame -> !isInternal(frame.getClassName())).findFirst())
        .map(frame -> frame.toStackTraceElement().toString()).orElse("no code of yours");
  }

  private static boolean isInternal(String className) {
    return className.startsWith("java.") || className.startsWith("jdk.") || className.startsWith("sun.")
        || className.startsWith("io.fibry.simulation.tap.");
  }

  /** Calls a method of the JDK that declares no checked exception. */
  static Object call(MethodHandle method, Object... arguments) {
    try {
      return method.invokeWithArguments(arguments);
    } catch (RuntimeException | Error failure) {
      throw failure;
    } catch (Throwable impossible) {
      throw new IllegalStateException("the JDK threw a checked exception", impossible);
    }
  }
}
