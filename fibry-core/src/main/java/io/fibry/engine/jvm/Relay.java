package io.fibry.engine.jvm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;

/**
 * The way from other threads to fibers. What a thread of the platform hands to the JDK's scheduler
 * is begun when a carrier has nothing else to do, so under load it may never be (Java 25); what a
 * fiber hands it has its turn. So a task waits here for two: for a fiber that was started to fetch
 * it, and for any actor at work on a fiber, which looks now and then. Whoever comes first starts
 * it.
 *
 * <p>It is started once, since it is taken out of the queue once; and it is not forgotten: who adds
 * it then finds {@code called} false, and calls a fetcher, or true, and that one has yet to look.
 */
public final class Relay {
  private static final int SOME = 64; // that a fetcher starts before others have their turn
  private static final VarHandle CALLED;

  static {
    try {
      CALLED = MethodHandles.lookup().findVarHandle(Relay.class, "called", boolean.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  private final Executor fibers; // starts a thread for each task
  private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  // false -> true: by who calls a fetcher; true -> false: by the fetcher, before it looks, or by
  // who could not call it
  private volatile boolean called;

  public Relay(Executor fibers) {
    this.fibers = fibers;
  }

  /** Starts a task on a fiber. */
  public void start(Runnable task) {
    if (Thread.currentThread().isVirtual()) fibers.execute(task);
    else handOver(task);
  }

  public void handOver(Runnable task) {
    StackProbe.probe(); // what throws shall not be started all the same
    tasks.add(task);
    try {
      call();
    } catch (Throwable noThread) {
      if (tasks.remove(task)) throw noThread;
    }
  }

  private void call() {
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
      for (int i = 0; i < SOME && startNext(); i++) {
      }
      if (!tasks.isEmpty()) call();
    } finally {
      first.run();
    }
  }

  /**
   * By who is at work on a fiber: if a fetcher is yet to come, starts one task in its place. More
   * would fill the JDK's queues faster than they are emptied; they grow, and never shrink again.
   */
  public void pass() {
    if (called) startNext();
  }

  /** False: none is left, or there is no memory for a thread, and it waits on. */
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
