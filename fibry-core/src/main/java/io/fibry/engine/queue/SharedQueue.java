package io.fibry.engine.queue;

import io.fibry.mailbox.Mailbox;
import io.fibry.spi.PoolPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.LongSupplier;

/**
 * The queue of a pool, from which several workers take. Thread-safe.
 *
 * <p><b>Slots.</b> Instead of one right to run there are {@link WorkerSlot}s. Whenever a message
 * comes, is done or is removed, the monitor decides which messages begin, and on which workers. A
 * thread that was answered RUN, or that {@code ready} is true, calls {@link #serve}. So no message
 * waits while an idle worker could begin it.
 *
 * <p><b>Fast path.</b> While no worker is free, a sender enters by the arrivals of
 * {@link GuardedQueue}, without the monitor. A worker declares itself free before it looks for the
 * last time; a sender adds its entry before it reads whether a worker is free. So one of them sees
 * the other. Queues with keys always use the monitor.
 *
 * <p><b>Keys.</b> At most one message of each key is in the order or being handled. The others wait
 * in the lane of the key, and when that message is done the next one goes to the end of the order.
 * So the first message in the order never waits for its key.
 *
 * <p><b>Permits.</b> A message needs permits. A heavy message that does not fit holds back lighter
 * ones behind it, because otherwise it might wait for ever.
 *
 * <p><b>Refused.</b> A worker per hash of the key: a busy key would delay its neighbors.
 */
public final class SharedQueue<E> extends GuardedQueue<E> {
  private final PoolPolicy<?> poolPolicy;
  private final LongSupplier clock;
  private final IdleWorkers<E> idleWorkers = new IdleWorkers<>();
  private final KeyLanes<E> lanes;
  private int freePermits;
  private int slots;
  private int retiring; // of them
  private int busy; // of them
  private QueueEntry<E> pill; // the first that waits
  private boolean ending;
  private boolean deserted;

  public SharedQueue(Mailbox<?> mailbox, PoolPolicy<?> sharing, LongSupplier clock) {
    super(mailbox, clock, null, sharing.isByKey());
    this.poolPolicy = sharing;
    this.clock = clock;
    this.freePermits = sharing.permits();
    this.lanes = sharing.isByKey() ? new KeyLanes<>() : null;
  }

  public PoolPolicy<?> poolPolicy() {
    return poolPolicy;
  }

  @Override
  public QueueEntry<E> entry(E item, Object message, boolean isMessage, Object receiver) {
    return isMessage ? PoolEntry.of(item, message, poolPolicy, receiver) : new PoolEntry<>(item, null, 1, null);
  }

  // ---- for threads that made something ready

  /**
   * Gives the next message to an idle worker or, if {@code hires}, to one yet to be made. The
   * worker of the slot must be told, or made. Returns null if no message can begin.
   */
  public synchronized WorkerSlot<E> serve(boolean hires) {
    if (!canBegin() || idleWorkers.isEmpty() && !hires) return null;
    var slot = idleWorkers.isEmpty() ? reserve() : idleWorkers.wakeLast();
    begin(slot);
    return slot;
  }

  /** Something can begin, or the pill is next. */
  public synchronized boolean ready() {
    return isReady();
  }

  @Override
  public synchronized boolean isBlocked() {
    return !ending && !isReady();
  }

  public synchronized boolean isAtPill() {
    return pillIsNext();
  }

  public synchronized WorkerSlot<E> reserve() {
    var slot = new WorkerSlot<E>(); // first: without memory it must not count
    slots++;
    return slot;
  }

  /** Called when the worker of a reserved slot has been made. */
  public boolean open(WorkerSlot<E> slot) {
    long now = now();
    synchronized (this) {
      becomeIdle(slot, now);
      return slot.ready;
    }
  }

  /**
   * Takes back, once, a message that could not be given to its worker, although the worker may
   * exist. Returns a message that will never begin, because the pool is ending, or null if the
   * message waits again.
   */
  public E takeBack(WorkerSlot<E> slot, boolean idle) {
    return takeBack(slot, idle, now());
  }

  private synchronized E takeBack(WorkerSlot<E> slot, boolean idle, long now) {
    var entry = slot.held;
    if (entry == null) return null;
    E item = slot.item;
    release(slot);
    if (idle) becomeIdle(slot, now);
    if (ending) return item;
    entry.item = item;
    entry.goTo(QueueEntry.QUEUE);
    entry.counted = false;
    entry.takenBack = true;
    order.chain.addFirst(entry);
    if (lanes != null) lanes.all.addFirst(entry);
    entryCount++;
    return null;
  }

  // ---- for workers

