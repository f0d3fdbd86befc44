package io.fibry.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class FiberStarterTest {
  private final Queue<Runnable> fibers = new ArrayDeque<>(); // fibers that were started and have not run
  private final List<Runnable> queuedForRetry = new ArrayList<>();
  private final List<String> completedTasks = new ArrayList<>();

  private FiberStarter newStarter(Executor executor, long fetchTimeout) {
    return new FiberStarter(executor, queuedForRetry::add, fetchTimeout);
  }

  private void runFibers() {
    for (var next = fibers.poll(); next != null; next = fibers.poll()) next.run();
  }

  @Test
  void queuedTasksAreRunBySingleFiber() {
    var fiberStarter = newStarter(fibers::add, Long.MAX_VALUE);

    for (var task : List.of("a", "b", "c")) fiberStarter.enqueue(() -> completedTasks.add(task));

    assertEquals(1, fibers.size());
    runFibers();
    assertEquals(List.of("a", "b", "c"), completedTasks.stream().sorted().toList());
  }

  /** The executor loses a fiber, as the JDK does while memory is short. */
  @Test
  void nextTaskStartsNewFiberWhenFirstFiberIsLost() {
    var fiberStarter = newStarter(fibers::add, 0);
    fiberStarter.enqueue(() -> completedTasks.add("a"));
    fibers.clear();

    fiberStarter.enqueue(() -> completedTasks.add("b"));

    runFibers();
    assertEquals(List.of("a", "b"), completedTasks.stream().sorted().toList());
  }

  @Test
  void lateFiberRunsNoTaskTwice() {
    var fiberStarter = newStarter(fibers::add, 0);
    for (var task : List.of("a", "b")) fiberStarter.enqueue(() -> completedTasks.add(task));

    assertEquals(2, fibers.size());
    runFibers();
    assertEquals(List.of("a", "b"), completedTasks.stream().sorted().toList());
  }

  @Test
  void taskIsRefusedIfNoFiberCanBeStarted() {
    var fiberStarter = newStarter(task -> {
      throw new RejectedExecutionException();
    }, Long.MAX_VALUE);

    assertThrows(RejectedExecutionException.class, () -> fiberStarter.enqueue(() -> completedTasks.add("a")));
    assertThrows(RejectedExecutionException.class, () -> fiberStarter.enqueue(() -> completedTasks.add("b")));

    assertEquals(List.of(), queuedForRetry);
  }
}
