package io.fibry.mailbox;

import io.fibry.mailbox.Place.Where;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * The queue of every mailbox that is not plain: bounded, in order of priority, or chosen from. Made by the engine alone. Thread-safe.
 *
 * <p>Everything is guarded by one monitor, in which nothing parks and no code of the user runs but the comparator. Like the plain queue it is also the right to run: who is answered {@link Answer#RUN} holds it,
 * and gives it back by {@link #release}. Invariant: something waits only while somebody holds the right; somebody stands in the line only while the queue is full.
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
    new GuardedQueue<>(Mailbox.unbounded()).await(Place.of(null, null), () -> true); // linked now, and not while a place stands in the line at the edge of somebody's stack
  }

  private final Mailbox<?> kind;
  private final TreeSet<Place<E>> ranked; // null: no order
  final ArrayDeque<Place<E>> line = new ArrayDeque<>(); // blocked senders, first come first served
  final Chain<E> chain = new Chain<>(); // all that has no rank; taken before what is ranked
  private int count; // those that count against the capacity
  private int tasks; // of them
  int present; // all but the pill
  private long epoch;
  private long numbers;
  private boolean running;
  private boolean shut;
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
    this.ranked = kind.order == null ? null : new TreeSet<>((a, b) -> a.compareTo(b, kind.order));
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
    probe();
    long now = pace == null ? 0 : pace.now();
    synchronized (this) {
      if (shut) return Answer.SHUT;
      boolean room = line.isEmpty() && hasRoom(place) && (pace == null || isInTime(place, now));
      if (!room && !(kind.overflow == Overflow.DROP_OLDEST ? !place.isTask() : kind.overflow == Overflow.BLOCK && mayWait)) return Answer.FULL;
      expect(place);
      if (!room && kind.overflow == Overflow.BLOCK) {
        place.sender = Thread.currentThread();
        place.goTo(Where.LINE);
        line.add(place);
        return Answer.LINE;
      }
      if (!room) place.dropped = dropOldest(place);
      enter(place, now);
      return run();
    }
  }

  /**
   * Admits what must never wait or be dropped: over the bound, not counted, also when the door is shut.
   *
   * @param place not yet offered
   * @return {@link Answer#TAKEN} or {@link Answer#RUN}
   */
  public Answer admit(Place<E> place) {
    probe();
    synchronized (this) {
      expect(place);
      append(place);
      return run();
    }
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
      chain.addFirst(place);
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
    return !running;
  }

  /**
   * Takes one element out, wherever it stands, and frees its place.
   *
   * @param place offered before
   * @return true if it was there
   */
  public boolean remove(Place<E> place) {
    probe();
    synchronized (this) {
      return place.where == Where.QUEUE && take(place) != null;
    }
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
    var all = new ArrayList<E>();
    for (var place = chain.head; place != null && all.size() < most; place = place.after) all.add(place.item);
    if (ranked != null) ranked.stream().limit(most - all.size()).forEach(place -> all.add(place.item));
    return all;
  }

  final List<Place<E>> places() {
    var all = new ArrayList<Place<E>>();
    for (var place = chain.head; place != null; place = place.after) all.add(place);
    if (ranked != null) all.addAll(ranked);
    return all;
  }

  /** As they would be taken, without those that are gone. */
  final void sort(List<Place<E>> places) {
    if (ranked == null) return;
    places.removeIf(p -> p.where != Where.QUEUE);
    places.sort(ranked.comparator());
  }

  final synchronized boolean isShut() {
    return shut;
  }

  /** Shuts the door: what waits stays, the line is sent away, and a handler that waits inside {@link #receive} is woken. */
  public void shutDoor() {
    var refused = new ArrayList<Place<E>>();
    Thread handler;
    synchronized (this) {
      shut = true;
      refused.addAll(line);
      line.clear();
      refused.forEach(this::sendAway);
      handler = choosing == null ? null : choosing.receiver();
    }
    refused.forEach(place -> wake(place));
    LockSupport.unpark(handler);
  }

  /** {@return how many wait that count against the capacity} */
  public synchronized int size() {
    return count;
  }

  /** {@return how many wait, whether they count or not; without the pill} */
  public synchronized int present() {
    return present;
  }

  /** {@return whether nobody has the right to run, so nothing waits} */
  public synchronized boolean isIdle() {
    return !running;
  }

  // ---- under the monitor

  Answer run() {
    if (running) return Answer.TAKEN;
    running = true;
    return Answer.RUN;
  }

  private void enter(Place<E> block, long now) {
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
    if (ranked != null && (place.pill || place.rank != null)) {
      place.epoch = epoch;
      place.number = numbers++;
      ranked.add(place); // a comparator that throws does so before anything has changed
      if (place.pill) epoch++;
    } else {
      chain.add(place);
    }
    place.goTo(Where.QUEUE);
    if (!place.pill) present++;
    if (choosing != null) choosing.came(place);
  }

  /** What comes next; null: nothing waits. */
  final Place<E> first() {
    return chain.head != null || ranked == null || ranked.isEmpty() ? chain.head : ranked.first();
  }

  E take(Place<E> place) {
    if (chain.has(place)) chain.remove(place);
    else if (ranked.first() == place) ranked.pollFirst(); // asks no comparator: the drain must not fail
    else ranked.remove(place);
    return gone(place);
  }

  final E gone(Place<E> place) {
    E item = place.item;
    place.goTo(Where.GONE);
    if (!place.pill) present--;
    if (pace != null) pace.leaves();
    if (place.counted) count--;
    if (place.counted && place.isTask()) tasks--;
    place.item = null;
    place.rank = null;
    if (place.counted) promote();
    return item;
  }

  private void promote() {
    while (!line.isEmpty() && hasRoom(line.getFirst())) {
      var place = line.removeFirst();
      enter(place, 0); // there is no line where there is a pace
      wake(place);
    }
  }

  /** The fence: unpark only looks, where it finds a permit that an earlier one left. The sender takes that, and must then see where its place stands now. */
  private static void wake(Place<?> place) {
    VarHandle.fullFence();
    LockSupport.unpark(place.sender);
  }

  /** Where the oldest is dropped, tasks have room of their own: who gave one would never hear that it was dropped. */
  final boolean hasRoom(Place<E> place) {
    int others = kind.overflow != Overflow.DROP_OLDEST ? count : place.isTask() ? tasks : count - tasks;
    return others + place.size <= kind.capacity;
  }

  /** Else it learns how long it would have waited. */
  private boolean isInTime(Place<E> place, long now) {
    long wait = pace.foreseen(chain.head, ahead(), now);
    if (!pace.isTooLong(wait)) return true;
    place.epoch = wait;
    return false;
  }

  /** How many come before who comes now. */
  int ahead() {
    return present;
  }

  List<E> dropOldest(Place<E> next) {
    var dropped = new ArrayList<E>();
    for (var place = chain.head; place != null && !hasRoom(next); ) {
      var after = place.after;
      if (place.mayBeDropped()) dropped.add(take(place));
      place = after;
    }
    return dropped;
  }

  /** Makes sure that the stack has room for what runs under the monitor: a StackOverflowError there would leave the queue half changed. */
  final void probe() {
    probe(ranked == null ? 16 : 48, 0, 0, 0, 0); // frames of some size: all four are needed again after the call
  }

  private static long probe(int frames, long a, long b, long c, long d) {
    return frames == 0 ? a : probe(frames - 1, b, c, d, a + frames) ^ a ^ b + c ^ d;
  }
}
