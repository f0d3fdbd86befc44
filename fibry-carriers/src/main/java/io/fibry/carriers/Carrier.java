package io.fibry.carriers;

import io.fibry.engine.carrier.CarriedDrain;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.RecursiveAction;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A platform thread that runs entries: continuations of virtual threads, and drains of actors.
 *
 * <p><b>States.</b> A carrier runs an entry, or searches for one, or sleeps ({@link Sleeper}). A
 * spare carrier can also be retired: it then takes no more entries, and ends when it has no timers.
 * {@link CarrierPool} explains why no entry is missed.
 *
 * <p><b>A drain.</b> The carrier begins a drain by starting a {@link Runner} or continuing a spare
 * one. The JDK then passes the runner's continuation to {@code CarrierPool.execute}. The carrier
 * has set {@code isCapturing}, so it gets the continuation, and runs it at once. This takes one
 * mount of a virtual thread, and no queue. The continuation returns when the handlers are done, or
 * when one blocks. If no continuation is captured, another thread has made the runner ready: a
 * stray unpark, or a reader of its stack. That thread has passed the continuation to the pool, or
 * will do so, and the runner has its drain.
 *
 * <p><b>Ownership.</b> The fields belong to code that runs on this thread. That is the loop below,
 * a mounted runner, or {@code execute} called by a mounted virtual thread. Such a thread cannot
 * leave its carrier in these short methods, because they do not block. A comment marks each field
 * that other threads use.
 *
 * <p><b>Errors.</b> No entry is lost. An entry whose start fails for lack of memory is added again.
 * A second run of an entry does no harm: a drain runs once, and the JDK ignores a continuation of a
 * thread that is not ready. The loop never ends by an error.
 *
 * <p><b>The mark.</b> A task that is never run is in this worker's queue of the ForkJoinPool. So
 * the JDK's queues see queued work, and park at once in place of spinning.
 */
