package io.fibry.engine.scope;

import io.fibry.ActorScope.Options;
import io.fibry.engine.cell.ActorInspector;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.cell.QueueAges;
import io.fibry.engine.jvm.EngineLog;
import io.fibry.engine.jvm.EngineThreads;
import io.fibry.engine.jvm.FailureLog;
import io.fibry.engine.message.JfrEvents;
import io.fibry.time.Scheduler;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Logs actors that handle a message for too long, once for each message. If several actors are slow
 * at the same line of code, it logs one of them per second. It also logs actors with too many
 * waiting messages. Such an actor is logged again only after the number of its messages has fallen
 * to half of the maximum.
 */
final class ScopeWatchdog {
  private static final int CHECKS_PER_LIMIT = 4; // number of checks within the handling limit of one message

  /** The state of the reports about one actor. Only the check in progress uses this object. */
  private static final class ReportState {
    private Object lastReported; // identifies the last reported message, without keeping it in memory
    private boolean isBacklogReported; // whether too many waiting messages were reported
  }

  private final ScopeState scope;
  private final FailureLog log = new FailureLog();
  // whether a check is in progress; a second check that begins during the first does nothing
  private final AtomicBoolean isInspecting = new AtomicBoolean();
  private volatile Options.Watchdog limits; // limits, clock and timer are written under the monitor, and read by checks
  private volatile Scheduler clock;
  private volatile Scheduler.Timer timer; // null: the watchdog is off
  private volatile Map<Cell, ReportState> reportStates = Map.of(); // written by checks and by stop

  ScopeWatchdog(ScopeState scope) {
    this.scope = scope;
  }

  /**
   * Starts, changes or stops the timer, then reads whether the scope is closing. A close first
   * marks the scope as closing, then stops the timer. So at least one of the two threads sees the
   * other.
   */
  synchronized void applyOptions(Options options) {
    var newLimits = options.watchdog().orElse(null);
    boolean isUnchanged = newLimits == null ? limits == null : newLimits.equals(limits);
    if (isUnchanged && clock == options.scheduler() && (timer != null || limits == null)) return;
    stop();
    limits = newLimits;
    clock = options.scheduler();
    if (newLimits == null) return;
    var period = newLimits.handlingLimit().dividedBy(CHECKS_PER_LIMIT).plusNanos(1);
    // On a fiber, because a check may call the user's toString for the text of a message, which
    // must not block the only thread of the system's clock. Another scheduler decides itself where
    // its tasks run
    timer = clock.scheduleAtFixedRate(period, period,
        clock == Scheduler.system() ? () -> EngineThreads.startFiber(this::inspectOnFiber) : this::inspect);
    if (scope.isClosing()) stop();
  }

  /** Stops the timer. A check in progress may still log. */
  synchronized void stop() {
    if (timer != null) timer.cancel();
    timer = null;
    reportStates = Map.of();
  }

  private void inspectOnFiber() {
    Thread.currentThread().setName("fibry-watchdog"); // log lines have the name
    inspect();
  }

  /**
   * Checks the actors, without the monitor, because a thread that closes the scope must not wait
   * for user code.
   */
  private void inspect() {
    if (!isInspecting.compareAndSet(false, true)) return;
    try {
      var currentLimits = limits;
      if (timer == null || currentLimits == null) return;
      var newStates = new IdentityHashMap<Cell, ReportState>();
      for (var member : scope.members())
        if (member instanceof Cell actor)
          for (var cell : actor.workersAndSelf()) if (!cell.isIdle()) inspect(cell, currentLimits, newStates);
      reportStates = newStates;
      if (timer == null) reportStates = Map.of(); // the watchdog was stopped during the check
    } finally {
      isInspecting.set(false);
    }
  }

  private void inspect(Cell cell, Options.Watchdog currentLimits, Map<Cell, ReportState> newStates) {
    var state = reportStates.getOrDefault(cell, new ReportState());
    newStates.put(cell, state);
    var slowMessage = ActorInspector.findSlow(cell, currentLimits.handlingLimit(), state.lastReported);
    if (slowMessage != null) report(cell, slowMessage, state);
    QueueAges.observe(cell); // so that the waits are known to statistics that are read later
    if (state.isBacklogReported) state.isBacklogReported = !cell.hasAtMostQueued(currentLimits.maxQueued() / 2);
    else if (cell.countQueued(currentLimits.maxQueued() + 1) > currentLimits.maxQueued()) {
      state.isBacklogReported = true;
      EngineLog.log().warn("more than {} messages wait for actor '{}'", currentLimits.maxQueued(), cell.name());
    }
  }

  /**
   * Logs a slow actor. If several actors are slow at the same line of a user's code, one actor per
   * second is logged, because all of them may wait for the same actor.
   */
  private void report(Cell cell, ActorInspector.SlowMessage slowMessage, ReportState state) {
    state.lastReported = slowMessage.identity();
    JfrEvents.recordStuck(cell, slowMessage.message(), slowMessage.nanos());
    String place = slowMessage.stack() == null ? "" : slowMessage.stack().describePlace();
    int omitted = log.admit(ScopeWatchdog.class, place, clock.nanoTime());
    if (omitted == FailureLog.OMITTED) return;
    String suffix = omitted == 0 ? "" : "; not logged: " + omitted + " more at the same place";
    EngineLog.log().warn("actor '{}' {}{}", cell.name(), slowMessage.activity(), suffix, slowMessage.stack());
  }
}
