package io.fibry.engine.cell;

import io.fibry.ExitReason;
import io.fibry.NoReplyException;
import io.fibry.RequestException;
import io.fibry.Strategy;
import io.fibry.engine.actor.ActorCell;
import io.fibry.engine.actor.GuardedCell;
import io.fibry.engine.jvm.Threads;
import io.fibry.engine.message.Baggage;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.message.Events;
import io.fibry.engine.message.RequestFuture;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * One stretch of a thread working through a mailbox: the only place that calls the user's code for
 * a message. It runs once, however often it is handed out; a resident one lasts as long as its
 * actor. What the handler sees of it is {@link Context}. All fields are its own thread's, where not
 * said otherwise.
 */
public final class Activation extends Context implements Runnable {
  /** How it came to its thread. */
  public enum Kind { NORMAL, RESIDENT, INLINE, BURIAL }

  // who works on this thread; a nested one puts back what it found
  public static final ThreadLocal<Activation> CURRENT = new ThreadLocal<>();
  private static final int DEEPEST_INLINE = 32;
  private static final int BATCH = 256;
  private static final long SLICE = 1_000_000; // ns
  private static final int GLANCE = 16; // quick messages between two looks at the clock
  private static final long REST = 10_000_000; // ns
  private static final VarHandle CLAIMED;

