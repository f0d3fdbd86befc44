package io.fibry.engine.cell;

import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.Outcome;
import io.fibry.engine.jvm.EngineLog;
import io.fibry.engine.jvm.EngineThreads;
import io.fibry.engine.jvm.GuaranteedStart;
import io.fibry.engine.jvm.MessageTexts;
import io.fibry.engine.jvm.Rescuable;
import io.fibry.engine.message.EngineMessage;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.message.RequestFuture;
import io.fibry.engine.message.Wait;
import io.fibry.text.Durations;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Ends an actor.
 *
 * <p><b>Phases.</b>
 *
 * <pre>
 *   OPEN    -> ENDING   any thread   the door is shut: no further message is admitted
 *   ENDING  -> LEAVING  the drain    at the pill, when all messages before it were handled
 *   LEAVING -> ENDED    one thread   the hooks have run, and the end is announced
 * </pre>
 *
 * <p><b>In order.</b> The drain meets the pill, makes dead letters of stashed messages, runs the
 * stop hook, ends timers and watches, fails promised requests, closes resources in reverse order,
 * and then announces the end. If none of the user's code runs at the end, any thread that has the
 * right to run may take these steps ({@code finishWithoutWork}).
 *
 * <p><b>By a kill.</b> {@code kill} shuts the door, interrupts the handler and starts the grace.
 * The interrupt reaches the handler and never a hook, because the phase changes between them under
 * the monitor of the extras. When the grace is over, {@code cutOff} announces the end while the
 * handler may still run: requests fail at once, and messages behind the handler become dead letters
 * when it returns.
 *
 * <p><b>Once.</b> {@code ColdState.end} and {@code ColdState.announce} each return their result to
 * one caller, so the parts are ended once and the end is announced once, whichever thread comes
 * first. Before the end is announced, a cut-off runs no code of the user.
 */
public final class Termination {
  private static final int MAX_ROUNDS = 16;

  private Termination() {}

  /** After the release of the right to run. */
  static void finish(HandlerContext last) {
    var cell = last.cell;
    var extras = cell.extras();
    if (last.ownsThread()) Thread.interrupted(); // meant for the handler
    extras.beginHooks(last);
    try {
      for (var stashed : extras.stash) dispose(cell, stashed);
      extras.stash.clear();
      cell.behavior.stop(cell);
    } catch (Throwable failure) {
      EngineLog.LOG.error("the stop hook of actor '{}' failed", cell.name(), failure);
    } finally {
      cell.state = null;
      try {
        end(cell, true);
      } finally { // or its scope would keep it for ever
        cell.threadExited();
        extras.hooks = null;
      }
    }
  }

  /**
   * Ends an actor on any thread, if it has nothing that must end on its own thread. Returns false
   * if code of a user runs at its end.
   */
  static boolean finishWithoutWork(Cell cell) {
    var extras = cell.extras();
    if (!extras.endWithoutWork()) return false;
    cell.state = null;
    try {
      var watches = extras.watchesOrNull();
      if (watches != null) watches.end();
      announce(cell, true);
    } finally { // as above
      cell.threadExited();
    }
    return true;
  }

  public static void dispose(Cell cell, Object node) {
    if (node instanceof Envelope envelope) {
      Object given = envelope.message;
      envelope.message = null;
      if (given != null && given != EngineMessage.PILL) failUndelivered(cell, given, null);
    } else {
      var request = (RequestFuture<?>) node;
      Object given = request.begin();
      if (given != null) failUndelivered(cell, given, request);
      else if (request.isOpen()) failOutOfMemory(cell, request); // an earlier attempt failed here
    }
  }

  static void failUndelivered(Cell cell, Object given, RequestFuture<?> request) {
    if (request == null) DeadLetters.addAtEnd(cell, given);
    else {
      cell.owner().accounts().countUnhandled(Reason.UNDELIVERED);
      request.fail(cell.publicCell().stopped(given, Outcome.NOT_DONE));
    }
  }

  static void failOutOfMemory(Cell cell, RequestFuture<?> request) {
    request.fail(new IllegalStateException("actor '" + cell.name() + "' had no stack or memory left to answer"));
  }

  /**
   * Only the first call acts, on the last thread of the actor or on the thread that abandons it.
   *
   * @param obeyed false: cut off, and its handler may still run
   */
  private static void end(Cell cell, boolean obeyed) {
    var extras = cell.extras();
    var attached = extras.end();
    if (attached == null) return;
    var notDue = new ArrayList<Object>();
    try {
      for (var timer = attached.timers.poll(); timer != null; timer = attached.timers.poll()) end(cell, timer, notDue);
      if (extras.watchesOrNull() != null) extras.watchesOrNull().end();
      for (var promised : attached.promised.entrySet())
        promised.getKey().fail(cell.stopped(promised.getValue().message(), Outcome.UNKNOWN));
      for (var resource : attached.resources.reversed()) close(cell, resource);
      for (var telling : attached.endCallbacks) telling.run();
      for (var message : notDue) DeadLetters.add(cell, message, Reason.TIMER_CANCELLED, null);
    } finally {
      announce(cell, obeyed);
    }
  }

