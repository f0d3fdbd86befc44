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
 * Provides a thread for the right to run an actor. The right is never lost: a strategy that throws
 * is called again, with a back-off from 1 ms to 1 s. An {@link Activation} runs once, so it does no
 * harm if a strategy accepts an activation and then throws.
 *
 * <p><b>Stranded.</b> If neither a thread nor a timer can be started, for lack of stack or memory,
 * a plain assignment stores the right to run in {@code cell.stranded}. {@code EngineThreads.rescue}
 * or the next sender then tries again. A method that "throws nothing once entered" stores the right
 * itself. If the method cannot be entered for lack of stack, its caller stores the right.
 *
 * <p>Before a thread strands an activation whose start failed, it claims the activation, and
 * strands the node instead. Without the claim, two threads could start the activation. A late
 * failure of one start would then overwrite a newer right to run.
 *
 * <p>Code that runs for lack of stack or memory uses no lambdas, because a lambda that is first
 * linked then may fail forever.
 */
public final class Dispatch {
  static {
    try { // a class whose initialization fails for lack of stack would stay unusable
      var lookup = MethodHandles.lookup();
      for (var type : List.of(Envelope.class, RequestFuture.class, Baggage.class, JfrEvents.class, Activation.class,
          Termination.class, FailureHandler.class, Decision.class, DeadLetters.class, RequestFailures.class,
          EngineThreads.class,
          ColdState.class, ExitSignal.class, HandOver.class, GuaranteedStart.class, CallerThreadRunner.class,
          StackProbe.class, EngineLog.class,
          StartRetry.class, RescueTask.class, SuspensionEnd.class, Termination.CutOffTimer.class,
          Termination.CutOffRun.class,
          Termination.FailRequestsRound.class, Termination.Interruption.class, DeadLetters.ListenerCall.class,
          Accounts.NotificationTask.class, CoarseClock.class, AnswerType.class, Watches.ExitMessage.class))
        lookup.ensureInitialized(type);
    } catch (IllegalAccessException noAccess) {
      throw new ExceptionInInitializerError(noAccess);
    }
  }

  private Dispatch() {}

  /** Runs the static initializer. */
  public static void initialize() {}

  /**
   * Makes the activation before a message is sent. Returns null if the resident thread will handle
   * the message. If this method throws, the message is not sent.
   */
  public static Object prepare(Cell cell, Object firstNode) {
    StackProbe.probeForActivation(); // first: a right that is stranded later may have to wait for the next sender
    return cell.settings().strategy().isResident() ? null : new Activation(cell, firstNode, ActivationKind.NORMAL);
  }

  /**
   * Provides a thread for the right to run, with the prepared activation or a new one.
   *
   * @param activation the result of {@link #prepare}, or null
   */
  public static void begin(Cell cell, Object activation, Object firstNode) {
    boolean usesPrepared = activation != null && !onlyDisposes(cell);
    if (usesPrepared) cell.announce((Activation) activation);
    attempt(cell, usesPrepared ? activation : firstNode, 0);
  }

  /**
   * Returns whether another drain has handled the pill and runs the hooks, so that messages only
   * become dead letters.
   */
  private static boolean onlyDisposes(Cell cell) {
    return cell.phase >= Cell.LEAVING && cell.pillTaken && !cell.hooksPending;
  }

  /**
   * Starts a drain for a stranded right to run, unless another thread took it. Returns false if the
   * right is still stranded.
   */
  public static boolean rescue(Cell cell) {
    return rescue(cell, 0);
  }

  private static boolean rescue(Cell cell, int tries) {
    Object right = cell.takeStranded();
    if (right == null) return true;
    try {
      StackProbe.probe();
      return attempt(cell, right, tries);
    } catch (Throwable error) { // `attempt` was not entered
      cell.stranded = right;
      cell.rescueLater();
      return false;
    }
  }

  /**
   * Starts a drain for the right to run, which is an activation or a node. Returns false if the
   * right is stranded. Throws nothing once entered.
   */
  private static boolean attempt(Cell cell, Object right, int tries) {
    try {
      if (onlyDisposes(cell) && !(right instanceof Activation)) {
        new Activation(cell, right, ActivationKind.DISPOSAL).run();
        return true;
      }
      if (!(right instanceof Activation)) StackProbe.probe(); // `prepare` probed for an activation
      right = activationFor(cell, right);
      if (((Activation) right).kind == ActivationKind.RESIDENT) {
        VarHandle.fullFence(); // pairs with Activation.runResident: `handedNode` is written, `thread` not yet read
        LockSupport.unpark(((Activation) right).thread);
      } else if (tries > 0 && cell.isEnding()) GuaranteedStart.start((Activation) right); // any fiber can end the actor
      else if (!tryHandOver(cell, (Activation) right)) cell.settings().strategy().activate((Activation) right);
      return true;
    } catch (Throwable failure) {
      if (right instanceof Activation activation) right = activation.reclaimRight();
      if (right == null) return true; // a thread runs the activation, which has the right
      cell.stranded = right;
      return recover(cell, failure, tries);
    }
  }

