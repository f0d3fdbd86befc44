package io.fibry.engine.jvm;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * Carries tasks from platform threads to fibers. The JDK's scheduler begins a platform thread's
 * task only when a carrier is idle, under load perhaps never (Java 25). So a task waits here for a
 * fetcher, a fiber started for this, or for a busy fiber that looks here.
 *
 * <p>A task starts once, because it leaves the queue once. No task is forgotten. After adding a
 * task, its sender either finds {@code called} false and calls a fetcher, or finds it true, and
 * that fetcher has yet to look. The JDK loses fibers while there is no memory: if a fetcher does
 * not come, the next sender calls another. One too many finds nothing to do.
 */
final class FiberStarter {
  static final long FETCH_TIMEOUT = 100_000_000; // ns until a fetcher counts as lost
  private static final int MAX_BATCH = 64;
  private static final VarHandle CALLED =
      ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "called", VarHandle.class, FiberStarter.class,
          boolean.class);

  private final Executor fibers; // starts one for each task
  private final Consumer<Runnable> keep; // takes tasks for which no fiber can be started now
  private final Runnable fetcher = this::fetch;
  private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  // false -> true by the caller of a fetcher; true -> false by the fetcher before it looks, or by a
  // caller that failed
  private volatile boolean called;
  private volatile long calledAt; // may be of the call before; then there is one fetcher too many
  private final long fetchTimeout;

  FiberStarter(Executor fibers, Consumer<Runnable> keep, long patience) {
    this.fibers = fibers;
    this.keep = keep;
    this.fetchTimeout = patience;
  }

  void start(Runnable task) {
    if (Thread.currentThread().isVirtual()) fibers.execute(task);
    else handOver(task);
  }

  void handOver(Runnable task) {
    StackProbe.probe(); // where this throws, the task must not start
    tasks.add(task);
    try {
      startFetcher();
    } catch (Throwable noThread) {
      if (tasks.remove(task)) throw noThread;
    }
  }

  private void startFetcher() {
    if (!CALLED.compareAndSet(this, false, true) && System.nanoTime() - calledAt < fetchTimeout) return;
    calledAt = System.nanoTime();
    try {
      fibers.execute(fetcher);
    } catch (Throwable noThread) {
      called = false;
      throw noThread;
    }
  }

  private void fetch() {
    called = false;
    var first = tasks.poll();
    if (first == null) return;
    try {
      int started = 0;
      while (started < MAX_BATCH && startNext()) started++;
      if (!tasks.isEmpty()) startFetcher();
    } catch (Throwable noThread) {
      keep.accept(fetcher);
    } finally {
      first.run();
    }
  }

  /**
   * On a busy fiber: starts one task for a fetcher that has yet to come. More would fill the JDK's
   * queues, which never shrink.
   */
  void startPending() {
    if (called) startNext();
  }

  /** Returns false if no task is left, or there is no memory for a thread. */
  private boolean startNext() {
    var task = tasks.poll();
    if (task == null) return false;
    try {
      fibers.execute(task);
      return true;
    } catch (Throwable noThread) {
      keep.accept(task);
      return false;
    }
  }
}
