package io.fibry.engine.queue;

import io.fibry.engine.jvm.EngineThreads;
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
import java.util.function.BiPredicate;
import java.util.function.Predicate;

/**
 * The queue of every mailbox except the plain one, and the right to run its actor. Thread-safe.
 *
 * <p><b>Right to run.</b> {@link EnterResult#RUN} gives the right to a sender, {@link #release}
 * takes the right from the drain. An entry waits only while a thread has the right, or is about to
 * take it. A sender is blocked only while the entry of the first blocked sender does not fit.
 *
 * <p><b>Monitor.</b> The monitor of the queue guards everything except the arrivals and the taken
 * messages. No thread parks while it holds the monitor. The only user code under the monitor is the
 * comparator, and {@code hashCode} and {@code equals} of keys.
 *
 * <p><b>Fast path.</b> A first-in, first-out mailbox that refuses or blocks when it is full has an
 * entrance without the monitor: the {@link ArrivalBuffer}. A sender adds its entry, and then reads
 * {@code isShut} and {@code isRunning}. A drain clears {@code isRunning}, and then looks for
 * arrivals. So at least one of the two threads sees the other, and a compare-and-set gives the
 * right to run to one of them.
 *
 * <p><b>Taken messages.</b> From such a mailbox, the drain takes several messages at once, and then
 * begins each without the monitor ({@link TakenMessages}). Before it takes the monitor for the next
 * messages, it checks without the monitor whether there are any. If it misses an entry, {@link
 * #release} finds this entry under the monitor, and the drain keeps the right to run. A drain
 * counts a departure, and then reads whether senders are blocked. A sender joins the blocked
 * senders, and then reads the count. So at least one of the two threads sees the other, and lets
 * the sender's entry in.
 *
 * <p><b>Failure.</b> A StackOverflowError under the monitor would leave a change half done, so
 * callers probe the stack of a user's thread first. Only {@link #enter} probes the stack itself, so
 * that it can withdraw its entry. In most cases {@link #enter} calls no method after the entry has
 * entered.
 *
 * <p><b>Refused.</b> {@code ReentrantLock}: a StackOverflowError left it locked. A binary heap: it
 * compares when its first entry is taken, so a comparator that throws would fail the drain. A tree
 * takes its first entry without a comparison.
 */
public class GuardedQueue<E> {
  public enum EnterResult {
    /**
     * The entry is in the queue; another thread has the right to run, or no thread needs it yet.
     */
    TAKEN,
    /** The entry is in the queue; the caller has the right to run. */
    RUN,
    /** The entry waits for space; its sender must call {@link GuardedQueue#await}. */
    BLOCKED,
    FULL,
    SHUT
  }

  private static final int MAX_CHECKS = 256; // entries at each end that an observer checks

  static {
    // links the code now, because a sender with little stack left could not link it while its entry
    // enters
    var queue = new GuardedQueue<>(Mailbox.unbounded());
    queue.offer(QueueEntry.of(null), true);
    queue.enter(QueueEntry.of(null), true);
    queue.await(QueueEntry.of(null), () -> true);
  }

  private final Mailbox<?> mailbox;
  final BlockedSenders<E> blockedSenders = new BlockedSenders<>();
  final TakeOrder<E> order;
  final OccupiedPlaces occupiedPlaces; // null: the ArrivalBuffer counts the entries
  int entryCount; // number of entries without the pill and without `taken`
  // whether a thread has the right to run; in a pool, whether no worker is free
  final AtomicBoolean isRunning = new AtomicBoolean();
  volatile boolean isShut; // written under the monitor, read by all
  private final ArrivalBuffer<E> arrivals; // null: all senders take the monitor
  private final TakenMessages<E> taken; // null if `arrivals` is
  // whether the last thread that got RUN was on a carrier; a hint for the drain
  private boolean isWokenOnCarrier;
  // whether a near sender was woken since the drain last waited for one; a hint for the drain
  private boolean hasWokenSender;
  private final AdaptiveSpin senderYield; // null if `arrivals` is; used by the drain
  private final SelectiveReceive<E> selectiveReceive;
  private final WaitEstimator waitEstimator; // null: the mailbox has no maximum wait
  private final BiFunction<Object, Object, E> toElement;

