package io.fibry.engine.queue;

import io.fibry.mailbox.Mailbox;
import io.fibry.spi.PoolSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.LongSupplier;

/**
 * The queue of a pool, from which several workers take. Thread-safe.
 *
 * <p><b>Slots.</b> Instead of one right to run there are {@link WorkerSlot}s. Whenever a message
 * comes, ends or is removed, code under the monitor decides which messages begin on which workers.
 * A thread that gets RUN, or true from {@code isMoreReady}, calls {@link #assignNext}. So no
 * message waits while an idle worker could begin it.
 *
 * <p><b>Fast path.</b> While no worker is free, a sender enters through the {@link ArrivalBuffer},
 * without the monitor. A worker marks itself as free before its last check for arrivals; a sender
 * adds its entry before it reads whether a worker is free. So at least one of the two sees the
 * other. Queues with keys always use the monitor.
 *
 * <p><b>Keys.</b> At most one message of each key is in the {@link TakeOrder} or being handled. The
 * others wait in the lane of the key. When that message is done, the next message of the lane goes
 * to the end of the order. So the first message in the order never waits for its key.
 *
 * <p><b>Permits.</b> A message needs as many permits as it weighs. While too few permits are free
 * for the first message, lighter messages behind it wait, too. Otherwise the first message might
 * wait forever.
 *
 * <p><b>Refused.</b> A worker per hash of the key: a busy key would delay its neighbors.
 */
public final class SharedQueue<E> extends GuardedQueue<E> {
  private final PoolSpec<?> poolSpec;
  private final LongSupplier clock;
  private final IdleWorkers<E> idleWorkers = new IdleWorkers<>();
  private final KeyLanes<E> lanes;
  private int freePermits;
  private int slotCount;
  private int retiringCount; // number of slots whose workers must end
  private int busyCount; // number of slots whose workers handle a message
  private QueueEntry<E> pill; // the first waiting pill, or null
  private boolean isEnding;
  private boolean isDesertionReported; // whether takeDeserted has returned true

  public SharedQueue(Mailbox<?> mailbox, PoolSpec<?> spec, LongSupplier clock) {
    super(mailbox, clock, null, spec.isByKey());
    this.poolSpec = spec;
    this.clock = clock;
    this.freePermits = spec.permits();
    this.lanes = spec.isByKey() ? new KeyLanes<>() : null;
  }

  public PoolSpec<?> poolSpec() {
    return poolSpec;
  }

  @Override
  public QueueEntry<E> newEntry(E item, Object message, boolean isMessage, Object receiver) {
    return isMessage ? PoolEntry.of(item, message, poolSpec, receiver) : new PoolEntry<>(item, null, 1, null);
  }

  // ---- for threads that made something ready

  /**
   * Gives the next message to the slot of an idle worker, or else to a new slot if {@code mayHire}.
   * The caller must wake or make the worker. Returns null if no message can begin on such a slot.
   */
  public synchronized WorkerSlot<E> assignNext(boolean mayHire) {
    if (!mayBegin() || idleWorkers.isEmpty() && !mayHire) return null;
    var slot = idleWorkers.isEmpty() ? reserveSlot() : idleWorkers.removeLatest();
    begin(slot);
    return slot;
  }

  /** Returns whether a message can begin, or the pill is next. */
  public synchronized boolean mayServe() {
    return isReady();
  }

  @Override
  public synchronized boolean isBlocked() {
    return !isEnding && !isReady();
  }

  public synchronized boolean isAtPill() {
    return isPillNext();
  }

  public synchronized WorkerSlot<E> reserveSlot() {
    var slot = new WorkerSlot<E>(); // made first, because it must not count if memory is lacking
    slotCount++;
    return slot;
  }

  /** Makes the new worker of a reserved slot idle. Returns the result of {@link #mayServe}. */
  public boolean openSlot(WorkerSlot<E> slot) {
    long now = now();
    synchronized (this) {
      becomeIdle(slot, now);
      return slot.isMoreReady;
    }
  }

