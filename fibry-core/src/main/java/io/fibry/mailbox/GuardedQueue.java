package io.fibry.mailbox;

import io.fibry.mailbox.Place.Where;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * The queue of every mailbox that is not plain: bounded, in order of priority, or chosen from. Made by the engine alone. Thread-safe.
 *
 * <p>All but the way in is guarded by one monitor, in which nothing parks and no code of the user runs but the comparator. Like the plain queue it is also the right to run: who is answered {@link Answer#RUN} holds it,
 * and gives it back by {@link #release}. Invariant: something waits only while somebody holds the right, or is about to take it; somebody stands in the line only while the queue is full.
 *
 * <p>Where messages are taken as they come, and only refused or made to wait, senders do not take the monitor: they enter the {@link Inbox}, unless it is full, a line stands before it, or the door is shut. Each looks
 * at {@code shut} and {@code running} after it has entered. Who lets go of the right to run looks into the inbox afterwards, so one of the two sees the other; who enters beside the end takes himself out.
 *
 * <p>A StackOverflowError in a change would leave the queue half changed: who calls one on a user's stack makes sure that there is room.
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
    new Inbox<>(1).enter(Place.of(null, null));
    new GuardedQueue<>(Mailbox.unbounded()).await(Place.of(null, null), () -> true); // linked now, and not while a place stands in the line at the edge of somebody's stack
  }

  private final Mailbox<?> kind;
  final ArrayDeque<Place<E>> line = new ArrayDeque<>(); // blocked senders, first come first served
  final Order<E> order;
  private int count; // those that count against the capacity
  private int tasks; // of them
  int present; // all but the pill
  private volatile boolean running;
  volatile boolean shut;
  private volatile boolean lined; // somebody stands in the line
  private final Inbox<E> inbox; // null: senders always take the monitor
  private final Choosing<E> choosing; // null: no handler chooses from it
  private final Pace pace; // null: it does not matter how long something waits

  /**
   * A queue that does what the mailbox says.
   *
   * @param kind how messages wait
   */
  public GuardedQueue(Mailbox<?> kind) {
    this(kind, System::nanoTime);
  }

  /**
   * The same, with a clock of one's own.
   *
   * @param kind how messages wait
   * @param clock what it measures waits by; in nanoseconds
   */
  public GuardedQueue(Mailbox<?> kind, LongSupplier clock) {
    this.kind = kind;
    this.pace = kind.target == 0 ? null : new Pace(clock, kind.target);
    this.choosing = kind.selective ? new Choosing<>(this) : null;
    boolean asTheyCome = kind.order == null && choosing == null && pace == null && kind.overflow != Overflow.DROP_OLDEST;
    this.inbox = asTheyCome && !(this instanceof SharedQueue) ? new Inbox<>(kind.capacity) : null;
    this.order = new Order<>(kind.order);
  }

  /**
   * {@return whether a mailbox needs such a queue; false for the plain one}
   * @param mailbox how messages wait
   */
  public static boolean needed(Mailbox<?> mailbox) {
    return mailbox.capacity < Integer.MAX_VALUE || mailbox.order != null || mailbox.selective;
  }

  /** {@return the mailbox it was made of} */
  public Mailbox<?> mailbox() {
    return kind;
  }

  /** {@return how many may wait; {@link Integer#MAX_VALUE} where there is no limit} */
  public int capacity() {
    return kind.capacity;
  }

  /**
   * Offers a message, or a block of them.
   *
   * @param place not yet offered
   * @param mayWait false: a full queue that would block answers {@link Answer#FULL} instead
   * @return what became of it
   */
  public Answer offer(Place<E> place, boolean mayWait) {
    if (inbox != null && !shut && !lined) { // without the monitor; what is read after it entered was written before it did, or its writer sees it
      place.goTo(Where.QUEUE);
      if (inbox.enter(place)) return shut ? late(place) : running ? Answer.TAKEN : runNow();
      place.goTo(Where.OUTSIDE);
    }
    long now = pace == null ? 0 : pace.now();
    synchronized (this) {
      if (shut) return Answer.SHUT;
      boolean room = line.isEmpty() && letIn(place) && (pace == null || pace.isInTime(place, order.chain.head, ahead(), now));
      if (!room && !(kind.overflow == Overflow.DROP_OLDEST ? !place.isTask() : kind.overflow == Overflow.BLOCK && mayWait)) return Answer.FULL;
      expect(place);
      if (!room && kind.overflow == Overflow.BLOCK) {
        place.sender = Thread.currentThread();
        place.goTo(Where.LINE);
        line.add(place);
        lined = true;
        return Answer.LINE;
      }
      if (!room) place.dropped = dropOldest(place);
      enter(place, now);
      return run();
    }
  }

  private synchronized Answer runNow() {
    takeIn();
    return run();
  }

  /** It entered while the door was being shut. Who empties the queue has begun with it, or it was too late. */
  private synchronized Answer late(Place<E> block) {
    takeIn();
    if (block.where != Where.QUEUE) return Answer.TAKEN;
    for (var place = block; place != null; place = place.next) {
      take(place);
      place.goTo(Where.OUTSIDE);
    }
    return Answer.SHUT;
  }

  private void takeIn() {
    if (inbox != null) present += inbox.moveTo(order.chain);
  }

  /**
   * Admits what must never wait or be dropped: over the bound, not counted, also when the door is shut.
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
   * Takes the right to run for an element that does not wait: if nobody has it and the door is open.
   *
   * @return true: the right is the caller's
   */
  public synchronized boolean runIfIdle() {
    return !shut && run() == Answer.RUN;
  }

  /**
   * Puts elements back before all others, over the bound and not counted. For who holds the right to run.
   *
   * @param places in their order
   */
  public synchronized void putBack(List<Place<E>> places) {
    for (var place : places.reversed()) {
      order.chain.addFirst(place);
      place.goTo(Where.QUEUE);
      present++;
    }
  }

  /**
   * Waits until there is room for what stands in the line. When it is over, or the thread is interrupted, it leaves the line.
   *
   * @param place answered {@link Answer#LINE}
   * @param over whether the wait is over; looked at whenever the thread is woken
   * @return true: it was taken; false: it never will be
   */
  public boolean await(Place<E> place, BooleanSupplier over) {
    Parked.until(() -> place.where != Where.LINE || (Thread.currentThread().isInterrupted() || over.getAsBoolean()) && leaveLine(place), this);
    return place.where != Where.OUTSIDE;
  }

  private synchronized boolean leaveLine(Place<E> place) {
    if (place.where != Where.LINE) return false;
    line.remove(place);
    lined = !line.isEmpty();
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
   * Gives the right to run back, if nothing waits.
   *
   * @return false: something waits, and the right is still the caller's
   */
  public synchronized boolean release() {
    running = first() != null;
    if (!running && inbox != null && inbox.hasNew()) running = true; // who entered in between saw somebody run
    return !running;
  }

  /**
   * Takes one element out, wherever it stands, and frees its place.
   *
   * @param place offered before
   * @return true if it was there
   */
  public synchronized boolean remove(Place<E> place) {
    takeIn();
    return place.where == Where.QUEUE && (inbox == null || order.chain.has(place)) && take(place) != null; // else it is about to enter
  }

  /**
   * Takes the first element that fits, waiting for one to come. For who holds the right to run, and only where the mailbox is selective.
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
   * @param most how many
   */
  public synchronized List<E> waiting(int most) {
    takeIn();
    return order.places(most).stream().map(place -> place.item).toList();
  }

  /** Shuts the door: what waits stays, the line is sent away, and a handler that waits inside {@link #receive} is woken. */
  public void shutDoor() {
    var refused = new ArrayList<Place<E>>();
    Thread handler;
    synchronized (this) {
      shut = true;
      refused.addAll(line);
      line.clear();
      lined = false;
      refused.forEach(this::sendAway);
      handler = choosing == null ? null : choosing.receiver();
    }
    refused.forEach(place -> wake(place));
    LockSupport.unpark(handler);
  }

  /** {@return how many wait that count against the capacity} */
  public synchronized int size() {
    return inbox == null ? count : inbox.count();
  }

  /** {@return how many wait, whether they count or not; without the pill} */
  public synchronized int present() {
    takeIn();
    return present;
  }

  /** {@return whether nobody has the right to run, so nothing waits} */
  public synchronized boolean isIdle() {
    return !running && (inbox == null || !inbox.hasNew());
  }

  // ---- under the monitor

  Answer run() {
    if (running) return Answer.TAKEN;
    running = true;
    return Answer.RUN;
  }

  /** Whether there is room; it is taken then, where senders enter by themselves. */
  private boolean letIn(Place<E> block) {
    return inbox == null ? hasRoom(block) : inbox.enter(block);
  }

  private void enter(Place<E> block, long now) {
    takeIn();
    if (inbox != null) return;
    for (var place = block; place != null; place = place.next) {
      if (pace != null) pace.enters(place, now);
      append(place);
      place.counted = true;
      count++;
      if (place.isTask()) tasks++;
    }
  }

  void expect(Place<E> place) {} // asks the user's code, before anything has changed

  void sendAway(Place<E> place) {
    place.goTo(Where.OUTSIDE);
  }

  void append(Place<E> place) {
    order.add(place);
    place.goTo(Where.QUEUE);
    if (!place.pill) present++;
    if (choosing != null) choosing.came(place);
  }

  /** What comes next; null: nothing waits. */
  final Place<E> first() {
    if (order.chain.head == null) takeIn();
    return order.first();
  }

  E take(Place<E> place) {
    order.remove(place);
    return gone(place);
  }

  final E gone(Place<E> place) {
    E item = place.item;
    place.goTo(Where.GONE);
    if (!place.pill) present--;
    if (pace != null) pace.leaves();
    if (place.counted && inbox != null) inbox.leaves();
    else if (place.counted) {
      count--;
      if (place.isTask()) tasks--;
    }
    place.item = null;
    place.rank = null;
    if (place.counted) promote();
    return item;
  }

  private void promote() {
    while (lined && letIn(line.getFirst())) {
      var place = line.removeFirst();
      lined = !line.isEmpty();
      enter(place, 0); // there is no line where there is a pace
      wake(place);
    }
  }

  /** The fence: unpark only looks, where it finds a permit that an earlier one left. The sender takes that, and must then see where its place stands now. */
  private static void wake(Place<?> place) {
    VarHandle.fullFence();
    LockSupport.unpark(place.sender);
    place.sender = null; // the inbox keeps its newest place
  }

  /** Where the oldest is dropped, tasks have room of their own: who gave one would never hear that it was dropped. */
  final boolean hasRoom(Place<E> place) {
    int others = kind.overflow != Overflow.DROP_OLDEST ? count : place.isTask() ? tasks : count - tasks;
    return others + place.size <= kind.capacity;
  }

  /** How many come before who comes now. */
  int ahead() {
    return present;
  }

  List<E> dropOldest(Place<E> next) {
    var dropped = new ArrayList<E>();
    for (var place = order.chain.head; place != null && !hasRoom(next); ) {
      var after = place.after;
      if (place.mayBeDropped()) dropped.add(take(place));
      place = after;
    }
    return dropped;
  }
}
