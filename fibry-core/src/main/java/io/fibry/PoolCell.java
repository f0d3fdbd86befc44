package io.fibry;

import io.fibry.DeadLetter.Reason;
import io.fibry.mailbox.Place;
import io.fibry.mailbox.Seat;
import io.fibry.mailbox.SharedQueue;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * A pool: one mailbox, many workers. It is what users send to and end; {@link Worker} is what handles. Messages are pulled: who comes with one gives it to a worker that rests, or makes one; a worker that is through takes
 * the next itself, and rests where there is none.
 *
 * <p>It ends when its pill's turn has come, that is when all before it was begun: then what is left is buried, and each worker gets a pill of its own. The last one to go gives the pool a thread for its hooks.
 */
final class PoolCell extends GuardedCell {
  private static final Duration CALM = Duration.ofSeconds(10);
  private static final int MOST_TRIES = 10;

  private final SharedQueue<Object> queue;
  private final Behaviour work; // the workers'
  private final Set<Worker> workers = ConcurrentHashMap.newKeySet(); // those that live
  private final AtomicInteger numbers = new AtomicInteger();
  private final AtomicBoolean watched = new AtomicBoolean(); // the timer that ends workers in a calm is set
  private volatile Scheduler.Timer calm; // null: never set; written by who sets it, read by who ends the pool
  private volatile int tries; // to make a worker, in vain; a race loses one
  private final LongAdder handled = new LongAdder(); // by workers that are gone
  private final LongAdder failed = new LongAdder(); // likewise

  PoolCell(Behaviour work, SharedQueue<Object> queue) {
    super(new Behaviour(own(work.how()), work.logic(), false), queue);
    this.work = work;
    this.queue = queue;
  }

  /** It has a thread only for its end, and no request of its own. */
  private static Behaviour.How own(Behaviour.How workers) {
    var strategy = workers.strategy();
    return new Behaviour.How(workers.scope(), strategy.resident() ? Strategy.FIBER : strategy, workers.policy(), false, workers.carriers());
  }

  /** Those that have a thread of their own are there from the beginning. */
  void open() {
    if (!work.how().strategy().resident()) return;
    try {
      for (int i = 0; i < queue.sharing().least(); i++) open(queue.reserve());
    } catch (Throwable noThread) { // it may have been found by its name, and sent messages
      rich().because(new ExitReason.Failed(noThread));
      shutDoor();
      freeName();
      throw noThread;
    }
  }

  private void open(Seat<Object> seat) {
    hire(seat);
    if (queue.open(seat)) begin();
  }

  // ---- messages come

  @Override
  Place<Object> place(Object node, Object message) {
    return queue.place(node, message, !(message instanceof Envelope.Control), this);
  }

  @Override
  Reason offer(Object node, Object message, Limit limit) {
    try {
      return super.offer(node, message, limit);
    } catch (IllegalArgumentException misfit) {
      if (limit != Limit.NO_WAIT) throw misfit;
      Scope.LOG.error("a message that nobody waits for was refused", misfit);
      return Reason.REJECTED;
    }
  }

  @Override
  Reason offerBlock(List<?> messages, Along along) {
    throw new UnsupportedOperationException("actor '" + name() + "' is a pool, which cannot keep a block together; send the messages one by one");
  }

  @Override
  boolean acquire(Asked<?> asked) {
    return false;
  }

  /** Gives what can be begun to who can begin it. */
  @Override
  void begin() {
    if (phase > OPEN) {
      end();
      return;
    }
    for (var seat = queue.serve(); seat != null; ) {
      boolean ready = seat.ready(); // once it is told, its worker is served again
      if (!give(seat)) return;
      seat = ready ? queue.serve() : null;
    }
    if (queue.atPill()) end();
  }

  /** False: it lies in the queue again, and will be tried again. */
  private boolean give(Seat<Object> seat) {
    Object node = seat.item();
    var known = (Worker) seat.worker();
    try {
      var worker = known != null ? known : hire(seat);
      worker.begin(node);
      if (tries > 0) tries = 0;
      if (phase > OPEN) endLate(worker);
      return true;
    } catch (Throwable noWorker) {
      queue.takeBack(seat, known != null);
      if (seat.worker() == null) queue.leave(seat); // else, if he could not settle in, he leaves at his end
      stranded = Envelope.NOTHING;
      Dispatch.recover(this, noWorker, tries);
      if (tries < MOST_TRIES) tries++;
      return false;
    }
  }

  private Worker hire(Seat<Object> seat) {
    var worker = new Worker(work, this, seat, numbers.incrementAndGet());
    var resident = Dispatch.prepareResident(worker);
    workers.add(worker);
    seat.take(worker);
    if (resident != null) Dispatch.settleIn(worker, resident);
    return worker;
  }

