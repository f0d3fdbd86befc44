package io.fibry.engine.cell;

import io.fibry.ExitReason;
import io.fibry.Strategy;
import io.fibry.engine.cell.Activation.ActivationKind;
import io.fibry.engine.cell.OwningScope.Decision;
import io.fibry.engine.jvm.CallerThreadRunner;
import io.fibry.engine.jvm.CoarseClock;
import io.fibry.engine.jvm.EngineLog;
import io.fibry.engine.jvm.EngineThreads;
import io.fibry.engine.jvm.GuaranteedStart;
import io.fibry.engine.jvm.HandOver;
import io.fibry.engine.jvm.StackProbe;
import io.fibry.engine.message.AnswerType;
import io.fibry.engine.message.Baggage;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.EngineMessage;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.message.JfrEvents;
import io.fibry.engine.message.RequestFailures;
import io.fibry.engine.message.RequestFuture;
import io.fibry.engine.message.Wait.WaitingHandler;
import io.fibry.time.Scheduler;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.LockSupport;

/**
 * Provides a thread for the right to run, which is never lost: a strategy that throws is asked
 * again, with a back-off from 1 ms to 1 s. An {@link Activation} runs once, so a strategy that took
 * it and then threw does no harm.
 *
 * <p>If the start of an activation fails, the thread that strands the right claims the activation,
 * and strands its node. Without the claim, another thread could hand the activation out again. The
 * actor could then have a new right, which a late repetition of the failed start would overwrite.
 *
 * <p>Where not even a timer can be set (at the end of a stack, or without memory), a plain
 * assignment leaves the right to run in {@code cell.stranded}. {@code EngineThreads.rescue} or the
 * next sender then tries again. A method that "throws nothing once entered" does so itself; where
 * it could not be entered, its caller must.
 *
 * <p>The code that runs then uses no lambdas. A lambda that is first linked without memory or stack
 * may fail for ever.
 */
