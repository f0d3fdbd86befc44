package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.cluster.spi.ClusterTransport.WorkItem;
import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/**
 * Tests a network in memory whose clock refuses timers, or waits: entries still expire, and work is
 * still delivered.
 */
class MemoryNetworkFaultTest {
  private static final Duration LEASE = Duration.ofSeconds(1);

  private final ManualScheduler manualClock = new ManualScheduler();
  private volatile boolean isBroken;
  private final Scheduler clock = Intercepted.of(Scheduler.class, manualClock, (method, arguments, call) -> {
    if (isBroken && method.getName().equals("schedule")) throw new IllegalStateException("made up, for a test");
    return call.pass();
  });

  @Test
  void entryExpiresThoughItsUpdateCouldSetNoTimer() {
    var table = new MemoryTable(clock);
    long version = table.create("key", new byte[1], LEASE).orElseThrow();
    isBroken = true;
    assertThrows(IllegalStateException.class, () -> table.update("key", new byte[2], version, LEASE));

    manualClock.advance(LEASE);

    assertEquals(Optional.empty(), table.get("key"));
  }

  @Test
  void releasedWorkIsRedeliveredAtOnceIfNoTimerCanBeSet() {
    var transport = (MemoryTransport) MemoryNetwork.create(clock).connect("app", "a");
    var queue = new MemoryQueue(clock);
    var items = new LinkedBlockingQueue<WorkItem>();
    queue.put("id", new byte[1]);
    queue.take(transport, 1, items::add);
    var firstItem = Patience.nextOf(items);
    isBroken = true;
    assertThrows(IllegalStateException.class, () -> firstItem.release(LEASE));

    assertEquals(2, Patience.nextOf(items).attempts());
    transport.close();
  }

  /** Returns a clock whose every call waits until another thread has run the code. */
  private Scheduler clockThatAwaits(Runnable code) {
    return Intercepted.of(Scheduler.class, manualClock, (method, arguments, call) -> {
      if (method.getDeclaringClass() == Scheduler.class) Patience.awaitEnd(Patience.startFiber(code));
      return call.pass();
    });
  }

  @Test
  void tableCallsClockOutsideOfItsMonitor() {
    var table = new AtomicReference<MemoryTable>();
    table.set(new MemoryTable(clockThatAwaits(() -> table.get().get("key"))));

    Patience.awaitEnd(Patience.startFiber(() -> {
      long version = table.get().create("key", new byte[1], LEASE).orElseThrow();
      table.get().update("key", new byte[2], version, LEASE).orElseThrow();
    }));

    assertEquals(2, table.get().get("key").orElseThrow().value().orElseThrow().length);
  }

  @Test
  void queueCallsClockOutsideOfItsMonitor() {
    var transport = (MemoryTransport) MemoryNetwork.create().connect("app", "a");
    var queue = new AtomicReference<MemoryQueue>();
    queue.set(new MemoryQueue(clockThatAwaits(() -> queue.get().size())));
    var items = new LinkedBlockingQueue<WorkItem>();
    Patience.awaitEnd(Patience.startFiber(() -> queue.get().put("id", new byte[1])));
    queue.get().take(transport, 1, items::add);
    var item = Patience.nextOf(items);

    Patience.awaitEnd(Patience.startFiber(() -> item.release(LEASE)));

    manualClock.advance(LEASE);
    assertEquals(2, Patience.nextOf(items).attempts());
    transport.close();
  }
}