  GuardedQueue(Mailbox<?> mailbox) {
    this(mailbox, System::nanoTime, null);
  }

  /**
   * {@code toElement} makes an element from the message and baggage of a {@link MessageEntry}. It
   * is null for a queue that takes no such entries.
   */
  public GuardedQueue(Mailbox<?> mailbox, LongSupplier clock, BiFunction<Object, Object, E> toElement) {
    this(mailbox, clock, toElement, false);
  }

  GuardedQueue(Mailbox<?> mailbox, LongSupplier clock, BiFunction<Object, Object, E> toElement, boolean hasKeys) {
    this.mailbox = mailbox;
    this.waitEstimator = mailbox.maxWait().isZero() ? null : new WaitEstimator(clock, mailbox.maxWait().toNanos());
    this.selectiveReceive = mailbox.isSelective() ? new SelectiveReceive<>(this) : null;
    boolean needsMonitor = hasKeys || mailbox.isPriority() || mailbox.isSelective() || waitEstimator != null
        || mailbox.overflow() == Overflow.DROP_OLDEST;
    this.taken = needsMonitor ? null : new TakenMessages<>();
    this.arrivals = needsMonitor ? null : new ArrivalBuffer<>(mailbox.capacity(), taken);
    this.toElement = needsMonitor ? null : toElement;
    this.senderYield = needsMonitor ? null : new AdaptiveSpin();
    this.occupiedPlaces = needsMonitor ? new OccupiedPlaces(mailbox) : null;
    this.order = new TakeOrder<>(mailbox);
  }

  public Mailbox<?> mailbox() {
    return mailbox;
  }

  public boolean takesMessageEntries() {
    return toElement != null;
  }

  /**
   * Makes the entry of a message or of a task. A task has no rank and no key, and weighs 1.
   */
  public QueueEntry<E> newEntry(E item, Object message, boolean isMessage, Object receiver) {
    if (takesMessageEntries()) return QueueEntry.of(item);
    return isMessage ? RankedEntry.of(item, message) : RankedEntry.unranked(item);
  }

  /**
   * Lets the entry in without the monitor, perhaps after a spin, if a thread has the right to run,
   * the queue is open and the entry fits. Returns the result, which is {@link EnterResult#TAKEN} in
   * most cases, or null if the caller must call {@link #offer}.
   */
  public EnterResult enter(QueueEntry<E> entry, boolean mayWait) {
    if (arrivals == null || !isRunning.get()) return null;
    StackProbe.probe(); // withdrawing the entry, if that becomes necessary, needs this stack
    return tryEnter(entry, mayWait && mailbox.overflow() == Overflow.BLOCK);
  }

  /**
   * Lets the entry in, blocks its sender, or refuses it. If {@code mayWait} is false, the result is
   * {@link EnterResult#FULL} in place of BLOCKED.
   */
  public EnterResult offer(QueueEntry<E> entry, boolean mayWait) {
    var result = tryEnter(entry, false);
    if (result != null) return result;
    long now = waitEstimator == null ? 0 : waitEstimator.now();
    var overflow = mailbox.overflow();
    synchronized (this) {
      if (isShut) return EnterResult.SHUT;
      boolean isLetIn = blockedSenders.isEmpty() && tryLetIn(entry) && (waitEstimator == null
          || waitEstimator.isWithinMaxWait((RankedEntry<E>) entry, (RankedEntry<E>) order.chain.head, countAhead(),
              now));
      if (!isLetIn && !(overflow == Overflow.DROP_OLDEST ? !entry.isTask() : overflow == Overflow.BLOCK && mayWait))
        return EnterResult.FULL;
      prepare(entry);
      if (!isLetIn && overflow == Overflow.BLOCK) {
        blockedSenders.add(entry);
        if (arrivals == null || !letInIfFirst(entry)) return EnterResult.BLOCKED;
      } else if (!isLetIn) ((RankedEntry<E>) entry).droppedElements = dropOldest(entry);
      add(entry, now);
      return tryTakeRun();
    }
  }

