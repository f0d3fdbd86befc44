package io.fibry.simulation.tap;

import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;

/**
 * Platform threads that simulated threads start. They are never started: a simulated thread, the
 * shadow, does the work, and calls that ask the platform thread reach it.
 */
public final class ThreadTap {
  /**
   * Where a platform thread keeps its shadow: a field that only a started thread reads. A map would
   * keep threads that never end. Written once, by the thread that starts it; read by any.
   */
  private static final VarHandle SHADOW = JdkInternals.field(Thread.class, "scopedValueBindings", Object.class);

  private ThreadTap() {}

  /** For {@link Thread#start}. */
  public static void start(Thread thread) {
    var machine = thread.isVirtual() ? null : MachineLookup.machine();
    if (machine == null) thread.start();
    else startShadow(thread, machine);
  }

  /** For {@link Thread.Builder#start}. */
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

  /** The thread that does the work: the shadow, if a simulated thread started this one. */
  private static Thread shadow(Thread thread) {
    return !thread.isVirtual() && SHADOW.getVolatile(thread) instanceof Thread shadow ? shadow : thread;
  }

  /** For {@link Thread#join()}. */
  public static void join(Thread thread) throws InterruptedException {
    shadow(thread).join();
  }

  /** For {@link Thread#join(long)}. */
  public static void join(Thread thread, long millis) throws InterruptedException {
    shadow(thread).join(millis);
  }

  /** For {@link Thread#join(long, int)}. */
  public static void join(Thread thread, long millis, int nanos) throws InterruptedException {
    shadow(thread).join(millis, nanos);
  }

  /** For {@link Thread#join(Duration)}. */
  public static boolean join(Thread thread, Duration duration) throws InterruptedException {
    return shadow(thread).join(duration);
  }

  /** For {@link Thread#isAlive}. */
  public static boolean isAlive(Thread thread) {
    return shadow(thread).isAlive();
  }

  /** For {@link Thread#interrupt}. */
  public static void interrupt(Thread thread) {
    shadow(thread).interrupt();
  }

  /** For {@link Thread#isInterrupted}. */
  public static boolean isInterrupted(Thread thread) {
    return shadow(thread).isInterrupted();
  }

  /** For {@link Thread#getState}. */
  public static Thread.State getState(Thread thread) {
    return shadow(thread).getState();
  }

  /** For {@link LockSupport#unpark}. */
  public static void unpark(Thread thread) {
    LockSupport.unpark(thread == null ? null : shadow(thread));
  }

  /** For {@link Thread#threadId}: a simulated thread's number in its run. */
  public static long threadId(Thread thread) {
    var machine = thread.isVirtual() ? MachineLookup.machine(thread) : null;
    return machine == null ? thread.threadId() : machine.idOf(thread);
  }

  /** For {@link Executors#defaultThreadFactory}. */
  public static ThreadFactory defaultThreadFactory() {
    var machine = MachineLookup.machine();
    return machine == null ? Executors.defaultThreadFactory() : machine.threads();
  }
}
