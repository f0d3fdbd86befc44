package io.fibry.simulation.run;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;

/** The living threads of a run. Each has a number, which is the same in each run of a seed. */
public final class LivingThreads {
  static final Comparator<SimulatedThread> BY_NUMBER = Comparator.comparingLong(thread -> thread.number);

  // the threads by their continuations
  private final Map<Runnable, SimulatedThread> livingThreads = new IdentityHashMap<>();
  private final Map<Thread, Long> numbers = new WeakHashMap<>(); // never iterated, as its order is random
  private long lastNumber; // the number that was given last

  /** Returns the thread that a runnable runs, or null if no thread was added with this runnable. */
  @Nullable
  SimulatedThread of(Runnable step) {
    return livingThreads.get(step);
  }

  SimulatedThread add(Runnable step, Thread thread, FailureDomain domain) {
    var fiber = new SimulatedThread(step, thread, idOf(thread), domain);
    livingThreads.put(step, fiber);
    return fiber;
  }

  void remove(SimulatedThread fiber) {
    livingThreads.remove(fiber.continuation);
  }

  /**
   * Returns the number of a thread. The first call assigns it, perhaps before the thread starts.
   */
  long idOf(Thread thread) {
    return numbers.computeIfAbsent(thread, newThread -> ++lastNumber);
  }

  /**
   * Returns the threads that have not ended, in the order of their numbers, without the threads of
   * crashed failure domains.
   */
  public List<SimulatedThread> list() {
    var threads = new ArrayList<SimulatedThread>();
    for (var fiber : livingThreads.values()) if (fiber.thread.isAlive() && !fiber.isCrashed()) threads.add(fiber);
    threads.sort(BY_NUMBER);
    return threads;
  }

  /** Removes all threads, also from the JDK's list, which would keep endless threads in memory. */
  public void forgetAll() {
    for (var fiber : livingThreads.values()) if (fiber.thread.isAlive()) VirtualThreadInternals.forget(fiber.thread);
    livingThreads.clear();
  }
}