  static {
    try {
      CLAIMED = MethodHandles.lookup().findVarHandle(Activation.class, "claimed", boolean.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  public final boolean own; // its thread was made by the library: it may be named and interrupted
  public final Kind kind;
  private int depth; // how many inline requests deep
  // resident only: the node to go on with; written by who has the right to run, taken by its thread
  public volatile Object handed;
  public volatile boolean claimed; // false -> true, by the run that counts
  private Object node; // from where on the right to run is ours; null: it is not
  private boolean leaving; // the pill was met: the hooks are ours to run
  private boolean gone; // and have been
  public boolean rests; // before the next message, as long as `Rich.pause` says
  public Object answer; // inline only: what the handler returned; null: look at the request
  private long rested; // when it last let go of its carrier for good; 0: not yet

  public Activation(ActorCell cell, Object first, Kind kind) {
    super(cell);
    this.node = first;
    this.kind = kind;
    this.own = kind.compareTo(Kind.RESIDENT) <= 0 && cell.behaviour.how.strategy() instanceof Threads;
  }

  @Override
  public void run() {
    if (!CLAIMED.compareAndSet(this, false, true)) return;
    try {
      thread = Thread.currentThread();
      if (kind == Kind.BURIAL) drain();
      else if (own) work();
      else workNested();
    } catch (Throwable edge) { // of the stack, or of memory: what handlers throw does not come here
      cell.orphaned |= leaving && node != null;
      if (node != null) cell.stranded = node; // without a call: it cannot fail
      node = null;
      thread = null; // it works for the actor no more
      Dispatch.recover(cell, edge, 0);
      settleAccounts();
    }
  }

  private void work() {
    CURRENT.set(this);
    if (own) bearName();
    if (kind == Kind.RESIDENT) stay();
    else {
      Threads.RELAY.pass();
      // `thread` is written, now for the phase: a killer writes the phase, then looks for the
      // thread
      VarHandle.fullFence();
      drain();
    }
  }

  /** On a thread that may be at work for another actor. */
  private void workNested() {
    outer = CURRENT.get();
    try {
      work();
    } finally {
      CURRENT.set(outer);
      outer = null;
    }
  }

  /**
   * Handles one request on its asker's thread, which has the right to run. What remains is somebody
   * else's. Nobody else can run this, or has seen the request: so nothing is claimed, and a value
   * goes straight to the asker, past the future.
   */
  public void runInline(RequestFuture<?> request, Activation outer) {
    try {
      thread = Thread.currentThread();
      this.outer = outer;
      if (outer != null) depth = outer.depth + 1;
      CURRENT.set(this);
      cell.announce(this);
      Object given = request.beginUnseen();
      if (cell.phase <= ActorCell.OPEN) deliver(given, request, null);
      else Termination.undelivered(cell, given, request);
      if (rests) {
        rest(true);
        return;
      }
      node = cell.next(this, node);
      if (node != null) giveWay();
    } catch (Throwable edge) { // as in run
      if (node != null) cell.stranded = node;
      node = null;
      thread = null;
      Dispatch.recover(cell, edge, 0);
      settleAccounts();
    } finally {
      CURRENT.set(outer);
      this.outer = null;
    }
  }

  public boolean tooDeep() {
    return depth >= DEEPEST_INLINE;
  }

  private void bearName() {
    var extras = cell.richOrNull();
    if (extras != null && extras.label != null) thread.setName(extras.label);
  }

  /** The life of a resident one: waits until it is handed the right to run. */
  private void stay() {
    VarHandle.fullFence(); // who hands it something writes `handed`, then looks for `thread`
    while (true) {
      Object first = handed;
      if (first != null) {
        handed = null;
        node = first;
        try {
          drain();
        } catch (Throwable edge) {
          cell.orphaned |= leaving && node != null;
          leaving = false;
          if (node != null) cell.stranded = node;
          node = null;
          Dispatch.recover(cell, edge, 0);
          settleAccounts();
        }
        if (gone) {
          thread = null;
          return;
        }
      } else {
        LockSupport.park(this);
        Thread.interrupted();
      }
    }
  }

  // ---- the loop

  private void drain() {
    int credit = BATCH;
    int glance = 1;
    long began = 0;
    long seen = 0;
    leaving |= cell.adopt();
    while (true) {
      byte phase = cell.phase;
      boolean heeds = phase >= ActorCell.OPEN || !renewed();
      if (heeds) handle(node, phase);
      if (rests) {
        rest(heeds);
        return;
      }
      Object next = cell.next(this, node);
      node = next;
      if (next == null) break;
      if (credit == 0) {
        if (giveWay()) return;
        settleAccounts();
        credit = BATCH;
        began = 0;
      } else if (--glance == 0 && !leaving) {
        long now = System.nanoTime();
        if (began == 0) began = now;
        else if (now - began > SLICE) credit = 1;
        // a slow handler is watched at every message
        glance = now - seen > SLICE / GLANCE ? 1 : GLANCE;
        seen = now;
      }
      credit--;
    }
    if (leaving) leave();
  }

  /**
   * Somebody asked for a restart from outside, after the message before. True: a rest comes first.
   */
  private boolean renewed() {
    if (!cell.heedRestart()) return false; // the door was shut meanwhile
    if (cell instanceof GuardedCell guarded) node = guarded.behindAside(node);
    Failures.renew(this, null, cell.rich().pause);
    if (own) Thread.interrupted(); // a stray one of the stop hook
    return rests;
  }

  /** Lets go of the thread until the back-off is over; the right to run lies in {@code rich}. */
  private void rest(boolean handled) {
    rests = false;
    cell.resting(handled ? node : null);
    pause();
    // what was put aside is back in the mailbox, and must not be found here too
    if (handled && cell instanceof GuardedCell) node = Envelope.NOTHING;
    Dispatch.rest(cell, node, cell.rich().pause);
    node = null;
  }

  /** Others may have waited for this thread. True: the rest is another activation's. */
  private boolean giveWay() {
    if (kind == Kind.BURIAL || leaving) return false;
    if (own || cell.behaviour.how.strategy() == Strategy.CALLER) {
      if (thread.isVirtual() && own) letOthersRun();
      return false;
    }
    pause();
    Object rest = node;
    node = null;
    try {
      Dispatch.begin(cell, null, rest);
    } catch (Throwable edge) { // of the stack: it was not even entered
      cell.stranded = rest;
    }
    return true;
  }

  /**
   * A yield is not enough: while as many virtual threads as there are carriers do nothing but
   * yield, what other threads hand to the JDK's scheduler never runs (seen on 25: for ever). A
   * park, if only for a moment, leaves the carrier free to look; it costs some 50 us, so it is
   * rare.
   */
  private void letOthersRun() {
    Threads.RELAY.pass();
    long now = System.nanoTime();
    if (rested == 0) rested = now;
    if (now - rested < REST) Thread.yield();
    else {
      LockSupport.parkNanos(this, 1);
      rested = System.nanoTime();
    }
  }

  /** Before the right to run is given back: an idle actor keeps nothing of this. */
  public void pause() {
    if (handled > 0) settleAccounts();
    else cell.scope().accounts().countTurn();
    if (kind == Kind.NORMAL || kind == Kind.INLINE) cell.run(null);
  }

  private void settleAccounts() {
    if (handled > 0) countHandled();
    handled = 0;
  }

  private void countHandled() {
    cell.scope().countHandled(handled);
    var extras = cell.richOrNull();
    if (extras != null) extras.handled += handled;
  }

  /** It was not given back after all. */
  public void resume() {
    if (kind == Kind.NORMAL || kind == Kind.INLINE) cell.run(this);
  }

  /** Where it is: the node being handled, or to be handled next. Read by who looks on. */
  public Object at() {
    Object now = node;
    return now != null ? now : handed;
  }

  // ---- one message

  private void handle(Object node, byte phase) {
    Object given;
    Baggage along;
    RequestFuture<?> request = null;
    if (node instanceof Envelope envelope) {
      given = envelope.message;
      if (given == null) return; // begun by an activation that came to grief after it
      envelope.message = null;
      along = envelope.along;
    } else {
      request = (RequestFuture<?>) node;
      along = request.along;
      given = request.begin();
      if (given == null) {
        if (request.open())
          request.fail(new IllegalStateException("actor '" + cell.name() + "' had no stack or memory left to answer"));
        return;
      }
    }
    if (given == Envelope.Control.PILL) meetPill();
    else if (phase > ActorCell.OPEN) Termination.undelivered(cell, given, request);
    else deliver(given, request, along);
  }

  private void deliver(Object given, RequestFuture<?> request, Baggage along) {
    if (along == null && !Events.messages()) deliver(given, request);
    else Surroundings.deliver(this, given, request, along);
  }

  public void deliver(Object given, RequestFuture<?> request) {
    message = given;
    asked = request;
    try {
      attempt(given);
    } catch (Throwable failure) {
      failed(failure, given);
    } finally {
      if (received != null) failUnanswered(null);
      message = null;
      asked = null;
      aside = false;
      if (own) Thread.interrupted(); // meant for this message, not for the next
    }
  }

  private void attempt(Object given) throws Exception {
    if (given instanceof Envelope.Control task) task.task.run();
    else answer(cell.behaviour.handle(this, given));
    if (!aside) handled++;
  }

  /** Tries it again as often as the policy says, by what was thrown last. */
  private void failed(Throwable failure, Object given) {
    for (int tries = 0;; tries++) {
      var policy = Failures.policy(cell, failure);
      // before the look at the phase: a killer writes that, then interrupts
      if (own) Thread.interrupted();
      if (tries >= policy.retries || !repeatable(given)) {
        Failures.handle(this, failure, policy);
        return;
      }
      if (received != null) failUnanswered(failure);
      try {
        attempt(given);
        return;
      } catch (Throwable again) {
        failure = again;
      }
    }
  }

  /** Not a task, nor what was answered, cancelled or put aside, nor at the end. */
  private boolean repeatable(Object given) {
    return !(given instanceof Envelope.Control) && !aside && cell.phase <= ActorCell.OPEN
        && (asked == null || asked.open() && !asked.isDone());
  }

  /** The handler returned. */
  private void answer(Object value) {
    if (asked == null || aside || !asked.open()) return;
    if (value == Behaviour.NONE) {
      asked.fail(new NoReplyException(cell.name(), message));
    } else if (value == null) {
      throw new NullPointerException("actor '" + cell.name() + "' answered null to " + RequestException.shown(message)
          + "; let it answer an Optional");
    } else if (kind == Kind.INLINE) answer = value;
    else asked.finish(value);
  }

  // ---- the end

  private void meetPill() {
    if (cell.left || !cell.mayLeave()) return;
    cell.left = true;
    leaving = true;
    cell.rich().because(new ExitReason.Finished());
    cell.leaving();
  }

  /** The queue is disposed of and the right to run given back: only the hooks are left. */
  private void leave() {
    leaving = false;
    gone = true;
    Termination.run(this);
  }
}
