package io.fibry.carriers;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * Corrects the guesses of the carriers, and replaces carriers that are stuck. A daemon thread
 * checks all carriers.
 *
 * <p><b>Late entries.</b> An entry is late if it waits while its carrier made no progress since the
 * last check. Thieves may steal it however short the queue is, and a sleeping carrier is woken for
 * it. The pause between two checks is 50 µs while entries wait and a carrier is free, and otherwise
 * grows to 500 µs. While all carriers are busy, no carrier could be woken for a late entry, and
 * checks every 50 µs would take a tenth of a processor. A carrier that falls asleep while entries
 * wait ends a longer pause: it adds itself to the sleeping carriers and then reads {@code pausing},
 * and the thread sets {@code pausing} and then reads the number of sleeping carriers.
 *
 * <p><b>Late loans.</b> A lent drain is late if no thread has begun it after 1 to 2 ms. The
 * carriers then run it ({@link LentDrains}).
 *
 * <p><b>Stuck carriers.</b> A carrier is stuck if it made no progress for 10 ms. Its handler
 * computes, or blocks in native code or a class initializer. If entries wait and no carrier is
 * free, the watch starts spare carriers, up to 256. The surplus is the number of carriers that are
 * neither stuck nor retired, minus the number with which the pool began. After 100 ms of surplus,
 * the watch retires that many spare carriers. It also runs timers that are 1 ms late, and unparks a
 * carrier that was woken and is still parked.
 *
 * <p>The thread sleeps when no carrier made progress and no entry waited for some checks, so an
 * idle process uses no processor time. It never sleeps while an entry waits: it sets {@code asleep}
 * and then checks the queues, and a sender adds its entry and then reads {@code asleep}. While a
 * carrier is awake, the thread wakes for late timers of that carrier.
 */
final class CarrierWatch implements Runnable {
  static final int MAX_SPARES = 256;
  static final long MIN_PAUSE = 50_000; // ns between two checks
  static final long MAX_PAUSE = 500_000; // ns
  private static final int MAX_QUIET = 20; // quiet checks in a row, after which the thread sleeps
  private static final long STUCK_AFTER = 10_000_000; // ns
  private static final long RETIRE_AFTER = 100_000_000; // ns
  private static final long LATE_TIMER = 1_000_000; // ns
  private static final long LATE_LOAN = 1_000_000; // ns
  private static final int MAX_TIMERS = 1_024; // late timers of a carrier that run in one check

  private final CarrierPool pool;
  private final Thread thread;
  private final AtomicBoolean asleep = new AtomicBoolean(); // set by the thread, cleared by it or by a sender
  // Whether the pause is longer than MIN_PAUSE, so that a carrier may end it. Written by the thread
  private volatile boolean pausing;

  // Used by the thread only
  private long sparesStartedAt = System.nanoTime() - STUCK_AFTER;
  private long lentCheckedAt = System.nanoTime();
  private boolean hasLentDrain; // whether a lent drain waited then
  private long surplusSince; // when the surplus of carriers began; 0 if there is none
  private int spareNumber;

  CarrierWatch(CarrierPool pool) {
    this.pool = pool;
    this.thread = Thread.ofPlatform().daemon().inheritInheritableThreadLocals(false).name("fibry-carrier-watch")
        .unstarted(this);
  }

  void start() {
    thread.start();
  }

  /** Called after an entry was added. */
  void wake() {
    if (asleep.get() && asleep.compareAndSet(true, false)) LockSupport.unpark(thread);
  }

  @Override
  public void run() {
    long pause = MIN_PAUSE;
    int quietChecks = 0;
    while (true) {
      try {
        park(pause);
        boolean isQuiet = check(System.nanoTime());
        boolean hasEntry = hasEntry();
        quietChecks = isQuiet && !hasEntry ? quietChecks + 1 : 0;
        pause = pauseAfter(pause, hasEntry, pool.isBusy());
        if (quietChecks < MAX_QUIET) continue;
        sleep();
        quietChecks = 0;
        pause = MIN_PAUSE;
      } catch (Throwable noMemory) {} // the next check tries again
    }
  }

  static long pauseAfter(long lastPause, boolean hasEntry, boolean isBusy) {
    return hasEntry && !isBusy ? MIN_PAUSE : Math.min(MAX_PAUSE, 2 * lastPause);
  }

  private void park(long nanos) {
    pausing = nanos > MIN_PAUSE;
    if (pausing && hasEntry() && !pool.isBusy()) LockSupport.parkNanos(this, MIN_PAUSE);
    else LockSupport.parkNanos(this, nanos);
    pausing = false;
    Thread.interrupted();
  }

