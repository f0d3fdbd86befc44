package io.fibry.carriers;

import io.fibry.engine.carrier.CarriedDrain;
import io.fibry.engine.carrier.FiberCarriers;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A scheduler of virtual threads that knows actors. An entry of its queues is either a continuation
 * (of a virtual thread that can continue) or a drain (of an actor that was woken). So an activation
 * costs no new virtual thread, and the scheduler sees when a handler blocks: its continuation
 * returns.
 *
 * <p><b>Queues.</b> Entries that are made on a carrier go to the {@link RunQueue} of this carrier.
 * Entries of all other threads, and entries for which a run queue has no capacity, are in the
 * shared queue. A carrier takes from its own queue, and from the shared queue when its own is
 * empty. If both are empty, it steals half of another carrier's queue, or sleeps. It looks at the
 * shared queue first at every 61st entry.
 *
 * <p><b>Waking.</b> An entry of the shared queue wakes a carrier, unless a carrier searches; {@link
 * IdleCarriers} explains why no such entry is missed. An entry of a run queue wakes a carrier only
 * if {@link WakePolicy} permits it, because the owner of the queue finds the entry. If the owner is
 * busy for too long, the {@link CarrierWatch} wakes a carrier, which steals the entry.
 *
 * <p><b>Askers off the carriers.</b> A drain that a virtual thread of another scheduler wakes by
 * its request is lent to this scheduler ({@link LentDrains}). A platform thread may spin for the
 * answer. Its drain wakes no second carrier while one is awake.
 *
 * <p><b>Near entries.</b> Three kinds of entries are near. The first is the drain of a mailbox that
 * blocks its senders ({@code Overflow.BLOCK}) and whose messages are quick. The second is its
 * continuation after a yield. The third is the continuation of a sender that is unparked because
 * its message has entered such a mailbox. In most cases the drain unparks the sender; a thread that
 * removes a message may do so, too. A sender that continues to send must wait soon anyway. So it
 * and the actor take turns on one carrier, and no message moves to another processor. A drain that
 * has woken a sender and finds no more messages yields, so that it continues when the sender has
 * filled the mailbox again. If a sender computes instead, the near drain waits until the watch
 * finds it late. A few near entries, without other entries in their queue, wake no carrier. They
 * are not stolen before the watch finds the first of them late. Near entries among others are
 * treated as any entries, because they must not hold the others up.
 *
 * <p><b>Why a ForkJoinPool.</b> The JDK asks the scheduler of a virtual thread for timers only if
 * it is a ForkJoinPool (Java 25). A thread that waits in a queue of the JDK spins before it parks,
 * unless the thread's carrier is a ForkJoinWorkerThread with queued work. So this class extends
 * ForkJoinPool, and a carrier is such a worker, but the pool runs no task. Its threads are started
 * here and run our loop; only spare carriers retire. No factory makes others.
 *
 * <p><b>Rejected designs.</b> Calling {@code super.schedule}: its timers need workers that run the
 * pool's own loop, so they hung. Waking a carrier for each entry, as the JDK does: two carriers
 * then fight for the work of one. Carriers as plain platform threads: a thread that waited in a
 * {@code LinkedTransferQueue} spun for 5 µs, while the thread that it waited for was queued behind
 * it on the same carrier.
 */
final class CarrierPool extends ForkJoinPool implements FiberCarriers {
  private final ConcurrentLinkedQueue<Runnable> sharedQueue = new ConcurrentLinkedQueue<>();
  private final LentDrains lentDrains = new LentDrains();
  private final IdleCarriers idle = new IdleCarriers();
  private final CarrierWatch watch = new CarrierWatch(this);
  // Replaced under the monitor, when a spare carrier starts or ends
  private volatile Carrier[] carriers = {};
  private volatile Sleeper[] sleepers = {}; // one for each carrier

  CarrierPool() {
    super(1, pool -> null, null, true, 0, 1, 0, pool -> true, 1, TimeUnit.DAYS);
  }

