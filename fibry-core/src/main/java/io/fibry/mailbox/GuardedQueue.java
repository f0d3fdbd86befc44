package io.fibry.mailbox;

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
 * the monitor: they enter the {@link Inbox}, unless it is full, a line stands before it, or the
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
public sealed class GuardedQueue<E> permits SharedQueue {

  /** What became of an offer. */
  public enum Answer {
    /** It waits in the queue; somebody else has the right to run. */
    TAKEN,
    /** It waits in the queue, and the right to run is the caller's. */
    RUN,
    /** It stands in the line; the caller must {@link GuardedQueue#await}. */
    LINE,
    /** No room. */
    FULL,
    /** The door is shut. */
    SHUT
  }

  static {
    // now, and not while a place is on its way in at the edge of somebody's stack
    var linked = new GuardedQueue<>(Mailbox.unbounded());
    linked.offer(Place.of(null), true);
    linked.enter(Place.of(null), true);
    linked.await(Place.of(null), () -> true);
  }

  private final Mailbox<?> kind;
  final Line<E> line = new Line<>();
  final Order<E> order;
  final Room room; // null: the inbox counts
  int present; // all but the pill
  private final AtomicBoolean running = new AtomicBoolean();
  volatile boolean shut;
  private final Inbox<E> inbox; // null: senders always take the monitor
  private final Choosing<E> choosing; // null: no handler chooses from it
  private final Pace pace; // null: it does not matter how long something waits
  private final BiFunction<Object, Object, E> letters; // null: it takes none

  /**
   * A queue that does what the mailbox says.
   *
   * @param kind how messages wait
   */
  public GuardedQueue(Mailbox<?> kind) {
    this(kind, System::nanoTime, null);
  }

  /**
   * The same, with a clock of one's own, and letters.
   *
   * @param kind how messages wait
   * @param clock what it measures waits by; in nanoseconds
   * @param letters makes an element of a {@link Place#letter letter}, by who takes it; null: there
   * are none
   */
  public GuardedQueue(Mailbox<?> kind, LongSupplier clock, BiFunction<Object, Object, E> letters) {
    this.kind = kind;
    this.pace = kind.target().isZero() ? null : new Pace(clock, kind.target().toNanos());
    this.choosing = kind.isSelective() ? new Choosing<>(this) : null;
    boolean asTheyCome =
        !kind.ordered() && choosing == null && pace == null && kind.overflow() != Overflow.DROP_OLDEST;
    this.inbox = asTheyCome && !(this instanceof SharedQueue) ? new Inbox<>(kind.capacity()) : null;
    this.letters = inbox == null ? null : letters;
    this.room = inbox == null ? new Room(kind) : null;
    this.order = new Order<>(kind);
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
    return kind;
  }

  /** {@return how many may wait; {@link Integer#MAX_VALUE} where there is no limit} */
  public int capacity() {
    return kind.capacity();
  }

  /** {@return whether messages come as letters} */
  public boolean takesLetters() {
    return letters != null;
  }

  /**
   * Lets a message in, or a block of them, where that is simple: somebody runs, the door is open,
   * and there is room or will be in a moment. For who has not made sure that there is room on his
   * stack.
   *
   * @param place not yet offered
   * @param mayWait false: not for a moment
   * @return mostly {@link Answer#TAKEN}; but also what {@link #offer} answers, should the one who
   * runs let go just now. Null: it is not in, and must be offered
   */
  public Answer enter(Place<E> place, boolean mayWait) {
    return running.get() ? tryEnter(place, mayWait && kind.overflow() == Overflow.BLOCK) : null;
  }