  /** Called by a carrier that falls asleep: ends a long pause if entries wait. */
  void endPause() {
    if (pausing && hasEntry()) LockSupport.unpark(thread);
  }

  private void sleep() {
    asleep.set(true);
    if (hasEntry() || pool.hasLentDrain()) asleep.set(false);
    while (asleep.get()) {
      long nanos = nanosToStuckTimer();
      if (nanos == 0) asleep.set(false);
      else if (nanos == Long.MAX_VALUE) LockSupport.park(this);
      else LockSupport.parkNanos(this, nanos);
      Thread.interrupted();
    }
  }

  /** Returns the time until a timer of a carrier that is not asleep will be late. */
  private long nanosToStuckTimer() {
    long soonest = Long.MAX_VALUE;
    for (var carrier : pool.carriers()) {
      if (carrier.sleeper.isAsleep() || carrier.mustRetire()) continue;
      long nanos = carrier.timers.nanosToNext();
      if (nanos != Long.MAX_VALUE) soonest = Math.min(soonest, nanos == 0 ? 0 : nanos + LATE_TIMER);
    }
    return soonest;
  }

  private boolean hasEntry() {
    if (pool.hasSharedEntry()) return true;
    for (var carrier : pool.carriers()) if (!carrier.queue.isEmpty()) return true;
    return false;
  }

  /** Checks all carriers once. Returns true if no carrier made progress and there is no surplus. */
  private boolean check(long now) {
    if (now - lentCheckedAt >= LATE_LOAN) {
      lentCheckedAt = now;
      hasLentDrain = pool.takeBackOldDrains();
    }
    boolean isQuiet = !hasLentDrain;
    boolean hasLateEntry = pool.hasSharedEntry();
    int running = 0; // carriers that are neither stuck nor retired
    int spares = 0;
    int normal = 0;
    for (var carrier : pool.carriers()) {
      boolean progressed = noteProgress(carrier, now);
      isQuiet &= !progressed;
      hasLateEntry |= noteLateEntry(carrier, progressed);
      carrier.sleeper.unparkWoken();
      if (carrier.timers.isDue(now - LATE_TIMER)) carrier.timers.runDue(MAX_TIMERS);
      if (carrier.isSpare) spares++;
      else normal++;
      boolean isStuck = now - carrier.progressAt >= STUCK_AFTER;
      if (isStuck) unparkSpareRunner(carrier, now);
      else if (!carrier.mustRetire()) running++;
    }
    if (hasLateEntry) pool.wakeCarrier();
    if (hasLateEntry && pool.isBusy() && running < normal) startSpares(normal - running, spares, now);
    boolean hasSurplus = spares > 0 && running > normal;
    if (!hasSurplus) surplusSince = 0;
    else if (surplusSince == 0) surplusSince = now;
    else if (now - surplusSince > RETIRE_AFTER) {
      retireSpares(running - normal);
      surplusSince = 0;
    }
    return isQuiet && !hasSurplus;
  }

  /** Returns whether the carrier has begun an entry since the last check. */
  private static boolean noteProgress(Carrier carrier, long now) {
    int begunCount = carrier.begunCount();
    boolean progressed = begunCount != carrier.lastBegunCount;
    carrier.lastBegunCount = begunCount;
    if (progressed || carrier.sleeper.isAsleep()) carrier.progressAt = now; // an idle carrier is not stuck
    return progressed;
  }

  /**
   * Returns whether entries wait, and neither the carrier nor a thief took one since the last
   * check.
   */
  private static boolean noteLateEntry(Carrier carrier, boolean progressed) {
    int head = carrier.queue.headIndex();
    boolean isLate = !progressed && head == carrier.lastHead && !carrier.queue.isEmpty();
    carrier.lastHead = head;
    if (isLate) carrier.lateHead = head; // first, because thieves read the flag first
    if (carrier.isLate != isLate) carrier.isLate = isLate;
    return isLate;
  }

  private static void unparkSpareRunner(Carrier carrier, long now) {
    if (now - carrier.lastUnpark < STUCK_AFTER) return;
    carrier.lastUnpark = now;
    carrier.unparkSpareRunner();
  }

  private void startSpares(int count, int spares, long now) {
    if (now - sparesStartedAt < STUCK_AFTER) return; // the last spares may not have begun an entry yet
    sparesStartedAt = now;
    for (int i = 0; i < count && spares + i < MAX_SPARES; i++)
      if (!pool.startSpare("fibry-carrier-spare-" + spareNumber++)) return;
  }

  private void retireSpares(int count) {
    int left = count;
    for (var carrier : pool.carriers()) if (left > 0 && carrier.isSpare && !carrier.mustRetire()) {
      carrier.askToRetire();
      left--;
    }
  }
}