  /** Starts carriers. Throws an OutOfMemoryError if not even one thread can be started. */
  static CarrierPool start(int count) {
    var pool = runDetached(() -> new CarrierPool().startCarriers(count));
    Runner.warmUp(pool);
    return pool;
  }

  /**
   * Runs the action, before Java 24 in a privileged block. Otherwise a thread would keep the class
   * loaders of its maker's stack in memory.
   */
  @SuppressWarnings("removal")
  private static CarrierPool runDetached(PrivilegedAction<CarrierPool> action) {
    return Runtime.version().feature() < 24 ? AccessController.doPrivileged(action) : action.run();
  }

  private CarrierPool startCarriers(int count) {
    var made = new ArrayList<Carrier>();
    for (int i = 0; i < count; i++) made.add(new Carrier(this, "fibry-carrier-" + i, false));
    setCarriers(made.toArray(Carrier[]::new)); // first, because a carrier that runs steals from the others
    watch.start();
    int started = 0;
    try {
      for (var carrier : made) {
        carrier.start();
        started++;
      }
    } catch (OutOfMemoryError noThread) {
      if (started == 0) throw noThread;
      setCarriers(Arrays.copyOf(carriers, started)); // fewer carriers do all the work
    }
    return this;
  }

  // ---- entries

  @Override
  public void run(CarriedDrain drain) {
    var carrier = carrierOrNull();
    if (carrier != null) add(drain, carrier);
    else if (drain.hasAskerOffCarriers() && Thread.currentThread().isVirtual() && lentDrains.maySucceed()) lend(drain);
    else if (drain.hasSpinningAsker() && idle.hasAwake(carriers.length)) addForAwake(drain);
    else add(drain, null);
  }

  private void lend(CarriedDrain drain) {
    var lent = lentDrains.add(drain, Thread.currentThread().threadId());
    watch.wake();
    JvmAccess.newThread(null, lent).start(); // on the scheduler of the caller
  }

  /**
   * Adds an entry for a carrier that is awake. If no carrier takes it soon, the caller or the watch
   * wakes one.
   */
  private void addForAwake(Runnable entry) {
    sharedQueue.add(entry);
    watch.wake();
  }

  @Override
  public void wakeForEntry() {
    if (!sharedQueue.isEmpty()) wakeCarrier();
  }

  @Override
  public void start(Runnable task) {
    JvmAccess.newThread(this, task).start();
  }

  @Override
  public void unparkNear(Thread thread) {
    var carrier = carrierOrNull();
    if (carrier == null) LockSupport.unpark(thread);
    else carrier.unparkNear(thread);
  }

  @Override
  public void yieldNear() {
    var carrier = carrierOrNull();
    if (carrier == null) Thread.yield();
    else carrier.yieldNear();
  }

  @Override
  public boolean runsCaller() {
    return carrierOrNull() != null;
  }

  /** Called by the JDK with a continuation, which runs or continues a virtual thread. */
  @Override
  public void execute(Runnable continuation) {
    var carrier = carrierOrNull();
    if (carrier != null && carrier.isCapturing()) carrier.capture(continuation);
    else if (carrier != null && carrier.takeNextNear()) add(NearContinuation.of(continuation), carrier);
    else add(continuation, carrier);
  }

  private void add(Runnable entry, @Nullable Carrier carrier) {
    if (carrier == null || !carrier.queue.add(entry)) addShared(entry);
    else if (idle.canWake() && carrier.isWorthWaking()) wakeCarrier();
    watch.wake();
  }

  /** Adds an entry that any carrier may take. */
  void addShared(Runnable entry) {
    sharedQueue.add(entry);
    wakeCarrier();
  }

  /** Returns whether a lent drain waits for a thread of its asker's scheduler. */
  boolean hasLentDrain() {
    return lentDrains.hasWaiting();
  }