  /**
   * Offers a message, or a block of them.
   *
   * @param place not yet offered
   * @param mayWait false: a full queue that would block answers {@link Answer#FULL} instead
   * @return what became of it
   */
  public Answer offer(Place<E> place, boolean mayWait) {
    var entered = tryEnter(place, false);
    if (entered != null) return entered;
    long now = pace == null ? 0 : pace.now();
    synchronized (this) {
      if (shut) return Answer.SHUT;
      boolean fits = line.isEmpty() && letIn(place)
          && (pace == null || pace.isInTime((Ranked<E>) place, (Ranked<E>) order.chain.head, ahead(), now));
      if (!fits
          && !(kind.overflow() == Overflow.DROP_OLDEST ? !place.isTask()
              : kind.overflow() == Overflow.BLOCK && mayWait))
        return Answer.FULL;
      expect(place);
      if (!fits && kind.overflow() == Overflow.BLOCK) {
        line.add(place);
        return Answer.LINE;
      }
      if (!fits) ((Ranked<E>) place).dropped(dropOldest(place));
      add(place, now);
      return run();
    }
  }

  /**
   * Without the monitor. What is read after it entered was written before it did, or its writer
   * sees it; and no call that follows goes deeper than entering did. Null: it did not enter.
   */
  private Answer tryEnter(Place<E> place, boolean mayWait) {
    if (inbox == null || shut || !line.isEmpty()) return null;
    int size = place.size();
    place.number = Place.COMING;
    place.goTo(Place.QUEUE);
    if (inbox.enter(place, size) || mayWait && inbox.awaitRoom(size) && line.isEmpty() && inbox.enter(place, size))
      return shut ? late(place, size)
          : running.get() || !running.compareAndSet(false, true) ? Answer.TAKEN : Answer.RUN;
    place.goTo(Place.OUTSIDE);
    return null;
  }

  /**
   * It entered while the door was being shut. Who empties the queue has begun with it, or it was
   * too late.
   */
  private synchronized Answer late(Place<E> block, int size) {
    takeIn();
    if (block.where != Place.QUEUE) return Answer.TAKEN;
    // behind it may stand what was admitted
    for (Place<E> place = block, next; size > 0; place = next, size--) {
      next = place.after;
      order.remove(place);
      gone(place);
      place.goTo(Place.OUTSIDE);
    }
    return Answer.SHUT;
  }

  private void takeIn() {
    if (inbox != null) present += inbox.moveTo(order.chain);
  }

  /**
   * Admits what must never wait or be dropped: over the bound, not counted, also when the door is
   * shut.
   *
   * @param place not yet offered
   * @return {@link Answer#TAKEN} or {@link Answer#RUN}
   */
  public synchronized Answer admit(Place<E> place) {
    expect(place);
    takeIn();
    append(place);
    return run();
  }

  /**
   * Takes the right to run for an element that does not wait: if nobody has it and the door is
   * open.
   *
   * @return true: the right is the caller's
   */
  public synchronized boolean runIfIdle() {
    return !shut && run() == Answer.RUN;
  }

  /**
   * Puts elements back before all others, over the bound and not counted. For who holds the right
   * to run.
   *
   * @param places in their order
   */
  public synchronized void putBack(List<Place<E>> places) {
    for (var place : places.reversed()) {
      order.chain.addFirst(place);
      place.goTo(Place.QUEUE);
      present++;
    }
  }

  /**
   * Waits until there is room for what stands in the line. When it is over, or the thread is
   * interrupted, it leaves the line.
   *
   * @param place answered {@link Answer#LINE}
   * @param over whether the wait is over; looked at whenever the thread is woken
   * @return true: it was taken; false: it never will be
   */
  public boolean await(Place<E> place, BooleanSupplier over) {
    Parked.until(() -> place.where != Place.LINE
        || (Thread.currentThread().isInterrupted() || over.getAsBoolean()) && leaveLine(place), this);
    return place.where != Place.OUTSIDE;
  }

  private synchronized boolean leaveLine(Place<E> place) {
    if (place.where != Place.LINE) return false;
    line.remove(place);
    sendAway(place);
    promote(); // a block that stood before others may have left
    return true;
  }

  /**
   * Takes what comes next. For who holds the right to run, and keeps it.
   *
   * @return null if nothing waits
   */
  public synchronized E poll() {
    var place = first();
    return place == null ? null : take(place);
  }

  /**
   * {@return whether a message came by now, or did within a moment; for who has the right to run,
   * and found nothing}
   */
  public boolean awaitNew() {
    return inbox != null && inbox.awaitNew();
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
    return inbox == null || !inbox.hasNew() || run() == Answer.TAKEN;
  }

