package io.fibry.engine.jvm;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * Starts fibers for the tasks of platform threads. Used only with the JDK's scheduler of virtual
 * threads, not with fibry-carriers. If a platform thread starts a fiber itself, the JDK's scheduler
 * begins this fiber only when a carrier is idle. Under load this may never happen (Java 25).
 * Therefore a task waits in a queue until a fiber takes the task. This fiber is a fetcher,
 * which was started for this purpose, or a busy fiber that calls {@link #startPending}.
 *
 * <p>A task starts once, because it leaves the queue once. No task is forgotten. A sender adds its
 * task, and then reads {@code fetcherPending}. If it is false, the sender starts a fetcher. If it
 * is true, a started fetcher has not polled the queue yet. Without memory, the JDK may lose a
 * fetcher: if a fetcher is late, the next sender starts another. An extra fetcher finds no task.
 */
final class FiberStarter implements Runnable {
  static final long FETCH_TIMEOUT = 100_000_000; // ns until a fetcher counts as lost
  private static final int MAX_BATCH = 64;
  private static final VarHandle FETCHER_PENDING =
      ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "fetcherPending", VarHandle.class, FiberStarter.class,
          boolean.class);

  private final Executor fibers; // starts a fiber for each task
  private final Consumer<Runnable> retrier; // takes the tasks for which no fiber could be started
  private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  // Whether a fetcher has been started. Cleared by the fetcher before it polls the queue, or by a
  // thread that could not start a fetcher
  private volatile boolean fetcherPending;
  // when the last fetcher was started, by System.nanoTime. A thread that reads an old value starts
  // a superfluous fetcher
  private volatile long fetcherStartedAt;
  private final long fetchTimeout;

  FiberStarter(Executor fibers, Consumer<Runnable> retrier, long fetchTimeout) {
    this.fibers = fibers;
    this.retrier = retrier;
    this.fetchTimeout = fetchTimeout;
  }

  void start(Runnable task) {
    if (Thread.currentThread().isVirtual()) fibers.execute(task);
    else enqueue(task);
  }

  void enqueue(Runnable task) {
    StackProbe.probe(); // before the task is added, because a task whose start throws must not run
    tasks.add(task);
    try {
      startFetcher();
    } catch (Throwable noThread) {
      if (tasks.remove(task)) throw noThread;
    }
  }

  private void startFetcher() {
    if (!FETCHER_PENDING.compareAndSet(this, false, true) && System.nanoTime() - fetcherStartedAt < fetchTimeout)
      return;
    fetcherStartedAt = System.nanoTime();
    try {
      fibers.execute(this);
    } catch (Throwable noThread) {
      fetcherPending = false;
      throw noThread;
    }
  }

  /** The code of a fetcher. */
  @Override
  public void run() {
    fetcherPending = false;
    var ownTask = tasks.poll();
    if (ownTask == null) return;
    try {
      int started = 0;
      while (started < MAX_BATCH && startNext()) started++;
      if (!tasks.isEmpty()) startFetcher();
    } catch (Throwable noThread) {
      retrier.accept(this);
    } finally {
      ownTask.run();
    }
  }

  /**
   * Called on a busy fiber. Starts one task if a fetcher was started and has not polled the queue.
   * If each call started more than one task, the JDK's queues would grow, and these queues never
   * shrink.
   */
  void startPending() {
    if (fetcherPending) startNext();
  }

  /** Starts a task. Returns false if no task waits, or there is no memory for a fiber. */
  private boolean startNext() {
    var task = tasks.poll();
    if (task == null) return false;
    try {
      fibers.execute(task);
      return true;
    } catch (Throwable noThread) {
      retrier.accept(task);
      return false;
    }
  }
}
