package io.fibry.simulation.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fibry.simulation.agent.AgentAttacher;
import io.fibry.simulation.tap.JdkInternals;
import java.lang.ref.WeakReference;
import java.util.ArrayDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Tests the access to private members of the JDK's virtual threads, and that WakeUpBarrier waits
 * until the JVM has woken all virtual threads.
 */
class VirtualThreadsTest {
  private static final int WAITERS = 20;

  @BeforeAll
  static void attach() {
    AgentAttacher.ensure();
  }

  @Test
  void virtualThreadIsFoundByRunnableInItsScheduler() {
    var runnables = new ArrayDeque<Runnable>();

    var first = VirtualThreadInternals.builder(runnables::add).start(() -> {});
    var second = VirtualThreadInternals.builder(runnables::add).name("second").start(Thread::yield);

    assertSame(first, VirtualThreadInternals.threadOf(runnables.removeFirst()));
    var runnable = runnables.removeFirst();
    assertSame(second, VirtualThreadInternals.threadOf(runnable));
    runnable.run();
    assertSame(runnable, runnables.removeFirst());
  }

  @Test
  void threadWaitingForMonitorIsDetected() {
    assumeTrue(Runtime.version().feature() >= 24, "before Java 24 a thread that waits for a monitor holds its carrier");
    var runnables = new ConcurrentLinkedQueue<Runnable>();
    var monitors = new Object[] {new Object()};
    VirtualThreadInternals.builder(runnables::add).start(() -> hold(monitors, 0));
    runnables.remove().run();
    var owner = runnables.remove();
    var waiter = VirtualThreadInternals.builder(runnables::add).start(() -> hold(monitors, 0));

    assertFalse(VirtualThreadInternals.isWaitingForMonitor(waiter));
    runnables.remove().run();
    assertTrue(VirtualThreadInternals.isWaitingForMonitor(waiter));
    owner.run();
    new WakeUpBarrier().settle();

    runnables.remove().run();
    assertFalse(VirtualThreadInternals.isWaitingForMonitor(waiter));
  }

  /** One thread holds all monitors, and releases them in one step. */
  @Test
  void threadsWaitingForReleasedMonitorAreReadyAfterBarrier() {
    assumeTrue(Runtime.version().feature() >= 24, "before Java 24 the JVM wakes no virtual thread");
    var barrier = new WakeUpBarrier();
    for (int round = 0; round < 50; round++) {
      var runnables = new ConcurrentLinkedQueue<Runnable>();
      var monitors = new Object[WAITERS];
      for (int i = 0; i < WAITERS; i++) monitors[i] = new Object();
      VirtualThreadInternals.builder(runnables::add).start(() -> hold(monitors, 0));
      runnables.remove().run();
      var owner = runnables.remove();
      for (var monitor : monitors) {
        VirtualThreadInternals.builder(runnables::add).start(() -> hold(new Object[] {monitor}, 0));
        runnables.remove().run();
      }
      assertTrue(runnables.isEmpty());

      owner.run();
      barrier.settle();

      assertEquals(WAITERS, runnables.size());
      while (!runnables.isEmpty()) runnables.remove().run();
    }
  }

  /** Enters the monitors from this index on, and yields while it holds them. */
  private static void hold(Object[] monitors, int first) {
    if (first == monitors.length) {
      Thread.yield();
      return;
    }
    synchronized (monitors[first]) {
      hold(monitors, first + 1);
    }
  }

  /**
   * While an agent is attached, the JVM keeps a virtual thread in which a class was loaded. So an
   * earlier thread loads all classes that the forgotten thread uses, in whatever order the tests
   * run.
   */
  @Test
  void blockedThreadIsGarbageCollectedAfterForget() throws Exception {
    forgottenThread();
    var reference = forgottenThread();

    for (int i = 0; i < 100 && reference.get() != null; i++) System.gc();

    assertNull(reference.get());
  }

  private static WeakReference<Thread> forgottenThread() {
    var runnables = new ArrayDeque<Runnable>();
    var thread = VirtualThreadInternals.builder(runnables::add).start(LockSupport::park);
    runnables.remove().run();
    assertEquals(Thread.State.WAITING, thread.getState());
    VirtualThreadInternals.forget(thread);
    return new WeakReference<>(thread);
  }

  @Test
  void exceptionNamesMissingJdkMember() {
    var failure = assertThrows(UnsupportedOperationException.class,
        () -> JdkInternals.field(JdkInternals.type("java.lang.VirtualThread"), "planner", Runnable.class));

    assertEquals("cannot simulate on Java " + Runtime.version().feature() + ": VirtualThread has no field `planner`;"
        + " run on Java 21 or 25, or with a fibry-simulation made for this Java", failure.getMessage());
    assertThrows(UnsupportedOperationException.class, () -> JdkInternals.type("java.lang.UnrealThread"));
  }
}