  /**
   * Afterwards the worker reads {@link WorkerSlot#isReady}. Returns null if the worker is idle, or if
   * another thread is bringing it a message. The handled message need not be from this queue.
   */
  public E next(WorkerSlot<E> slot, Object handled) {
    return next(slot, handled, now());
  }

  /**
   * The idle time of a worker begins before the step that ends its message. A test that sees that
   * step, and then moves a manual clock, thus moves it past the beginning.
   */
  private synchronized E next(WorkerSlot<E> slot, Object handled, long now) {
    if (slot.item == handled) done(slot);
    slot.ready = false;
    if (slot.held != null) return null;
    idleWorkers.wake(slot);
    if (!ending && !slot.retired && firstFits()) begin(slot);
    else becomeIdle(slot, now);
    return slot.item;
  }

  /** The worker takes nothing more, and reads {@link #ready}. */
  public synchronized void finish(WorkerSlot<E> slot, Object handled) {
    if (slot.item == handled) done(slot);
    idleWorkers.wake(slot);
  }

  /** A message that another thread is bringing to the worker is finished by that thread. */
  public synchronized void leave(WorkerSlot<E> slot) {
    idleWorkers.wake(slot);
    if (slot.retired) retiring--;
    slots--;
    noteFreeWorkers();
  }

  /** Outside the monitor, since the clock may be a user's. */
  private long now() {
    if (poolPolicy.minWorkers() == poolPolicy.maxWorkers()) return IdleWorkers.UNKNOWN; // no worker retires
    try {
      return clock.getAsLong();
    } catch (Throwable noTime) { // of the user's clock or the stack
      return IdleWorkers.UNKNOWN;
    }
  }

  /** These workers get nothing more. */
  public synchronized List<WorkerSlot<E>> retire(long now, long minIdle) {
    var retired = idleWorkers.retire(slots - retiring - poolPolicy.minWorkers(), now, minIdle);
    retiring += retired.size();
    return retired;
  }

  /** Returns when a worker has been idle for {@code minIdle}; empty if no worker will retire. */
  public synchronized OptionalLong nextRetirement(long minIdle) {
    return slots - retiring > poolPolicy.minWorkers() ? idleWorkers.nextRetirement(minIdle) : OptionalLong.empty();
  }

  // ---- the end

  public synchronized void beginEnd() {
    ending = true;
    noteFreeWorkers();
  }

  /** True once, when the end has begun and no worker is left. */
  public synchronized boolean takeDeserted() {
    if (!ending || slots > 0 || deserted) return false;
    return deserted = true;
  }

  @Override
  public synchronized E poll() {
    if (lanes != null && !lanes.all.isEmpty()) return take(lanes.all.getFirst());
    return super.poll();
  }

  @Override
  public synchronized boolean isIdle() {
    return entryCount() == 0 && busy == 0;
  }

  public synchronized int busy() {
    return busy;
  }

  @Override
  public synchronized List<E> queued(int most) {
    if (lanes == null) return super.queued(most);
    return lanes.all.stream().limit(most).map(entry -> entry.item).toList();
  }

  /**
   * Returns the workers on which a wait for the entry depends, or null if there are none or they
   * are unknown.
   */
  public synchronized PoolBlockers<E> blockers(QueueEntry<E> entry) {
    return entry instanceof PoolEntry<E> pooled ? blockers(pooled) : null;
  }

  // ---- under the monitor

  private PoolBlockers<E> blockers(PoolEntry<E> entry) {
    if (entry.isGone()) return entry.slot == null ? null : new PoolBlockers<>(List.of(entry.slot));
    if (entry.isOutside() || ending || pillIsNext()) return null;
    // it begins after the first of its lane
    if (!entry.isBlocked() && entry.lane != null && entry.lane.first.slot != null)
      return new PoolBlockers<>(List.of(entry.lane.first.slot));
    var firstWorkers = lanes == null ? List.<WorkerSlot<E>>of() : lanes.firstWorkers();
    // it is behind the pill, which is next when all lanes are empty
    if (!firstWorkers.isEmpty() && !entry.isBlocked() && entry.lane == null) return new PoolBlockers<>(firstWorkers);
    // all that can begin waits in lanes
    if (!(first() instanceof PoolEntry))
      return new PoolBlockers<>(firstWorkers, Integer.MAX_VALUE, firstWorkers.size() - 1);
    return new PoolBlockers<>(null, poolPolicy.permits() - heaviest(entry), poolPolicy.maxWorkers() - 1);
  }