  /**
   * Lets the entry in without the monitor, or returns null. If this thread, after its entry has
   * entered, does not see a change of {@code isShut} or {@code isRunning}, the thread that makes
   * the change sees the entry. The calls after the entry has entered need no more stack than the
   * calls before.
   */
  private EnterResult tryEnter(QueueEntry<E> entry, boolean mayWait) {
    if (arrivals == null || isShut || !blockedSenders.isEmpty()) return null;
    int size = entry.size();
    entry.number = QueueEntry.ENTERING;
    entry.setState(QueueEntry.QUEUE);
    if (arrivals.enter(entry, size)
        || mayWait && !takesTurns() && arrivals.awaitSpace(size) && blockedSenders.isEmpty()
            && arrivals.enter(entry, size))
      return isShut ? takeBack(entry, size) ? EnterResult.SHUT : EnterResult.TAKEN
          : isRunning.get() ? EnterResult.TAKEN : tryTakeRun();
    entry.setState(QueueEntry.OUTSIDE);
    return null;
  }

  /**
   * Withdraws a block, which is {@code size} entries of one sender, right after it has entered. The
   * caller gives the size, because other entries may be linked behind the block now. Returns false
   * if the block was taken, or is being removed because the queue is shut.
   */
  public synchronized boolean takeBack(QueueEntry<E> block, int size) {
    collectArrivals();
    if (block.state != QueueEntry.QUEUE) return false;
    // admitted entries may follow the block
    for (QueueEntry<E> entry = block, nextEntry; size > 0; entry = nextEntry, size--) {
      nextEntry = entry.next;
      order.remove(entry);
      markGone(entry);
      entry.setState(QueueEntry.OUTSIDE);
    }
    return true;
  }

  /**
   * Returns whether this sender should park at once. The drain then continues it on its own
   * carrier. With a spin, the two would stay on two carriers.
   */
  private boolean takesTurns() {
    return isNearSenders() && EngineThreads.isOnCarriers(Thread.currentThread());
  }

  private void collectArrivals() {
    if (arrivals != null) entryCount += arrivals.moveTo(order.chain);
  }

  /**
   * Lets in an entry that must never wait or be dropped. Such an entry may exceed the capacity,
   * does not count against it, and enters even if the queue is shut.
   */
  public synchronized EnterResult admit(QueueEntry<E> entry) {
    prepare(entry);
    collectArrivals();
    append(entry);
    return tryTakeRun();
  }

  public synchronized boolean takeRunIfIdle() {
    return !isShut && tryTakeRun() == EnterResult.RUN;
  }

  /**
   * Waits until the blocked entry is let in or refused, the thread is interrupted, or
   * {@code isOver} returns true after a wake-up. Returns whether the entry was let in. If a fiber
   * parks with too little stack, a StackOverflowError is thrown, and the entry stays outside.
   */
  public boolean await(QueueEntry<E> entry, BooleanSupplier isOver) {
    try {
      ManagedPark.until(() -> entry.state != QueueEntry.BLOCKED
          || (Thread.currentThread().isInterrupted() || isOver.getAsBoolean()) && withdrawBlocked(entry), this);
    } catch (Throwable error) {
      if (withdrawBlocked(entry)) throw error;
    }
    return entry.state != QueueEntry.OUTSIDE;
  }