  /** The end came while it was told, so who ended the others may have missed it. */
  private void endLate(Worker worker) {
    if (rich().isCondemned()) worker.kill();
    else if (phase >= LEAVING) worker.sendPoisonPill();
  }

  /** What stood behind it may fit now. */
  @Override
  void withdrawn(Asked<?> asked, Reason reason) {
    super.withdrawn(asked, reason);
    if (queue.ready()) begin();
  }

  // ---- workers take them

  /** The handler has returned. */
  void after(Worker worker) {
    if (worker.hasState && queue.sharing().once()) Failures.leaveState(worker, "after its one message");
  }

  /** What it does next; null: nothing. */
  Object next(Worker worker, Object through) {
    var seat = worker.seat;
    Object next = queue.next(seat, through);
    boolean ready = seat.ready();
    if (next == null) rests(seat);
    if (ready) begin();
    return next;
  }

  /** It takes nothing more for now. */
  void finish(Worker worker, Object through) {
    queue.finish(worker.seat, through);
    if (queue.ready()) begin();
  }

  /** Its thread is through. */
  void gone(Worker worker) {
    workers.remove(worker);
    handled.add(worker.rich().handled);
    failed.add(worker.rich().failed);
    if (work.how().strategy() instanceof OnExecutor executor && executor.shutDown()) {
      rich().because(worker.rich().reason());
      shutDoor();
    }
    if (queue.leave(worker.seat)) finish();
    else if (queue.ready()) begin();
  }

  // ---- fewer workers, after a calm

  private void rests(Seat<Object> seat) {
    var sharing = queue.sharing();
    if (sharing.least() == sharing.most()) return;
    watch(seat);
  }

  private Scheduler clock() {
    return scope().options().scheduler;
  }

  private void watch(Seat<Object> rests) {
    var clock = clock();
    long left = queue.untilCalm(rests, clock.nanoTime(), CALM.toNanos());
    if (left == 0 || phase > OPEN || !watched.compareAndSet(false, true)) return;
    calm = clock.after(Duration.ofNanos(left), clock == Scheduler.system() ? () -> OwnThreads.FIBER.activate(this::shrink) : this::shrink); // an end may run code of the user
  }

  private void shrink() {
    watched.set(false);
    for (var seat : queue.retire(clock().nanoTime(), CALM.toNanos())) ((Worker) seat.worker()).sendPoisonPill();
    watch(null);
  }

  // ---- the end

  @Override
  void push(Envelope pill) {
    super.push(pill);
    if (phase > OPEN) begin();
  }

  /** By whoever finds that all before the pill was begun, or that nothing is to be begun any more. */
  private void end() {
    rich().because(new ExitReason.Finished());
    leaving();
    boolean first = queue.beginEnd();
    for (Object node = queue.poll(); node != null; node = queue.poll()) Burial.bury(this, node);
    if (!first) return;
    for (var worker : workers) {
      worker.sendPoisonPill();
      Dispatch.wake(worker); // should it rest: there is nothing left to restart for
    }
    var timer = calm;
    if (timer != null) timer.cancel();
    if (queue.leave()) finish();
  }

  /** No worker is left: its own hooks run on a thread of its strategy's. */
  private void finish() {
    left = true;
    orphaned = true;
    try {
      Dispatch.begin(this, null, Envelope.NOTHING);
    } catch (Throwable edge) { // of the stack: it was not even entered
      stranded = Envelope.NOTHING;
    }
  }

  @Override
  Object next(Activation activation, Object node) {
    activation.pause();
    if (!orphaned && phase < ENDED) begin();
    return null;
  }

  @Override
  public void kill() {
    super.kill();
    for (var worker : workers) worker.kill();
  }

  @Override
  void askRestart(long pause) {} // its workers are asked

  // ---- for who looks on

  @Override
  List<ActorCell> crew() {
    var all = new ArrayList<ActorCell>(List.of(this));
    all.addAll(workers);
    return all;
  }

  @Override
  boolean isCurrent() {
    for (var turn = Activation.CURRENT.get(); turn != null; turn = turn.outer) if (turn.cell.front() == this) return true;
    return false;
  }

  /** Whether somebody else may do what one of its workers waits for. */
  boolean hasOthers() {
    return queue.sharing().most() > 1;
  }

  @Override
  Activation workerOn(Asked<?> asked) {
    Activation busy = null;
    for (var worker : workers) {
      var run = worker.run();
      if (run != null && run.asked == asked) return run;
      if (run != null && run.message != null) busy = run;
    }
    return busy;
  }

  /** How many workers it has, and how many of them are at work. */
  String workers() {
    return queue.sharing() + ", " + work.how().strategy() + "): " + queue.busy() + " of " + workers.size() + " at work";
  }

  long handled() {
    return handled.sum() + workers.stream().mapToLong(worker -> worker.rich().handled).sum();
  }

  long failed() {
    return failed.sum() + workers.stream().mapToLong(worker -> worker.rich().failed).sum();
  }
}
