package io.fibry.simulation.run;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * A unit that crashes or is paused as a whole: a node, or the part of the program outside of all
 * nodes. It has its own instance of each object that a process has once, such as the root scope.
 * After a crash, its threads and timers never continue. Used by one simulated thread at a time.
 */
public final class FailureDomain {
  public final String name;
  public boolean isCrashed;
  final Map<Object, Object> instances = new IdentityHashMap<>(); // key: the process's own instance
  private final List<Runnable> heldTasks = new ArrayList<>(); // steps and timers that became due during the pause
  private boolean isPaused;
  private long pausedUntil; // ns by the run's clock

  public FailureDomain(String name) {
    this.name = name;
  }

  // ---- pauses

  boolean isPaused() {
    return isPaused;
  }

  /** Begins a pause. If pauses overlap, the pause that ends last counts. */
  void pauseUntil(long until) {
    pausedUntil = isPaused ? Math.max(pausedUntil, until) : until;
    isPaused = true;
  }

  /** Runs all held tasks in their order, unless the domain has crashed or is paused for longer. */
  void resume(long now) {
    if (isCrashed || !isPaused || now < pausedUntil) return;
    isPaused = false;
    var tasks = List.copyOf(heldTasks);
    heldTasks.clear();
    tasks.forEach(Runnable::run);
  }

  /** Keeps a task that {@link #resume} runs when the pause has ended. */
  void hold(Runnable task) {
    heldTasks.add(task);
  }
}
