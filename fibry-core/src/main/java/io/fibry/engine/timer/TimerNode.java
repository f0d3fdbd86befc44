package io.fibry.engine.timer;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A timer, and also its node in a {@link TimerQueue}. One object is both, because a program may
 * have millions of timers, and cancels most of them soon.
 *
 * <p><b>The state decides which thread unlinks a cancelled node.</b> An open node is
 * {@code WAITING} while it is in the inbox or in another list of the queue. The timer thread adds
 * it to the sorted set, removes it from its list, and then marks it as {@code SORTED}. A repeated
 * timer is {@code RUNNING} while its task runs, and is then in neither. A cancel of a waiting or
 * running node only closes it: the timer thread drops closed nodes from its lists, and does not
 * start a closed timer again. A cancel of a sorted node also adds it to the inbox, so that the
 * timer thread removes it from the set. So a node is in one list at most.
 *
 * <p><b>No run begins after a cancel.</b> A run begins by an atomic change of the state, to
 * {@code RUNNING} or to closed. The change fails if a cancel has closed the node before.
 */
public abstract class TimerNode implements Comparable<TimerNode> {
  static final int WAITING = 0;
  static final int SORTED = 1; // from the move to the sorted set until a run begins
  static final int RUNNING = 2; // while the task of a repeated timer runs
  static final int CLOSED = 4; // added to the state, by the cancel or by the only run
  private static final VarHandle STATE = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "state",
      VarHandle.class, TimerNode.class, int.class);

  // when the timer is due, in ns by the clock. Written before the node is published, and by the
  // thread that runs a repeated timer
  protected long dueAt;
  private volatile int state; // changed by atomic operations only
  // The next node of the list; written by the thread that adds this node, then by the timer thread
  TimerNode nextInQueue;
  int depth; // the number of nodes in the inbox up to this node; written by the thread that adds it
  int number; // the order of timers due at the same time; used by the timer thread only

  protected TimerNode(long dueAt) {
    this.dueAt = dueAt;
  }

  /**
   * Runs the task of the timer, unless it is closed. Closes the timer first if the task runs only
   * once. Called by the timer thread, or by the thread that moves a manual clock.
   */
  protected abstract void fire();

  protected final boolean isOpen() {
    return state < CLOSED;
  }

  /** Closes the timer, and returns whether it was open. */
  protected final boolean close() {
    return closeFrom() < CLOSED;
  }

  /** Cancels a timer that was started in the queue. Returns false if it was closed before. */
  protected final boolean cancelIn(TimerQueue queue) {
    int openState = closeFrom();
    if (openState >= CLOSED) return false;
    queue.onCancel(this, openState == SORTED);
    return true;
  }

  /** Closes the timer, and returns its previous state: CLOSED or more if it was closed before. */
  final int closeFrom() {
    while (true) {
      int openState = state;
      if (openState >= CLOSED || STATE.compareAndSet(this, openState, openState + CLOSED)) return openState;
    }
  }

  /**
   * Begins a run of a repeated timer. Returns false if the timer is closed, or if a run has begun.
   * Called by {@link #fire}.
   */
  protected final boolean beginRun() {
    while (true) {
      int waitingState = state;
      if (waitingState >= RUNNING) return false;
      if (change(waitingState, RUNNING)) return true;
    }
  }

  /** Ends a run of a repeated timer. Returns false if the timer was cancelled during the run. */
  protected final boolean endRun() {
    return change(RUNNING, WAITING);
  }

  /**
   * Ends the run of a repeated timer, and starts the timer again at its new time, unless it was
   * cancelled. Called by {@link #fire}.
   */
  protected final void startAgainIn(TimerQueue queue) {
    if (endRun()) queue.addWaiting(this);
  }

  final int state() {
    return state;
  }

  final boolean change(int from, int to) {
    return STATE.compareAndSet(this, from, to);
  }

  @Override
  public final int compareTo(TimerNode other) {
    long difference = dueAt - other.dueAt;
    return difference != 0 ? Long.signum(difference) : Integer.compare(number, other.number);
  }
}
