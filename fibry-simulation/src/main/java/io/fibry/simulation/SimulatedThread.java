package io.fibry.simulation;

import io.fibry.Actor;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A simulated thread, as its scheduler sees it. Used by the carrier. */
final class SimulatedThread {
  private static final String THREAD_START_PACKAGE = "io.fibry.engine.jvm."; // the room of the library that starts them

  final Runnable continuation; // the JDK's: runs until the thread waits, yields or ends
  final Thread thread;
  final long number; // in the order of birth
  @Nullable
  Actor<?> actor; // the actor whose message it handles, or null
  FailureDomain domain; // of that actor, or where the thread was started
  @Nullable
  FailureDomain sendsTo; // the place of the last message sent in this step, where a thread for its actor may start
  int priority; // of a policy
  int yieldCount; // times, since it did something else
  int initializerDepth; // classes: others may wait for them, and it gives way at no fine point
  boolean ready; // or held back: another wake-up changes nothing

  SimulatedThread(Runnable continuation, Thread thread, long number, FailureDomain domain) {
    this.continuation = continuation;
    this.thread = thread;
    this.number = number;
    this.domain = domain;
  }

  /** Whether the library starts it: what a handler starts has engine frames too, further out. */
  static boolean isStartedByLibrary() {
    return starter(name -> false).filter(name -> name.startsWith(THREAD_START_PACKAGE)).isPresent();
  }

  /** Whether an actor that was sent a message gets it; others call back, or close. */
  static boolean isStartedForActor() {
    return starter(name -> name.startsWith(THREAD_START_PACKAGE) || name.startsWith("io.fibry.Strategies"))
        .filter("io.fibry.engine.cell.Dispatch"::equals).isPresent();
  }

  /** {@return the class that starts a thread here} */
  private static Optional<String> starter(Predicate<String> through) {
    return StackWalker.getInstance().walk(frames -> frames.map(StackWalker.StackFrame::getClassName)
        .filter(name -> !name.startsWith("java.") && !name.startsWith("io.fibry.simulation.") && !through.test(name))
        .findFirst());
  }

  boolean isGone() {
    return domain.crashed;
  }

  /**
   * The place of this thread has crashed: the thread never continues, and runs no finally block.
   */
  static void abandon() {
    while (true) LockSupport.park();
  }

  @Override
  public String toString() {
    String name = thread.getName();
    return name.isEmpty() ? "thread " + number : name;
  }
}