  /**
   * Takes one element out, wherever it stands, and frees its place.
   *
   * @param place offered before
   * @return true if it was there
   */
  public synchronized boolean remove(Place<E> place) {
    takeIn();
    // else it is about to enter
    return place.where == Place.QUEUE && (inbox == null || place.counted || place.number == 0) && take(place) != null;
  }

  /**
   * Takes the first element that fits, waiting for one to come. For who holds the right to run, and
   * only where the mailbox is selective.
   *
   * @param fits which; runs outside the monitor
   * @param over whether the wait is over; looked at whenever the thread is woken
   * @return null if none came before it was over, the thread was interrupted, or the door was shut
   */
  public E receive(Predicate<? super E> fits, BooleanSupplier over) {
    return choosing.receive(fits, over);
  }

  /**
   * {@return the first of what waits now, in the order in which it would be taken}
   *
   * @param most how many
   */
  public synchronized List<E> waiting(int most) {
    takeIn();
    return order.places(most).stream().map(place -> place.item(letters)).toList();
  }

  /**
   * Shuts the door: what waits stays, the line is sent away, and a handler that waits inside
   * {@link #receive} is woken.
   */
  public void shutDoor() {
    List<Place<E>> refused;
    Thread handler;
    synchronized (this) {
      shut = true;
      refused = line.clear();
      refused.forEach(this::sendAway);
      handler = choosing == null ? null : choosing.receiver();
    }
    refused.forEach(Line::wake);
    LockSupport.unpark(handler);
  }

  /** {@return how many wait that count against the capacity} */
  public synchronized int size() {
    return inbox == null ? room.count() : inbox.count();
  }

  /** {@return how many wait, whether they count or not; without the pill} */
  public synchronized int present() {
    takeIn();
    return present;
  }

  /** {@return whether nobody has the right to run, so nothing waits} */
  public synchronized boolean isIdle() {
    return !running.get() && first() == null;
  }

  // ---- under the monitor

  Answer run() {
    return !running.get() && running.compareAndSet(false, true) ? Answer.RUN : Answer.TAKEN;
  }

  /** Whether there is room; it is taken then, where senders enter by themselves. */
  private boolean letIn(Place<E> block) {
    return inbox == null ? room.isEnoughFor(block) : inbox.enter(block, block.size());
  }

  private void add(Place<E> block, long now) {
    takeIn();
    if (inbox != null) return;
    for (Place<E> place = block, next; place != null; place = next) {
      next = place.after;
      place.after = null;
      if (pace != null) pace.enters((Ranked<E>) place, now);
      append(place);
      room.add(place);
    }
  }

  void expect(Place<E> place) {} // asks the user's code, before anything has changed

  void sendAway(Place<E> place) {
    place.goTo(Place.OUTSIDE);
  }

  void append(Place<E> place) {
    order.add(place);
    place.goTo(Place.QUEUE);
    if (!place.pill) present++;
    if (choosing != null) choosing.came(place);
  }

  /** What comes next; null: nothing waits. */
  final Place<E> first() {
    if (order.chain.head == null) takeIn();
    return order.first();
  }

  E take(Place<E> place) {
    E item = place.item(letters);
    order.remove(place);
    gone(place);
    return item;
  }

  final void gone(Place<E> place) {
    place.goTo(Place.GONE);
    if (!place.pill) present--;
    if (pace != null) pace.leaves();
    if (place.counted && inbox != null) inbox.leaves();
    else if (place.counted) room.remove(place);
    place.forget();
    if (place.counted) promote();
  }

  private void promote() {
    while (!line.isEmpty() && letIn(line.first())) {
      var place = line.first();
      line.remove(place);
      add(place, 0); // there is no line where there is a pace
      Line.wake(place);
    }
  }

  /** How many come before who comes now. */
  int ahead() {
    return present;
  }

  List<E> dropOldest(Place<E> next) {
    var dropped = new ArrayList<E>();
    for (var place = order.chain.head; place != null && !room.isEnoughFor(next);) {
      var after = place.after;
      if (place.mayBeDropped()) dropped.add(take(place));
      place = after;
    }
    return dropped;
  }
}