  /**
   * Takes back a message that could not be given to its worker. If {@code isIdle}, the worker
   * exists and becomes idle. Returns null if the message waits again or another thread took it. If
   * the pool is ending, returns the message, which will never begin.
   */
  public E takeBack(WorkerSlot<E> slot, boolean isIdle) {
    return takeBack(slot, isIdle, now());
  }

  private synchronized E takeBack(WorkerSlot<E> slot, boolean isIdle, long now) {
    var entry = slot.heldEntry;
    if (entry == null) return null;
    E item = slot.item;
    release(slot);
    if (isIdle) becomeIdle(slot, now);
    if (isEnding) return item;
    entry.item = item;
    entry.setState(QueueEntry.QUEUE);
    entry.isCounted = false;
    entry.isTakenBack = true;
    order.chain.addFirst(entry);
    if (lanes != null) lanes.allQueued.addFirst(entry);
    entryCount++;
    return null;
  }

  // ---- for workers

  /**
   * Ends the handled message and returns the next one, or null if the worker is idle now, or
   * another thread is bringing the worker a message. The worker then reads
   * {@link WorkerSlot#isMoreReady}. Ends no message if {@code handledItem} came from another queue.
   */
  public E next(WorkerSlot<E> slot, Object handledItem) {
    return next(slot, handledItem, now());
  }

  /**
   * If the worker becomes idle, its idle time begins at {@code now}, a time before the end of the
   * message. So if a test sees that end and then moves a manual clock, the idle time grows.
   */
  private synchronized E next(WorkerSlot<E> slot, Object handledItem, long now) {
    if (slot.item == handledItem) endMessage(slot);
    slot.isMoreReady = false;
    if (slot.heldEntry != null) return null;
    idleWorkers.remove(slot);
    if (!isEnding && !slot.isRetired && isFirstFitting()) begin(slot);
    else becomeIdle(slot, now);
    return slot.item;
  }

  /** Ends the last message of a worker. The caller then calls {@link #mayServe}. */
  public synchronized void finish(WorkerSlot<E> slot, Object handledItem) {
    if (slot.item == handledItem) endMessage(slot);
    idleWorkers.remove(slot);
  }

  /** Removes the slot. A thread that is bringing the slot a message ends that message. */
  public synchronized void removeSlot(WorkerSlot<E> slot) {
    idleWorkers.remove(slot);
    if (slot.isRetired) retiringCount--;
    slotCount--;
    updateRunning();
  }

  /** Reads the clock. Called outside the monitor, because the clock may be code of a user. */
  private long now() {
    if (poolSpec.minWorkers() == poolSpec.maxWorkers()) return IdleWorkers.UNKNOWN; // size is fixed
    try {
      return clock.getAsLong();
    } catch (Throwable error) { // from the user's clock, or a StackOverflowError
      return IdleWorkers.UNKNOWN;
    }
  }

  /** Retires surplus workers that were idle for {@code minIdle} ns: they get no more messages. */
  public synchronized List<WorkerSlot<E>> retire(long now, long minIdle) {
    var retiredSlots = idleWorkers.retire(slotCount - retiringCount - poolSpec.minWorkers(), now, minIdle);
    retiringCount += retiredSlots.size();
    return retiredSlots;
  }

  /** Returns the time of the next retirement by the clock; empty if no worker can be retired. */
  public synchronized OptionalLong nextRetirement(long minIdle) {
    return slotCount - retiringCount > poolSpec.minWorkers() ? idleWorkers.nextRetirement(minIdle)
        : OptionalLong.empty();
  }

  // ---- the end

  public synchronized void beginEnd() {
    isEnding = true;
    updateRunning();
  }

