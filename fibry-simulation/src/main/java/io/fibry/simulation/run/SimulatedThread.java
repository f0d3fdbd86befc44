package io.fibry.simulation.run;

import io.fibry.Actor;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A simulated thread, as its scheduler sees it. Used by the carrier and by simulated threads. */
public final class SimulatedThread {
  private static final String THREAD_START_PACKAGE = "io.fibry.engine.jvm."; // its classes start threads

  final Runnable continuation; // made by the JDK; runs the thread until it waits, yields or ends
  final Thread thread;
  final long number; // the same in each run of a seed; see LivingThreads
  @Nullable
  Actor<?> actor; // the actor whose message the thread handles; null: none
  public FailureDomain domain; // the domain of that actor; without an actor, the domain in which the thread started
  // the domain of threads that are started for the receiver of this step's last message; null: none
  @Nullable
  FailureDomain receiverDomain;
  int priority; // for SchedulingPolicy.PRIORITIES: the highest runs first
  int yieldCount; // yields in a row without other progress
  public int initializerDepth; // static initializers that run; above 0, the thread never gives way at yield points
  boolean isReady; // woken, even if a fault or a pause delays the thread; further wake-ups have no effect

  SimulatedThread(Runnable continuation, Thread thread, long number, FailureDomain domain) {
    this.continuation = continuation;
    this.thread = thread;
    this.number = number;
    this.domain = domain;
  }

  /**
   * Returns whether the library itself starts a thread now. If a handler starts a thread, the stack
   * has frames of the library, too, but the nearest caller is the handler. Returns false for a
   * thread of a static initializer: if its start failed, the class could never be used again.
   */
  static boolean isStartedByLibrary() {
    return findStarter(name -> false).filter(name -> name.startsWith(THREAD_START_PACKAGE)).isPresent()
        && !isInStaticInitializer();
  }

  private static boolean isInStaticInitializer() {
    return StackWalker.getInstance()
        .walk(frames -> frames.anyMatch(frame -> frame.getMethodName().equals("<clinit>")));
  }

  /** Returns whether a thread starts for an actor that gets a message, and not for another task. */
  static boolean isStartedForActor() {
    return findStarter(name -> name.startsWith(THREAD_START_PACKAGE) || name.startsWith("io.fibry.Strategies"))
        .filter("io.fibry.engine.cell.PlainQueue"::equals).isPresent();
  }

  /**
   * {@return the nearest class on the stack that starts a thread; {@code skipped} classes do not
   * count}
   */
  private static Optional<String> findStarter(Predicate<String> skipped) {
    return StackWalker.getInstance().walk(frames -> frames.map(StackWalker.StackFrame::getClassName)
        .filter(name -> !name.startsWith("java.") && !name.startsWith("io.fibry.simulation.") && !skipped.test(name))
        .findFirst());
  }

  /** Returns whether the failure domain of this thread has crashed. */
  boolean isCrashed() {
    return domain.isCrashed;
  }

  /**
   * Stops the current thread forever, without finally blocks, because its failure domain has
   * crashed.
   */
  public static void parkAsCrashed() {
    while (true) LockSupport.park();
  }

  @Override
  public String toString() {
    String name = thread.getName();
    return name.isEmpty() ? "thread " + number : name;
  }
}