final class Carrier extends ForkJoinWorkerThread {
  static final long MEMORY_PAUSE = 10_000_000; // ns to wait for memory
  static final int MAX_MEMORY_TRIES = 1_000;
  private static final int SHARED_INTERVAL = 61; // entries between two checks of the shared queue
  private static final int MAX_TIMERS = 256; // timers that run before the next entry
  private static final int MAX_SPARE_RUNNERS = 32;
  private static final VarHandle BEGUN_COUNT = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "begunCount",
      VarHandle.class, Carrier.class, int.class);

  /** Thrown to end the thread of a retired carrier without the pool's own loop. */
  private static final class RetiredException extends RuntimeException {
    private static final long serialVersionUID = 1;
    private static final RetiredException RETIRED = new RetiredException();

    private RetiredException() {
      super(null, null, false, false);
    }
  }

  /** The mark: a task that is never run. */
  private static final class UnrunTask extends RecursiveAction {
    private static final long serialVersionUID = 1;

    @Override
    protected void compute() {}
  }

  final CarrierPool pool;
  final boolean isSpare; // whether the watch has started this carrier, because others were stuck
  final RunQueue queue = new RunQueue();
  final TimerHeap timers = new TimerHeap();
  final WakePolicy policy = new WakePolicy();
  final Sleeper sleeper = new Sleeper(this);
  private final OldestEntry oldestEntry = new OldestEntry(); // of another carrier, during a search
  private volatile boolean mustRetire; // false -> true, by the watch
  // grows with each entry or drain that this carrier begins, and with each search without a result;
  // read by the watch
  private int begunCount;
  private int emptyCount; // increments of begunCount without an entry
  private int entryCount; // entries that the loop has run
  private int continuationCount; // continuations among them
  private int untilSharedCheck = SHARED_INTERVAL; // entries until the next check of the shared queue
  private final @Nullable Runner[] spareRunners = new Runner[MAX_SPARE_RUNNERS];
  private int spareCount;
  private boolean isNextNear; // whether the continuation that execute gets next should run here
  private boolean isCapturing; // whether execute passes the next continuation to this carrier
  private @Nullable Runnable captured; // continuation that runDrain runs next; null: none

  // Used by the watch's thread only
  int lastBegunCount;
  int lastHead;
  long progressAt = System.nanoTime(); // when the watch last saw progress
  long lastUnpark = progressAt; // when the watch last unparked the spare runners

  // Whether the oldest entry waits for too long, and its index. Written by the watch, read by
  // thieves. The flag is cleared by the next check only, so later entries count as late, too
  volatile boolean isLate;
  volatile int lateHead; // meaningful while isLate

  Carrier(CarrierPool pool, String name, boolean isSpare) {
    super(null, pool, false);
    this.pool = pool;
    this.isSpare = isSpare;
    setName(name);
    setPriority(NORM_PRIORITY);
    setContextClassLoader(ClassLoader.getSystemClassLoader());
  }

  @Override
  public void run() {
    try {
      super.run();
    } catch (RetiredException end) { // leaves the pool, and ends the thread
    }
  }

  @Override
  protected void onStart() {
    new UnrunTask().fork();
    while (!mustRetire) runNext();
    retire();
    throw RetiredException.RETIRED;
  }

  // ---- running entries

  private void runNext() {
    Runnable entry = null;
    try {
      entry = take();
      if (entry == null) entry = search();
      if (entry == null) { // a timer is due, or this carrier must retire
        emptyCount++;
        return;
      }
      run(entry);
      if (++entryCount % WakePolicy.SAMPLE != 0) return;
      policy.endSample(System.nanoTime(), begunCount - emptyCount, continuationCount);
      timers.runDue(MAX_TIMERS);
    } catch (Throwable noMemory) {
      if (entry != null) addAgain(entry);
      LockSupport.parkNanos(MEMORY_PAUSE);
    }
  }

  private void run(Runnable entry) {
    if (entry instanceof CarriedDrain drain) runDrain(drain);
    else {
      continuationCount++;
      entry.run();
    }
  }

  private void runDrain(CarriedDrain drain) {
    isCapturing = true;
    try {
      if (spareCount == 0) Runner.start(pool, drain);
      else takeSpareRunner().resume(drain);
    } finally {
      isCapturing = false;
    }
    var continuation = captured;
    captured = null;
    if (continuation != null) continuation.run();
  }

  boolean isCapturing() {
    return isCapturing;
  }

  void unparkNear(Thread thread) {
    isNextNear = true;
    try {
      LockSupport.unpark(thread);
    } finally {
      isNextNear = false;
    }
  }

  /**
   * Yields the mounted virtual thread. If it is pinned, no continuation takes the mark, and the
   * thread is still here. Otherwise another carrier may run it afterwards.
   */
  void yieldNear() {
    isNextNear = true;
    try {
      Thread.yield();
    } finally {
      if (JvmAccess.currentCarrier() == this) isNextNear = false;
    }
  }

  /** Returns whether the continuation that execute got should run here, and clears the mark. */
  boolean takeNextNear() {
    boolean isNear = isNextNear;
    isNextNear = false;
    return isNear;
  }

  /** Returns whether the waiting entries are worth another carrier. */
  boolean isWorthWaking() {
    return policy.isWorthWaking(queue.size()) && !queue.hasOnlyNearEntries();
  }

  /** Returns whether the watch found late the entry that is now the oldest. */
  boolean isFirstEntryLate() {
    return isLate && queue.headIndex() == lateHead;
  }

  void capture(Runnable continuation) {
    isCapturing = false;
    captured = continuation;
  }

  private void addAgain(Runnable entry) {
    while (!queue.add(entry)) {
      try {
        pool.addShared(entry);
        return;
      } catch (OutOfMemoryError noMemory) {
        LockSupport.parkNanos(MEMORY_PAUSE);
      }
    }
  }

  // ---- spare runners

  /** Called by a runner that is mounted here. Returns false if it must end. */
  boolean addSpareRunner(Runner runner) {
    if (spareCount == MAX_SPARE_RUNNERS || mustRetire) return false;
    spareRunners[spareCount++] = runner;
    return true;
  }

  /**
   * Called by the watch if this carrier is stuck in a park. Without memory, the JDK parks the
   * carrier in place of a virtual thread. If that happens to a spare runner, only this carrier
   * could continue it. The unpark of a runner is harmless, so the array is read without a lock.
   */
  void unparkSpareRunner() {
    if (getState() != State.WAITING || sleeper.isAsleep()) return;
    for (var runner : spareRunners) if (runner != null) runner.unpark();
  }

  private Runner takeSpareRunner() {
    var runner = spareRunners[--spareCount];
    spareRunners[spareCount] = null;
    return runner;
  }

  // ---- taking entries

  private void countBegun() {
    BEGUN_COUNT.setOpaque(this, begunCount + 1);
  }

  int begunCount() {
    return (int) BEGUN_COUNT.getOpaque(this);
  }

  private @Nullable Runnable take() {
    countBegun();
    if (--untilSharedCheck <= 0) {
      untilSharedCheck = SHARED_INTERVAL;
      var entry = pool.takeShared();
      if (entry != null) return entry;
    }
    var entry = queue.takeOwn();
    return entry != null ? entry : pool.takeShared();
  }

  /** Called by a runner that is mounted here: takes the next entry if it is a drain. */
  @Nullable
  CarriedDrain takeDrain() {
    if (mustRetire || --untilSharedCheck <= 0) return null; // the loop must check the shared queue
    var drain = queue.takeOwnDrain();
    if (drain != null) countBegun(); // only then, because a sample counts the drains that ran
    return drain;
  }

  /** Takes an entry from this carrier's queue, the shared queue, or another carrier's queue. */
  private @Nullable Runnable findEntry() {
    var entry = queue.takeOwn();
    if (entry == null) entry = pool.takeShared();
    return entry != null ? entry : steal();
  }

  private @Nullable Runnable steal() {
    var carriers = pool.carriers();
    int start = (int) threadId();
    for (int i = 0; i < carriers.length; i++) {
      var victim = carriers[Math.floorMod(start + i, carriers.length)];
      if (victim == this || !isWorthStealingFrom(victim)) continue;
      var entry = victim.queue.steal();
      if (entry == null) continue;
      stealHalf(victim.queue);
      return entry;
    }
    return null;
  }

  /**
   * Returns whether the other carrier's entries will wait for long, or its oldest entry has waited
   * for long during this search. Near entries wait until they are late.
   */
  boolean isWorthStealingFrom(Carrier victim) {
    boolean isWorth = victim.isLate || victim.policy.isWorthStealing(victim.queue.size())
        || !victim.queue.isEmpty() && oldestEntry.hasWaited(victim.queue, System.nanoTime());
    // last, because it reads memory of the other carrier
    return isWorth && (!victim.queue.hasOnlyNearEntries() || victim.isFirstEntryLate());
  }

  /** Moves half of the other entries to this carrier's queue, which is empty, so they fit. */
  private void stealHalf(RunQueue other) {
    for (int count = other.size() / 2; count > 0; count--) {
      var entry = other.steal();
      if (entry == null) return;
      queue.add(entry);
    }
  }

  // ---- searching and sleeping

  /** Returns an entry, or null if the loop must run a timer or retire. */
  private @Nullable Runnable search() {
    long start = System.nanoTime();
    queue.clean();
    Runnable entry = null;
    if (pool.beginSearch()) {
      try {
        for (int tries = WakePolicy.SEARCH_TRIES; entry == null && tries > 0 && !mustRetire; tries--) {
          timers.runDue(MAX_TIMERS);
          entry = findEntry();
          if (entry == null) Thread.onSpinWait();
        }
      } finally {
        pool.endSearch();
      }
    } else timers.runDue(MAX_TIMERS);
    if (entry == null) entry = sleep();
    policy.excludeFromSample(System.nanoTime() - start);
    if (entry != null) pool.afterSearch(this);
    return entry;
  }

  private @Nullable Runnable sleep() {
    pool.beginSleep(this);
    var entry = findEntry(); // last, because a sender that saw this carrier awake has added its entry before
    if (entry == null) awaitWork();
    pool.endSleep(this);
    return entry;
  }

  private void awaitWork() {
    while (sleeper.isAsleep() && !mustRetire) {
      long nanos = timers.nanosToNext();
      if (nanos == 0) return;
      if (nanos == Long.MAX_VALUE) LockSupport.park(this);
      else LockSupport.parkNanos(this, nanos);
      Thread.interrupted(); // a virtual thread's interrupt may be left; the next park would return at once
    }
  }

  // ---- the end of a spare carrier

  /** Called by the watch. */
  void askToRetire() {
    mustRetire = true;
    LockSupport.unpark(this);
  }

  boolean mustRetire() {
    return mustRetire;
  }

  /** Gives this carrier's entries away, and then waits for its timers. */
  private void retire() {
    while (true) {
      try {
        while (spareCount > 0) takeSpareRunner().end();
        timers.runDue(Integer.MAX_VALUE);
        giveEntriesAway();
        if (pool.hasSharedEntry()) pool.wakeCarrier(); // the entry's sender may have woken this carrier
        if (timers.isEmpty()) break;
        LockSupport.parkNanos(this, timers.nanosToNext());
        Thread.interrupted();
      } catch (Throwable noMemory) {
        LockSupport.parkNanos(MEMORY_PAUSE);
      }
    }
    pool.remove(this);
  }

  private void giveEntriesAway() {
    for (var entry = queue.takeOwn(); entry != null; entry = queue.takeOwn()) {
      try {
        pool.addShared(entry);
      } catch (Throwable noMemory) {
        addAgain(entry);
        throw noMemory;
      }
    }
  }
}
