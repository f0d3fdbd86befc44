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
 *   OPEN    -> ENDING   any thread   no further message is accepted
 *   ENDING  -> LEAVING  the drain    at the pill, when all messages before it were handled
 *   LEAVING -> ENDED    one thread   the hooks have run, and the end is announced
 * </pre>
 *
 * <p><b>In order.</b> The drain takes the pill, makes dead letters of stashed messages and runs the
 * stop hook. It then ends timers and watches, fails promised requests, closes resources in reverse
 * order, and announces the end. If no user code runs at the end, any thread that has the right to
 * run may take these steps ({@code finishWithoutWork}).
 *
 * <p><b>By a kill.</b> {@code kill} stops accepting messages, interrupts the handler (or the hooks,
 * if they run), and starts the grace. An interrupt for the handler never reaches a hook, because
 * the drain changes the phase between handler and hook, under the monitor of the extras. When the
 * grace is over, {@code cutOff} announces the end while the handler may still run. Requests fail at
 * once. Messages behind the current one become dead letters when the handler returns.
 *
 * <p><b>Once.</b> {@code ColdState.beginEnd} and {@code ColdState.beginAnnouncement} each return
 * their result to one caller only. So the attached parts are ended once, and the end is announced
 * once, whichever thread comes first. Before the end is announced, a cut-off runs no user code.
 */
public final class Termination {
  private static final int MAX_ROUNDS = 16; // repetitions of failRequests; the last comes 1 min after the cut-off

  private Termination() {}

  /** Runs the hooks and the other steps of the end, after the release of the right to run. */
  static void finish(HandlerContext activation) {
    var cell = activation.cell;
    var extras = cell.extras();
    if (activation.ownsThread()) Thread.interrupted(); // clears an interrupt that was meant for the handler
    extras.beginHooks(activation);
    try {
      for (var stashedNode : extras.stash) disposeOfStashed(cell, stashedNode);
      extras.stash.clear();
      cell.behavior.stop(cell);
    } catch (Throwable failure) {
      EngineLog.LOG.error("the stop hook of actor '{}' failed", cell.name(), failure);
    } finally {
      cell.state = null;
      try {
        end(cell, true);
      } finally { // otherwise the scope would keep the actor forever
        cell.threadExited();
        extras.hooksDrain = null;
      }
    }
  }

  /**
   * Ends an actor on the calling thread, if the actor has nothing to close, to cancel or to dispose
   * of. Otherwise returns false, and a drain must end the actor.
   */
  static boolean finishWithoutWork(Cell cell) {
    var extras = cell.extras();
    if (!extras.endWithoutWork()) return false;
    cell.state = null;
    try {
      var watches = extras.watchesOrNull();
      if (watches != null) watches.end();
      announce(cell, true);
    } finally { // otherwise the scope would keep the actor forever
      cell.threadExited();
    }
    return true;
  }

  /**
   * Disposes of a node. Logs a failure and does not throw it, so that the caller continues with the
   * other stashed nodes and the stop hook.
   */
  private static void disposeOfStashed(Cell cell, Object node) {
    try {
      dispose(cell, node);
    } catch (Throwable failure) { // no stack or memory, or user code
      EngineLog.LOG.error("actor '{}' could not make a dead letter of a stashed message", cell.name(), failure);
      if (node instanceof RequestFuture<?> request && request.isUnanswered()) failOutOfMemory(cell, request);
    }
  }

  /** Makes a dead letter of an unhandled message, or fails a request. */
  public static void dispose(Cell cell, Object node) {
    if (node instanceof Envelope envelope) {
      Object message = envelope.message;
      envelope.message = null;
      if (message != null && message != EngineMessage.PILL) failUndelivered(cell, message, null);
    } else {
      var request = (RequestFuture<?>) node;
      Object message = request.begin();
      if (message != null) failUndelivered(cell, message, request);
      else if (request.isUnanswered()) failOutOfMemory(cell, request); // an earlier call began the request, and failed
    }
  }

  static void failUndelivered(Cell cell, Object message, RequestFuture<?> request) {
    if (request == null) DeadLetters.addAtEnd(cell, message);
    else {
      cell.owner().accounts().countUnhandled(Reason.UNDELIVERED);
      request.fail(cell.publicCell().stopped(message, Outcome.NOT_DONE));
    }
  }

  static void failOutOfMemory(Cell cell, RequestFuture<?> request) {
    request.fail(new IllegalStateException("actor '" + cell.name() + "' had no stack or memory left to answer"));
  }

  /**
   * Ends the attached parts and announces the end. Only the first call acts: on the last thread of
   * the actor, or on the thread that cuts the actor off.
   *
   * @param isNormal false if the actor is cut off and its handler may still run
   */
  private static void end(Cell cell, boolean isNormal) {
    var extras = cell.extras();
    var parts = extras.beginEnd();
    if (parts == null) return;
    var unsentMessages = new ArrayList<Object>();
    try {
      for (var timer = parts.timers.poll(); timer != null; timer = parts.timers.poll())
        end(cell, timer, unsentMessages);
      if (extras.watchesOrNull() != null) extras.watchesOrNull().end();
      for (var promised : parts.promisedRequests.entrySet())
        promised.getKey().fail(cell.stopped(promised.getValue().message(), Outcome.UNKNOWN));
      for (var resource : parts.resources.reversed()) close(cell, resource);
      for (var listenerCall : parts.endCallbacks) listenerCall.run();
      for (var message : unsentMessages) DeadLetters.add(cell, message, Reason.TIMER_CANCELLED, null);
    } finally {
      announce(cell, isNormal);
    }
  }

