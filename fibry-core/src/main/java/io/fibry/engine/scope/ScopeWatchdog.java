package io.fibry.engine.scope;

import io.fibry.ActorScope.Options;
import io.fibry.engine.cell.ActorInspector;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.jvm.EngineLog;
import io.fibry.engine.jvm.EngineThreads;
import io.fibry.engine.jvm.FailureLog;
import io.fibry.engine.message.JfrEvents;
import io.fibry.time.Scheduler;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Reports actors that handle a message for too long, once for each, or have too many waiting, again
 * after half are gone.
 */
final class ScopeWatchdog {
  private static final int CHECKS_PER_LIMIT = 4; // while one message may take

  /** About one actor; the look in progress only. */
  private static final class ReportState {
    private Object reported; // not the message itself, which it would keep
    private boolean full;
  }

  private final ScopeState scope;
  private final FailureLog log = new FailureLog();
  private final AtomicBoolean inspecting = new AtomicBoolean(); // a look may outlast the period
  private volatile Options.Watchdog limits; // these three are written under the monitor and read by the look
  private volatile Scheduler clock;
  private volatile Scheduler.Timer timer; // null: it does not watch
  private volatile Map<Cell, ReportState> notes = Map.of(); // written by the look and by stop

  ScopeWatchdog(ScopeState scope) {
    this.scope = scope;
  }

  /**
   * Starts, changes or stops the watch, then reads the door; a close shuts the door, then stops the
   * watch. So one of the two sees the other.
   */
  synchronized void applyOptions(Options options) {
    var wanted = options.watchdog().orElse(null);
    boolean same = wanted == null ? limits == null : wanted.equals(limits);
    if (same && clock == options.scheduler() && (timer != null || limits == null)) return;
    stop();
    limits = wanted;
    clock = options.scheduler();
    if (wanted == null) return;
    var period = wanted.handlingLimit().dividedBy(CHECKS_PER_LIMIT).plusNanos(1);
    // on a fiber: printing messages is user code
    timer = clock.scheduleAtFixedRate(period, period,
        clock == Scheduler.system() ? () -> EngineThreads.startFiber(this::inspect) : this::inspect);
    if (scope.isClosing()) stop();
  }

  /** A look in progress may still print. */
  synchronized void stop() {
    if (timer != null) timer.cancel();
    timer = null;
    notes = Map.of();
  }

  /** Without the monitor: a closer must not wait for user code. */
  private void inspect() {
    if (!inspecting.compareAndSet(false, true)) return;
    try {
      var wanted = limits;
      if (timer == null || wanted == null) return;
      var seen = new IdentityHashMap<Cell, ReportState>();
      for (var member : scope.members())
        if (member instanceof Cell one)
          for (var cell : one.workersAndSelf()) if (!cell.isIdle()) inspect(cell, wanted, seen);
      notes = seen;
      if (timer == null) notes = Map.of(); // stopped meanwhile
    } finally {
      inspecting.set(false);
    }
  }

  private void inspect(Cell cell, Options.Watchdog wanted, Map<Cell, ReportState> seen) {
    var note = notes.getOrDefault(cell, new ReportState());
    seen.put(cell, note);
    var slow = ActorInspector.findSlow(cell, wanted.handlingLimit(), note.reported);
    if (slow != null) report(cell, slow, note);
    if (note.full) note.full = !cell.hasAtMostQueued(wanted.maxQueued() / 2);
    else if (cell.countQueued(wanted.maxQueued() + 1) > wanted.maxQueued()) {
      note.full = true;
      EngineLog.LOG.warn("more than {} messages wait for actor '{}'", wanted.maxQueued(), cell.name());
    }
  }

  /** Many may wait for one: of those at the same place of a user's code one a second is logged. */
  private void report(Cell cell, ActorInspector.SlowMessage slow, ReportState note) {
    note.reported = slow.found();
    JfrEvents.recordStuck(cell, slow.message(), slow.nanos());
    String place = slow.stack() == null ? "" : slow.stack().place();
    int omitted = log.admit(ScopeWatchdog.class, place, clock.nanoTime());
    if (omitted == FailureLog.OMITTED) return;
    String more = omitted == 0 ? "" : "; " + omitted + " more at the same place were not logged";
    EngineLog.LOG.warn("actor '{}' {}{}", cell.name(), slow.activity(), more, slow.stack());
  }
}
