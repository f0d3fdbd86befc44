package io.fibry.engine.queue;

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
 * The queue of every mailbox that is not plain: bounded, in order of priority, or chosen from. Made
 * by the engine alone. Thread-safe.
 *
 * <p>All but the way in is guarded by one monitor, in which nothing parks and no code of the user
 * runs but the comparator. Like the plain queue it is also the right to run: who is answered
 * {@link Answer#RUN} holds it, and gives it back by {@link #release}. Invariant: something waits
 * only while somebody holds the right, or is about to take it; somebody stands in the line only
 * while there is no room for the first there.
 *
 * <p>Where messages are taken as they come, and only refused or made to wait, senders do not take
 * the monitor: they enter the {@link Arrivals}, unless it is full, a line stands before it, or the
 * door is shut. Each looks at {@code shut} and {@code running} after it has entered. Who lets go of
 * the right to run looks into the inbox afterwards, so one of the two sees the other, and one
 * compare-and-set gives the right to one of them; who enters beside the end takes himself out.
 *
 * <p>A StackOverflowError in a change would leave the queue half changed: who calls one on a user's
 * stack makes sure that there is room; but for {@link #enter}, which as a rule calls nothing once
 * it has changed something.
 *
 * @param <E> what waits
 */
public class GuardedQueue<E> {

  /** What became of an offer. */
  public enum Answer {
    /** It waits in the queue; somebody else has the right to run. */
    TAKEN,
    /** It waits in the queue, and the right to run is the caller's. */
    RUN,
    /** It stands in the line; the caller must {@link GuardedQueue#await}. */
    BLOCKED,
    /** No room. */
    FULL,
    /** The door is shut. */
    SHUT
  }

  static {
    // now, and not while a place is on its way in at the edge of somebody's stack
    var linked = new GuardedQueue<>(Mailbox.unbounded());
    linked.offer(Entry.of(null), true);
    linked.enter(Entry.of(null), true);
    linked.await(Entry.of(null), () -> true);
  }

  private final Mailbox<?> mailbox;
  final BlockedSenders<E> blockedSenders = new BlockedSenders<>();
  final TakeOrder<E> order;
  final Occupancy occupancy; // null: the inbox counts
  int present; // all but the pill
  private final AtomicBoolean running = new AtomicBoolean();
  volatile boolean shut;
  private final Arrivals<E> arrivals; // null: senders always take the monitor
  private final SelectiveReceive<E> selectiveReceive; // null: no handler chooses from it
  private final Forecast forecast; // null: it does not matter how long something waits
  private final BiFunction<Object, Object, E> toElement; // null: it takes none

  /**
   * A queue that does what the mailbox says.
   *
   * @param mailbox how messages wait
   */
  GuardedQueue(Mailbox<?> mailbox) {
    this(mailbox, System::nanoTime, null);
  }

  /**
   * The same, with a clock of one's own, and letters.
   *
   * @param mailbox how messages wait
   * @param clock what it measures waits by; in nanoseconds
   * @param toElement makes an element of a {@link MessageEntry}, by who takes it; null: there
   * are none
   */
  public GuardedQueue(Mailbox<?> mailbox, LongSupplier clock, BiFunction<Object, Object, E> toElement) {
    this(mailbox, clock, toElement, false);
  }

  /** Shared: several workers take from it, so all is decided under the monitor. */
  GuardedQueue(Mailbox<?> mailbox, LongSupplier clock, BiFunction<Object, Object, E> toElement, boolean shared) {
    this.mailbox = mailbox;
    this.forecast = mailbox.target().isZero() ? null : new Forecast(clock, mailbox.target().toNanos());
    this.selectiveReceive = mailbox.isSelective() ? new SelectiveReceive<>(this) : null;
    boolean asTheyCome =
        !mailbox.ordered() && selectiveReceive == null && forecast == null
            && mailbox.overflow() != Overflow.DROP_OLDEST;
    this.arrivals = asTheyCome && !shared ? new Arrivals<>(mailbox.capacity()) : null;
    this.toElement = arrivals == null ? null : toElement;
    this.occupancy = arrivals == null ? new Occupancy(mailbox) : null;
    this.order = new TakeOrder<>(mailbox);
  }

  /**
   * {@return whether a mailbox needs such a queue; false for the plain one}
   *
   * @param mailbox how messages wait
   */
  public static boolean needed(Mailbox<?> mailbox) {
    return mailbox.capacity() < Integer.MAX_VALUE || mailbox.ordered() || mailbox.isSelective();
  }

  /** {@return the mailbox it was made of} */
  public Mailbox<?> mailbox() {
    return mailbox;
  }

  /** {@return how many may wait; {@link Integer#MAX_VALUE} where there is no limit} */
  public int capacity() {
    return mailbox.capacity();
  }

  /** {@return whether messages come as letters} */
  public boolean takesMessageEntries() {
    return toElement != null;
  }

  /**
   * An entry for a message or a task.
   *
   * @param item what waits
   * @param message what it holds
   * @param isMessage false: a task, which has no rank, no key, and weighs 1
   * @param receiver named in the exception, should the message not fit
   * @return an entry, not yet offered
   * @throws IllegalArgumentException if it can never be begun
   */
  public Entry<E> entry(E item, Object message, boolean isMessage, Object receiver) {
    if (takesMessageEntries()) return Entry.of(item);
    return isMessage ? RankedEntry.of(item, message) : RankedEntry.unranked(item);
  }

  /**
   * Lets a message in, or a block of them, where that is simple: somebody runs, the door is open,
   * and there is room or will be in a moment. For who has not made sure that there is room on his
   * stack.
   *
   * @param entry not yet offered
   * @param mayWait false: not for a moment
   * @return mostly {@link Answer#TAKEN}; but also what {@link #offer} answers, should the one who
   * runs let go just now. Null: it is not in, and must be offered
   */
  public Answer enter(Entry<E> entry, boolean mayWait) {
    return running.get() ? tryEnter(entry, mayWait && mailbox.overflow() == Overflow.BLOCK) : null;
  }

  /**
   * Offers a message, or a block of them.
   *
   * @param entry not yet offered
   * @param mayWait false: a full queue that would block answers {@link Answer#FULL} instead
   * @return what became of it
   */
  public Answer offer(Entry<E> entry, boolean mayWait) {
    var entered = tryEnter(entry, false);
    if (entered != null) return entered;
    long now = forecast == null ? 0 : forecast.now();
    synchronized (this) {
      if (shut) return Answer.SHUT;
      boolean fits = blockedSenders.isEmpty() && letIn(entry)
          && (forecast == null
              || forecast.isInTime((RankedEntry<E>) entry, (RankedEntry<E>) order.chain.head, ahead(), now));
      if (!fits
          && !(mailbox.overflow() == Overflow.DROP_OLDEST ? !entry.isTask()
              : mailbox.overflow() == Overflow.BLOCK && mayWait))
        return Answer.FULL;
      prepare(entry);
      if (!fits && mailbox.overflow() == Overflow.BLOCK) {
        blockedSenders.add(entry);
        return Answer.BLOCKED;
      }
      if (!fits) ((RankedEntry<E>) entry).dropped(dropOldest(entry));
      add(entry, now);
      return tryRun();
    }
  }

  /**
   * Without the monitor. What is read after it entered was written before it did, or its writer
   * sees it; and no call that follows goes deeper than entering did. Null: it did not enter.
   */
  private Answer tryEnter(Entry<E> entry, boolean mayWait) {
    if (arrivals == null || shut || !blockedSenders.isEmpty()) return null;
    int size = entry.size();
    entry.number = Entry.ENTERING;
    entry.goTo(Entry.QUEUE);
    if (arrivals.enter(entry, size)
        || mayWait && arrivals.awaitRoom(size) && blockedSenders.isEmpty() && arrivals.enter(entry, size))
      return shut ? enteredLate(entry, size)
          : running.get() || !running.compareAndSet(false, true) ? Answer.TAKEN : Answer.RUN;
    entry.goTo(Entry.OUTSIDE);
    return null;
  }

  /**
   * It entered while the door was being shut. Who empties the queue has begun with it, or it was
   * too late.
   */
  private synchronized Answer enteredLate(Entry<E> block, int size) {
    collectArrivals();
    if (block.where != Entry.QUEUE) return Answer.TAKEN;
    // behind it may stand what was admitted
    for (Entry<E> entry = block, next; size > 0; entry = next, size--) {
      next = entry.after;
      order.remove(entry);
      markGone(entry);
      entry.goTo(Entry.OUTSIDE);
    }
    return Answer.SHUT;
  }

  private void collectArrivals() {
    if (arrivals != null) present += arrivals.moveTo(order.chain);
  }

  /**
   * Admits what must never wait or be dropped: over the bound, not counted, also when the door is
   * shut.
   *
   * @param entry not yet offered
   * @return {@link Answer#TAKEN} or {@link Answer#RUN}
   */
  public synchronized Answer admit(Entry<E> entry) {
    prepare(entry);
    collectArrivals();
    append(entry);
    return tryRun();
  }

  /**
   * Takes the right to run for an element that does not wait: if nobody has it and the door is
   * open.
   *
   * @return true: the right is the caller's
   */
  public synchronized boolean runIfIdle() {
    return !shut && tryRun() == Answer.RUN;
  }

  /**
   * Puts elements back before all others, over the bound and not counted. For who holds the right
   * to run.
   *
   * @param entries in their order
   */
  public synchronized void putBack(List<Entry<E>> entries) {
    for (var entry : entries.reversed()) {
      order.chain.addFirst(entry);
      entry.goTo(Entry.QUEUE);
      present++;
    }
  }

  /**
   * Waits until there is room for what stands in the line. When it is over, or the thread is
   * interrupted, it leaves the line.
   *
   * @param entry answered {@link Answer#BLOCKED}
   * @param isOver whether the wait is over; looked at whenever the thread is woken
   * @return true: it was taken; false: it never will be
   */
  public boolean await(Entry<E> entry, BooleanSupplier isOver) {
    ManagedPark.until(() -> entry.where != Entry.BLOCKED
        || (Thread.currentThread().isInterrupted() || isOver.getAsBoolean()) && leaveLine(entry), this);
    return entry.where != Entry.OUTSIDE;
  }

  private synchronized boolean leaveLine(Entry<E> entry) {
    if (entry.where != Entry.BLOCKED) return false;
    blockedSenders.remove(entry);
    sendAway(entry);
    promoteBlocked(); // a block that stood before others may have left
    return true;
  }

  /**
   * Takes what comes next. For who holds the right to run, and keeps it.
   *
   * @return null if nothing waits
   */
  public synchronized E poll() {
    var entry = first();
    return entry == null ? null : take(entry);
  }

  /**
   * {@return whether a message came by now, or did within a moment; for who has the right to run,
   * and found nothing}
   */
  public boolean awaitNew() {
    return arrivals != null && arrivals.awaitNew();
  }

  /**
   * Gives the right to run back, if nothing waits.
   *
   * @return false: something waits, and the right is still the caller's
   */
  public synchronized boolean release() {
    if (first() != null) return false;
    running.set(false);
    // who entered in between saw somebody run, or runs
    return arrivals == null || !arrivals.hasNew() || tryRun() == Answer.TAKEN;
  }

  /**
   * Takes one element out, wherever it stands, and frees its place.
   *
   * @param entry offered before
   * @return true if it was there
   */
  public synchronized boolean remove(Entry<E> entry) {
    collectArrivals();
    // else it is about to enter
    return entry.where == Entry.QUEUE && (arrivals == null || entry.counted || entry.number == 0)
        && take(entry) != null;
  }

  /**
   * Takes the first element that fits, waiting for one to come. For who holds the right to run, and
   * only where the mailbox is selective.
   *
   * @param fits which; runs outside the monitor
   * @param isOver whether the wait is over; looked at whenever the thread is woken
   * @return null if none came before it was over, the thread was interrupted, or the door was shut
   */
  public E receive(Predicate<? super E> fits, BooleanSupplier isOver) {
    return selectiveReceive.receive(fits, isOver);
  }

  /**
   * {@return the first of what waits now, in the order in which it would be taken}
   *
   * @param most how many
   */
  public synchronized List<E> waiting(int most) {
    collectArrivals();
    return order.entries(most).stream().map(entry -> entry.item(toElement)).toList();
  }

  /**
   * Shuts the door: what waits stays, the line is sent away, and a handler that waits inside
   * {@link #receive} is woken.
   */
  public void shutDoor() {
    List<Entry<E>> refused;
    Thread handler;
    synchronized (this) {
      shut = true;
      refused = blockedSenders.clear();
      refused.forEach(this::sendAway);
      handler = selectiveReceive == null ? null : selectiveReceive.receiver();
    }
    refused.forEach(BlockedSenders::wake);
    LockSupport.unpark(handler);
  }

  /** {@return how many wait that count against the capacity} */
  synchronized int size() {
    return arrivals == null ? occupancy.count() : arrivals.count();
  }

  /** {@return how many wait, whether they count or not; without the pill} */
  public synchronized int present() {
    collectArrivals();
    return present;
  }

  /** {@return whether nobody has the right to run, so nothing waits} */
  public synchronized boolean isIdle() {
    return !running.get() && first() == null;
  }

  // ---- under the monitor

  Answer tryRun() {
    return !running.get() && running.compareAndSet(false, true) ? Answer.RUN : Answer.TAKEN;
  }

  /** Whether there is room; it is taken then, where senders enter by themselves. */
  private boolean letIn(Entry<E> block) {
    return arrivals == null ? occupancy.hasRoomFor(block) : arrivals.enter(block, block.size());
  }

  private void add(Entry<E> block, long now) {
    collectArrivals();
    if (arrivals != null) return;
    for (Entry<E> entry = block, next; entry != null; entry = next) {
      next = entry.after;
      entry.after = null;
      if (forecast != null) forecast.enters((RankedEntry<E>) entry, now);
      append(entry);
      occupancy.add(entry);
    }
  }

  void prepare(Entry<E> entry) {} // asks the user's code, before anything has changed

  void sendAway(Entry<E> entry) {
    entry.goTo(Entry.OUTSIDE);
  }

  void append(Entry<E> entry) {
    order.add(entry);
    entry.goTo(Entry.QUEUE);
    if (!entry.pill) present++;
    if (selectiveReceive != null) selectiveReceive.notifyArrival(entry);
  }

  /** What comes next; null: nothing waits. */
  final Entry<E> first() {
    if (order.chain.head == null) collectArrivals();
    return order.first();
  }

  E take(Entry<E> entry) {
    E item = entry.item(toElement);
    order.remove(entry);
    markGone(entry);
    return item;
  }

  final void markGone(Entry<E> entry) {
    entry.goTo(Entry.GONE);
    if (!entry.pill) present--;
    if (forecast != null) forecast.depart();
    if (entry.counted && arrivals != null) arrivals.depart();
    else if (entry.counted) occupancy.remove(entry);
    entry.forget();
    if (entry.counted) promoteBlocked();
  }

  private void promoteBlocked() {
    while (!blockedSenders.isEmpty() && letIn(blockedSenders.first())) {
      var entry = blockedSenders.first();
      blockedSenders.remove(entry);
      add(entry, 0); // there is no line where there is a pace
      BlockedSenders.wake(entry);
    }
  }

  /** How many come before who comes now. */
  int ahead() {
    return present;
  }

  List<E> dropOldest(Entry<E> next) {
    var dropped = new ArrayList<E>();
    for (var entry = order.chain.head; entry != null && !occupancy.hasRoomFor(next);) {
      var after = entry.after;
      if (entry.mayBeDropped()) dropped.add(take(entry));
      entry = after;
    }
    return dropped;
  }
}
