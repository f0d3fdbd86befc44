package io.fibry.simulation;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;

/** The living threads of a run. Each has a number, which is the same in each run of a seed. */
final class LivingThreads {
  static final Comparator<SimulatedThread> BY_BIRTH = Comparator.comparingLong(task -> task.number);

  private final Map<Runnable, SimulatedThread> living = new IdentityHashMap<>(); // by their steps
  private final Map<Thread, Long> numbers = new WeakHashMap<>(); // for looking up only
  private long lastNumber; // threads

  /** Returns null if no thread has this step so far. */
  @Nullable
  SimulatedThread of(Runnable step) {
    return living.get(step);
  }

  SimulatedThread add(Runnable step, Thread thread, FailureDomain at) {
    var task = new SimulatedThread(step, thread, idOf(thread), at);
    living.put(step, task);
    return task;
  }

  void remove(SimulatedThread task) {
    living.remove(task.continuation);
  }

  /**
   * The number stays the same from the first look at the thread on, which may be before its start.
   */
  long idOf(Thread thread) {
    return numbers.computeIfAbsent(thread, unknown -> ++lastNumber);
  }

  /**
   * Returns the threads that live, in the order of their birth, without the threads of places that
   * crashed.
   */
  List<SimulatedThread> livingThreads() {
    var all = new ArrayList<SimulatedThread>();
    for (var task : living.values()) if (task.thread.isAlive() && !task.isGone()) all.add(task);
    all.sort(BY_BIRTH);
    return all;
  }

  /** Those that never end are not kept by the JDK. */
  void forget() {
    for (var task : living.values()) if (task.thread.isAlive()) VirtualThreadInternals.forget(task.thread);
    living.clear();
  }
}
