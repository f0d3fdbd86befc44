package io.fibry.engine.cell;

import io.fibry.ExitReason;
import io.fibry.OnExecutor;
import io.fibry.Strategy;
import io.fibry.engine.actor.ActorCell;
import io.fibry.engine.cell.Activation.Kind;
import io.fibry.engine.jvm.StackProbe;
import io.fibry.engine.jvm.Threads;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.RequestFuture;
import io.fibry.engine.scope.Scope;
import io.fibry.time.Scheduler;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.LockSupport;

/**
 * Gives the right to run a thread. The right is never dropped: whatever a strategy throws, whoever
 * holds the right keeps it, and it is handed out again with back-off from 1 ms to 1 s. Since an
 * {@link Activation} runs once however often it is handed out, a strategy that took it and then
 * threw does no harm.
 *
 * <p>Where even arming the timer fails (the edge of a stack, no memory), the right lies in
 * {@code cell.stranded}, written by a plain assignment that cannot fail, and the next sender takes
 * it from there.
 */
public final class Dispatch {

  private Dispatch() {}

  /**
   * What the right to run may be handed out as, made before somebody has it; null where a resident
   * thread waits for it.
   */
  public static Activation prepare(ActorCell cell, Object first) {
    return cell.behaviour.how.strategy().resident() ? null : new Activation(cell, first, Kind.NORMAL);
  }

  /**
   * The caller has the right to run, from this node on. Throws nothing, once entered: who finds it
   * could not be entered must leave the right in {@code stranded}.
   */
  public static void begin(ActorCell cell, Activation prepared, Object first) {
    boolean ready = prepared != null && !onlyToBury(cell);
    if (ready) cell.announce(prepared);
    attempt(cell, ready ? prepared : first, 0);
  }

  /**
   * Whether nothing of the user's is left to run: another met the pill, and sees to the hooks. For
   * who has the right to run.
   */
  private static boolean onlyToBury(ActorCell cell) {
    return cell.phase >= ActorCell.LEAVING && cell.left && !cell.orphaned;
  }

  /** Takes up a right that lies stranded, if nobody else does. */
  public static void rescue(ActorCell cell) {
    Object held = cell.unstrand();
    try {
      if (held != null) attempt(cell, held, 0);
    } catch (Throwable edge) { // of the stack: it was not even entered
      cell.stranded = held;
    }
  }

  /** Throws nothing, once entered. */
  private static void attempt(ActorCell cell, Object held, int tries) {
    try {
      if (onlyToBury(cell) && !(held instanceof Activation)) {
        new Activation(cell, held, Kind.BURIAL).run();
        return;
      }
      StackProbe.probe();
      held = holder(cell, held);
      if (((Activation) held).kind == Kind.RESIDENT) {
        VarHandle.fullFence(); // as in Activation.stay: `handed` is written, now for the thread
        LockSupport.unpark(((Activation) held).thread);
      } else {
        // only the end is left: that needs no strategy that failed
        (tries > 0 && cell.phase > ActorCell.OPEN ? Threads.FIBER : cell.behaviour.how.strategy())
            .activate((Activation) held);
      }
    } catch (Throwable failure) {
      // it was taken, and looks after itself
      if (held instanceof Activation begun && begun.claimed && begun.kind != Kind.RESIDENT) return;
      cell.stranded = held;
      recover(cell, failure, tries);
    }
  }

  /**
   * What the right is handed out as. For a resident, the write of {@code handed} is the last thing
   * that can fail.
   */
  private static Activation holder(ActorCell cell, Object held) {
    if (held instanceof Activation made) return made;
    if (!cell.behaviour.how.strategy().resident()) {
      var made = new Activation(cell, held, Kind.NORMAL);
      cell.announce(made);
      return made;
    }
    var resident = cell.run();
    resident.handed = held;
    return resident;
  }

  /**
   * The right lies stranded: sees to it that somebody takes it up. Throws nothing, once entered.
   */
  public static void recover(ActorCell cell, Throwable failure, int tries) {
    Object held = null;
    try {
      held = cell.unstrand();
      if (held == null) return;
      var how = cell.behaviour.how;
      if (failure instanceof RejectedExecutionException && how.strategy() instanceof OnExecutor pool
          && pool.shutDown()) {
        held = holder(cell, held);
        cell.rich().because(new ExitReason.Failed(failure));
        cell.shutDoor();
        Threads.FIBER.activate((Activation) held);
      } else {
        Object given = held;
        how.scope().options().scheduler.after(Duration.ofMillis(1L << Math.min(10, tries)),
            () -> retry(cell, given, failure, tries + 1));
      }
    } catch (Throwable edge) {
      if (held != null) cell.stranded = held; // the next sender takes it up
    }
  }

  /** On the scheduler's thread, so on a virtual one: a strategy is code of the user. */
  private static void retry(ActorCell cell, Object held, Throwable failure, int tries) {
    try {
      Threads.FIBER.activate(() -> {
        // here there is a stack to log on
        if (tries == 1) Scope.LOG.warn("actor '{}' got no thread from {}; trying again", cell.name(),
            cell.behaviour.how.strategy(), failure);
        attempt(cell, held, tries);
      });
    } catch (Throwable noThread) {
      cell.stranded = held;
      recover(cell, noThread, tries);
    }
  }

