package io.fibry.nats.store;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** Passes tasks to a worker, on a fiber that ends when no task is left. */
final class SerialExecutor<E extends CompletableFuture<?>> {
  private final String name;
  private final Consumer<List<E>> worker;
  private final Runnable onIdle;
  private final ArrayDeque<E> queue = new ArrayDeque<>(); // this and fiber: guarded by this object's monitor
  private Thread fiber; // null while there are no tasks

  /**
   * @param worker gets all waiting tasks, and completes them
   * @param onIdle called on the fiber when no task is left
   */
  SerialExecutor(String name, Consumer<List<E>> worker, Runnable onIdle) {
    this.name = name;
    this.worker = worker;
    this.onIdle = onIdle;
  }

  synchronized void add(E task) {
    queue.add(task);
    if (fiber != null) return;
    boolean started = false;
    try {
      fiber = Thread.ofVirtual().name(name).start(this::run);
      started = true;
    } finally {
      if (!started) {
        fiber = null;
        queue.removeLast();
      }
    }
  }

  private void run() {
    for (var tasks = takeNext(); !tasks.isEmpty(); tasks = takeNext()) work(tasks);
    onIdle.run();
  }

  private void work(List<E> tasks) {
    Thread.interrupted(); // a callback of a completed task may have set the interrupt
    try {
      worker.accept(tasks);
    } catch (Throwable failure) { // such as an OutOfMemoryError
      for (int i = 0; i < tasks.size(); i++) fail(tasks.get(i), failure);
    }
  }

  private static void fail(CompletableFuture<?> task, Throwable failure) {
    while (!task.isDone()) try {
      task.completeExceptionally(failure);
    } catch (Throwable noMemory) { // if only a callback threw, the task is done, and the loop ends
      Thread.onSpinWait();
    }
  }

  private List<E> takeNext() {
    while (true) try {
      return takeAll();
    } catch (OutOfMemoryError noMemory) { // waiting tasks stay in the queue
      Thread.onSpinWait();
    }
  }

  private synchronized List<E> takeAll() {
    var tasks = new ArrayList<>(queue);
    queue.clear();
    if (tasks.isEmpty()) fiber = null;
    return tasks;
  }

  synchronized boolean isIdle() {
    return fiber == null;
  }

  synchronized boolean isRunBy(Thread thread) {
    return fiber == thread;
  }
}