public final class Dispatch {
  static {
    try { // at the edge of a stack, a failed initialization would be final
      var lookup = MethodHandles.lookup();
      for (var used : List.of(Envelope.class, RequestFuture.class, Baggage.class, JfrEvents.class, Activation.class,
          Termination.class, FailureHandler.class, Decision.class, DeadLetters.class, RequestFailures.class,
          EngineThreads.class,
          ColdState.class, ExitSignal.class, HandOver.class, GuaranteedStart.class, CallerThreadRunner.class,
          StackProbe.class, EngineLog.class,
          StartRetry.class, RescueTask.class, SuspensionEnd.class, Termination.CutOffTimer.class,
          Termination.CutOffRun.class,
          Termination.FailRequestsRound.class, Termination.Interruption.class, DeadLetters.ListenerCall.class,
          Accounts.NotificationTask.class, CoarseClock.class, AnswerType.class, Watches.ExitMessage.class))
        lookup.ensureInitialized(used);
    } catch (IllegalAccessException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  private Dispatch() {}

  /** Runs the static initializer. */
  public static void initialize() {}

  /**
   * Returns null if a resident thread waits for the message. Where it throws, the message was not
   * sent.
   */
  public static Object prepare(Cell cell, Object first) {
    StackProbe.probeForActivation(); // a right that is stranded needs another sender
    return cell.settings().strategy().isResident() ? null : new Activation(cell, first, ActivationKind.NORMAL);
  }

  public static void begin(Cell cell, Object prepared, Object first) {
    boolean ready = prepared != null && !onlyDisposes(cell);
    if (ready) cell.announce((Activation) prepared);
    attempt(cell, ready ? prepared : first, 0);
  }

  /** Whether another drain met the pill and runs the hooks. */
  private static boolean onlyDisposes(Cell cell) {
    return cell.phase >= Cell.LEAVING && cell.pillMet && !cell.hooksPending;
  }

  /**
   * Takes up a stranded right, unless another thread does. Returns false if the right to run is
   * still stranded.
   */
  public static boolean rescue(Cell cell) {
    return rescue(cell, 0);
  }

  private static boolean rescue(Cell cell, int tries) {
    Object held = cell.takeStranded();
    if (held == null) return true;
    try {
      StackProbe.probe();
      return attempt(cell, held, tries);
    } catch (Throwable edge) { // not entered
      cell.stranded = held;
      return false;
    }
  }

  /** Throws nothing once entered. Returns false if the right to run is stranded. */
  private static boolean attempt(Cell cell, Object held, int tries) {
    try {
      if (onlyDisposes(cell) && !(held instanceof Activation)) {
        new Activation(cell, held, ActivationKind.DISPOSAL).run();
        return true;
      }
      if (!(held instanceof Activation)) StackProbe.probe(); // else see prepare
      held = holder(cell, held);
      if (((Activation) held).kind == ActivationKind.RESIDENT) {
        VarHandle.fullFence(); // pairs with Activation.runResident: `handedNode` is written, `thread` not yet read
        LockSupport.unpark(((Activation) held).thread);
      } else if (tries > 0 && cell.isEnding()) GuaranteedStart.start((Activation) held); // the end needs no strategy
      else if (!isHandedOver(cell, (Activation) held)) cell.settings().strategy().activate((Activation) held);
      return true;
    } catch (Throwable failure) {
      if (held instanceof Activation made) held = made.surrender();
      if (held == null) return true; // it runs, and will settle this
      cell.stranded = held;
      return recover(cell, failure, tries);
    }
  }

  private static boolean isHandedOver(Cell cell, Activation woken) {
    return cell.settings().strategy() == Strategy.FIBER && Thread.currentThread().isVirtual()
        && WaitingHandler.current() instanceof Activation waker && waker.handOver(woken);
  }

  /** For a resident, only its last step, writing {@code handedNode}, gives the right away. */
  private static Activation holder(Cell cell, Object held) {
    if (held instanceof Activation made) return made;
    if (!cell.settings().strategy().isResident()) {
      var made = new Activation(cell, held, ActivationKind.NORMAL);
      cell.announce(made);
      return made;
    }
    var resident = (Activation) cell.worker();
    resident.handedNode = held;
    return resident;
  }

  /** Returns false if the right to run is stranded. */
  public static boolean recover(Cell cell, Throwable failure, int tries) {
    Object held = null;
    try {
      held = cell.takeStranded();
      if (held == null) return true;
      if (failure instanceof RejectedExecutionException && cell.settings().strategy().isShutDown()) {
        held = holder(cell, held);
        cell.stopAccepting(new ExitReason.Failed(failure));
        GuaranteedStart.start((Activation) held);
      } else {
        Object given = held;
        cell.owner().options().scheduler().schedule(Duration.ofMillis(1L << Math.min(10, tries)),
            new StartRetry(cell, given, failure, tries + 1));
      }
      return true;
    } catch (Throwable edge) {
      if (held instanceof Activation made) held = made.surrender();
      if (held != null) cell.stranded = held;
      try {
        if (edge instanceof VirtualMachineError) EngineThreads.rescue(cell); // else of a user's scheduler
      } catch (Throwable noCall) {} // the next sender sees to it
      return false;
    }
  }

  /**
   * On the scheduler's thread, which must not run a strategy. The right stays stranded until the
   * fiber has begun, since the JDK may lose it.
   */
  private static void retry(Cell cell, Object held, Throwable failure, int tries) {
    cell.stranded = held;
    try {
      EngineThreads.startFiber(new RescueTask(cell, failure, tries));
    } catch (Throwable noThread) {
      recover(cell, noThread, tries);
    }
  }

  private record StartRetry(Cell cell, Object held, Throwable failure, int tries) implements Runnable {
    @Override
    public void run() {
      retry(cell, held, failure, tries);
    }
  }

  private record RescueTask(Cell cell, Throwable failure, int tries) implements Runnable {
    @Override
    public void run() {
      if (tries == 1) EngineLog.LOG.warn("actor '{}' got no thread from {}; trying again", cell.name(),
          cell.settings().strategy(), failure);
      rescue(cell, tries);
    }
  }

  /** The JDK loses fibers whose carrier has no memory. A fiber too many does nothing. */
  public static void restartUnclaimed(Cell cell) {
    try {
      var late = unclaimed(cell);
      if (late != null && cell.settings().strategy() == Strategy.FIBER) EngineThreads.startFiber(late);
    } catch (Throwable noThread) {} // the next request whose limit is over tries again
  }

  /**
   * An executor that was shut down may have dropped a drain that it took. A drain that it still
   * runs does nothing more.
   */
  public static void failIfExecutorShutDown(Cell cell) {
    try {
      var late = unclaimed(cell);
      var strategy = cell.settings().strategy();
      if (late == null || !strategy.isShutDown()) return;
      cell.stopAccepting(new ExitReason.Failed(new RejectedExecutionException(strategy + " was shut down")));
      GuaranteedStart.start(late);
    } catch (Throwable edge) {} // of stack or memory, or the user's: the next sender looks again
  }

  /**
   * Returns the drain that a strategy took and has not run, or null if there is none. An inline one
   * needs no claim.
   */
  private static Activation unclaimed(Cell cell) {
    return cell.worker() instanceof Activation drain && drain.kind == ActivationKind.NORMAL && !drain.claimed ? drain
        : null;
  }

  /**
   * Gives up the thread for {@code pause} ns, or until the actor must end. If this throws, the
   * caller still has the right.
   */
  public static void suspend(Cell cell, Object node, long pause) {
    var extras = cell.extras();
    var clock = cell.owner().options().scheduler();
    StackProbe.probe(); // the right is in one place only from here on
    var suspension = new Suspension(node);
    extras.suspend(suspension);
    try {
      suspension.endBy(clock.schedule(Duration.ofNanos(pause),
          new SuspensionEnd(cell, clock == Scheduler.system())));
    } catch (Throwable noTimer) { // of memory, or of a user's scheduler
      if (extras.resume() == null) return; // the thread that shut the door has the right
      throw noTimer;
    }
    // the thread that shut the door may have looked before
    if (cell.isEnding() || cell.publicCell().isEnding()) wake(cell);
  }

  /** Takes up a suspended right, unless another thread does. */
  public static void wake(Cell cell) {
    var suspension = cell.extras().resume();
    if (suspension == null) return;
    try {
      attempt(cell, suspension.node, 0);
    } catch (Throwable edge) { // not entered
      cell.stranded = suspension.node;
    }
    suspension.end();
  }

  /** On the thread of a timer, which may run no strategy if all actors share it. */
  private record SuspensionEnd(Cell cell, boolean onFiber) implements Runnable {
    @Override
    public void run() {
      if (onFiber) wakeOnFiber(cell);
      else wake(cell);
    }
  }

  private static void wakeOnFiber(Cell cell) {
    var suspension = cell.extras().resume();
    if (suspension != null) retry(cell, suspension.node, null, 0);
  }

  /** Called before any other thread knows the actor. Returns null if the actor keeps no thread. */
  public static Runnable prepareResident(Cell cell) {
    if (!cell.settings().strategy().isResident()) return null;
    var resident = new Activation(cell, null, ActivationKind.RESIDENT);
    cell.setWorker(resident);
    return resident;
  }

  /** If the start fails, runs {@code undo} and ends the actor. */
  public static void startResident(Cell cell, Runnable resident, Runnable undo) {
    try {
      cell.settings().strategy().activate(resident);
    } catch (Throwable noThread) { // the actor may be known by name, and have messages
      undo.run();
      endNeverStarted(cell, new ExitReason.Failed(noThread));
      cell.freeName();
      throw noThread;
    }
  }

  /** Ends an actor that its scope refused; a closer may already wait for its end. */
  public static void endNeverStarted(Cell cell, ExitReason reason) {
    cell.stopAccepting(reason);
    if (cell.settings().strategy().isResident()) GuaranteedStart.start((Activation) cell.worker());
  }

  /** Ends it on this thread, if it is idle and no code of a user runs at its end. */
  public static boolean endIdle(Cell cell) {
    if (cell.settings().strategy().isResident() || !cell.isIdle() || !cell.extras().hasNoEndWork())
      return false;
    var pill = new Envelope(EngineMessage.PILL);
    var activation = new Activation(cell, pill, ActivationKind.DISPOSAL);
    StackProbe.probeForSend(); // an actor with a shut door must end
    return cell.acquire(pill) && activation.endIdle();
  }

  /** Returns null if this thread is not virtual, or the actor is not idle. */
  public static Object inline(Cell cell, Object message) {
    if (cell.settings().strategy() != Strategy.FIBER || !Thread.currentThread().isVirtual()) return null;
    var asker = (Activation) WaitingHandler.current();
    if (asker != null && asker.depth >= Activation.MAX_INLINE_DEPTH) return null;
    var request = new RequestFuture<>(cell, message, null, true);
    var activation = new Activation(cell, request, ActivationKind.INLINE);
    if (!cell.acquire(request)) return null;
    Deadline limit = null; // only where the handler can use it: the clock costs a third of an inline request
    try {
      if (cell.behavior.usesContext()) limit = askDeadline(cell, asker);
      activation.deadline = limit != null ? limit : asker == null ? null : asker.answerDeadline();
      activation.runInline(request, asker);
    } catch (Throwable edge) { // not entered
      cell.stranded = request;
      recover(cell, edge, 0);
    }
    if (activation.answer != null) return activation.answer;
    var deadline = request.isDone() ? Deadline.NONE : limit != null ? limit : askDeadline(cell, asker);
    if (deadline.isBounded()) request.deadline = deadline;
    return request.await(message, deadline, asker);
  }

  private static Deadline askDeadline(Cell cell, HandlerContext asker) {
    var options = cell.owner().options();
    return Deadline.ofAsk(options.scheduler(), options.askLimit(), asker == null ? null : asker.answerDeadline());
  }
}
