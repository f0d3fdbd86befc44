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
 * before the horizon. Later timers wait in the list {@code unsorted}. Shortly before the horizon is
 * reached, the timer thread moves it to a second or more from now, and sweeps the list: it sorts
 * the timers that are now due before the horizon. So most timers that are cancelled are never
 * sorted, and the timer thread never searches for them.
 *
 * <p><b>A large list delays no due timer.</b> The timer thread handles the nodes of a sweep and of
 * a large inbox in portions, and fires due timers between two portions. Newly started timers
 * overtake the rest. Between two portions, a timer may fire before a timer that is due earlier and
 * is not sorted yet.
 *
 * <p><b>No timer is missed.</b> The creator of a timer adds it to the inbox, and then reads
 * {@code isSleeping} and {@code wakeUpAt}. The timer thread writes {@code wakeUpAt} and
 * {@code isSleeping}, and then checks whether the inbox is empty. So the creator wakes the timer
 * thread, or the timer thread finds the timer.
 *
 * <p><b>Every cancelled timer leaves the queue.</b> A cancel closes the node by an atomic change of
 * its state, and the timer thread marks a node as sorted by another. So either the cancel sees that
 * the node is sorted, and adds it to the inbox for removal; or the timer thread sees that the node
 * is closed, and drops it. A cancelled node in a list has no task, message or key. Once the cancels
 * since the last sweep are half as many as the nodes of the lists, and at least {@value
 * #MIN_CANCELS}, a cancel wakes the timer thread, which sweeps. So the time for these sweeps is
 * proportional to the cancels.
 *
 * <p><b>Errors.</b> Only the sorted set allocates memory. A timer leaves its list after it was
 * added to the set. If memory is exhausted, the timer thread fires the sorted timers that are due,
 * pauses, and tries again. Threads that start or cancel a timer add it by one atomic operation, so
 * no error leaves it half added.
 */
public final class TimerQueue implements Runnable {
  /** The queue of {@link io.fibry.time.Scheduler#system}. */
  public static final TimerQueue SYSTEM = new TimerQueue();

  // only every 256th cancel checks whether a sweep is due, and no sweep is due for fewer cancels
  static final int MIN_CANCELS = 256;
  static final int PORTION = 4_000; // nodes of each list that are handled before the next due timer
  private static final int SMALL_PORTION = 100; // instead of PORTION after a timer has fired
  private static final long MAX_DELAY = Long.MAX_VALUE / 2; // ns
  private static final long PAUSE = 10_000_000; // ns, if memory is exhausted
  // A sweep takes some 10 ns per timer in the list, and up to some 100 ns for each timer that it
  // sorts. It begins 500 ns per timer before the horizon, so that it ends before the horizon. Two
  // sweeps are 1,000 ns per timer apart, so sweeps take about 1% of the time.
  private static final long HORIZON = 1_000_000_000; // ns
  private static final long HORIZON_PER_TIMER = 1_500; // ns
  private static final long LEAD_PER_TIMER = 500; // ns

  // the time of this clock 36 years after the start of the process
  private final long reference = System.nanoTime() + MAX_DELAY / 4;
  // the last node of a stack: timers that were started, and sorted timers that were cancelled
  private final AtomicReference<TimerNode> inbox = new AtomicReference<>();
  // The fields up to `lastNumber` are used by the timer thread only
  private final SortedBlocks<TimerNode> sorted;
  private TimerNode stack; // nodes of a large inbox whose order is not reversed yet; null if there are none
  private TimerNode arrived; // other nodes of the inbox, in the order in which they were added
  private int arrivedSize; // the number of nodes of `stack` and `arrived`
  private final TimerList toSort = new TimerList(); // due before the horizon, to be sorted
  private final TimerList unsorted = new TimerList();
  private final TimerList toSweep = new TimerList(); // the nodes that the sweep has not reached yet
  private long horizon = System.nanoTime();
  private boolean hasFired; // whether the last call of `runDue` fired a timer
  private int lastNumber;
  private final AtomicInteger cancelCount = new AtomicInteger();
  // The next two are written by the timer thread, and read by cancelling threads
  private volatile int sweptCancelCount; // `cancelCount` before the last sweep
  private volatile int listedSize; // the number of nodes in lists, except those in the inbox or to be sorted
  // null until the first timer is started
  private final AtomicReference<Thread> timerThread = new AtomicReference<>();
  // set by the timer thread after `wakeUpAt`, and cleared when it wakes; read by threads that start
  // a timer
  private volatile boolean isSleeping;
  private volatile long wakeUpAt; // when the timer thread's sleep ends, in ns by its clock
  private final Runnable starter = new TimerThreadStarter(); // made in advance, because memory may run out later
  private final PrivilegedAction<Thread> threadMaker = // made in advance, too; null from Java 24 on
      Runtime.version().feature() < 24 ? new TimerThreadMaker() : null;

  public TimerQueue() {
    this(new SortedBlocks<>());
  }

  TimerQueue(SortedBlocks<TimerNode> sorted) {
    this.sorted = sorted;
  }

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
    if (cancels % MIN_CANCELS == 0 && isSweepDue(cancels, inboxSize() + listedSize))
      LockSupport.unpark(timerThread.get());
  }

  private int inboxSize() {
    var top = inbox.get();
    return top == null ? 0 : top.depth;
  }

  /** Returns whether up to half of the listed nodes, and enough of them, may be cancelled. */
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
      } catch (Throwable failure) { // thrown by the task of a timer, which has left the queue
      }
    }
  }

  private void runDue() {
    if (isSleeping) isSleeping = false;
    // clears the interrupt flag that a task may have set, because other tasks must not see the
    // flag, and the park below would return at once
    Thread.interrupted();
    boolean isMemoryExhausted = !tryProcess();
    long now = System.nanoTime();
    var nextTimer = first();
    hasFired = nextTimer != null && nextTimer.dueAt - now <= 0;
    if (hasFired) {
      removeFirst();
      nextTimer.fire();
    } else if (isMemoryExhausted) {
      LockSupport.parkNanos(this, nextTimer == null ? PAUSE : Math.min(PAUSE, nextTimer.dueAt - now));
    } else if (!hasWork()) sleep(now, nextTimer);
  }

  /** Handles the next portions of the lists. Returns false if memory is exhausted. */
  private boolean tryProcess() {
    try {
      process(hasFired ? SMALL_PORTION : PORTION);
      return true;
    } catch (Throwable noMemory) { // the timers that could not be sorted are still in `toSort`
      return false;
    }
  }

  private void sleep(long now, TimerNode nextTimer) {
    long sleepEnd = now + Long.MAX_VALUE / 2;
    if (nextTimer != null) sleepEnd = nextTimer.dueAt;
    if (unsorted.size > 0) {
      long sweepTime = unsorted.earliest - sweepLead();
      if (sweepTime - sleepEnd < 0) sleepEnd = sweepTime;
    }
    wakeUpAt = sleepEnd;
    isSleeping = true;
    if (inbox.get() == null) LockSupport.parkNanos(this, sleepEnd - now);
  }

  /** Returns how long before the horizon a sweep begins, in ns. */
  private long sweepLead() {
    return unsorted.size * LEAD_PER_TIMER;
  }

  /** Returns whether the lists have nodes that {@link #process} can handle now. */
  boolean hasWork() {
    return arrivedSize > 0 || toSweep.size > 0 || toSort.size > 0;
  }

  /**
   * Takes nodes from the inbox and from the sweep, at most {@code portion} of each list. Drops the
   * cancelled nodes among them, and sorts the timers that are due soon.
   */
  void process(int portion) {
    if (inbox.get() != null || listed() > 0) {
      beginSweepIfDue();
      takeInbox(portion);
      for (int i = 0; i < portion && toSweep.size > 0; i++) take(toSweep.removeFirst());
      if (listedSize != listed()) listedSize = listed();
    }
    sortDue();
  }

  private int listed() {
    return unsorted.size + toSweep.size + arrivedSize;
  }

  private void beginSweepIfDue() {
    if (toSweep.size > 0) return;
    long now = System.nanoTime();
    boolean isHorizonNear = now - horizon + sweepLead() >= 0;
    if (isHorizonNear) horizon = now + HORIZON + unsorted.size * HORIZON_PER_TIMER;
    int cancels = cancelCount.get();
    if (isHorizonNear || isSweepDue(cancels, unsorted.size)) beginSweep(cancels);
  }

  /**
   * Begins a sweep, which drops cancelled timers, and moves timers that are due before the horizon
   * to `toSort`. The previous sweep must be complete.
   */
  void beginSweep(int cancels) {
    sweptCancelCount = cancels;
    toSweep.takeAllOf(unsorted);
  }

  /**
   * Takes a small inbox as a whole. Reverses a large inbox in portions, so that its nodes are in
   * the order in which they were added, and then takes its nodes in portions.
   */
  private void takeInbox(int portion) {
    var top = inbox.get();
    if (top != null && top.depth <= PORTION) takeSmallInbox();
    else if (top != null && arrivedSize == 0) {
      stack = inbox.getAndSet(null);
      arrivedSize = stack.depth;
    }
    reverse(portion);
    if (stack == null) takeArrived(portion);
  }

  /** Takes the inbox before the nodes of a large inbox that are not taken yet. */
  private void takeSmallInbox() {
    var rest = stack;
    stack = inbox.getAndSet(null);
    int count = stack.depth;
    arrivedSize += count;
    reverse(count);
    takeArrived(count);
    stack = rest;
  }

  /** Moves up to {@code limit} nodes of `stack` to `arrived`, and so reverses their order. */
  private void reverse(int limit) {
    for (int i = 0; i < limit && stack != null; i++) {
      var node = stack;
      stack = node.nextInQueue;
      node.nextInQueue = arrived;
      arrived = node;
    }
  }

  private void takeArrived(int limit) {
    for (int i = 0; i < limit && arrived != null; i++) {
      var node = arrived;
      arrived = node.nextInQueue;
      node.nextInQueue = null;
      arrivedSize--;
      take(node);
    }
  }

  /** Adds a node that is in no list to its list, or drops it. Allocates no memory. */
  private void take(TimerNode node) {
    int state = node.state();
    if (state == TimerNode.WAITING) {
      if (node.number == 0) node.number = ++lastNumber;
      addWaiting(node);
    } else if (state == TimerNode.SORTED + TimerNode.CLOSED) sorted.remove(node);
  }

  /** Adds a waiting timer that is in no list: a new timer, or a repeated timer that has run. */
  void addWaiting(TimerNode node) {
    if (node.dueAt - horizon < 0) toSort.add(node);
    else unsorted.add(node);
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
    return sorted.size() + toSort.size + listed();
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
