package io.fibry.engine.cell;

import io.fibry.DeadLetter;
import io.fibry.DeadLetter.Reason;
import io.fibry.engine.jvm.EngineThreads;
import io.fibry.engine.jvm.GuaranteedStart;
import io.fibry.engine.jvm.StackProbe;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts the outcomes of the messages of a scope and its inner scopes, and stores the last dead
 * letters. Each outcome is also counted in the accounts of all outer scopes. Lock-free: a sender
 * whose message is refused may be near the end of its stack, and a StackOverflowError inside a lock
 * could leave the lock taken.
 */
public final class Accounts {
  private static final int MAX_LETTERS = 100; // of a reason, so that many drops do not hide a failure

  private final Accounts parent; // null in the accounts of the root scope
  private final StripedCount handled = new StripedCount();
  private final StripedCount passes = new StripedCount(); // activity without a counted outcome, see countPass
  private final LongAdder[] unhandled = new LongAdder[Reason.values().length];
  private final LongAdder[] deadLetters = new LongAdder[Reason.values().length]; // a part of the unhandled messages
  private volatile Instant lastDeadLetter; // null until the first dead letter; written by any thread
  private final LongAdder restarted = new LongAdder();
  // by reason: a ring buffer, or null until the first letter; a buffer is never replaced
  private final AtomicReferenceArray<AtomicReferenceArray<DeadLetter>> lastLetters =
      new AtomicReferenceArray<>(Reason.values().length);
  private final AtomicLongArray letterCounts = new AtomicLongArray(Reason.values().length); // by reason
  private final AtomicLong pendingNotifications = new AtomicLong();
  private volatile Queue<DeadLetter> lettersOfClose; // null unless the scope is closing

  public Accounts(Accounts parent) {
    this.parent = parent;
    for (int i = 0; i < unhandled.length; i++) {
      unhandled[i] = new LongAdder();
      deadLetters[i] = new LongAdder();
    }
  }

  void countHandled(long messages) {
    for (var level = this; level != null; level = level.parent) level.handled.add(messages);
  }

  void countUnhandled(Reason reason) {
    for (var level = this; level != null; level = level.parent) level.unhandled[reason.ordinal()].increment();
  }

  /**
   * Counts a dead letter, which {@link #countUnhandled} counts, too. Messages for disconnected
   * clients, and timers of ended actors, do not change the time of the last dead letter, because
   * they are no losses that a program can prevent.
   */
  void countDeadLetter(Reason reason, Instant time) {
    for (var level = this; level != null; level = level.parent) {
      level.deadLetters[reason.ordinal()].increment();
      if (reason != Reason.DISCONNECTED && reason != Reason.TIMER_CANCELLED) level.lastDeadLetter = time;
    }
  }

  void countRestart() {
    for (var level = this; level != null; level = level.parent) level.restarted.increment();
  }

  /**
   * Called before code for a watcher, a listener or a callback is started. Until the call of {@link
   * #endNotification}, {@code awaitQuiescence} of the scope waits.
   */
  private void beginNotification() {
    StackProbe.probe(); // a stack overflow in the loop would leave some levels counted
    for (var level = this; level != null; level = level.parent) level.pendingNotifications.incrementAndGet();
  }

  private void endNotification() {
    for (var level = this; level != null; level = level.parent) level.pendingNotifications.decrementAndGet();
  }

  /**
   * Runs the code on a fiber, or on a platform thread if no fiber begins it soon. Until the code
   * has returned, {@code awaitQuiescence} of the scope waits.
   */
  void runOffThread(Runnable code) {
    beginNotification();
    try {
      GuaranteedStart.start(new NotificationTask(this, code));
    } catch (Throwable notStarted) {
      endNotification();
      throw notStarted;
    }
  }

  /**
   * Runs the code on a new fiber. Returns false if no fiber can be started. Until the code has
   * returned, {@code awaitQuiescence} of the scope waits.
   */
  boolean tryRunOnFiber(Runnable code) {
    beginNotification();
    try {
      EngineThreads.startFiber(new NotificationTask(this, code));
      return true;
    } catch (Throwable noThread) {
      endNotification();
      return false;
    }
  }

  /**
   * A record, not a lambda: a lambda that is first linked without stack or memory may fail forever.
   */
  record NotificationTask(Accounts accounts, Runnable code) implements Runnable {
    @Override
    public void run() {
      try {
        code.run();
      } finally {
        accounts.endNotification();
      }
    }
  }

  public boolean isNotifying() {
    return pendingNotifications.get() > 0;
  }