  /** Returns true to the first caller after the end has begun and the last slot was removed. */
  public synchronized boolean takeDeserted() {
    if (!isEnding || slotCount > 0 || isDesertionReported) return false;
    return isDesertionReported = true;
  }

  @Override
  public synchronized E poll() {
    return lanes == null || lanes.allQueued.isEmpty() ? super.poll() : take(lanes.allQueued.getFirst());
  }

  @Override
  public synchronized boolean isIdle() {
    return entryCount() == 0 && busyCount == 0;
  }

  public synchronized int busyWorkers() {
    return busyCount;
  }

  @Override
  List<? extends QueueEntry<E>> entries(int max) {
    return lanes == null ? super.entries(max) : lanes.allQueued.stream().limit(max).toList();
  }

  @Override
  QueueEntry<E> lastMessage() {
    return lanes == null || lanes.allQueued.isEmpty() ? super.lastMessage() : lanes.allQueued.getLast();
  }

  /**
   * Returns the workers on which a wait for the entry depends, or null if no such worker is known.
   */
  public synchronized PoolBlockers<E> blockers(QueueEntry<E> entry) {
    return entry instanceof PoolEntry<E> poolEntry ? blockers(poolEntry) : null;
  }

  // ---- under the monitor

  private PoolBlockers<E> blockers(PoolEntry<E> entry) {
    if (entry.isGone()) return entry.slot == null ? null : new PoolBlockers<>(List.of(entry.slot));
    if (entry.isOutside() || isEnding || isPillNext()) return null;
    // the entry begins after the first entry of its lane
    if (!entry.isBlocked() && entry.lane != null && entry.lane.firstEntry.slot != null)
      return new PoolBlockers<>(List.of(entry.lane.firstEntry.slot));
    var firstWorkers = lanes == null ? List.<WorkerSlot<E>>of() : lanes.blockingWorkers();
    // the entry is behind the pill, which is next when all lanes are empty
    if (!firstWorkers.isEmpty() && !entry.isBlocked() && entry.lane == null) return new PoolBlockers<>(firstWorkers);
    // all entries that can begin wait in lanes
    if (!(first() instanceof PoolEntry))
      return new PoolBlockers<>(firstWorkers, Integer.MAX_VALUE, firstWorkers.size() - 1);
    return new PoolBlockers<>(null, poolSpec.permits() - maxWeightUpTo(entry), poolSpec.maxWorkers() - 1);
  }

  /**
   * Returns the greatest weight among the entries up to {@code lastEntry}. For a blocked sender,
   * returns the weight of the first entry: if another entry holds up the sender later, the sender
   * is woken, and searches again.
   */
  private int maxWeightUpTo(PoolEntry<E> lastEntry) {
    if (poolSpec.weight().isEmpty()) return 1;
    entryCount(); // collects arrivals
    int maxWeight = 0;
    for (var entry : order.entries(Integer.MAX_VALUE)) {
      if (entry instanceof PoolEntry<E> poolEntry) maxWeight = Math.max(maxWeight, poolEntry.weight);
      if (entry == lastEntry || entry.isPill || lastEntry.isBlocked()) break;
    }
    return maxWeight;
  }

  @Override
  synchronized EnterResult tryTakeRun() {
    return isEnding || isReady() ? EnterResult.RUN : EnterResult.TAKEN;
  }

  /**
   * Lets senders enter without the monitor while no worker is free, because each worker looks for
   * arrivals after its message. A thread that makes a worker free, or begins the end, looks for
   * arrivals after this call.
   */
  private void updateRunning() {
    boolean areAllBusy = idleWorkers.isEmpty() && slotCount >= poolSpec.maxWorkers() && !isEnding && pill == null;
    if (isRunning.get() != areAllBusy) isRunning.set(areAllBusy);
  }

  private boolean isReady() {
    return mayBegin() || isPillNext();
  }

  private boolean mayBegin() {
    return !isEnding && (!idleWorkers.isEmpty() || slotCount < poolSpec.maxWorkers()) && isFirstFitting();
  }