  private synchronized boolean withdrawBlocked(QueueEntry<E> entry) {
    if (entry.state != QueueEntry.BLOCKED) return false;
    blockedSenders.remove(entry);
    markOutside(entry);
    promoteBlocked(); // the withdrawn block may have been too large, and the next block may fit
    return true;
  }

  // ---- for the thread that has the right to run

  /** Takes the next element. Returns null if no entry waits. */
  public E poll() {
    if (toElement == null) return takeFirst();
    if (taken.first == null) return takeMeasured();
    E item = taken.begin(toElement);
    if (!blockedSenders.isEmpty()) admitBlocked();
    return item;
  }

  private E takeMeasured() {
    taken.endSample();
    if (!mayHaveEntry()) return null;
    E item = takeFirst();
    if (item != null && taken.first == null) taken.beginSample();
    return item;
  }

  /**
   * Returns whether an entry seems to wait. Called without the monitor, so the result is a hint:
   * {@link #release} looks again.
   */
  private boolean mayHaveEntry() {
    return arrivals.hasNew() || order.chain.head != null;
  }

  /**
   * Takes the first entry. If it is a message, takes the messages behind it, too, and the messages
   * of the senders that get space by it.
   */
  private synchronized E takeFirst() {
    var entry = first();
    if (entry == null) return null;
    int count = toElement == null ? 0 : taken.takeFrom(order.chain);
    if (count == 0) return take(entry);
    entryCount -= count;
    E item = taken.begin(toElement);
    if (blockedSenders.isEmpty()) return item;
    promoteBlocked();
    entryCount -= taken.takeFrom(order.chain);
    return item;
  }

  /** Spins for an entry. Called by a drain that has handled many messages and has found no more. */
  public boolean awaitNew() {
    return arrivals != null && !(isWokenOnCarrier && isNearSenders()) && arrivals.awaitNew();
  }

  /**
   * If a sender was woken and waits for this carrier, lets the sender run first. Called by a drain
   * on a fiber that has found no more entries. So the sender fills the mailbox again, and the drain
   * continues without a new activation. Returns whether an entry seems to wait.
   */
  public boolean awaitWokenSender() {
    if (!hasWokenSender) return false;
    hasWokenSender = false;
    if (!senderYield.mayStart()) return false;
    EngineThreads.yieldNear();
    return senderYield.record(mayHaveEntry());
  }

  public void recordMessageTime(long nanos) {
    if (taken != null) taken.recordMessageTime(nanos);
  }

  /** Called by all threads. */
  public boolean isNearSenders() {
    return toElement != null && mailbox.overflow() == Overflow.BLOCK && taken.isQuick();
  }

  /** Called by a sender that got {@link EnterResult#RUN}. */
  public void noteWaker() {
    boolean isOnCarrier = EngineThreads.isOnCarriers(Thread.currentThread());
    if (isOnCarrier != isWokenOnCarrier) isWokenOnCarrier = isOnCarrier;
  }

  /**
   * Releases the right to run. Returns false if an entry waits; then the caller keeps the right.
   */
  public synchronized boolean release() {
    if (taken != null && taken.first != null || first() != null) return false;
    isRunning.set(false);
    // a sender whose entry has just entered may have seen `isRunning` set: this thread then takes
    // the right again. Otherwise the sender has taken the right
    return arrivals == null || !arrivals.hasNew() || tryTakeRun() == EnterResult.TAKEN;
  }

  /**
   * Takes the first element that the filter accepts, or waits for such an element. {@code filter}
   * runs outside the monitor; {@code isOver} is called after each wake-up. Returns null if the
   * thread was interrupted, {@code isOver} returned true, or the queue is shut.
   */
  public E receive(Predicate<? super E> filter, BooleanSupplier isOver) {
    return selectiveReceive.receive(filter, isOver);
  }

  /**
   * Returns whether a thread waits in {@code receive}, and neither an entry nor another event lets
   * it continue.
   */
  public synchronized boolean isBlocked() {
    return selectiveReceive != null && !isShut && selectiveReceive.isWaiting();
  }