  /**
   * Lets the carriers run the lent drains that have waited since the last call. Returns whether a
   * lent drain waits.
   */
  boolean takeBackOldDrains() {
    lentDrains.takeBackOld(this::addShared);
    return lentDrains.hasWaiting();
  }

  @Nullable
  Runnable takeShared() {
    return sharedQueue.poll();
  }

  boolean hasSharedEntry() {
    return !sharedQueue.isEmpty();
  }

  /** Returns the carrier that runs the caller; the caller is a virtual thread of this pool. */
  Carrier carrier() {
    return (Carrier) JvmAccess.currentCarrier();
  }

  private @Nullable Carrier carrierOrNull() {
    return JvmAccess.currentCarrier() instanceof Carrier carrier && carrier.pool == this ? carrier : null;
  }

  /**
   * Called by the JDK when a virtual thread parks for a time (Java 25), also on threads that are no
   * carriers. If memory is short, this method tries again after a pause, because the JDK would lose
   * the virtual thread.
   */
  // Overrides a method that ForkJoinPool has since Java 25
  public ScheduledFuture<?> schedule(Runnable command, long delay, TimeUnit unit) {
    var carrier = carrierOrNull();
    var owner = carrier == null ? carriers[0] : carrier;
    for (int tries = 0;; tries++) {
      try {
        var timer = owner.timers.add(command, unit.toNanos(delay));
        if (carrier == null) LockSupport.unpark(owner); // the owner then reads the time of its first timer again
        return timer;
      } catch (OutOfMemoryError noMemory) {
        if (tries == Carrier.MAX_MEMORY_TRIES) throw noMemory;
        LockSupport.parkNanos(Carrier.MEMORY_PAUSE);
      }
    }
  }

  // ---- waking, searching and sleeping

  /** Wakes a carrier, unless one searches, one is woken already, or none sleeps. */
  void wakeCarrier() {
    idle.wakeOne(sleepers);
  }

  /** Called by a carrier without work. Returns false if more than half of the carriers search. */
  boolean beginSearch() {
    return idle.beginSearch(carriers.length);
  }

  void endSearch() {
    idle.endSearch();
  }

  void beginSleep(Carrier carrier) {
    idle.beginSleep(carrier.sleeper);
    watch.endPause();
  }

  void endSleep(Carrier carrier) {
    idle.endSleep(carrier.sleeper);
  }

  /**
   * Called by a carrier that has found an entry, and neither searches nor sleeps any more. Senders
   * may have woken no carrier because this carrier searched. So it wakes another carrier if the
   * shared queue has entries, or its own queue has enough work.
   */
  void afterSearch(Carrier carrier) {
    if (!sharedQueue.isEmpty() || carrier.isWorthWaking()) wakeCarrier();
  }

  /** Returns whether no carrier is free to take an entry. */
  boolean isBusy() {
    return idle.isEmpty();
  }

  // ---- carriers

  Carrier[] carriers() {
    return carriers;
  }

  void setCarriers(Carrier[] newCarriers) {
    sleepers = Arrays.stream(newCarriers).map(carrier -> carrier.sleeper).toArray(Sleeper[]::new);
    carriers = newCarriers;
  }

  /** Adds and starts a spare carrier. Returns false if there is no memory for its thread. */
  synchronized boolean startSpare(String name) {
    var old = carriers;
    var oldSleepers = sleepers;
    try {
      var spare = new Carrier(this, name, true);
      var grown = Arrays.copyOf(old, old.length + 1);
      grown[old.length] = spare;
      setCarriers(grown); // first, because the other carriers must find its entries
      spare.start();
      return true;
    } catch (OutOfMemoryError noThread) {
      carriers = old;
      sleepers = oldSleepers; // restored without an allocation, which could fail again
      return false;
    }
  }

  /** Removes a carrier that ends, and whose queue and timers are empty. */
  synchronized void remove(Carrier carrier) {
    setCarriers(Arrays.stream(carriers).filter(other -> other != carrier).toArray(Carrier[]::new));
  }
}
