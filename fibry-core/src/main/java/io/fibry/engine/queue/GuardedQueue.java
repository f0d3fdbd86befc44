package io.fibry.engine.queue;

import io.fibry.engine.jvm.StackProbe;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * The queue of every mailbox except the plain one, and the right to run its actor. Thread-safe.
 *
 * <p><b>Right to run.</b> {@link EnterResult#RUN} gives it to a sender, {@link #release} takes it
 * from the drain. An entry waits only while a thread has the right, or is about to take it. A
 * sender is blocked only while the first blocked sender finds no room.
 *
 * <p><b>Monitor.</b> It guards everything except the arrivals. No thread parks under it, and the
 * only user code under it is the comparator, and {@code hashCode} and {@code equals} of keys.
 *
 * <p><b>Fast path.</b> A mailbox that only refuses or blocks has an entrance without the monitor,
 * the {@link ArrivalBuffer}. A sender adds its entry, and then reads {@code shut} and
 * {@code running}. A drain clears {@code running}, and then looks for arrivals. So at least one of
 * them sees the other, and a compare-and-set gives the right to run to one of them.
 *
 * <p><b>Failure.</b> A StackOverflowError under the monitor would leave a change half done, so
 * callers probe a user's stack first. The exception is {@link #enter}, which mostly calls nothing
 * after its change, and makes sure that there is room to withdraw an entry.
 *
 * <p><b>Refused.</b> {@code ReentrantLock}: a StackOverflowError left it locked. A binary heap: a
 * comparator that throws breaks it, where a tree compares before it changes.
 */
public class GuardedQueue<E> {
  public enum EnterResult {
    /** In the queue; another thread has the right to run. */
    TAKEN,
    /** In the queue; the caller has the right to run. */
    RUN,
    /** The caller must {@link GuardedQueue#await}. */
    BLOCKED,
    FULL,
    SHUT
  }

  static {
    // links the code now, not while an entry is entering at the end of a stack
    var linked = new GuardedQueue<>(Mailbox.unbounded());
    linked.offer(QueueEntry.of(null), true);
    linked.enter(QueueEntry.of(null), true);
    linked.await(QueueEntry.of(null), () -> true);
  }

  private final Mailbox<?> mailbox;
  final BlockedSenders<E> blockedSenders = new BlockedSenders<>();
  final TakeOrder<E> order;
  final OccupiedPlaces occupancy; // null: the arrivals count
  int entryCount; // all but the pill
  final AtomicBoolean running = new AtomicBoolean(); // a thread has the right; in a pool, no worker is free
  volatile boolean shut; // written under the monitor, read by all
  private final ArrivalBuffer<E> arrivals; // null: all take the monitor
  private final SelectiveReceive<E> selectiveReceive;
  private final WaitEstimator forecast; // null: any wait will do
  private final BiFunction<Object, Object, E> toElement;

  GuardedQueue(Mailbox<?> mailbox) {
    this(mailbox, System::nanoTime, null);
  }

  /** {@code toElement} opens a {@link MessageEntry}; it is null for a queue that takes none. */
  public GuardedQueue(Mailbox<?> mailbox, LongSupplier clock, BiFunction<Object, Object, E> toElement) {
    this(mailbox, clock, toElement, false);
  }

  GuardedQueue(Mailbox<?> mailbox, LongSupplier clock, BiFunction<Object, Object, E> toElement, boolean byKey) {
    this.mailbox = mailbox;
    this.forecast = mailbox.maxWait().isZero() ? null : new WaitEstimator(clock, mailbox.maxWait().toNanos());
    this.selectiveReceive = mailbox.isSelective() ? new SelectiveReceive<>(this) : null;
    boolean monitorOnly = byKey || mailbox.isOrdered() || mailbox.isSelective() || forecast != null
        || mailbox.overflow() == Overflow.DROP_OLDEST;
    this.arrivals = monitorOnly ? null : new ArrivalBuffer<>(mailbox.capacity());
    this.toElement = monitorOnly ? null : toElement;
    this.occupancy = monitorOnly ? new OccupiedPlaces(mailbox) : null;
    this.order = new TakeOrder<>(mailbox);
  }

  public static boolean isNeededFor(Mailbox<?> mailbox) {
    return mailbox.capacity() < Integer.MAX_VALUE || mailbox.isOrdered() || mailbox.isSelective();
  }

  public Mailbox<?> mailbox() {
    return mailbox;
  }

  public boolean takesMessageEntries() {
    return toElement != null;
  }

  /** A task has no rank, no key, and weighs 1. */
  public QueueEntry<E> entry(E item, Object message, boolean isMessage, Object receiver) {
    if (takesMessageEntries()) return QueueEntry.of(item);
    return isMessage ? RankedEntry.of(item, message) : RankedEntry.unranked(item);
  }

  /**
   * Enters without the monitor, perhaps after a spin, if a thread runs, the door is open and there
   * is room. Returns null if the entry must be offered, otherwise mostly {@link EnterResult#TAKEN}.
   */
  public EnterResult enter(QueueEntry<E> entry, boolean mayWait) {
    if (arrivals == null || !running.get()) return null;
    StackProbe.probe(); // the entry may have to be withdrawn
    return tryEnter(entry, mayWait && mailbox.overflow() == Overflow.BLOCK);
  }

  /** An entry that may not wait gets {@link EnterResult#FULL} in place of BLOCKED. */
  public EnterResult offer(QueueEntry<E> entry, boolean mayWait) {
    var entered = tryEnter(entry, false);
    if (entered != null) return entered;
    long now = forecast == null ? 0 : forecast.now();
    var overflow = mailbox.overflow();
    synchronized (this) {
      if (shut) return EnterResult.SHUT;
      boolean fits = blockedSenders.isEmpty() && letIn(entry) && (forecast == null
          || forecast.isWithinTarget((RankedEntry<E>) entry, (RankedEntry<E>) order.chain.head, ahead(), now));
      if (!fits && !(overflow == Overflow.DROP_OLDEST ? !entry.isTask() : overflow == Overflow.BLOCK && mayWait))
        return EnterResult.FULL;
      prepare(entry);
      if (!fits && overflow == Overflow.BLOCK) {
        blockedSenders.add(entry);
        return EnterResult.BLOCKED;
      }
      if (!fits) ((RankedEntry<E>) entry).dropped = dropOldest(entry);
      add(entry, now);
      return tryRun();
    }
  }

  /**
   * Everything that this thread reads after entering was written before, or the writer sees the
   * entry. No call after entering goes deeper than entering did. Returns null if the entry did not
   * enter.
   */
  private EnterResult tryEnter(QueueEntry<E> entry, boolean mayWait) {
    if (arrivals == null || shut || !blockedSenders.isEmpty()) return null;
    int size = entry.size();
    entry.number = QueueEntry.ENTERING;
    entry.goTo(QueueEntry.QUEUE);
    if (arrivals.enter(entry, size)
        || mayWait && arrivals.awaitRoom(size) && blockedSenders.isEmpty() && arrivals.enter(entry, size))
      return shut ? takeBack(entry, size) ? EnterResult.SHUT : EnterResult.TAKEN
          : running.get() ? EnterResult.TAKEN : tryRun();
    entry.goTo(QueueEntry.OUTSIDE);
    return null;
  }

  /**
   * Takes a block out that just entered. The caller knows its size: by now others may follow it.
   * Returns false if the entry was taken, or is being removed because the door is shut.
   */
  public synchronized boolean takeBack(QueueEntry<E> block, int size) {
    collectArrivals();
    if (block.where != QueueEntry.QUEUE) return false;
    // admitted entries may follow the block
    for (QueueEntry<E> entry = block, next; size > 0; entry = next, size--) {
      next = entry.after;
      order.remove(entry);
      markGone(entry);
      entry.goTo(QueueEntry.OUTSIDE);
    }
    return true;
  }

  private void collectArrivals() {
    if (arrivals != null) entryCount += arrivals.moveTo(order.chain);
  }

  /** Lets in what must never wait or be dropped: over the capacity, not counted, even when shut. */
  public synchronized EnterResult admit(QueueEntry<E> entry) {
    prepare(entry);
    collectArrivals();
    append(entry);
    return tryRun();
  }

  public synchronized boolean runIfIdle() {
    return !shut && tryRun() == EnterResult.RUN;
  }

  /**
   * Waits for room. {@code isOver} is called after each wake-up. Returns false if the entry never
   * gets in. A park at the end of a fiber's stack throws a StackOverflowError; then it stays out.
   */
  public boolean await(QueueEntry<E> entry, BooleanSupplier isOver) {
    try {
      ManagedPark.until(() -> entry.where != QueueEntry.BLOCKED
          || (Thread.currentThread().isInterrupted() || isOver.getAsBoolean()) && withdrawBlocked(entry), this);
    } catch (Throwable deep) {
      if (withdrawBlocked(entry)) throw deep;
    }
    return entry.where != QueueEntry.OUTSIDE;
  }

  private synchronized boolean withdrawBlocked(QueueEntry<E> entry) {
    if (entry.where != QueueEntry.BLOCKED) return false;
    blockedSenders.remove(entry);
    sendAway(entry);
    promoteBlocked(); // it may have been too large
    return true;
  }

  // ---- needs the right to run

  public synchronized E poll() {
    var entry = first();
    return entry == null ? null : take(entry);
  }

  public boolean awaitNew() {
    return arrivals != null && arrivals.awaitNew();
  }

  /** Returns false if an entry waits; then the caller keeps the right to run. */
  public synchronized boolean release() {
    if (first() != null) return false;
    running.set(false);
    // a sender that entered in between saw a thread run, or has the right now
    return arrivals == null || !arrivals.hasNew() || tryRun() == EnterResult.TAKEN;
  }

  /**
   * Takes the first element that fits, or waits for one. {@code fits} runs outside the monitor,
   * {@code isOver} after each wake-up. Returns null if the thread was interrupted, the wait is
   * over, or the door is shut.
   */
  public E receive(Predicate<? super E> fits, BooleanSupplier isOver) {
    return selectiveReceive.receive(fits, isOver);
  }

  /** A thread waits in `receive`, and nothing ends that now. */
  public synchronized boolean isBlocked() {
    return selectiveReceive != null && !shut && selectiveReceive.isWaiting();
  }

  /** Puts entries before all others, over the capacity and not counted. */
  public synchronized void putBack(List<QueueEntry<E>> entries) {
    for (var entry : entries.reversed()) {
      order.chain.addFirst(entry);
      entry.goTo(QueueEntry.QUEUE);
      entryCount++;
    }
  }

  // ---- for all

  /** Removes an entry, and returns false if it was not in the queue. */
  public synchronized boolean remove(QueueEntry<E> entry) {
    collectArrivals();
    return entry.where == QueueEntry.QUEUE && (arrivals == null || entry.hasEntered()) && take(entry) != null;
  }

  /** In the order in which they would be taken. */
  public synchronized List<E> queued(int most) {
    collectArrivals();
    return order.entries(most).stream().map(entry -> entry.item(toElement)).toList();
  }

  /**
   * Waiting entries stay; blocked senders are refused, and a thread in {@link #receive} is woken.
   */
  public void stopAccepting() {
    List<QueueEntry<E>> refused;
    Thread handler;
    synchronized (this) {
      shut = true;
      refused = blockedSenders.clear();
      for (var one : refused) sendAway(one);
      handler = selectiveReceive == null ? null : selectiveReceive.receiver();
    }
    for (var one : refused) BlockedSenders.wake(one);
    LockSupport.unpark(handler);
  }

  /** Entries that count against the capacity. */
  synchronized int size() {
    return arrivals == null ? occupancy.count() : arrivals.count();
  }

  /** All entries but the pill. */
  public synchronized int entryCount() {
    collectArrivals();
    return entryCount;
  }

  public synchronized boolean isIdle() {
    return !running.get() && first() == null;
  }

  /** {@link EnterResult#TAKEN}: a thread has the right, or needs none. */
  EnterResult tryRun() {
    return !running.get() && running.compareAndSet(false, true) ? EnterResult.RUN : EnterResult.TAKEN;
  }

  // ---- under the monitor

  /** With arrivals, the block enters at once. */
  private boolean letIn(QueueEntry<E> block) {
    return arrivals == null ? occupancy.hasRoomFor(block) : arrivals.enter(block, block.size());
  }

  private void add(QueueEntry<E> block, long now) {
    collectArrivals();
    if (arrivals != null) return;
    for (QueueEntry<E> entry = block, next; entry != null; entry = next) {
      next = entry.after;
      entry.after = null;
      if (forecast != null) forecast.enter((RankedEntry<E>) entry, now);
      append(entry);
      occupancy.add(entry);
    }
  }

  void prepare(QueueEntry<E> entry) {} // may run code of the user, since the queue has not changed yet

  void sendAway(QueueEntry<E> entry) {
    entry.goTo(QueueEntry.OUTSIDE);
  }

  void append(QueueEntry<E> entry) {
    order.add(entry);
    entry.goTo(QueueEntry.QUEUE);
    if (!entry.pill) entryCount++;
    if (selectiveReceive != null) selectiveReceive.notifyArrival(entry);
  }

  final QueueEntry<E> first() {
    if (order.chain.head == null) collectArrivals();
    return order.first();
  }

  E take(QueueEntry<E> entry) {
    E item = entry.item(toElement);
    order.remove(entry);
    markGone(entry);
    return item;
  }

  final void markGone(QueueEntry<E> entry) {
    entry.goTo(QueueEntry.GONE);
    if (!entry.pill) entryCount--;
    if (forecast != null) forecast.depart();
    if (entry.counted && arrivals != null) arrivals.depart();
    else if (entry.counted) occupancy.remove(entry);
    entry.clear();
    if (entry.counted) promoteBlocked();
  }

  private void promoteBlocked() {
    while (!blockedSenders.isEmpty() && letIn(blockedSenders.first())) {
      var entry = blockedSenders.first();
      blockedSenders.remove(entry);
      add(entry, 0); // no sender is blocked where there is a forecast
      BlockedSenders.wake(entry);
    }
  }

  int ahead() {
    return entryCount;
  }

  List<E> dropOldest(QueueEntry<E> next) {
    var dropped = new ArrayList<E>();
    for (var entry = order.chain.head; entry != null && !occupancy.hasRoomFor(next);) {
      var after = entry.after;
      if (entry.mayBeDropped()) dropped.add(take(entry));
      entry = after;
    }
    return dropped;
  }
}
