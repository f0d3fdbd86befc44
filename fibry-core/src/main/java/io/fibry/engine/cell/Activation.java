package io.fibry.engine.cell;

import io.fibry.ExitReason;
import io.fibry.Strategy;
import io.fibry.engine.jvm.EngineThreads;
import io.fibry.engine.jvm.HandOver;
import io.fibry.engine.jvm.TimeSlice;
import io.fibry.engine.jvm.WokenDrain;
import io.fibry.engine.message.Baggage;
import io.fibry.engine.message.EngineMessage;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.message.RequestFuture;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * The right to run an actor, together with the drain: the loop that handles its messages.
 *
 * <p><b>States.</b> An activation is made by the thread that takes the right to run, and is handed
 * to the strategy, perhaps several times. The first thread whose compare-and-set of {@code claimed}
 * succeeds runs it; all other runs do nothing. It then has the right to run until it does one of
 * four things:
 *
 * <ul>
 * <li>it releases the right after the last node ({@code next}), so that the actor is idle;
 * <li>it hands the right, with the next node, to another activation, so that others have their turn
 * ({@code giveWay});
 * <li>it stores the right for a back-off ({@code suspend}), and a timer continues;
 * <li>it stores the right in {@code cell.stranded} after an error outside of a handler, and
 * {@code cell.recover} hands it out again. A message that had begun is not begun again: its
 * envelope is empty, and its request is failed.
 * </ul>
 *
 * <p><b>Kinds.</b> A resident activation keeps its thread, and gets the right to run by
 * {@code handedNode}. An inline one runs one request on the thread of its asker. A disposal only makes
 * dead letters. Others run once, on a thread of the strategy.
 *
 * <p><b>Killers.</b> A killer writes the phase and then reads {@code thread}; the drain writes
 * {@code thread} and then reads the phase, with a full fence between. So an actor that is killed
 * while it starts is interrupted, or does not begin a message. Before the thread serves another
 * actor, {@code leaveThread} waits for a killer that is about to interrupt it.
 *
 * <p><b>Owner.</b> Fields belong to the thread of the activation, except where a field says
 * otherwise.
 */
final class Activation extends MessageRun implements WokenDrain {
  enum ActivationKind {
    NORMAL,
    RESIDENT,
    INLINE, // on its asker's thread, for one request
    DISPOSAL // on any thread, for an actor that runs no more code of a user
  }

