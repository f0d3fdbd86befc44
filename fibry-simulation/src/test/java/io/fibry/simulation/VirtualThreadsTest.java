package io.fibry.simulation;

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

/** The private parts of the JDK's virtual threads, and waits for the JVM's late wake-ups. */
class VirtualThreadsTest {
  private static final int WAITERS = 20;

  @BeforeAll
  static void attach() {
    AgentAttacher.ensure();
  }

  @Test
  void threadIsFoundByItsRunnable() {
    var given = new ArrayDeque<Runnable>();

    var first = VirtualThreadInternals.builder(given::add).start(() -> {});
    var second = VirtualThreadInternals.builder(given::add).name("second").start(Thread::yield);

    assertSame(first, VirtualThreadInternals.of(given.removeFirst()));
    var runnable = given.removeFirst();
    assertSame(second, VirtualThreadInternals.of(runnable));
    runnable.run();
    assertSame(runnable, given.removeFirst());
  }

  @Test
  void threadWaitingForMonitorIsDetected() {
    assumeTrue(Runtime.version().feature() >= 24, "before, it holds its carrier");
    var given = new ConcurrentLinkedQueue<Runnable>();
    var monitors = new Object[] {new Object()};
    VirtualThreadInternals.builder(given::add).start(() -> hold(monitors, 0));
    given.remove().run();
    var owner = given.remove();
    var waits = VirtualThreadInternals.builder(given::add).start(() -> hold(monitors, 0));

    assertFalse(VirtualThreadInternals.isWaitingForMonitor(waits));
    given.remove().run();
    assertTrue(VirtualThreadInternals.isWaitingForMonitor(waits));
    owner.run();
    new MonitorBarrier().settle();

    given.remove().run();
    assertFalse(VirtualThreadInternals.isWaitingForMonitor(waits));
  }

  /** A thread that holds all monitors lets them go at once. */
  @Test
  void monitorWaitersAreReadyWhenSentinelIs() {
    assumeTrue(Runtime.version().feature() >= 24, "before, the JVM wakes no virtual thread");
    var sentinel = new MonitorBarrier();
    for (int round = 0; round < 50; round++) {
      var given = new ConcurrentLinkedQueue<Runnable>();
      var monitors = new Object[WAITERS];
      for (int i = 0; i < WAITERS; i++) monitors[i] = new Object();
      VirtualThreadInternals.builder(given::add).start(() -> hold(monitors, 0));
      given.remove().run();
      var owner = given.remove();
      for (var monitor : monitors) {
        VirtualThreadInternals.builder(given::add).start(() -> hold(new Object[] {monitor}, 0));
        given.remove().run();
      }
      assertTrue(given.isEmpty());

      owner.run();
      sentinel.settle();

      assertEquals(WAITERS, given.size());
      while (!given.isEmpty()) given.remove().run();
    }
  }

  private static void hold(Object[] monitors, int from) {
    if (from == monitors.length) {
      Thread.yield();
      return;
    }
    synchronized (monitors[from]) {
      hold(monitors, from + 1);
    }
  }

  @Test
  void aThreadThatIsForgottenIsGarbage() throws Exception {
    var forgotten = forgotten();

    for (int i = 0; i < 100 && forgotten.get() != null; i++) System.gc();

    assertNull(forgotten.get());
  }

  private static WeakReference<Thread> forgotten() {
    var given = new ArrayDeque<Runnable>();
    var thread = VirtualThreadInternals.builder(given::add).start(LockSupport::park);
    given.remove().run();
    assertEquals(Thread.State.WAITING, thread.getState());
    VirtualThreadInternals.forget(thread);
    return new WeakReference<>(thread);
  }

  @Test
  void missingJdkMemberIsNamed() {
    var failure = assertThrows(UnsupportedOperationException.class,
        () -> JdkInternals.field(JdkInternals.type("java.lang.VirtualThread"), "planner", Runnable.class));

    assertEquals("cannot simulate on Java " + Runtime.version().feature() + ": VirtualThread has no field `planner`;"
        + " run on Java 21 or 25, or with a fibry-simulation made for this Java", failure.getMessage());
    assertThrows(UnsupportedOperationException.class, () -> JdkInternals.type("java.lang.UnrealThread"));
  }
}