  private static boolean tryHandOver(Cell cell, Activation wokenDrain) {
    return cell.settings().strategy() == Strategy.FIBER && Thread.currentThread().isVirtual()
        && WaitingHandler.current() instanceof Activation waker && waker.handOver(wokenDrain);
  }

  /**
   * Returns the activation that uses the right. A resident activation has the right as soon as
   * {@code handedNode} is written, so this is written last.
   */
  private static Activation activationFor(Cell cell, Object right) {
    if (right instanceof Activation activation) return activation;
    if (!cell.settings().strategy().isResident()) {
      var activation = new Activation(cell, right, ActivationKind.NORMAL);
      cell.announce(activation);
      return activation;
    }
    var resident = (Activation) cell.drain();
    resident.handedNode = right;
    return resident;
  }

  /**
   * Called after the start of a drain failed. Sets a timer that tries again, or ends the actor if
   * its executor was shut down. Returns false if the right to run is still stranded.
   */
  public static boolean recover(Cell cell, Throwable failure, int tries) {
    Object right = null;
    try {
      right = cell.takeStranded();
      if (right == null) return true;
      if (failure instanceof RejectedExecutionException && cell.settings().strategy().isShutDown()) {
        right = activationFor(cell, right);
        cell.stopAccepting(new ExitReason.Failed(failure));
        GuaranteedStart.start((Activation) right);
      } else {
        cell.owner().options().scheduler().schedule(Duration.ofMillis(1L << Math.min(10, tries)),
            new StartRetry(cell, right, failure, tries + 1));
      }
      return true;
    } catch (Throwable error) {
      if (right instanceof Activation activation) right = activation.reclaimRight();
      if (right != null) cell.stranded = right;
      if (error instanceof VirtualMachineError) cell.rescueLater(); // other errors come from a user's scheduler
      return false;
    }
  }

  /**
   * Starts a fiber that tries again to start a drain. Called on the scheduler's thread, which must
   * not run a strategy. The right stays stranded until the fiber has begun, because the JDK may
   * lose the fiber.
   */
  private static void retry(Cell cell, Object right, Throwable failure, int tries) {
    cell.stranded = right;
    try {
      EngineThreads.startFiber(new RescueTask(cell, failure, tries));
    } catch (Throwable noThread) {
      recover(cell, noThread, tries);
    }
  }