  /**
   * The greatest weight up to {@code last}. For a blocked sender, that of the first: if another one
   * holds it up later, it is woken, and looks again.
   */
  private int heaviest(PoolEntry<E> last) {
    if (poolPolicy.weight().isEmpty()) return 1;
    entryCount(); // collects arrivals
    int heaviest = 0;
    for (var entry : order.entries(Integer.MAX_VALUE)) {
      if (entry instanceof PoolEntry<E> pooled) heaviest = Math.max(heaviest, pooled.weight);
      if (entry == last || entry.pill || last.isBlocked()) break;
    }
    return heaviest;
  }

  @Override
  synchronized EnterResult tryRun() {
    return ending || isReady() ? EnterResult.RUN : EnterResult.TAKEN;
  }

  /**
   * While no worker is free, senders enter without the monitor: each worker looks for what came
   * when it is done. The thread by which one gets free, or the end begins, looks for arrivals
   * afterwards.
   */
  private void noteFreeWorkers() {
    boolean none = idleWorkers.isEmpty() && slots >= poolPolicy.maxWorkers() && !ending && pill == null;
    if (running.get() != none) running.set(none);
  }

  private boolean isReady() {
    return canBegin() || pillIsNext();
  }

  private boolean canBegin() {
    return !ending && (!idleWorkers.isEmpty() || slots < poolPolicy.maxWorkers()) && firstFits();
  }

  private boolean firstFits() {
    return first() instanceof PoolEntry<E> first && first.weight <= freePermits;
  }

  private boolean pillIsNext() {
    return pill != null && !ending && (lanes == null || lanes.waitingCount == 0) && first() == pill;
  }

  private void begin(WorkerSlot<E> slot) {
    var entry = (PoolEntry<E>) first();
    busy++;
    freePermits -= entry.weight;
    slot.hold(entry);
    remove(entry, true);
    noteFreeWorkers();
    slot.ready = isReady();
  }

  private void becomeIdle(WorkerSlot<E> slot, long now) {
    idleWorkers.add(slot, now);
    noteFreeWorkers();
    slot.ready = isReady();
    alertBlocked();
  }

  /** This lets no blocked sender in, so it may be waiting for itself. */
  private void alertBlocked() {
    if (!canBegin()) blockedSenders.alert();
  }

  private void done(WorkerSlot<E> slot) {
    var entry = slot.held;
    if (entry == null) return;
    release(slot);
    advance(entry);
  }

  private void release(WorkerSlot<E> slot) {
    busy--;
    freePermits += slot.weight();
    slot.release();
  }

  @Override
  void prepare(QueueEntry<E> entry) {
    if (lanes != null && pill == null && entry instanceof PoolEntry<E> pooled) lanes.findLane(pooled);
  }

  /** Entries in lanes hold up no other. */
  @Override
  int ahead() {
    return lanes == null ? entryCount : entryCount - lanes.waitingCount;
  }

  @Override
  void sendAway(QueueEntry<E> entry) {
    super.sendAway(entry);
    if (lanes != null && entry instanceof PoolEntry<E> pooled) lanes.forget(pooled);
  }

  @Override
  void append(QueueEntry<E> entry) {
    if (lanes != null && entry instanceof PoolEntry<E> pooled) {
      if (pill != null) lanes.forget(pooled); // no message behind the pill ever begins
      if (!lanes.enter(pooled)) {
        pooled.goTo(QueueEntry.QUEUE);
        entryCount++;
        return;
      }
    }
    super.append(entry);
    if (!entry.pill || pill != null) return;
    pill = entry;
    noteFreeWorkers();
  }

  @Override
  E take(QueueEntry<E> entry) {
    if (entry == pill) pill = null;
    E item = entry instanceof PoolEntry<E> pooled ? remove(pooled, false) : super.take(entry);
    alertBlocked();
    return item;
  }

  private E remove(PoolEntry<E> entry, boolean begins) {
    if (lanes == null) return super.take(entry);
    lanes.all.remove(entry);
    E item = entry.item;
    if (lanes.leaveLane(entry)) markGone(entry);
    else super.take(entry);
    if (!begins) advance(entry);
    return item;
  }

  /** The next of its key goes to the end, but before the pill, which came later. */
  private void advance(PoolEntry<E> entry) {
    var next = lanes == null ? null : lanes.advance(entry);
    if (next == null) return;
    if (pill == null) order.chain.add(next);
    else order.chain.addBefore(next, pill);
  }

  @Override
  List<E> dropOldest(QueueEntry<E> next) {
    if (lanes == null) return super.dropOldest(next);
    var dropped = new ArrayList<E>();
    while (!occupancy.hasRoomFor(next)) {
      var oldest = lanes.all.stream().filter(QueueEntry::mayBeDropped).findFirst();
      if (oldest.isEmpty()) break;
      dropped.add(take(oldest.get()));
    }
    return dropped;
  }
}
