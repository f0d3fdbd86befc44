package io.fibry.engine.timer;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A timer, and also its node in a {@link TimerQueue}. One object is both, because a program may
 * have millions of timers, and cancels most of them soon.
 *
 * <p>The state decides which thread unlinks a cancelled node. An open node is {@code WAITING}
 * while it is in a list of the queue, and {@code SORTED} while it is in the sorted set. The thread
 * that closes a waiting node does nothing else, because the timer thread drops closed nodes from
 * its lists. The thread that closes a sorted node adds it to the inbox, from which the timer thread
 * removes it. So a node is in one list at most.
 */
public abstract class TimerNode implements Comparable<TimerNode> {
  static final int WAITING = 0;
  static final int SORTED = 1; // also while the task of a repeated timer runs
  static final int CLOSED = 2; // added to the state, by the cancel or by the only run
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

  /** Returns the state before the timer was closed. */
  private int closeFrom() {
    while (true) {
      int openState = state;
      if (openState >= CLOSED || STATE.compareAndSet(this, openState, openState + CLOSED)) return openState;
    }
  }

  /** Starts a repeated timer again, at its new time. Called by {@link #fire}. */
  protected final void startAgainIn(TimerQueue queue) {
    if (change(SORTED, WAITING)) queue.addAgain(this);
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