  /**
   * Lays the right to run down, to be taken up again from this node in so long; at once if the
   * actor is asked to end meanwhile. Where it throws, the right is still the caller's.
   */
  public static void rest(ActorCell cell, Object node, long nanos) {
    var extras = cell.rich();
    var clock = cell.scope().options().scheduler;
    StackProbe.probe(); // from here on it lies in one place only, or is the caller's
    var rest = new Suspension(node);
    extras.layDown(rest);
    try {
      rest.until(clock.after(Duration.ofNanos(nanos),
          clock == Scheduler.system() ? () -> wakeElsewhere(cell) : () -> wake(cell)));
    } catch (Throwable noTimer) { // of memory, or of the user's scheduler
      if (extras.takeUp() == null) return; // who shut the door has it
      throw noTimer;
    }
    // who shut the door may have looked before
    if (cell.phase > ActorCell.OPEN || cell.front().phase > ActorCell.OPEN) wake(cell);
  }

  /** Takes up the right that rests, if nobody else has. */
  public static void wake(ActorCell cell) {
    var rest = cell.rich().takeUp();
    if (rest == null) return;
    try {
      attempt(cell, rest.node, 0);
    } catch (Throwable edge) { // of the stack: it was not even entered
      cell.stranded = rest.node;
    }
    rest.end();
  }

  /** On the scheduler's thread, as {@link #retry}. */
  private static void wakeElsewhere(ActorCell cell) {
    var rest = cell.rich().takeUp();
    if (rest != null) retry(cell, rest.node, null, 0);
  }

  /**
   * What the thread that an actor keeps will run; null where it keeps none. Before anybody else
   * knows the actor.
   */
  public static Activation prepareResident(ActorCell cell) {
    if (!cell.behaviour.how.strategy().resident()) return null;
    var resident = new Activation(cell, null, Kind.RESIDENT);
    cell.run(resident);
    return resident;
  }

  /**
   * Starts the thread that an actor keeps. Where there is none, something is done before it ends.
   */
  public static void settleIn(ActorCell cell, Activation resident, Runnable otherwise) {
    try {
      cell.behaviour.how.strategy().activate(resident);
    } catch (Throwable noThread) { // it may have been found by its name, and sent messages
      otherwise.run();
      endUnsettled(cell, new ExitReason.Failed(noThread));
      cell.freeName();
      throw noThread;
    }
  }

  /**
   * Ends an actor that its scope did not take: a closer may have seen it meanwhile, and wait for
   * its end.
   */
  public static void turnAway(ActorCell cell) {
    endUnsettled(cell, new ExitReason.Stopped());
  }

  private static void endUnsettled(ActorCell cell, ExitReason why) {
    cell.rich().because(why);
    cell.shutDoor();
    if (cell.behaviour.how.strategy().resident()) Threads.FIBER.activate(cell.run());
  }

  /**
   * Answers a request on this thread, if this is a virtual one and the actor idle. Null: they were
   * not.
   */
  public static Object inline(ActorCell cell, Object message) {
    if (cell.behaviour.how.strategy() != Strategy.FIBER || !Thread.currentThread().isVirtual()) return null;
    var outer = Activation.CURRENT.get();
    if (outer != null && outer.tooDeep()) return null;
    var asked = new RequestFuture<>(cell, message);
    var activation = new Activation(cell, asked, Kind.INLINE);
    if (!cell.acquire(asked)) return null;
    try {
      // the clock is a third of an inline request
      activation.limit = cell.behaviour.usesContext() ? askLimit(cell, outer) : outer == null ? null : outer.due();
      activation.runInline(asked, outer);
    } catch (Throwable edge) { // of the stack: it was not even entered
      cell.stranded = asked;
      recover(cell, edge, 0);
    }
    if (activation.answer != null) return activation.answer;
    var limit = asked.isDone() ? Deadline.NONE : askLimit(cell, outer);
    if (limit.isBounded()) asked.limit = limit;
    return asked.await(message, limit, outer);
  }

  private static Deadline askLimit(ActorCell cell, Activation asker) {
    return Deadline.ofAsk(cell, cell.scope().options().askLimit, asker);
  }

  /** Shuts the door, interrupts the handler, and after a grace cuts the actor off. */
  public static void kill(ActorCell cell, ExitReason reason) {
    var extras = cell.rich();
    extras.because(reason);
    cell.shutDoor(() -> interrupt(cell, extras));
    var options = cell.scope().options();
    extras.grace(() -> options.scheduler.after(options.grace,
        () -> Threads.FIBER.activate(() -> cutOff(cell, "within " + options.grace))));
  }

  /**
   * Interrupts the handler or, later, the hooks: never the hooks in place of the handler, so under
   * the monitor by which the phase changes from one to the other.
   */
  private static void interrupt(ActorCell cell, Extras extras) {
    if (!(cell.behaviour.how.strategy() instanceof Threads)) return;
    synchronized (extras) {
      var worker = cell.run();
      var thread = worker == null || !worker.own ? null : worker.thread;
      if (cell.phase < ActorCell.LEAVING) {
        if (thread != null) thread.interrupt();
      } else if (cell.isAtHooks()) extras.interruptLeaver();
    }
  }

  /** Whoever waits is told now; the handler may go on, unheard. */
  public static void cutOff(ActorCell cell, String when) {
    if (cell.phase == ActorCell.ENDED) return;
    Scope.LOG.warn("actor '{}' did not obey {}; it is cut off, and its handler may still run", cell.name(), when);
    var extras = cell.rich();
    cell.ended();
    failRequests(cell, cell.run(), 0);
    extras.announce();
    extras.end();
  }

  /**
   * Again and again while the handler goes on: a sender may have been about to link its request, or
   * the drain about to begin with one.
   */
  private static void failRequests(ActorCell cell, Activation worker, int tries) {
    if (worker != null) Termination.failRequests(worker);
    else cell.failWaiting(cell.rich().resting());
    if (worker != null && cell.run() == worker && worker.thread != null && tries < 16)
      Scheduler.system().after(Duration.ofMillis(1L << tries),
          () -> Threads.FIBER.activate(() -> failRequests(cell, worker, tries + 1)));
  }
}
