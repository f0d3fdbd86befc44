package io.fibry.engine.actor;

import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.OnExecutor;
import io.fibry.Strategy;
import io.fibry.engine.cell.Activation;
import io.fibry.engine.cell.Behaviour;
import io.fibry.engine.cell.Dispatch;
import io.fibry.engine.cell.Failures;
import io.fibry.engine.cell.Termination;
import io.fibry.engine.jvm.StackProbe;
import io.fibry.engine.message.Baggage;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.message.RequestFuture;
import io.fibry.engine.message.Wait;
import io.fibry.engine.scope.Scope;
import io.fibry.engine.queue.Blockers;
import io.fibry.engine.queue.Entry;
import io.fibry.engine.queue.WorkerSlot;
import io.fibry.engine.queue.SharedQueue;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * A pool: one mailbox, many workers. It is what users send to and end; {@link Worker} is what
 * handles. Messages are pulled: who comes with one gives it to a worker that rests, or makes one; a
 * worker that is through takes the next itself, and rests where there is none.
 *
 * <p>It ends when its pill's turn has come, that is when all before it was begun: then what is left
 * is buried, and each worker gets a pill of its own. The last one to go gives the pool a thread for
 * its hooks.
 */
public final class PoolCell extends GuardedCell {
  private static final int MOST_TRIES = 10;

  private final SharedQueue<Object> queue;
  private final Behaviour work; // the workers'
  private final Set<Worker> workers = ConcurrentHashMap.newKeySet(); // those that live
  // what came to grief at its burial
  private final Queue<Object> unburied = new ConcurrentLinkedQueue<>();
  private final AtomicInteger numbers = new AtomicInteger();
  // all workers were told of the end; written by who does it, or finds that it is to be done again
  private volatile boolean told;
  private final Retirement calm;
  private volatile int tries; // to make a worker, in vain; a race loses one
  private final LongAdder handled = new LongAdder(); // by workers that are gone
  private final LongAdder failed = new LongAdder(); // likewise

  public PoolCell(Behaviour work, SharedQueue<Object> queue) {
    super(work.behind(own(work.how)), queue);
    this.work = work;
    this.queue = queue;
    this.calm = new Retirement(this, queue);
  }

  /** It has a thread only for its end, and no request of its own. */
  private static Behaviour.How own(Behaviour.How workers) {
    var strategy = workers.strategy();
    return new Behaviour.How(workers.scope(), strategy.resident() ? Strategy.FIBER : strategy, workers.policy(), false,
        false, workers.carriers());
  }

  /** Those that have a thread of their own are there from the beginning. */
  public void open() {
    if (!work.how.strategy().resident()) return;
    try {
      for (int i = 0; i < queue.sharing().least(); i++) open(queue.reserve());
    } catch (Throwable noThread) { // it may have been found by its name, and sent messages
      rich().because(new ExitReason.Failed(noThread));
      shutDoor();
      freeName();
      throw noThread;
    }
  }

  private void open(WorkerSlot<Object> seat) {
    try {
      var worker = hire(seat);
      if (queue.open(seat)) begin();
      if (phase > OPEN) endLate(worker); // it was found by its name, or its scope closed
    } finally {
      if (seat.worker() == null) leave(seat);
    }
  }

  // ---- messages come

  @Override
  public Reason offer(Object node, Object message, Deadline limit) {
    try {
      return super.offer(node, message, limit);
    } catch (RuntimeException | StackOverflowError misfit) {
      // the user's code did not like it, or its weight was none
      if (limit != Deadline.NO_WAIT) throw misfit;
      Scope.LOG.error("a message for {} that nobody stands behind was refused", this, misfit);
      return Reason.REJECTED;
    }
  }

  @Override
  public Reason offerBlock(List<?> messages, Baggage along) {
    throw new UnsupportedOperationException(
        "actor '" + name() + "' is a pool, which cannot keep a block together; send the messages one by one");
  }

  @Override
  public boolean acquire(RequestFuture<?> asked) {
    return false;
  }

  /** Gives what can be begun to who can begin it. */
  @Override
  public void begin() {
    if (phase > OPEN) {
      end();
      return;
    }
    StackProbe.probe(); // from here on a message may be with nobody
    boolean hires = true;
    for (var seat = queue.serve(true); seat != null;) {
      boolean ready = seat.ready(); // once it is told, its worker is served again
      boolean known = seat.worker() != null;
      boolean given = give(seat);
      if (!given && known) return;
      hires &= given;
      seat = ready || !given ? queue.serve(hires) : null;
    }
    if (queue.atPill()) end();
  }

