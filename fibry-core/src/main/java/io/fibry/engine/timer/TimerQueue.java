package io.fibry.engine.timer;

import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * Fires timers on one thread, the timer thread. Other threads pass their timers to it through the
 * inbox, without a lock. With a timer queue of the JDK, a StackOverflowError in one of these
 * threads could leave the queue locked, and stop all timers of the process.
 *
 * <p><b>From the start to the task.</b> A started timer is added to the inbox, a stack of linked
 * nodes. When the timer thread wakes, it empties the inbox, and sorts the timers that are due
 * before the horizon. The horizon is at least a second after the last sweep. Later timers wait in
 * the list {@code unsorted}. If the timer thread is awake after the horizon, it moves the horizon
 * and sweeps the list: it sorts the timers that are now due before the horizon. So most timers that
 * are cancelled are never sorted, and the timer thread never searches for them.
 *
 * <p><b>No timer is missed.</b> The creator of a timer adds it to the inbox, and then reads
 * {@code isSleeping} and {@code wakeUpAt}. The timer thread writes {@code wakeUpAt} and
 * {@code isSleeping}, and then checks whether the inbox is empty. So the creator wakes the timer
 * thread, or the timer thread finds the timer.
 *
 * <p><b>Every cancelled timer leaves the queue.</b> A cancel closes the node by an atomic change of
 * its state, and the timer thread marks a node as sorted by another. So either the cancel sees that
 * the node is sorted, and adds it to the inbox for removal; or the timer thread sees that the node
 * is closed, and drops it. A cancelled node in a list has neither a task nor a message. Once the
 * cancelled nodes are about as many as the open nodes of the lists, and at least {@value
 * #MIN_CANCELS}, a cancel wakes the timer thread, which drops them. So the time for sweeps is
 * proportional to the cancels.
 *
 * <p><b>Errors.</b> Only the sorted set allocates memory. A timer leaves its list after it was
 * added to the set, so that the timer thread can try again. Threads that start or cancel a timer
 * add it by one atomic operation, so no error leaves it half added.
 */
public final class TimerQueue implements Runnable {
  /** The queue of {@link io.fibry.time.Scheduler#system}. */
  public static final TimerQueue SYSTEM = new TimerQueue();

  static final int MIN_CANCELS = 256; // a cancel in so many may wake the timer thread
  private static final long MAX_DELAY = Long.MAX_VALUE / 2; // ns
  private static final long HORIZON = 1_000_000_000; // ns
  private static final long HORIZON_PER_TIMER = 1_000; // ns; so sweeps take about 1% of the time

  // the time of this clock 36 years after the start of the process
  private final long reference = System.nanoTime() + MAX_DELAY / 4;
  // the last node of a stack: timers that were started, and sorted timers that were cancelled
  private final AtomicReference<TimerNode> inbox = new AtomicReference<>();
  // The next five are used by the timer thread only
  private final SortedBlocks<TimerNode> sorted = new SortedBlocks<>();
  private final TimerList toSort = new TimerList(); // due before the horizon, to be sorted
  private final TimerList unsorted = new TimerList();
  private long horizon = System.nanoTime();
  private int lastNumber;
  private final AtomicInteger cancelCount = new AtomicInteger();
  // The next two are written by the timer thread, and read by cancelling threads
  private volatile int sweptCancelCount; // `cancelCount` before the last sweep
  private volatile int unsortedSize;
  // null until the first timer is started
  private final AtomicReference<Thread> timerThread = new AtomicReference<>();
  // set by the timer thread after `wakeUpAt`, and cleared when it wakes; read by threads that start
  // a timer
  private volatile boolean isSleeping;
  private volatile long wakeUpAt; // when the timer thread's sleep ends, in ns by its clock
  private final Runnable starter = new TimerThreadStarter(); // made in advance, because memory may run out later
  private final PrivilegedAction<Thread> threadMaker = // made in advance, too; null from Java 24 on
      Runtime.version().feature() < 24 ? new TimerThreadMaker() : null;

  /** Starts a timer, at its due time. */
  public void start(TimerNode node) {
    node.dueAt = limited(node.dueAt);
    ensureTimerThread();
    push(node);
    if (isSleeping && node.dueAt - wakeUpAt < 0) LockSupport.unpark(timerThread.get());
  }

  /**
   * Returns the nearest time from 36 years before the start of the process to 146 years after it.
   * So the difference of two times in the queue does not overflow. Reads no clock, because each
   * read took a fifth of the time of setting a timer.
   */
  private long limited(long time) {
    return reference + Math.clamp(time - reference, -MAX_DELAY / 2, MAX_DELAY / 4 * 3);
  }

  void push(TimerNode node) {
    TimerNode top;
    do {
      top = inbox.get();
      node.nextInQueue = top;
      node.depth = top == null ? 1 : top.depth + 1;
    } while (!inbox.compareAndSet(top, node));
  }

  /** Called by the thread that has closed the node. */
  void onCancel(TimerNode node, boolean isSorted) {
    if (isSorted) push(node);
    int cancels = cancelCount.incrementAndGet();
    if (cancels % MIN_CANCELS == 0 && isSweepDue(cancels, inboxSize() + unsortedSize))
      LockSupport.unpark(timerThread.get());
  }

  private int inboxSize() {
    var top = inbox.get();
    return top == null ? 0 : top.depth;
  }

  /** Returns whether about half of the listed nodes are cancelled. */
  private boolean isSweepDue(int cancels, int listed) {
    return cancels - sweptCancelCount >= Math.max(MIN_CANCELS, listed / 2);
  }

  /**
   * Makes sure that the timer thread exists, or will soon. If it does not exist yet, starts a
   * helper thread that makes it. The current thread does not make and start the timer thread
   * itself: if its stack overflowed between the two steps, the timer thread would never start. The
   * helper is not a fiber, because other fibers may hold all carriers.
   */
  private void ensureTimerThread() {
    if (timerThread.get() == null)
      Thread.ofPlatform().daemon().inheritInheritableThreadLocals(false).start(starter);
  }

  /**
   * Makes and starts the timer thread, unless it exists. The timer thread never ends. Before Java
   * 24, a thread keeps the class loaders of its creator's stack in memory, unless a privileged
   * action makes the thread.
   */
  @SuppressWarnings("removal")
  private void startTimerThread() {
    var thread = threadMaker == null ? makeTimerThread() : AccessController.doPrivileged(threadMaker);
    if (!timerThread.compareAndSet(null, thread)) return;
    try {
      thread.start();
    } catch (Throwable noThread) {
      timerThread.set(null); // the next timer tries again
      throw noThread;
    }
  }

  private Thread makeTimerThread() {
    return Thread.ofPlatform().daemon().inheritInheritableThreadLocals(false).name("fibry-timer").unstarted(this);
  }

  // ---- the timer thread

  /** The loop of the timer thread. */
  @Override
  public void run() {
    while (true) {
      try {
        runDue();
      } catch (Throwable failure) {
        // memory is exhausted: the next run of the loop tries again
      }
    }
  }

  private void runDue() {
    if (isSleeping) isSleeping = false;
    // clears the interrupt flag that a task may have set, because other tasks must not see the
    // flag, and the park below would return at once
    Thread.interrupted();
    processInbox();
    long now = System.nanoTime();
    var nextTimer = first();
    if (nextTimer != null && nextTimer.dueAt - now <= 0) {
      removeFirst();
      nextTimer.fire();
      return;
    }
    long sleepEnd = now + Long.MAX_VALUE / 2;
    if (nextTimer != null) sleepEnd = nextTimer.dueAt;
    if (unsorted.size > 0 && unsorted.earliest - sleepEnd < 0) sleepEnd = unsorted.earliest;
    wakeUpAt = sleepEnd;
    isSleeping = true;
    if (inbox.get() == null) LockSupport.parkNanos(this, sleepEnd - now);
  }

  /** Empties the inbox, drops cancelled timers, and sorts the timers that are due soon. */
  void processInbox() {
    if (inbox.get() != null || unsorted.size > 0) {
      long now = System.nanoTime();
      boolean isHorizonReached = now - horizon >= 0;
      if (isHorizonReached) horizon = now + HORIZON + unsorted.size * HORIZON_PER_TIMER;
      takeAll(reversed(inbox.getAndSet(null)));
      int cancels = cancelCount.get();
      if (isHorizonReached || isSweepDue(cancels, unsorted.size)) sweepUnsorted(cancels);
      if (unsortedSize != unsorted.size) unsortedSize = unsorted.size;
    }
    sortDue();
  }

  /** Drops cancelled timers, and moves timers that are due before the horizon to `toSort`. */
  void sweepUnsorted(int cancels) {
    sweptCancelCount = cancels;
    takeAll(unsorted.removeAll());
  }

  /** Reverses a stack, so that its nodes are in the order in which they were added. */
  private static TimerNode reversed(TimerNode top) {
    TimerNode first = null;
    for (var node = top; node != null;) {
      var next = node.nextInQueue;
      node.nextInQueue = first;
      first = node;
      node = next;
    }
    return first;
  }

  /** Distributes linked nodes, which are in no list of this object. Allocates no memory. */
  private void takeAll(TimerNode first) {
    for (var node = first; node != null;) {
      var next = node.nextInQueue;
      node.nextInQueue = null;
      int state = node.state();
      if (state == TimerNode.WAITING) {
        if (node.number == 0) node.number = ++lastNumber;
        addWaiting(node);
      } else if (state == TimerNode.SORTED + TimerNode.CLOSED) sorted.remove(node);
      node = next;
    }
  }

  private void addWaiting(TimerNode node) {
    if (node.dueAt - horizon < 0) toSort.add(node);
    else unsorted.add(node);
  }

  /** Adds a repeated timer that has run. */
  void addAgain(TimerNode node) {
    addWaiting(node);
  }

  private void sortDue() {
    while (toSort.first != null) {
      var node = toSort.first;
      boolean isOpen = node.isOpen();
      if (isOpen) sorted.add(node); // first: if memory is exhausted, the node stays in its list
      toSort.removeFirst();
      // from here on, a cancel adds the node to the inbox
      if (isOpen && !node.change(TimerNode.WAITING, TimerNode.SORTED)) sorted.remove(node);
    }
  }

  /** Returns the sorted timer that is due first, or null. */
  TimerNode first() {
    return sorted.first();
  }

  void removeFirst() {
    sorted.removeFirst();
  }

  /** Returns the number of nodes that the timer thread has in its lists and in the sorted set. */
  int size() {
    return sorted.size() + toSort.size + unsorted.size;
  }

  private final class TimerThreadStarter implements Runnable {
    @Override
    public void run() {
      startTimerThread();
    }
  }

  private final class TimerThreadMaker implements PrivilegedAction<Thread> {
    @Override
    public Thread run() {
      return makeTimerThread();
    }
  }
}