  private static void end(Cell cell, AttachedTimer timer, List<Object> notDue) {
    try {
      var message = timer.end();
      if (message.isPresent()) notDue.add(message.get());
    } catch (Throwable failure) { // of the user's scheduler
      EngineLog.LOG.error("actor '{}' could not cancel a timer", cell.name(), failure);
    }
  }

  /** Comes after the resources closed, unless the grace is over. */
  private static void announce(Cell cell, boolean obeyed) {
    var extras = cell.extras();
    var reason = extras.announce();
    if (reason == null) return;
    extras.endedNormally = obeyed;
    cell.markEnded();
    extras.notifyWaiters(); // from here on the end is known; the following calls run user code
    var watches = extras.watchesOrNull();
    if (watches != null) watches.announce(reason);
    cancelKillTimer(cell, extras); // perhaps user code: so last
  }

  public static void close(Cell cell, AutoCloseable resource) {
    try {
      resource.close();
    } catch (Throwable failure) {
      EngineLog.LOG.error("actor '{}' could not close {}", cell.name(), MessageTexts.describe(resource), failure);
    }
  }

  public static void kill(Cell cell, ExitReason reason) {
    var extras = cell.extras();
    extras.setReason(reason);
    cell.stopAccepting(new Interruption(cell, extras)); // a strategy may then run user code
    // the thread that announced the end may have looked before
    if (extras.isNotified()) cancelKillTimer(cell, extras);
  }

  private static void cancelKillTimer(Cell cell, ColdState extras) {
    try {
      if (extras.killTimer != null) extras.killTimer.cancel();
    } catch (Throwable failure) { // of the user's scheduler
      EngineLog.LOG.error("actor '{}' could not cancel the timer of its grace", cell.name(), failure);
    }
  }

  record Interruption(Cell cell, ColdState extras) implements Runnable {
    @Override
    public void run() {
      interrupt(cell, extras);
      var options = cell.owner().options();
      extras.startKillTimer(options.scheduler(), options.killGrace(), new CutOffTimer(cell));
    }
  }

  /**
   * Never interrupts the hooks in place of the handler: the phase changes between them under this
   * monitor.
   */
  static void interrupt(Cell cell, ColdState extras) {
    if (!cell.settings().ownsThreads()) return;
    synchronized (extras) {
      Wait.WaitingHandler drain = cell.worker();
      var thread = drain == null || !drain.ownsThread() ? null : drain.thread;
      if (cell.phase < Cell.LEAVING) {
        if (thread != null) thread.interrupt();
      } else if (cell.isAtHooks()) extras.interruptHooks();
    }
  }

  /** When the grace is over; made before, since there may be no memory then. */
  record CutOffTimer(Cell cell) implements Runnable, Rescuable {
    @Override
    public void run() {
      try {
        GuaranteedStart.start(new CutOffRun(cell));
      } catch (Throwable noMemory) {
        EngineThreads.rescue(this);
      }
    }

    @Override
    public void rescue() {
      run();
    }
  }

  /** No lambda, nor are the next two: see Dispatch. */
  record CutOffRun(Cell cell) implements Runnable {
    @Override
    public void run() {
      cutOff(cell, "within " + Durations.text(cell.owner().options().killGrace()));
    }
  }

  /** The handler may run on. No user code runs on this thread before the end is announced. */
  public static void cutOff(Cell cell, String when) {
    if (cell.phase == Cell.ENDED) return;
    cell.markEnded();
    failRequests(cell, cell.worker(), 0);
    announce(cell, false);
    EngineLog.LOG.warn("actor '{}' did not obey {}; it is cut off, and its handler may still run", cell.name(), when);
    end(cell, false);
  }

  /**
   * Repeats while the handler runs: a sender may be about to link a request, or the drain to begin
   * one.
   */
  private static void failRequests(Cell cell, HandlerContext drain, int round) {
    if (drain != null) failRequests(drain);
    else cell.failRequests(cell.extras().suspendedNode());
    if (drain != null && cell.worker() == drain && drain.thread != null && round < MAX_ROUNDS)
      Scheduler.system().schedule(Duration.ofMillis(1L << round), new FailRequestsRound(cell, drain, round + 1, false));
  }

  record FailRequestsRound(Cell cell, HandlerContext drain, int number, boolean onFiber) implements Runnable {
    @Override
    public void run() {
      if (onFiber) failRequests(cell, drain, number);
      else GuaranteedStart.start(new FailRequestsRound(cell, drain, number, true));
    }
  }

  /** May race with the drain: failing a request twice does no harm. */
  private static void failRequests(HandlerContext drain) {
    var current = drain.request;
    if (current != null) current.failStopped(drain.message);
    var received = drain.received;
    if (received != null) for (var one : received) one.request().failStopped(one.message());
    failQueuedRequests(drain);
  }

  public static void failQueuedRequests(HandlerContext drain) {
    for (var stashed : drain.cell.extras().stash)
      if (stashed instanceof RequestFuture<?> request) request.failIfQueued();
    drain.cell.failRequests(drain.currentNode());
  }
}