  /**
   * Puts the entries before all others. The entries may exceed the capacity, and do not count
   * against it.
   */
  public synchronized void putBack(List<QueueEntry<E>> entries) {
    for (var entry : entries.reversed()) {
      order.chain.addFirst(entry);
      entry.setState(QueueEntry.QUEUE);
      entryCount++;
    }
  }

  // ---- for all threads

  /**
   * Removes an entry. Returns false if it was not in the queue, or the drain has already taken it.
   */
  public synchronized boolean remove(QueueEntry<E> entry) {
    collectArrivals();
    return entry.state == QueueEntry.QUEUE && (arrivals == null || entry.hasEntered()) && take(entry) != null;
  }

  /** Returns at most {@code max} elements that wait, in the order in which they will begin. */
  public synchronized List<E> queued(int max) {
    collectArrivals();
    var takenElements = taken == null ? List.<E>of() : taken.elements(max, toElement);
    var elements = entries(max - takenElements.size()).stream().map(entry -> entry.item(toElement)).toList();
    if (takenElements.isEmpty()) return elements;
    takenElements.addAll(elements);
    return takenElements;
  }

  /**
   * Shuts the queue. Waiting entries stay; blocked senders are refused, and a thread in
   * {@link #receive} is woken.
   */
  public void stopAccepting() {
    List<QueueEntry<E>> refusedEntries;
    Thread handler;
    synchronized (this) {
      isShut = true;
      refusedEntries = blockedSenders.clear();
      for (var entry : refusedEntries) markOutside(entry);
      handler = selectiveReceive == null ? null : selectiveReceive.receiver();
    }
    for (var entry : refusedEntries) tryWake(entry, false);
    LockSupport.unpark(handler);
  }

  /** Returns the number of entries that count against the capacity. */
  synchronized int size() {
    return arrivals == null ? occupiedPlaces.count() : arrivals.count();
  }

  /**
   * Returns the message that will be taken or begun last; among messages without a rank, this is
   * the newest. Returns null if no message waits.
   */
  public synchronized QueueEntry<E> newest() {
    collectArrivals();
    var last = lastMessage();
    return last != null || taken == null ? last : taken.newest();
  }

  /**
   * Returns the message that expires after the others, among the last and the first entries.
   * Returns null if no message is found.
   *
   * @param expiresLater whether the first of two entries expires after the second
   */
  public synchronized QueueEntry<E> longestLasting(BiPredicate<QueueEntry<E>, QueueEntry<E>> expiresLater) {
    collectArrivals();
    QueueEntry<E> lasting = null;
    int checks = 0;
    for (var entry = order.chain.tail; entry != null && checks < MAX_CHECKS; checks++, entry = entry.previous)
      lasting = longerLasting(lasting, entry, expiresLater);
    for (var entry : entries(MAX_CHECKS)) lasting = longerLasting(lasting, entry, expiresLater);
    return taken == null ? lasting : longerLasting(lasting, taken.newest(), expiresLater);
  }

  /** Returns the message that expires later; the first if neither does. Each may be null. */
  private static <E> QueueEntry<E> longerLasting(QueueEntry<E> first, QueueEntry<E> second,
      BiPredicate<QueueEntry<E>, QueueEntry<E>> expiresLater) {
    if (second == null || second.isPill) return first;
    return first == null || expiresLater.test(second, first) ? second : first;
  }

  QueueEntry<E> lastMessage() {
    return order.lastMessage();
  }

  /** Returns at most {@code max} entries, in the order in which they will be taken. */
  List<? extends QueueEntry<E>> entries(int max) {
    return order.entries(max);
  }

  /** Returns the number of entries without the pill. */
  public synchronized int entryCount() {
    collectArrivals();
    return taken == null ? entryCount : entryCount + taken.count();
  }

