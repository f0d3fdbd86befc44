package io.fibry.mailbox;

import io.fibry.mailbox.Place.Where;
import io.fibry.mailbox.Share.Lane;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;

/**
 * The mailbox of a pool: a guarded queue that several workers take from. Made by the engine alone. Thread-safe.
 *
 * <p>Here nobody holds one right to run: each worker has a {@link Seat}, and what may be begun, and by whom, is decided under the one monitor, at the moment a message comes, is done, or leaves. Invariant: outside the
 * monitor, whoever made something ready to be begun (he was answered {@link GuardedQueue.Answer#RUN}, or found {@link Seat#ready} or {@link #ready}) is about to call {@link #serve}. So nothing waits while somebody
 * rests who could begin it.
 *
 * <p>Of each key, at most one message stands in line; those behind it wait in its lane, and the next of them goes to the end of the line when it is done. So who stands first can always be begun, and a key with many
 * messages holds nobody up.
 *
 * @param <E> what waits
 */
public final class SharedQueue<E> extends GuardedQueue<E> {
  private final Sharing<?> sharing;
  private final ArrayDeque<Seat<E>> resting = new ArrayDeque<>(); // who rests longest first
  private final Map<Object, Lane<E>> lanes = new HashMap<>(); // of keys that something waits for, or is done for
  private final LinkedHashSet<Share<E>> all; // that wait, oldest first; null: there are no keys, so the line has them all
  private int free; // permits
  private int seats;
  private int retiring; // of them
  private int busy; // of them
  private int behind; // in lanes
  private Place<E> pill; // the first that waits
  private boolean over;

  /**
   * A queue.
   *
   * @param kind how messages wait
   * @param sharing who takes them
   */
  public SharedQueue(Mailbox<?> kind, Sharing<?> sharing) {
    super(kind);
    this.sharing = sharing;
    this.free = sharing.permits;
    this.all = sharing.key == null ? null : new LinkedHashSet<>();
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
    if (!isMessage) return new Share<>(item, null, 1, null);
    int weight = sharing.weight == null ? 1 : sharing.weight.applyAsInt(message);
    if (weight < 1 || weight > sharing.permits) throw new IllegalArgumentException("a message for " + whose + " weighs " + weight + "; it must weigh at least 1 and at most " + sharing.permits + ", all that the pool has");
    Object key = sharing.key == null ? null : sharing.key.apply(message);
    if (key == null && sharing.key != null) throw new NullPointerException("the key of a message for " + whose + " was null; give each message a key");
    return new Share<>(item, message, weight, key);
  }

  // ---- for who has made something ready

  /**
   * Gives the next message to who can begin it.
   *
   * @return the seat where it lies now; its worker must be told, or made. Null: there is nothing to begin, or nobody for it
   */
  public synchronized Seat<E> serve() {
    if (!canBegin()) return null;
    var seat = resting.pollLast();
    if (seat == null) {
      seat = new Seat<>();
      seats++;
    }
    seat.rests = false;
    begin(seat);
    return seat;
  }

  /** {@return whether there is something to begin and somebody for it, or the pill's turn has come} */
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
   * Takes a message back that could not be given to its worker.
   *
   * @param seat served, and not told
   * @param rests whether its worker is there all the same
   */
  public synchronized void takeBack(Seat<E> seat, boolean rests) {
    var share = seat.held;
    share.item = seat.item;
    share.where = Where.QUEUE;
    share.counted = false;
    seat.held = null;
    busy--;
    free += share.weight;
    chain.addFirst(share);
    if (all != null) all.addFirst(share);
    present++;
    if (rests) rest(seat);
  }

  // ---- for workers

  /**
   * A worker is through with something; this is next. Afterwards he must look at {@link Seat#ready}.
   *
   * @param seat his
   * @param through what he is through with; it need not be of this queue
   * @return null: nothing, and he rests; or he was given something meanwhile, which is on its way to him
   */
  public synchronized E next(Seat<E> seat, Object through) {
    if (seat.item == through) done(seat);
    seat.ready = false;
    if (seat.held != null) return null;
    wake(seat);
    if (!over && firstFits()) begin(seat);
    else rest(seat);
    return seat.item;
  }

  /**
   * A worker is through with something, and takes nothing more for now. Afterwards he must look at {@link #ready}.
   *
   * @param seat his
   * @param through as in {@link #next}
   */
  public synchronized void finish(Seat<E> seat, Object through) {
    if (seat.item == through) done(seat);
    wake(seat);
  }

  /**
   * A worker is gone.
   *
   * @param seat his
   * @return true: it was the last one after the end
   */
  public synchronized boolean leave(Seat<E> seat) {
    done(seat);
    wake(seat);
    if (seat.retired) retiring--;
    return --seats == 0 && over;
  }

