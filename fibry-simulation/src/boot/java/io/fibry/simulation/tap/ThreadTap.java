package io.fibry.simulation.tap;

import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;

/**
 * Redirected calls on threads. If a simulated thread starts a platform thread, a new simulated
 * thread, its shadow, runs the code instead. The platform thread itself is never started, and calls
 * such as {@code join} and {@code interrupt} go to its shadow.
 */
public final class ThreadTap {
  /**
   * The field in which a platform thread keeps its shadow. The JDK reads this field only in threads
   * that were started. A map would keep threads that never end from garbage collection. Written
   * once, by the thread that starts the platform thread; read by any thread.
   */
  private static final VarHandle SHADOW = JdkInternals.field(Thread.class, "scopedValueBindings", Object.class);

  private ThreadTap() {}

  /** Replaces {@link Thread#start}. */
  public static void start(Thread thread) {
    var machine = thread.isVirtual() ? null : MachineLookup.machine();
    if (machine == null) thread.start();
    else startShadow(thread, machine);
  }

  /** Replaces {@link Thread.Builder#start}. */
  public static Thread start(Thread.Builder builder, Runnable task) {
    if (!(builder instanceof Thread.Builder.OfPlatform) || MachineLookup.machine() == null) return builder.start(task);
    var thread = builder.unstarted(task);
    start(thread);
    return thread;
  }

  private static void startShadow(Thread thread, SimulatedMachine machine) {
    if (shadow(thread) != thread || thread.getState() != Thread.State.NEW) throw new IllegalThreadStateException();
    var shadow = machine.threads().newThread(() -> run(thread));
    shadow.setName(thread.getName());
    SHADOW.setVolatile(thread, shadow);
    if (thread.isInterrupted()) shadow.interrupt();
    shadow.start();
  }

  private static void run(Thread thread) {
    try {
      thread.run();
    } catch (Throwable failure) {
      thread.getUncaughtExceptionHandler().uncaughtException(thread, failure);
    }
  }

  /**
   * Returns the thread that runs the code: the shadow, or the thread itself if it has no shadow.
   */
  private static Thread shadow(Thread thread) {
    return !thread.isVirtual() && SHADOW.getVolatile(thread) instanceof Thread shadow ? shadow : thread;
  }

  /** Replaces {@link Thread#join()}. */
  public static void join(Thread thread) throws InterruptedException {
    shadow(thread).join();
  }

  /** Replaces {@link Thread#join(long)}. */
  public static void join(Thread thread, long millis) throws InterruptedException {
    shadow(thread).join(millis);
  }

  /** Replaces {@link Thread#join(long, int)}. */
  public static void join(Thread thread, long millis, int nanos) throws InterruptedException {
    shadow(thread).join(millis, nanos);
  }

  /** Replaces {@link Thread#join(Duration)}. */
  public static boolean join(Thread thread, Duration duration) throws InterruptedException {
    return shadow(thread).join(duration);
  }

  /** Replaces {@link Thread#isAlive}. */
  public static boolean isAlive(Thread thread) {
    return shadow(thread).isAlive();
  }

  /** Replaces {@link Thread#interrupt}. */
  public static void interrupt(Thread thread) {
    shadow(thread).interrupt();
  }

  /** Replaces {@link Thread#isInterrupted}. */
  public static boolean isInterrupted(Thread thread) {
    return shadow(thread).isInterrupted();
  }

  /** Replaces {@link Thread#getState}. */
  public static Thread.State getState(Thread thread) {
    return shadow(thread).getState();
  }

  /** Replaces {@link LockSupport#unpark}. */
  public static void unpark(Thread thread) {
    LockSupport.unpark(thread == null ? null : shadow(thread));
  }

  /** Replaces {@link Thread#threadId}: returns a simulated thread's number in its run. */
  public static long threadId(Thread thread) {
    var machine = thread.isVirtual() ? MachineLookup.machine(thread) : null;
    return machine == null ? thread.threadId() : machine.idOf(thread);
  }

  /** Replaces {@link Executors#defaultThreadFactory}. */
  public static ThreadFactory defaultThreadFactory() {
    var machine = MachineLookup.machine();
    return machine == null ? Executors.defaultThreadFactory() : machine.threads();
  }
}