  /** For who must not fail: should it, the next sender does it. */
  private void beginSafely() {
    try {
      begin();
    } catch (Throwable edge) { // of the stack: as in heed
      stranded = Envelope.NOTHING;
    }
  }

  /** False: it lies in the queue again, and will be tried again. */
  private boolean give(WorkerSlot<Object> seat) {
    Object node = seat.item();
    var worker = (Worker) seat.worker();
    boolean known = worker != null;
    try {
      if (!known) worker = hire(seat);
      worker.begin(node);
    } catch (Throwable noWorker) {
      takeBack(seat, known);
      // else, if he could not settle in, he leaves at his end
      if (seat.worker() == null) leave(seat);
      told = false; // he may have met his pill, and waited for this message first
      stranded = Envelope.NOTHING;
      Dispatch.recover(this, noWorker, tries);
      if (tries < MOST_TRIES) tries++;
      return false;
    }
    if (tries > 0) tries = 0;
    lookAfter(worker);
    if (phase > OPEN) endLate(worker);
    return true;
  }

  private Worker hire(WorkerSlot<Object> seat) {
    var worker = new Worker(work, this, seat, numbers.incrementAndGet());
    var resident = Dispatch.prepareResident(worker);
    workers.add(worker);
    seat.take(worker);
    // before it ends, and leaves
    if (resident != null) Dispatch.settleIn(worker, resident, () -> takeBack(seat, false));
    return worker;
  }

  private void takeBack(WorkerSlot<Object> seat, boolean rests) {
    Object homeless = queue.takeBack(seat, rests);
    if (homeless != null) bury(homeless);
  }

  /** The end came while it was told, so who ended the others may have missed it. */
  private void endLate(Worker worker) {
    try {
      if (rich().isCondemned()) worker.kill();
      else if (phase >= LEAVING) worker.sendPoisonPill();
      lookAfter(worker);
    } catch (Throwable failure) {
      // the user's scheduler may be to blame; or it is the edge of the stack
      told = false;
      stranded = Envelope.NOTHING;
    }
  }

  /** What stood behind it may fit now. */
  @Override
  public void withdrawn(RequestFuture<?> asked, Reason reason) {
    super.withdrawn(asked, reason);
    if (queue.ready()) beginSafely();
  }

  // ---- workers take them

  /** The handler has returned. */
  public void after(Worker worker) {
    if (worker.hasState && queue.sharing().once()) Failures.leaveState(worker, "after its one message");
  }

  /** What it does next; null: nothing. */
  public Object next(Worker worker, Object through) {
    var seat = worker.seat;
    Object next = queue.next(seat, through);
    boolean ready = seat.ready();
    if (next == null) calm.begins(seat);
    if (ready) beginSafely();
    return next;
  }

  /** It takes nothing more for now. */
  public void finish(Worker worker, Object through) {
    StackProbe.probe();
    queue.finish(worker.seat, through);
    if (queue.ready()) beginSafely();
  }

  /** Whether a message is on its way to it, which it must not leave before. */
  public boolean awaits(Worker worker) {
    return worker.seat.item() != null;
  }

  /** Its thread is through. */
  public void gone(Worker worker) {
    workers.remove(worker);
    handled.add(worker.rich().handled);
    failed.add(worker.rich().failed);
    if (work.how.strategy() instanceof OnExecutor executor && executor.shutDown()) {
      rich().because(worker.rich().reason());
      shutDoor();
    }
    leave(worker.seat);
  }

  private void leave(WorkerSlot<Object> seat) {
    queue.leave(seat);
    StackProbe.probe(); // or nobody would see to the end
    if (queue.deserted()) finish();
    else if (queue.ready()) beginSafely();
  }

  // ---- the end

  @Override
  public void push(Envelope pill) {
    super.push(pill);
    if (phase > OPEN) beginSafely();
  }