  private static void end(Cell cell, AttachedTimer timer, List<Object> unsentMessages) {
    try {
      var message = timer.cancelAtEnd();
      if (message.isPresent()) unsentMessages.add(message.get());
    } catch (Throwable failure) { // thrown by a user's scheduler
      EngineLog.LOG.error("actor '{}' could not cancel a timer", cell.name(), failure);
    }
  }

  /** Announces the end. If the actor is cut off, its resources may still be open. */
  private static void announce(Cell cell, boolean isNormal) {
    var extras = cell.extras();
    var reason = extras.beginAnnouncement();
    if (reason == null) return;
    extras.endedNormally = isNormal;
    cell.markEnded();
    extras.notifyWaiters(); // before the calls below, which may run user code
    var watches = extras.watchesOrNull();
    if (watches != null) watches.announce(reason);
    cancelKillTimer(cell, extras); // last, because it may call user code
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
    // interrupts before the pill is added, because adding the pill may call a user's strategy
    cell.stopAccepting(new Interruption(cell, extras));
    // another thread may have announced the end before the timer was set
    if (extras.isNotified()) cancelKillTimer(cell, extras);
  }

  private static void cancelKillTimer(Cell cell, ColdState extras) {
    try {
      if (extras.killTimer != null) extras.killTimer.cancel();
    } catch (Throwable failure) { // thrown by a user's scheduler
      EngineLog.LOG.error("actor '{}' could not cancel the timer of its kill grace", cell.name(), failure);
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
   * Interrupts the handler or, after the pill, the hooks. An interrupt for the handler never
   * reaches the hooks, because the drain changes the phase between them, under this monitor.
   */
  static void interrupt(Cell cell, ColdState extras) {
    if (!cell.settings().ownsThreads()) return;
    synchronized (extras) {
      Wait.WaitingHandler drain = cell.drain();
      var thread = drain == null || !drain.ownsThread() ? null : drain.thread;
      if (cell.phase < Cell.LEAVING) {
        if (thread != null) thread.interrupt();
      } else if (cell.hasOnlyHooksLeft()) extras.interruptHooks();
    }
  }

  /**
   * Cuts the actor off when the grace is over. This object is made at the kill, because at the end
   * of the grace memory may be exhausted.
   */
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

  /**
   * A record, not a lambda: a lambda that is first linked without stack or memory may fail for
   * ever.
   */
  record CutOffRun(Cell cell) implements Runnable {
    @Override
    public void run() {
      cutOff(cell, "within " + Durations.text(cell.owner().options().killGrace()));
    }
  }

  /**
   * Announces the end of an actor whose handler may still run. No user code runs on this thread
   * before the end is announced.
   */
  public static void cutOff(Cell cell, String limitText) {
    if (cell.phase == Cell.ENDED) return;
    cell.markEnded();
    failRequests(cell, cell.drain(), 0);
    announce(cell, false);
    EngineLog.LOG.warn("actor '{}' did not end {}; it is cut off, and its handler may still run", cell.name(),
        limitText);
    end(cell, false);
  }

  /**
   * Fails the requests of an actor that was cut off. Repeats this while the handler runs, because a
   * sender may be about to link a request, or the drain may be about to begin a request.
   */
  private static void failRequests(Cell cell, HandlerContext drain, int round) {
    if (drain != null) failRequests(drain);
    else cell.failRequests(cell.extras().suspendedNode());
    if (drain != null && cell.drain() == drain && drain.thread != null && round < MAX_ROUNDS)
      Scheduler.system().schedule(Duration.ofMillis(1L << round), new FailRequestsRound(cell, drain, round + 1, false));
  }

  record FailRequestsRound(Cell cell, HandlerContext drain, int round, boolean onFiber) implements Runnable {
    @Override
    public void run() {
      if (onFiber) failRequests(cell, drain, round);
      else GuaranteedStart.start(new FailRequestsRound(cell, drain, round, true));
    }
  }

  /**
   * Fails the current, received and waiting requests. May race with the drain: failing a request
   * twice does no harm.
   */
  private static void failRequests(HandlerContext drain) {
    var currentRequest = drain.request;
    if (currentRequest != null) currentRequest.failStopped(drain.message);
    var received = drain.receivedRequests;
    if (received != null)
      for (var receivedRequest : received) receivedRequest.request().failStopped(receivedRequest.message());
    failQueuedRequests(drain);
  }

  public static void failQueuedRequests(HandlerContext drain) {
    for (var stashedNode : drain.cell.extras().stash)
      if (stashedNode instanceof RequestFuture<?> request) request.failIfQueued();
    drain.cell.failRequests(drain.currentNode());
  }
}
