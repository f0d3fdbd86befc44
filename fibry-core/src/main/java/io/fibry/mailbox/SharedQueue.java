package io.fibry.mailbox;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * The mailbox of a pool: a guarded queue that several workers take from. Made by the engine alone.
 * Thread-safe.
 *
 * <p>Here nobody holds one right to run: each worker has a {@link Seat}, and what may be begun, and
 * by whom, is decided under the one monitor, at the moment a message comes, is done, or leaves.
 * Invariant: outside the monitor, whoever made something ready to be begun (he was answered
 * {@link GuardedQueue.Answer#RUN}, or found {@link Seat#ready} or {@link #ready}) is about to call
 * {@link #serve}. So nothing waits while somebody rests who could begin it.
 *
 * <p>Of each key, at most one message stands in line; those behind it wait in its lane, and the
 * next of them goes to the end of the line when it is done. So who stands first can always be
 * begun, and a key with many messages holds nobody up.
 *
 * @param <E> what waits
 */
public final class SharedQueue<E> extends GuardedQueue<E> {
  private final Sharing<?> sharing;
  private final Resting<E> resting = new Resting<>();
  final Lanes<E> lanes; // null: there are no keys
  private int free; // permits
  private int seats;
  private int retiring; // of them
  private int busy; // of them
  private Place<E> pill; // the first that waits
  boolean over; // the end has begun
  private boolean deserted; // and no worker was left

  /**
   * A queue.
   *
   * @param kind how messages wait
   * @param sharing who takes them
   */
  public SharedQueue(Mailbox<?> kind, Sharing<?> sharing) {
    this(kind, sharing, System::nanoTime);
  }

  /**
   * The same, with a clock of one's own.
   *
   * @param kind how messages wait
   * @param sharing who takes them
   * @param clock what it measures waits by; in nanoseconds
   */
  public SharedQueue(Mailbox<?> kind, Sharing<?> sharing, LongSupplier clock) {
    super(kind, clock, null);
    this.sharing = sharing;
    this.free = sharing.permits();
    this.lanes = sharing.byKey() ? new Lanes<>() : null;
  }

  /** {@return who takes from it} */
  public Sharing<?> sharing() {
    return sharing;
  }

  /**
   * A place for a message. Asks the user's code for its weight and key.
   *
   * @param item what waits
   * @param message what it holds
   * @param isMessage false: a task, which has no rank, no key, and weighs 1
   * @param whose who will be told of, should it not fit
   * @return a place
   * @throws IllegalArgumentException if it can never be begun
   */
  public Place<E> place(E item, Object message, boolean isMessage, Object whose) {
    return isMessage ? Share.of(item, message, sharing, whose) : new Share<>(item, null, 1, null);
  }

  // ---- for who has made something ready

  /**
   * Gives the next message to who can begin it.
   *
   * @param hires whether also to a worker that is yet to be made
   * @return the seat where it lies now; its worker must be told, or made. Null: there is nothing to
   * begin, or nobody for it
   */
  public synchronized Seat<E> serve(boolean hires) {
    if (!canBegin() || resting.isEmpty() && !hires) return null;
    var seat = resting.isEmpty() ? reserve() : resting.wakeLast();
    begin(seat);
    return seat;
  }

  /**
   * {@return whether there is something to begin and somebody for it, or the pill's turn has come}
   */
  public synchronized boolean ready() {
    return canBegin() || pillIsNext();
  }

  /** {@return whether all that came before the pill was begun} */
  public synchronized boolean atPill() {
    return pillIsNext();
  }

  /**
   * A seat without a message, for a worker that is there before there is work.
   *
   * @return the seat
   */
  public synchronized Seat<E> reserve() {
    seats++;
    return new Seat<E>();
  }

  /**
   * Whom it was made for is there, and rests.
   *
   * @param seat reserved
   * @return whether there is something to do now
   */
  public synchronized boolean open(Seat<E> seat) {
    rest(seat);
    return seat.ready;
  }

  /**
   * Takes a message back that could not be given to its worker. Once is enough.
   *
   * @param seat served, and not told
   * @param rests whether its worker is there all the same
   * @return what will never be begun, since the end has come; null: it waits again
   */
  public synchronized E takeBack(Seat<E> seat, boolean rests) {
    var share = seat.held;
    if (share == null) return null;
    E item = seat.item;
    busy--;
    free += share.weight;
    seat.let();
    if (rests) rest(seat);
    if (over) return item;
    share.item = item;
    share.goTo(Place.QUEUE);
    share.counted = false;
    order.chain.addFirst(share);
    if (lanes != null) lanes.all.addFirst(share);
    present++;
    return null;
  }

  // ---- for workers

  /**
   * A worker is through with something; this is next. Afterwards he must look at
   * {@link Seat#ready}.
   *
   * @param seat his
   * @param through what he is through with; it need not be of this queue
   * @return null: nothing, and he rests; or he was given something meanwhile, which is on its way
   * to him
   */
  public synchronized E next(Seat<E> seat, Object through) {
    if (seat.item == through) done(seat);
    seat.ready = false;
    if (seat.held != null) return null;
    resting.wake(seat);
    if (!over && !seat.retired && firstFits()) begin(seat);
    else rest(seat);
    return seat.item;
  }

  /**
   * A worker is through with something, and takes nothing more for now. Afterwards he must look at
   * {@link #ready}.
   *
   * @param seat his
   * @param through as in {@link #next}
   */
  public synchronized void finish(Seat<E> seat, Object through) {
    if (seat.item == through) done(seat);
    resting.wake(seat);
  }

  /**
   * A worker is gone. What is still on its way to him stays his: who comes with it finds him gone,
   * and sees to it that it is {@link #finish finished}.
   *
   * @param seat his
   */
  public synchronized void leave(Seat<E> seat) {
    resting.wake(seat);
    if (seat.retired) retiring--;
    seats--;
  }

  /**
   * Those beyond the least who have rested for so long; they get nothing more.
   *
   * @param now by the clock that {@link #untilCalm} was told
   * @param calm how long
   * @return whom to end
   */
  public synchronized List<Seat<E>> retire(long now, long calm) {
    var gone = resting.retire(seats - retiring - sharing.least(), now, calm);
    retiring += gone.size();
    return gone;
  }

  /**
   * How long until somebody has rested enough.
   *
   * @param seat whose rest began just now; null: nobody's
   * @param now by some clock
   * @param calm how long
   * @return 0: nobody will
   */
  public synchronized long untilCalm(Seat<E> seat, long now, long calm) {
    if (seat != null) {
      seat.since = now;
      seat.stamped = true;
    }
    return seats - retiring > sharing.least() ? resting.untilCalm(now, calm) : 0;
  }

  // ---- the end

  /** Begins the end: nothing more is begun. */
  public synchronized void beginEnd() {
    over = true;
  }

  /** {@return true for the first who asks when the end has come and no worker is left} */
  public synchronized boolean deserted() {
    if (!over || seats > 0 || deserted) return false;
    return deserted = true;
  }

  @Override
  public synchronized E poll() {
    if (lanes != null && !lanes.all.isEmpty()) return take(lanes.all.getFirst());
    return super.poll();
  }

  /** {@return whether nothing waits and nobody is at anything} */
  @Override
  public synchronized boolean isIdle() {
    return present == 0 && busy == 0;
  }

  /** {@return how many are at something} */
  public synchronized int busy() {
    return busy;
  }

  @Override
  public synchronized List<E> waiting(int most) {
    if (lanes == null) return super.waiting(most);
    return lanes.all.stream().limit(most).map(share -> share.item).toList();
  }

  /**
   * Who keeps something here, for who looks for a ring.
   *
   * @param place offered before
   * @return null: nobody, or it cannot be told
   */
  public synchronized Keepers<E> keepers(Place<E> place) {
    return place instanceof Share<E> share ? Keepers.of(this, share) : null;
  }

  // ---- under the monitor

  @Override
  Answer run() {
    return over || canBegin() || pillIsNext() ? Answer.RUN : Answer.TAKEN;
  }

  private boolean canBegin() {
    return !over && (!resting.isEmpty() || seats < sharing.most()) && firstFits();
  }

  private boolean firstFits() {
    var first = first();
    return first instanceof Share<E> share && share.weight <= free;
  }

  boolean pillIsNext() {
    return pill != null && !over && (lanes == null || lanes.behind == 0) && first() == pill;
  }

  private void begin(Seat<E> seat) {
    var share = (Share<E>) first();
    busy++;
    free -= share.weight;
    seat.hold(share);
    remove(share, true);
    seat.ready = canBegin() || pillIsNext();
  }

  private void rest(Seat<E> seat) {
    resting.add(seat);
    seat.ready = canBegin() || pillIsNext();
    wakeLine();
  }

  /** Who waits for room is not let in by what has changed: so he may wait for himself. */
  private void wakeLine() {
    if (!canBegin()) line.alert();
  }

  private void done(Seat<E> seat) {
    var share = seat.held;
    if (share == null) return;
    busy--;
    free += share.weight;
    seat.let();
    advance(share);
  }

  @Override
  void expect(Place<E> place) {
    if (lanes != null && pill == null && place instanceof Share<E> share) lanes.expect(share);
  }

  /** Those in lanes wait for others of their key, which is their own affair. */
  @Override
  int ahead() {
    return lanes == null ? present : present - lanes.behind;
  }

  @Override
  void sendAway(Place<E> place) {
    super.sendAway(place);
    if (lanes != null && place instanceof Share<E> share) lanes.forget(share);
  }

  @Override
  void append(Place<E> place) {
    if (lanes != null && place instanceof Share<E> share) {
      if (pill != null) lanes.forget(share); // nothing behind it is ever begun
      if (!lanes.enter(share)) {
        share.goTo(Place.QUEUE);
        present++;
        return;
      }
    }
    super.append(place);
    if (place.pill && pill == null) pill = place;
  }

  @Override
  E take(Place<E> place) {
    if (place == pill) pill = null;
    E item = place instanceof Share<E> share ? remove(share, false) : super.take(place);
    wakeLine();
    return item;
  }

  private E remove(Share<E> share, boolean begins) {
    if (lanes == null) return super.take(share);
    lanes.all.remove(share);
    E item = share.item;
    if (lanes.leaveLane(share)) gone(share);
    else super.take(share);
    if (!begins) advance(share);
    return item;
  }

  /** The next of a key goes to the end of the line; but not behind the pill, which came later. */
  private void advance(Share<E> share) {
    var next = lanes == null ? null : lanes.advance(share);
    if (next == null) return;
    if (pill == null) order.chain.add(next);
    else order.chain.addBefore(next, pill);
  }

  @Override
  List<E> dropOldest(Place<E> next) {
    if (lanes == null) return super.dropOldest(next);
    var dropped = new ArrayList<E>();
    while (!room.isEnoughFor(next)) {
      var oldest = lanes.all.stream().filter(Place::mayBeDropped).findFirst();
      if (oldest.isEmpty()) break;
      dropped.add(take(oldest.get()));
    }
    return dropped;
  }
}