  public synchronized boolean isIdle() {
    return !isRunning.get() && first() == null;
  }

  /**
   * Takes the right to run if no thread has it. Returns {@link EnterResult#TAKEN} if another thread
   * has the right, or no thread needs it.
   */
  EnterResult tryTakeRun() {
    return !isRunning.get() && isRunning.compareAndSet(false, true) ? EnterResult.RUN : EnterResult.TAKEN;
  }

  // ---- under the monitor

  /**
   * Returns whether the block fits. With an ArrivalBuffer, true means that the block has entered.
   */
  private boolean tryLetIn(QueueEntry<E> block) {
    return arrivals == null ? occupiedPlaces.hasSpaceFor(block) : arrivals.enter(block, block.size());
  }

  private void add(QueueEntry<E> block, long now) {
    collectArrivals();
    if (arrivals != null) return;
    for (QueueEntry<E> entry = block, nextEntry; entry != null; entry = nextEntry) {
      nextEntry = entry.next;
      entry.next = null;
      if (waitEstimator != null) waitEstimator.enter((RankedEntry<E>) entry, now);
      append(entry);
      occupiedPlaces.add(entry);
    }
  }

  void prepare(QueueEntry<E> entry) {} // called before the entry enters; may run code of the user

  void markOutside(QueueEntry<E> entry) {
    entry.setState(QueueEntry.OUTSIDE);
  }

  void append(QueueEntry<E> entry) {
    order.add(entry);
    entry.setState(QueueEntry.QUEUE);
    if (!entry.isPill) entryCount++;
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
    entry.setGone();
    if (!entry.isPill) entryCount--;
    if (waitEstimator != null) waitEstimator.depart();
    if (entry.isCounted && taken != null) taken.depart();
    else if (entry.isCounted) occupiedPlaces.remove(entry);
    entry.clear();
    if (entry.isCounted) promoteBlocked();
  }

  /**
   * Lets the blocked entry in if it is the first one and fits now. The drain may have begun a
   * message since this thread has found the queue full, and may not have seen that its sender is
   * blocked.
   */
  private boolean letInIfFirst(QueueEntry<E> entry) {
    if (blockedSenders.first() != entry || !tryLetIn(entry)) return false;
    blockedSenders.remove(entry);
    entry.sender = null;
    return true;
  }

  private synchronized void admitBlocked() {
    promoteBlocked();
  }

  private void promoteBlocked() {
    while (!blockedSenders.isEmpty() && tryLetIn(blockedSenders.first())) {
      var entry = blockedSenders.first();
      blockedSenders.remove(entry);
      add(entry, 0); // time 0, because a queue with a wait estimator blocks no sender
      boolean isNear = isNearSenders();
      if (isNear && EngineThreads.isOnCarriers(entry.sender)) hasWokenSender = true;
      tryWake(entry, isNear);
    }
  }

  /**
   * Wakes the sender of the entry. An error, for example for lack of memory on Java 21, does not
   * leave this method. Otherwise the drain would lose the message that it has begun, and the next
   * senders would stay blocked.
   */
  private void tryWake(QueueEntry<E> entry, boolean isNear) {
    try {
      wake(entry, isNear);
    } catch (Throwable noMemory) { // the entry was let in or refused, so nothing is left to do for the queue
    }
  }

  void wake(QueueEntry<E> entry, boolean isNear) {
    BlockedSenders.wake(entry, isNear);
  }

  int countAhead() {
    return entryCount;
  }

  List<E> dropOldest(QueueEntry<E> newEntry) {
    var droppedElements = new ArrayList<E>();
    for (var entry = order.chain.head; entry != null && !occupiedPlaces.hasSpaceFor(newEntry);) {
      var nextEntry = entry.next;
      if (entry.mayBeDropped()) droppedElements.add(take(entry));
      entry = nextEntry;
    }
    return droppedElements;
  }
}