  /**
   * Those beyond the least who have rested for so long; they get nothing more.
   *
   * @param now by the clock that {@link #untilCalm} was told
   * @param calm how long
   * @return whom to end
   */
  public synchronized List<Seat<E>> retire(long now, long calm) {
    var gone = new ArrayList<Seat<E>>();
    while (canRetire() && resting.getFirst().stamped && now - resting.getFirst().since >= calm) {
      var seat = resting.removeFirst();
      seat.rests = false;
      seat.retired = true;
      retiring++;
      gone.add(seat);
    }
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
    return canRetire() && resting.getFirst().stamped ? Math.max(1, calm - (now - resting.getFirst().since)) : 0;
  }

  // ---- the end

  /**
   * Begins the end: nothing more is begun. Who is answered true has a seat himself, and must {@link #leave()} it.
   *
   * @return true for the first who calls this
   */
  public synchronized boolean beginEnd() {
    if (over) return false;
    over = true;
    seats++;
    return true;
  }

  /**
   * Who began the end is through.
   *
   * @return true: no worker is left
   */
  public synchronized boolean leave() {
    return --seats == 0;
  }

  @Override
  public synchronized E poll() {
    if (all != null && !all.isEmpty()) return take(all.getFirst());
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
    if (all == null) return super.waiting(most);
    return all.stream().limit(most).map(share -> share.item).toList();
  }

  // ---- under the monitor

  @Override
  Answer run() {
    return over || canBegin() || pillIsNext() ? Answer.RUN : Answer.TAKEN;
  }

  private boolean canBegin() {
    return !over && (!resting.isEmpty() || seats < sharing.most) && firstFits();
  }

  private boolean firstFits() {
    var first = first();
    return first instanceof Share<E> share && share.weight <= free;
  }

  private boolean pillIsNext() {
    return pill != null && !over && behind == 0 && first() == pill;
  }

  private boolean canRetire() {
    return !resting.isEmpty() && seats - retiring > sharing.least;
  }

  private void begin(Seat<E> seat) {
    var share = (Share<E>) first();
    busy++;
    free -= share.weight;
    seat.held = share;
    seat.item = share.item;
    remove(share, true);
    seat.ready = canBegin() || pillIsNext();
  }

  private void rest(Seat<E> seat) {
    seat.item = null;
    seat.stamped = false;
    seat.rests = true;
    resting.addLast(seat);
    seat.ready = canBegin() || pillIsNext();
  }

  private void wake(Seat<E> seat) {
    if (!seat.rests) return;
    resting.remove(seat);
    seat.rests = false;
  }

  private void done(Seat<E> seat) {
    var share = seat.held;
    if (share == null) return;
    seat.held = null;
    seat.item = null;
    busy--;
    free += share.weight;
    if (share.lane != null) advance(share.lane);
  }

  @Override
  void append(Place<E> place) {
    var lane = place instanceof Share<E> share && share.key != null && pill == null ? lanes.computeIfAbsent(share.key, Lane::new) : null; // the user's code, before anything has changed
    if (place instanceof Share<E> share && all != null) {
      share.lane = lane;
      all.add(share);
    }
    if (lane != null && lane.busy) {
      lane.behind.add((Share<E>) place);
      behind++;
      place.where = Where.QUEUE;
      present++;
      return;
    }
    super.append(place);
    if (lane != null) lane.busy = true;
    if (place.pill && pill == null) pill = place;
  }

  @Override
  E take(Place<E> place) {
    if (place instanceof Share<E> share) return remove(share, false);
    if (place == pill) pill = null;
    return super.take(place);
  }

  private E remove(Share<E> share, boolean begins) {
    if (all != null) all.remove(share);
    if (share.lane != null && share.lane.behind.remove(share)) {
      behind--;
      return gone(share);
    }
    E item = super.take(share);
    if (!begins && share.lane != null) advance(share.lane);
    return item;
  }

  /** The next of a key goes to the end of the line; but not behind the pill, which came later. A lane that cannot be found again is left as it is: who comes next finds it not busy. */
  private void advance(Lane<E> lane) {
    var next = lane.behind.isEmpty() ? null : lane.behind.removeFirst();
    if (next != null) {
      behind--;
      if (pill == null) chain.add(next);
      else chain.addBefore(next, pill);
      return;
    }
    lane.busy = false;
    try {
      lanes.remove(lane.key);
    } catch (RuntimeException | StackOverflowError ofItsEquals) { // the user's; see above
    }
  }

  @Override
  List<E> dropOldest(int room) {
    if (all == null) return super.dropOldest(room);
    var dropped = new ArrayList<E>();
    for (var share : List.copyOf(all)) {
      if (hasRoom(room)) break;
      if (share.counted) dropped.add(take(share));
    }
    return dropped;
  }
}