  private boolean isFirstFitting() {
    return first() instanceof PoolEntry<E> firstEntry && firstEntry.weight <= freePermits;
  }

  private boolean isPillNext() {
    return pill != null && !isEnding && (lanes == null || lanes.waitingCount == 0) && first() == pill;
  }

  private void begin(WorkerSlot<E> slot) {
    var entry = (PoolEntry<E>) first();
    busyCount++;
    freePermits -= entry.weight;
    slot.hold(entry);
    remove(entry, true);
    updateRunning();
    slot.isMoreReady = isReady();
  }

  private void becomeIdle(WorkerSlot<E> slot, long now) {
    idleWorkers.add(slot, now);
    updateRunning();
    slot.isMoreReady = isReady();
    alertBlocked();
  }

  /** Wakes blocked senders if no message can begin: each checks whether its wait closes a cycle. */
  private void alertBlocked() {
    if (!mayBegin()) blockedSenders.alert();
  }

  private void endMessage(WorkerSlot<E> slot) {
    var entry = slot.heldEntry;
    if (entry == null) return;
    release(slot);
    advance(entry);
  }

  private void release(WorkerSlot<E> slot) {
    busyCount--;
    freePermits += slot.weight();
    slot.release();
  }

  @Override
  void prepare(QueueEntry<E> entry) {
    if (lanes != null && pill == null && entry instanceof PoolEntry<E> poolEntry) lanes.assignLane(poolEntry);
  }

  /** Does not count entries that wait in lanes, because they hold up no other entry. */
  @Override
  int countAhead() {
    return lanes == null ? entryCount : entryCount - lanes.waitingCount;
  }

  @Override
  void markOutside(QueueEntry<E> entry) {
    super.markOutside(entry);
    if (lanes != null && entry instanceof PoolEntry<E> poolEntry) lanes.forget(poolEntry);
  }

  @Override
  void append(QueueEntry<E> entry) {
    if (lanes != null && entry instanceof PoolEntry<E> poolEntry) {
      if (pill != null) lanes.forget(poolEntry); // no message behind the pill ever begins
      if (!lanes.enter(poolEntry)) {
        poolEntry.setState(QueueEntry.QUEUE);
        entryCount++;
        return;
      }
    }
    super.append(entry);
    if (!entry.isPill || pill != null) return;
    pill = entry;
    updateRunning();
  }

  @Override
  E take(QueueEntry<E> entry) {
    if (entry == pill) pill = null;
    E item = entry instanceof PoolEntry<E> poolEntry ? remove(poolEntry, false) : super.take(entry);
    alertBlocked();
    return item;
  }

  private E remove(PoolEntry<E> entry, boolean isBeginning) {
    if (lanes == null) return super.take(entry);
    lanes.allQueued.remove(entry);
    E item = entry.item;
    if (lanes.leaveLane(entry)) markGone(entry);
    else super.take(entry);
    if (!isBeginning) advance(entry);
    return item;
  }

  /** Moves the next entry of the key to the end of the order, but before the younger pill. */
  private void advance(PoolEntry<E> entry) {
    var nextEntry = lanes == null ? null : lanes.advance(entry);
    if (nextEntry == null) return;
    if (pill == null) order.chain.add(nextEntry);
    else order.chain.addBefore(nextEntry, pill);
  }

  @Override
  List<E> dropOldest(QueueEntry<E> newEntry) {
    if (lanes == null) return super.dropOldest(newEntry);
    var droppedElements = new ArrayList<E>();
    while (!occupiedPlaces.hasSpaceFor(newEntry)) {
      var oldestEntry = lanes.allQueued.stream().filter(QueueEntry::mayBeDropped).findFirst();
      if (oldestEntry.isEmpty()) break;
      droppedElements.add(take(oldestEntry.get()));
    }
    return droppedElements;
  }
}