  static final int MAX_INLINE_DEPTH = 32;
  private static final int STREAK = 16; // messages before it lingers
  private static final int BATCH = 256; // messages before it yields
  private static final int LATE_PENALTY = 1_000; // the number of wake-ups that start a fiber after a late one
  private static final VarHandle CLAIMED = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "claimed",
      VarHandle.class, Activation.class, boolean.class);

  final ActivationKind kind;
  private final boolean ownsThread;
  int depth;
  // Resident fibers only: the node at which to continue; set by the holder of the right to run,
  // taken by the fiber
  volatile Object handedNode;
  volatile boolean claimed; // false -> true, by the run that counts
  private boolean leaving; // it met the pill
  private boolean hooksRun; // it ran the hooks
  private long parked;
  private boolean canHandOver; // whether its thread can run a woken actor next
  Cell waker; // set before this lies in a slot, null once it runs; observers may see either

  Activation(Cell cell, Object first, ActivationKind kind) {
    super(cell);
    this.node = first;
    this.kind = kind;
    this.ownsThread = kind.compareTo(ActivationKind.RESIDENT) <= 0 && cell.settings().ownsThreads();
  }

  @Override
  public boolean ownsThread() {
    return ownsThread;
  }

  @Override
  boolean isInline() {
    return kind == ActivationKind.INLINE;
  }

  @Override
  Object currentNode() {
    Object now = node;
    return now != null ? now : handedNode;
  }

  @Override
  public void run() {
    if (kind == ActivationKind.NORMAL && cell.settings().strategy() == Strategy.FIBER
        && Thread.currentThread().isVirtual())
      HandOver.run(this);
    else if (tryClaim()) runClaimed();
  }

  @Override
  public boolean runOnce() {
    if (!tryClaim()) return false;
    waker = null;
    canHandOver = true;
    runClaimed();
    return true;
  }

  private boolean tryClaim() {
    return CLAIMED.compareAndSet(this, false, true);
  }

  /**
   * Called where this could not be started. Returns the right to run: the node, for another
   * activation, or a resident itself. Returns null if a thread has run this.
   */
  Object surrender() {
    if (kind == ActivationKind.RESIDENT) return this;
    return tryClaim() ? node : null;
  }

  private void runClaimed() {
    try {
      thread = Thread.currentThread();
      if (kind == ActivationKind.DISPOSAL) drain();
      else if (ownsThread) work();
      else workNested();
    } catch (Throwable edge) { // assignments first: at the edge of stack or memory a call could fail
      cell.hooksPending |= leaving && node != null;
      if (node != null) cell.stranded = node;
      node = null;
      thread = null;
      cell.recover(edge);
      settleAccounts();
    }
  }

  /** A killer shuts the door, then reads the thread and interrupts it, under this monitor. */
  @Override
  public void leaveThread() {
    thread = null;
    VarHandle.fullFence(); // `thread` is written, the phase not yet read
    if (cell.isEnding()) synchronized (cell.extras()) {}
    Thread.interrupted();
  }

  @Override
  public void penalizeWaker() {
    var blamed = waker;
    if (blamed != null) blamed.behavior.lateWakeUps = LATE_PENALTY;
  }

  /** Returns whether this fiber will run the woken actor next. */
  boolean handOver(Activation woken) {
    if (!canHandOver) return false;
    var behavior = cell.behavior;
    if (behavior.lateWakeUps > 0) {
      behavior.lateWakeUps--;
      return false;
    }
    woken.waker = cell;
    return mayHoldHandOver = HandOver.offer(woken);
  }

  private void work() {
    makeCurrent(this);
    if (ownsThread && cell.label() != null) thread.setName(cell.label());
    if (kind == ActivationKind.RESIDENT) runResident();
    else {
      EngineThreads.startPendingTask();
      VarHandle.fullFence(); // as in Cell.setWorker: `thread` is written, the phase not yet read
      drain();
    }
  }

  /** On a thread that may work for another actor. */
  private void workNested() {
    outer = current();
    try {
      work();
    } finally {
      makeCurrent(outer);
      outer = null;
    }
  }

  /**
   * On its asker's thread, which holds the right to run. No other thread has seen the request or
   * can run this actor, so the request is not claimed, and the answer bypasses the future.
   */
  void runInline(RequestFuture<?> asked, Activation asker) {
    try {
      thread = Thread.currentThread();
      outer = asker;
      if (asker != null) depth = asker.depth + 1;
      makeCurrent(this);
      cell.announce(this);
      Object given = asked.beginUnseen();
      if (cell.isEnding()) Termination.failUndelivered(cell, given, asked);
      else deliver(given, asked, null);
      if (suspendNext) {
        suspend(!redelivered);
        return;
      }
      if (!redelivered) node = next();
      if (node != null) giveWay();
    } catch (Throwable edge) { // as in run
      if (node != null) cell.stranded = node;
      node = null;
      thread = null;
      cell.recover(edge);
      settleAccounts();
    } finally {
      makeCurrent(asker);
      outer = null;
    }
  }

  /**
   * On a thread that took the right to run of an idle actor with this pill. Returns false if the
   * actor gets a thread of its own, because code of a user runs at its end, or a sender came.
   */
  boolean endIdle() {
    try {
      boolean bare = !cell.behavior.hasStopHook(cell);
      if (bare) {
        handle(node, Cell.OPEN);
        leaving = false;
        cell.hooksPending = true; // before the release: a drain of a late sender may end it
        node = next();
      }
      if (node != null) handBack();
      else if (Termination.finishWithoutWork(cell)) return true;
      else cell.push(new Envelope(null)); // a resource came, or a letter
    } catch (Throwable edge) { // as in run
      cell.hooksPending |= leaving && node != null;
      if (node != null) cell.stranded = node;
      node = null;
      cell.recover(edge);
      settleAccounts();
    }
    return false;
  }

  private void runResident() {
    VarHandle.fullFence(); // pairs with Dispatch.attempt, which writes `handedNode`, then reads `thread`
    while (!hooksRun) {
      Object first = handedNode;
      if (first == null) {
        LockSupport.park(this);
        Thread.interrupted();
        continue;
      }
      handedNode = null;
      node = first;
      try {
        drain();
      } catch (Throwable edge) { // as in run
        cell.hooksPending |= leaving && node != null;
        leaving = false;
        if (node != null) cell.stranded = node;
        node = null;
        cell.recover(edge);
        settleAccounts();
      }
    }
    thread = null;
  }

  private void drain() {
    int credit = BATCH;
    var slice = new TimeSlice(); // likewise
    leaving |= cell.takeHooks();
    while (true) {
      byte phase = cell.phase;
      boolean handles = phase >= Cell.OPEN || !restart();
      if (handles) handle(node, phase);
      if (redelivered) handles = redelivered = false;
      if (suspendNext) {
        suspend(handles);
        return;
      }
      if (!handles) continue; // restarted without a pause
      node = next();
      if (node == null) break;
      if (mayHoldHandOver) startHandedOver();
      if (credit == 0) {
        if (giveWay()) return;
        settleAccounts();
        credit = BATCH;
        slice.restart();
      } else if (!leaving && slice.isOver()) credit = 1;
      credit--;
    }
    if (!leaving) return;
    leaving = false;
    hooksRun = true;
    Termination.finish(this);
  }

  /** Returns null if no message waits; then the right to run has been released. */
  private Object next() {
    Object next = cell.next(node, handled >= STREAK);
    if (next != null) return next;
    pauseWork();
    if (cell.release(node)) return null;
    if (kind == ActivationKind.NORMAL || kind == ActivationKind.INLINE) cell.setWorker(this); // a sender came
    return cell.awaitNext(node);
  }

  /** Another actor's failure asked for it. Returns whether a suspension comes first. */
  private boolean restart() {
    if (!cell.takeRestartRequest()) return false;
    if (!cell.extras().stash.isEmpty() && PlainQueue.holdsMessage(node)) { // the stash comes first
      cell.putBack(List.of(node));
      node = Envelope.NOTHING;
    }
    FailureHandler.restart(this, null, cell.extras().restartPause());
    if (ownsThread) Thread.interrupted(); // set by the stop hook
    return suspendNext;
  }

  private void suspend(boolean handled) {
    suspendNext = false;
    node = cell.beforeSuspension(node, handled);
    pauseWork();
    cell.suspend(node, cell.extras().pause());
    node = null;
  }

  /** Returns whether another activation continues. */
  private boolean giveWay() {
    if (kind == ActivationKind.DISPOSAL || leaving) return false;
    if (ownsThread || cell.settings().strategy() == Strategy.CALLER) {
      if (ownsThread && thread.isVirtual()) parked = EngineThreads.yieldToOthers(parked);
      return false;
    }
    pauseWork();
    handBack();
    return true;
  }

  /** The right to run, to another activation. */
  private void handBack() {
    Object rest = node;
    node = null;
    try {
      cell.begin(null, rest);
    } catch (Throwable edge) { // not entered
      cell.stranded = rest;
    }
  }

  /** Called before the release: an idle actor keeps nothing of this activation. */
  private void pauseWork() {
    if (handled > 0) settleAccounts();
    else cell.owner().accounts().countPass();
    if (kind == ActivationKind.NORMAL || kind == ActivationKind.INLINE) cell.setWorker(null);
  }

  private void handle(Object node, byte phase) {
    Object given;
    Baggage with;
    RequestFuture<?> asked = null;
    if (node instanceof Envelope envelope) {
      given = envelope.message;
      if (given == null) return; // an earlier activation failed at it
      envelope.message = null;
      with = envelope.baggage;
    } else {
      asked = (RequestFuture<?>) node;
      with = asked.baggage;
      given = asked.begin();
      if (given == null) {
        if (asked.isOpen()) Termination.failOutOfMemory(cell, asked);
        return;
      }
    }
    if (given == EngineMessage.PILL) takePill();
    else if (phase > Cell.OPEN) Termination.failUndelivered(cell, given, asked);
    else deliver(given, asked, with);
  }

  private void takePill() {
    if (cell.pillMet || !cell.isReadyToEnd()) return;
    cell.pillMet = true;
    leaving = true;
    cell.extras().setReason(new ExitReason.Finished());
    cell.enterLeaving();
  }
}