  /** Counts a pass: an activation without an outcome, or internal messages of a block. */
  void countPass() {
    for (var level = this; level != null; level = level.parent) level.passes.add(1);
  }

  public long handled() {
    return handled.sum();
  }

  public long unhandled(Reason reason) {
    return unhandled[reason.ordinal()].sum();
  }

  public long deadLetters(Reason reason) {
    return deadLetters[reason.ordinal()].sum();
  }

  /**
   * Returns the time of the last dead letter, or null if there was none. Racing threads may write
   * their times in any order. The later time does not win, because clocks of inner scopes differ,
   * and a clock may be set back.
   */
  public Instant lastDeadLetter() {
    return lastDeadLetter;
  }

  public long restarted() {
    return restarted.sum();
  }

  /**
   * Returns how many outcomes and passes were counted. An observer compares two results to see
   * activity.
   */
  public long activityCount() {
    long sum = handled() + passes.sum();
    for (var adder : unhandled) sum += adder.sum();
    return sum;
  }

  /** Adds a dead letter, which is comparable with the others. */
  void addLetter(DeadLetter letter) {
    int reason = letter.reason().ordinal();
    for (var level = this; level != null; level = level.parent) {
      level.letters(reason).set((int) (level.letterCounts.getAndIncrement(reason) % MAX_LETTERS), letter);
      var lettersOfClose = level.lettersOfClose;
      if (lettersOfClose != null) lettersOfClose.add(letter);
    }
  }

  /**
   * Returns the ring buffer of a reason. If several threads add its first letters at the same time,
   * one of them installs the buffer, and all use it.
   */
  private AtomicReferenceArray<DeadLetter> letters(int reason) {
    var buffer = lastLetters.get(reason);
    if (buffer != null) return buffer;
    var newBuffer = new AtomicReferenceArray<DeadLetter>(MAX_LETTERS);
    return lastLetters.compareAndSet(reason, null, newBuffer) ? newBuffer : lastLetters.get(reason);
  }

  /** Returns the last dead letters of each reason, oldest first. */
  public List<DeadLetter> letters() {
    var letters = new ArrayList<DeadLetter>();
    for (int reason = 0; reason < letterCounts.length(); reason++) {
      var buffer = lastLetters.get(reason);
      for (int i = 0; buffer != null && i < MAX_LETTERS; i++) {
        var letter = buffer.get(i);
        if (letter != null) letters.add(letter); // null: not yet written, or forgotten
      }
    }
    letters.sort(null); // by their own order, oldest first
    return List.copyOf(letters);
  }

  /** Removes the stored dead letters, because each keeps its actor in memory. */
  public void forgetLetters() {
    for (int reason = 0; reason < letterCounts.length(); reason++) {
      var buffer = lastLetters.get(reason);
      for (int i = 0; buffer != null && i < MAX_LETTERS; i++) buffer.set(i, null);
    }
  }

  /**
   * Called when the scope begins to close. Starts to collect all dead letters of the scope for the
   * report of the close.
   */
  public void collectLettersOfClose() {
    lettersOfClose = new ConcurrentLinkedQueue<>();
  }

  public List<DeadLetter> lettersOfClose() {
    var letters = lettersOfClose;
    return letters == null ? List.of() : List.copyOf(letters);
  }

  public void stopCollecting() {
    lettersOfClose = null;
  }

  /**
   * A count to which many threads add. The id of a thread selects the cell to which it adds, so
   * that two threads seldom write the same cache line.
   *
   * <p>A drain adds to this count after its last message, in the compiled code that also
   * contains the handler. So adding has only one path. A {@link LongAdder} takes a second path
   * from its first contention on. If the compiler has not seen that path, the first contention
   * deoptimizes the code of each handler that sleeps at that time: in a new process with
   * 100,000 sleeping handlers, half of them.
   */
  private static final class StripedCount {
    private static final int MAX_CELLS = 16;
    private static final int CELLS = // the number of processors, rounded up to a power of two
        Math.min(MAX_CELLS, Integer.highestOneBit(2 * Runtime.getRuntime().availableProcessors() - 1));
    private static final int STRIDE = 8; // longs of a cache line

    private final AtomicLongArray cells = new AtomicLongArray(CELLS * STRIDE);

    void add(long number) {
      int cell = (int) Thread.currentThread().threadId() & CELLS - 1;
      cells.getAndAdd(cell * STRIDE, number);
    }

    /** Returns the count. May miss numbers that other threads are adding now. */
    long sum() {
      long sum = 0;
      for (int i = 0; i < CELLS; i++) sum += cells.get(i * STRIDE);
      return sum;
    }
  }
}