  private record StartRetry(Cell cell, Object right, Throwable failure, int tries) implements Runnable {
    @Override
    public void run() {
      retry(cell, right, failure, tries);
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

  /**
   * Called when the limit of a request has passed. Starts an unclaimed drain again, because the JDK
   * loses fibers whose carrier has no memory. If the first fiber was not lost, only one of the two
   * fibers runs the drain.
   */
  public static void restartUnclaimed(Cell cell) {
    try {
      var drain = unclaimed(cell);
      if (drain != null && cell.settings().strategy() == Strategy.FIBER) EngineThreads.startFiber(drain);
    } catch (Throwable noThread) {} // the next request whose limit passes tries again
  }

  /**
   * If the actor has an unclaimed drain and its executor was shut down, ends the actor, because the
   * executor may have dropped that drain. If the executor runs that drain later, the drain does
   * nothing.
   */
  public static void failIfExecutorShutDown(Cell cell) {
    try {
      var drain = unclaimed(cell);
      var strategy = cell.settings().strategy();
      if (drain == null || !strategy.isShutDown()) return;
      cell.stopAccepting(new ExitReason.Failed(new RejectedExecutionException(strategy + " was shut down")));
      GuaranteedStart.start(drain);
    } catch (Throwable error) {} // no stack, no memory, or an error of the executor: the next sender tries again
  }

  /**
   * Returns the drain that a strategy accepted and has not run, or null if there is none. Inline
   * drains do not count, because they need no claim.
   */
  private static Activation unclaimed(Cell cell) {
    return cell.drain() instanceof Activation drain && drain.kind == ActivationKind.NORMAL && !drain.claimed ? drain
        : null;
  }

  /**
   * Gives up the thread for {@code pause} ns, or until the actor must end. If this method throws,
   * the caller keeps the right to run.
   */
  public static void suspend(Cell cell, Object node, long pause) {
    var extras = cell.extras();
    var clock = cell.owner().options().scheduler();
    StackProbe.probe(); // first: from here on only the suspension has the right
    var suspension = new Suspension(node);
    extras.suspend(suspension);
    try {
      suspension.endBy(clock.schedule(Duration.ofNanos(pause),
          new SuspensionEnd(cell, clock == Scheduler.system())));
    } catch (Throwable noTimer) { // no memory, or thrown by a user's scheduler
      if (extras.resume() == null) return; // the thread that ends the actor took the right
      throw noTimer;
    }
    // the thread that ends the actor may have called `wake` before the suspension was set
    if (cell.isEnding() || cell.publicCell().isEnding()) wake(cell);
  }

  /** Ends a suspension and starts a drain, unless another thread has ended the suspension. */
  public static void wake(Cell cell) {
    var suspension = cell.extras().resume();
    if (suspension == null) return;
    try {
      attempt(cell, suspension.node, 0);
    } catch (Throwable error) { // `attempt` was not entered
      cell.stranded = suspension.node;
      cell.rescueLater();
    }
    suspension.end();
  }

  /**
   * Ends a suspension; called on the thread of a timer. {@code onFiber} is true if all actors share
   * that thread, which must not run a strategy.
   */
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

  /**
   * Makes the drain of a resident actor. Returns null if the actor's strategy is not resident.
   * Called before any other thread knows the actor.
   */
  public static Runnable prepareResident(Cell cell) {
    if (!cell.settings().strategy().isResident()) return null;
    var resident = new Activation(cell, null, ActivationKind.RESIDENT);
    cell.setDrain(resident);
    return resident;
  }

  /**
   * Starts the drain of a resident actor. If that fails, runs {@code undo}, ends the actor and
   * throws.
   */
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

  /**
   * Ends an actor that its scope refused, or whose start failed. The actor must end, because a
   * thread that closes the scope may already wait for its end.
   */
  public static void endNeverStarted(Cell cell, ExitReason reason) {
    cell.stopAccepting(reason);
    if (cell.settings().strategy().isResident()) GuaranteedStart.start((Activation) cell.drain());
  }

  /**
   * Ends the actor on this thread, if it is idle and no user code runs at its end. Returns whether
   * it has ended.
   */
  public static boolean endIdle(Cell cell) {
    if (cell.settings().strategy().isResident() || !cell.isIdle() || !cell.extras().hasNoEndWork())
      return false;
    var pill = new Envelope(EngineMessage.PILL);
    var activation = new Activation(cell, pill, ActivationKind.DISPOSAL);
    StackProbe.probeForSend(); // first: once the right is taken, the end must complete
    return cell.acquire(pill) && activation.endIdle();
  }

  /**
   * Handles a request on the thread of its asker, and returns the answer. Returns null if the asker
   * must send the request instead. That is so if the actor is not idle or its strategy is not
   * FIBER, or if this thread is not virtual or runs too many nested requests.
   */
  public static Object inline(Cell cell, Object message) {
    if (cell.settings().strategy() != Strategy.FIBER || !Thread.currentThread().isVirtual()) return null;
    var asker = (Activation) WaitingHandler.current();
    if (asker != null && asker.depth >= Activation.MAX_INLINE_DEPTH) return null;
    var request = new RequestFuture<>(cell, message, null, true);
    var activation = new Activation(cell, request, ActivationKind.INLINE);
    if (!cell.acquire(request)) return null;
    // null if the handler cannot read the deadline, because reading the clock costs a third of an
    // inline request
    Deadline ownDeadline = null;
    try {
      if (cell.behavior.usesContext()) ownDeadline = askDeadline(cell, asker);
      activation.deadline = ownDeadline != null ? ownDeadline : asker == null ? null : asker.answerDeadline();
      activation.runInline(request, asker);
    } catch (Throwable error) { // `runInline` was not entered
      cell.stranded = request;
      recover(cell, error, 0);
    }
    if (activation.answer != null) return activation.answer;
    var deadline = request.isDone() ? Deadline.NONE : ownDeadline != null ? ownDeadline : askDeadline(cell, asker);
    if (deadline.isBounded()) request.deadline = deadline;
    return request.await(message, deadline, asker);
  }

  private static Deadline askDeadline(Cell cell, HandlerContext asker) {
    var options = cell.owner().options();
    return Deadline.ofAsk(options.scheduler(), options.askLimit(), asker == null ? null : asker.answerDeadline());
  }
}
