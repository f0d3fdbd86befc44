package io.fibry.simulation.tap;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.util.concurrent.Executor;

/**
 * Says which threads are simulated: a thread whose scheduler is a {@link SimulatedMachine}, and the
 * machine's carrier. The redirected calls of the other classes here ask it, and let all other
 * threads see the real machine.
 */
public final class MachineLookup {
  /**
   * Whether this JDK is 25 or later. Otherwise it is 21, since versions between them are not
   * supported.
   */
  static final boolean LATER = Runtime.version().feature() >= 25;

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

  /** Refuses a call of a simulated thread that cannot be simulated. */
  static UnsupportedOperationException refused(String does, String why) {
    return new UnsupportedOperationException(
        "the simulated thread '" + Thread.currentThread().getName() + "' " + does + " at " + caller() + ", " + why);
  }

  /** The first frame that is neither ours nor the JDK's. */
  private static String caller() {
    return StackWalker.getInstance().walk(frames -> frames.filter(frame -> !inside(frame.getClassName())).findFirst())
        .map(frame -> frame.toStackTraceElement().toString()).orElse("no code of yours");
  }

  private static boolean inside(String name) {
    return name.startsWith("java.") || name.startsWith("jdk.") || name.startsWith("sun.")
        || name.startsWith("io.fibry.simulation.tap.");
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
