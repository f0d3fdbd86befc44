package io.fibry.engine.jvm;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;

/**
 * Carries tasks from platform threads to fibers. The JDK's scheduler begins a task of a platform
 * thread only when a carrier has nothing else to do, so under load perhaps never (Java 25); a task
 * that a fiber hands over gets its turn. So a task waits here, either for a fetcher, a fiber started
 * for this purpose, or for any busy fiber of the engine, which looks here now and then.
 *
 * <p>A task starts once, because it leaves the queue once. It is never forgotten: after adding it
 * the sender either finds {@code called} false and calls a fetcher, or finds it true, and that
 * fetcher has not looked yet.
 */
public final class Relay {
  private static final int MOST_AT_ONCE = 64; // tasks that a fetcher starts
  private static final VarHandle CALLED =
      ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "called", VarHandle.class, Relay.class, boolean.class);

  private final Executor fibers; // starts a fiber for each task
  private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  // false -> true by the thread that calls a fetcher; true -> false by the fetcher before it looks,
  // or by the caller whose call failed
  private volatile boolean called;

  public Relay(Executor fibers) {
    this.fibers = fibers;
  }

  /** Starts a task on a fiber. */
  void start(Runnable task) {
    if (Thread.currentThread().isVirtual()) fibers.execute(task);
    else handOver(task);
  }

  public void handOver(Runnable task) {
    StackProbe.probe(); // a task whose handing over throws must not start
    tasks.add(task);
    try {
      callFetcher();
    } catch (Throwable noThread) {
      if (tasks.remove(task)) throw noThread;
    }
  }

  private void callFetcher() {
    if (!CALLED.compareAndSet(this, false, true)) return;
    try {
      fibers.execute(this::fetch);
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
      while (started < MOST_AT_ONCE && startNext()) started++;
      if (!tasks.isEmpty()) callFetcher();
    } finally {
      first.run();
    }
  }

  /**
   * Called on a busy fiber: starts one task for a fetcher that has not come yet. More would fill
   * the JDK's queues, which grow and never shrink again.
   */
  public void startIfCalled() {
    if (called) startNext();
  }

  /** Answers false if no task is left, or there is no memory for a thread: then the task stays. */
  private boolean startNext() {
    var task = tasks.poll();
    if (task == null) return false;
    try {
      fibers.execute(task);
      return true;
    } catch (Throwable noThread) {
      tasks.add(task);
      return false;
    }
  }
}
