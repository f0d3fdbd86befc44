package io.fibry.engine.cell;

import io.fibry.DeadLetter.Reason;
import io.fibry.DeadLetter;
import io.fibry.engine.jvm.EngineThreads;
import io.fibry.engine.jvm.GuaranteedStart;
import io.fibry.engine.jvm.StackProbe;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts how the messages of a scope and of the scopes below it ended, and keeps the last dead
 * letters. Each outcome is entered in the accounts of all scopes around too. Lock-free, because a
 * refused sender may be at the edge of its stack.
 */
public final class Accounts {
  private static final int MAX_LETTERS = 100;

  private final Accounts parent; // null: the root's
  private final LongAdder handled = new LongAdder();
  private final LongAdder passes = new LongAdder(); // drains without an outcome
  private final LongAdder[] unhandled = new LongAdder[Reason.values().length];
  private final AtomicReferenceArray<DeadLetter> last = new AtomicReferenceArray<>(MAX_LETTERS); // a ring
  private final AtomicLong letters = new AtomicLong();
  private final AtomicLong pendingNotifications = new AtomicLong(); // how many watchers and callbacks are being told
  private volatile Queue<DeadLetter> undelivered; // null, unless the scope closes

  public Accounts(Accounts around) {
    this.parent = around;
    for (int i = 0; i < unhandled.length; i++) unhandled[i] = new LongAdder();
  }

  void countHandled(long messages) {
    for (var each = this; each != null; each = each.parent) each.handled.add(messages);
  }

  public void countUnhandled(Reason reason) {
    for (var each = this; each != null; each = each.parent) each.unhandled[reason.ordinal()].increment();
  }

  /** A watcher or a callback is to hear of an end or an answer; until then nothing is quiet. */
  private void beginNotification() {
    for (var each = this; each != null; each = each.parent) each.pendingNotifications.incrementAndGet();
  }

  private void endNotification() {
    for (var each = this; each != null; each = each.parent) each.pendingNotifications.decrementAndGet();
  }

  /** On another thread; until it has run, the scope is not quiet. */
  void runOffThread(Runnable code) {
    beginNotification();
    try {
      GuaranteedStart.start(new NotificationTask(this, code));
    } catch (Throwable notStarted) {
      endNotification();
      throw notStarted;
    }
  }

  /** Does the same on a fiber, or returns false if no fiber can be started. */
  boolean tryRunOnFiber(Runnable code) {
    StackProbe.probe(); // a scope that began to tell must be able to end it
    beginNotification();
    try {
      EngineThreads.startFiber(new NotificationTask(this, code));
      return true;
    } catch (Throwable noThread) {
      endNotification();
      return false;
    }
  }

  /** No lambda: see Dispatch. */
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

  void countPass() {
    for (var each = this; each != null; each = each.parent) each.passes.increment();
  }

  public long handled() {
    return handled.sum();
  }

  public long unhandled(Reason reason) {
    return unhandled[reason.ordinal()].sum();
  }

  public long total() {
    long sum = handled() + passes.sum();
    for (var adder : unhandled) sum += adder.sum();
    return sum;
  }

  void addLetter(DeadLetter letter) {
    for (var each = this; each != null; each = each.parent) {
      each.last.set((int) (each.letters.getAndIncrement() % MAX_LETTERS), letter);
      var closing = each.undelivered;
      if (closing != null) closing.add(letter);
    }
  }

  /** Oldest first. */
  public List<DeadLetter> letters() {
    var found = new ArrayList<DeadLetter>();
    long end = letters.get();
    for (long i = Math.max(0, end - MAX_LETTERS); i < end; i++) {
      var letter = last.get((int) (i % MAX_LETTERS));
      if (letter != null) found.add(letter); // null: being written, or forgotten
    }
    return List.copyOf(found);
  }

  /** A dead letter keeps its actor alive. */
  public void forgetLetters() {
    for (int i = 0; i < MAX_LETTERS; i++) last.set(i, null);
  }

  public void collectUndelivered() {
    undelivered = new ConcurrentLinkedQueue<>();
  }

  public List<DeadLetter> undelivered() {
    var collected = undelivered;
    return collected == null ? List.of() : List.copyOf(collected);
  }

  public void stopCollecting() {
    undelivered = null;
  }
}