  /**
   * By whoever finds that all before the pill was begun, or that nothing is to be begun any more.
   * As often as somebody comes with something that came too late; should one not come through, the
   * next goes on.
   */
  private void end() {
    rich().because(new ExitReason.Finished());
    leaving();
    queue.beginEnd();
    Object node;
    do {
      StackProbe.probe(); // what is taken out is in nobody's hands
      node = unburied.isEmpty() ? queue.poll() : unburied.poll();
      if (node != null) bury(node);
    } while (node != null);
    if (!told) tell();
    StackProbe.probe(); // or nobody would see to it
    if (queue.deserted()) finish();
  }

  /** On the thread of whoever ends it. */
  private void bury(Object node) {
    try {
      Termination.bury(this, node);
    } catch (Throwable edge) { // of his stack; the thread for the end has more
      unburied.add(node);
      throw edge;
    }
  }

  private void tell() {
    told = true; // before: who finds that one has to be told again says so
    try {
      for (var worker : workers) {
        worker.sendPoisonPill();
        Dispatch.wake(worker); // should it rest: there is nothing left to restart for
        lookAfter(worker);
      }
    } catch (Throwable edge) { // of the stack
      told = false;
      throw edge;
    }
    calm.stop();
  }

  /** No worker is left: its own hooks run on a thread of its strategy's. */
  private void finish() {
    synchronized (rich()) { // as who would interrupt the hooks
      left = true;
      orphaned = true;
    }
    try {
      Dispatch.begin(this, null, Envelope.NOTHING);
    } catch (Throwable edge) { // of the stack: it was not even entered
      stranded = Envelope.NOTHING;
    }
  }

  /**
   * A pool may have two threads at once: one that was to begin something, and the one for its end.
   */
  @Override
  public boolean adopt() {
    synchronized (rich()) {
      return super.adopt();
    }
  }

  @Override
  public boolean isAtHooks() {
    return left;
  }

  @Override
  public Object next(Activation activation, Object node) {
    activation.pause();
    if (orphaned || phase == ENDED) return null;
    for (var worker : workers) {
      if (worker.stranded != null) Dispatch.rescue(worker);
      lookAfter(worker);
    }
    begin();
    return null;
  }

  /**
   * Should it lie stranded, the next sender to the pool takes it up: to a worker itself nobody
   * sends.
   */
  private void lookAfter(Worker worker) {
    if (worker.stranded != null) stranded = Envelope.NOTHING;
  }

  @Override
  public void kill(ExitReason reason) {
    super.kill(reason);
    for (var worker : workers) {
      worker.kill(reason);
      lookAfter(worker);
    }
  }

  @Override
  public void askRestart(long pause) {} // its workers are asked

  // ---- for who looks on

  @Override
  public List<ActorCell> crew() {
    var all = new ArrayList<ActorCell>(workers);
    all.add(this);
    return all;
  }

  @Override
  public boolean isCurrent() {
    for (var turn = Activation.CURRENT.get(); turn != null; turn = turn.outer)
      if (turn.cell.front() == this) return true;
    return false;
  }

  /** Whether somebody else may do what one of its workers waits for. */
  public boolean hasOthers() {
    return queue.sharing().most() > 1;
  }

  /** Who must go on for a wait to end. Null: nobody, or that cannot be told. */
  public Blockers<Object> keepers(Wait wait) {
    if (wait.isForEnd()) return new Blockers<>(seats());
    var place = wait.place();
    var keepers = place == null ? null : queue.blockers(place);
    return keepers == null || keepers.slots() != null ? keepers
        : new Blockers<>(seats(), keepers.permits(), keepers.workers());
  }

  private List<WorkerSlot<Object>> seats() {
    return workers.stream().map(worker -> worker.seat).toList();
  }

  @Override
  public Activation workerOn(RequestFuture<?> asked) {
    Activation busy = null;
    for (var worker : workers) {
      var run = worker.run();
      if (run != null && run.asked == asked) return run;
      if (run != null && run.message != null) busy = run;
    }
    return busy;
  }

  /** How many workers it has, and how many of them are at work. */
  public String workers() {
    return queue.sharing() + ", " + work.how.strategy() + "): " + queue.busy() + " of " + workers.size() + " at work";
  }

  public long handled() {
    return handled.sum() + workers.stream().mapToLong(worker -> worker.rich().handled).sum();
  }

  public long failed() {
    return failed.sum() + workers.stream().mapToLong(worker -> worker.rich().failed).sum();
  }
}
