package io.fibry.engine.queue;

import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Sharing;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * The mailbox of a pool: a guarded queue that several workers take from. Made by the engine alone.
 * Thread-safe.
 *
 * <p>Here nobody holds one right to run: each worker has a {@link WorkerSlot}, and what may be begun, and
 * by whom, is decided under the one monitor, at the moment a message comes, is done, or leaves.
 * Invariant: outside the monitor, whoever made something ready to be begun (he was answered
 * {@link GuardedQueue.Answer#RUN}, or found {@link WorkerSlot#ready} or {@link #ready}) is about to call
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
  private final IdleWorkers<E> idleWorkers = new IdleWorkers<>();
  final KeyLanes<E> lanes; // null: there are no keys
  private int freePermits; // permits
  private int slots;
  private int retiring; // of them
  private int busy; // of them
  private Entry<E> pill; // the first that waits
  boolean ending; // the end has begun
  private boolean deserted; // and no worker was left

  /**
   * A queue.
   *
   * @param mailbox how messages wait
   * @param sharing who takes them
   */
  SharedQueue(Mailbox<?> mailbox, Sharing<?> sharing) {
    this(mailbox, sharing, System::nanoTime);
  }

  /**
   * The same, with a clock of one's own.
   *
   * @param mailbox how messages wait
   * @param sharing who takes them
   * @param clock what it measures waits by; in nanoseconds
   */
  public SharedQueue(Mailbox<?> mailbox, Sharing<?> sharing, LongSupplier clock) {
    super(mailbox, clock, null, true);
    this.sharing = sharing;
    this.freePermits = sharing.permits();
    this.lanes = sharing.byKey() ? new KeyLanes<>() : null;
  }

  /** {@return who takes from it} */
  public Sharing<?> sharing() {
    return sharing;
  }

  /** Asks the user's code for the weight and the key. */
  @Override
  public Entry<E> entry(E item, Object message, boolean isMessage, Object receiver) {
    return isMessage ? PoolEntry.of(item, message, sharing, receiver) : new PoolEntry<>(item, null, 1, null);
  }

  // ---- for who has made something ready

  /**
   * Gives the next message to who can begin it.
   *
   * @param hires whether also to a worker that is yet to be made
   * @return the seat where it lies now; its worker must be told, or made. Null: there is nothing to
   * begin, or nobody for it
   */
  public synchronized WorkerSlot<E> serve(boolean hires) {
    if (!canBegin() || idleWorkers.isEmpty() && !hires) return null;
    var slot = idleWorkers.isEmpty() ? reserve() : idleWorkers.wakeLast();
    begin(slot);
    return slot;
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
  public synchronized WorkerSlot<E> reserve() {
    slots++;
    return new WorkerSlot<E>();
  }

  /**
   * Whom it was made for is there, and rests.
   *
   * @param slot reserved
   * @return whether there is something to do now
   */
  public synchronized boolean open(WorkerSlot<E> slot) {
    becomeIdle(slot);
    return slot.ready;
  }

  /**
   * Takes a message back that could not be given to its worker. Once is enough.
   *
   * @param slot served, and not told
   * @param idle whether its worker is there all the same
   * @return what will never be begun, since the end has come; null: it waits again
   */
  public synchronized E takeBack(WorkerSlot<E> slot, boolean idle) {
    var pooled = slot.held;
    if (pooled == null) return null;
    E item = slot.item;
    busy--;
    freePermits += pooled.weight;
    slot.release();
    if (idle) becomeIdle(slot);
    if (ending) return item;
    pooled.item = item;
    pooled.goTo(Entry.QUEUE);
    pooled.counted = false;
    order.chain.addFirst(pooled);
    if (lanes != null) lanes.all.addFirst(pooled);
    present++;
    return null;
  }

  // ---- for workers

  /**
   * A worker is through with something; this is next. Afterwards he must look at
   * {@link WorkerSlot#ready}.
   *
   * @param slot his
   * @param handled what he is through with; it need not be of this queue
   * @return null: nothing, and he rests; or he was given something meanwhile, which is on its way
   * to him
   */
  public synchronized E next(WorkerSlot<E> slot, Object handled) {
    if (slot.item == handled) done(slot);
    slot.ready = false;
    if (slot.held != null) return null;
    idleWorkers.wake(slot);
    if (!ending && !slot.retired && firstFits()) begin(slot);
    else becomeIdle(slot);
    return slot.item;
  }

  /**
   * A worker is through with something, and takes nothing more for now. Afterwards he must look at
   * {@link #ready}.
   *
   * @param slot his
   * @param handled as in {@link #next}
   */
  public synchronized void finish(WorkerSlot<E> slot, Object handled) {
    if (slot.item == handled) done(slot);
    idleWorkers.wake(slot);
  }

  /**
   * A worker is gone. What is still on its way to him stays his: who comes with it finds him gone,
   * and sees to it that it is {@link #finish finished}.
   *
   * @param slot his
   */
  public synchronized void leave(WorkerSlot<E> slot) {
    idleWorkers.wake(slot);
    if (slot.retired) retiring--;
    slots--;
  }

  /**
   * Those beyond the least who have rested for so long; they get nothing more.
   *
   * @param now by the clock that {@link #untilCalm} was told
   * @param minIdle how long
   * @return whom to end
   */
  public synchronized List<WorkerSlot<E>> retire(long now, long minIdle) {
    var retired = idleWorkers.retire(slots - retiring - sharing.least(), now, minIdle);
    retiring += retired.size();
    return retired;
  }

  /**
   * How long until somebody has rested enough.
   *
   * @param slot whose rest began just now; null: nobody's
   * @param now by some clock
   * @param minIdle how long
   * @return 0: nobody will
   */
  public synchronized long untilRetirement(WorkerSlot<E> slot, long now, long minIdle) {
    if (slot != null) {
      slot.idleSince = now;
      slot.idleSinceKnown = true;
    }
    return slots - retiring > sharing.least() ? idleWorkers.untilRetirement(now, minIdle) : 0;
  }

  // ---- the end

  /** Begins the end: nothing more is begun. */
  public synchronized void beginEnd() {
    ending = true;
  }

  /** {@return true for the first who asks when the end has come and no worker is left} */
  public synchronized boolean deserted() {
    if (!ending || slots > 0 || deserted) return false;
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
    return lanes.all.stream().limit(most).map(pooled -> pooled.item).toList();
  }

  /**
   * Who keeps something here, for who looks for a ring.
   *
   * @param entry offered before
   * @return null: nobody, or it cannot be told
   */
  public synchronized Blockers<E> blockers(Entry<E> entry) {
    return entry instanceof PoolEntry<E> pooled ? blockers(pooled) : null;
  }

  // ---- under the monitor

  /** Null: nobody, or it cannot be told. Under the monitor. */
  private Blockers<E> blockers(PoolEntry<E> pooled) {
    if (pooled.isGone()) return pooled.slot == null ? null : new Blockers<>(List.of(pooled.slot));
    if (pooled.isOutside() || ending || pillIsNext()) return null;
    // whatever else happens, it comes after that one
    if (!pooled.isBlocked() && pooled.lane != null && pooled.lane.first.slot != null)
      return new Blockers<>(List.of(pooled.lane.first.slot));
    var firstWorkers = lanes == null ? List.<WorkerSlot<E>>of() : lanes.firstWorkers();
    // behind the pill, whose turn comes when all lanes are empty
    if (!firstWorkers.isEmpty() && !pooled.isBlocked() && pooled.lane == null) return new Blockers<>(firstWorkers);
    // all that can be begun waits in lanes
    if (!(first() instanceof PoolEntry))
      return new Blockers<>(firstWorkers, Integer.MAX_VALUE, firstWorkers.size() - 1);
    return new Blockers<>(null, sharing.permits() - heaviest(pooled), sharing.most() - 1);
  }

  /**
   * Of what is begun before this one, and of itself; for a sender in the line, of what is begun
   * next: should another one hold him up after that, he is woken, and looks again.
   */
  private int heaviest(PoolEntry<E> last) {
    if (sharing.weight().isEmpty()) return 1;
    int heaviest = 0;
    for (var entry : order.entries(Integer.MAX_VALUE)) {
      if (entry instanceof PoolEntry<E> pooled) heaviest = Math.max(heaviest, pooled.weight);
      if (entry == last || entry.pill || last.isBlocked()) break;
    }
    return heaviest;
  }

  @Override
  Answer tryRun() {
    return ending || canBegin() || pillIsNext() ? Answer.RUN : Answer.TAKEN;
  }

  private boolean canBegin() {
    return !ending && (!idleWorkers.isEmpty() || slots < sharing.most()) && firstFits();
  }

  private boolean firstFits() {
    var first = first();
    return first instanceof PoolEntry<E> pooled && pooled.weight <= freePermits;
  }

  boolean pillIsNext() {
    return pill != null && !ending && (lanes == null || lanes.behind == 0) && first() == pill;
  }

  private void begin(WorkerSlot<E> slot) {
    var pooled = (PoolEntry<E>) first();
    busy++;
    freePermits -= pooled.weight;
    slot.hold(pooled);
    remove(pooled, true);
    slot.ready = canBegin() || pillIsNext();
  }

  private void becomeIdle(WorkerSlot<E> slot) {
    idleWorkers.add(slot);
    slot.ready = canBegin() || pillIsNext();
    alertBlocked();
  }

  /** Who waits for room is not let in by what has changed: so he may wait for himself. */
  private void alertBlocked() {
    if (!canBegin()) blockedSenders.alert();
  }

  private void done(WorkerSlot<E> slot) {
    var pooled = slot.held;
    if (pooled == null) return;
    busy--;
    freePermits += pooled.weight;
    slot.release();
    advance(pooled);
  }

  @Override
  void prepare(Entry<E> entry) {
    if (lanes != null && pill == null && entry instanceof PoolEntry<E> pooled) lanes.findLane(pooled);
  }

  /** Those in lanes wait for others of their key, which is their own affair. */
  @Override
  int ahead() {
    return lanes == null ? present : present - lanes.behind;
  }

  @Override
  void sendAway(Entry<E> entry) {
    super.sendAway(entry);
    if (lanes != null && entry instanceof PoolEntry<E> pooled) lanes.forget(pooled);
  }

  @Override
  void append(Entry<E> entry) {
    if (lanes != null && entry instanceof PoolEntry<E> pooled) {
      if (pill != null) lanes.forget(pooled); // nothing behind it is ever begun
      if (!lanes.enter(pooled)) {
        pooled.goTo(Entry.QUEUE);
        present++;
        return;
      }
    }
    super.append(entry);
    if (entry.pill && pill == null) pill = entry;
  }

  @Override
  E take(Entry<E> entry) {
    if (entry == pill) pill = null;
    E item = entry instanceof PoolEntry<E> pooled ? remove(pooled, false) : super.take(entry);
    alertBlocked();
    return item;
  }

  private E remove(PoolEntry<E> pooled, boolean begins) {
    if (lanes == null) return super.take(pooled);
    lanes.all.remove(pooled);
    E item = pooled.item;
    if (lanes.leaveLane(pooled)) markGone(pooled);
    else super.take(pooled);
    if (!begins) advance(pooled);
    return item;
  }

  /** The next of a key goes to the end of the line; but not behind the pill, which came later. */
  private void advance(PoolEntry<E> pooled) {
    var next = lanes == null ? null : lanes.advance(pooled);
    if (next == null) return;
    if (pill == null) order.chain.add(next);
    else order.chain.addBefore(next, pill);
  }

  @Override
  List<E> dropOldest(Entry<E> next) {
    if (lanes == null) return super.dropOldest(next);
    var dropped = new ArrayList<E>();
    while (!occupancy.hasRoomFor(next)) {
      var oldest = lanes.all.stream().filter(Entry::mayBeDropped).findFirst();
      if (oldest.isEmpty()) break;
      dropped.add(take(oldest.get()));
    }
    return dropped;
  }
}
