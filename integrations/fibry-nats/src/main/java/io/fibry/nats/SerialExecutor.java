package io.fibry.nats;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** Runs tasks one after the other, on a fiber that exists as long as there are tasks. */
final class SerialExecutor<E extends CompletableFuture<?>> {
  private final String name;
  private final Consumer<List<E>> worker;
  private final Runnable idle;
  private final ArrayDeque<E> queue = new ArrayDeque<>(); // all below under this object's monitor
  private Thread fiber;

  /**
   * @param worker gets all that waits
   * @param idle called when nothing is left
   */
  SerialExecutor(String name, Consumer<List<E>> worker, Runnable idle) {
    this.name = name;
    this.worker = worker;
    this.idle = idle;
  }

  synchronized void add(E one) {
    queue.add(one);
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
    for (var all = takeNext(); !all.isEmpty(); all = takeNext()) work(all);
    idle.run();
  }

  private void work(List<E> all) {
    Thread.interrupted(); // what an answer runs may have left it
    try {
      worker.accept(all);
    } catch (Throwable failure) { // of memory
      for (var one : all) one.completeExceptionally(failure);
    }
  }

  private List<E> takeNext() {
    while (true) try {
      return takeAll();
    } catch (OutOfMemoryError later) { // waiting tasks stay in the queue
      Thread.onSpinWait();
    }
  }

  private synchronized List<E> takeAll() {
    var all = new ArrayList<>(queue);
    queue.clear();
    if (all.isEmpty()) fiber = null;
    return all;
  }

  synchronized boolean isIdle() {
    return fiber == null;
  }

  synchronized boolean isOwn(Thread other) {
    return fiber == other;
  }
}
