package io.fibry.engine.actor;

import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.engine.cell.ActorBehavior;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.cell.Dispatch;
import io.fibry.engine.cell.FailureHandler;
import io.fibry.engine.cell.HandlerContext;
import io.fibry.engine.cell.Termination;
import io.fibry.engine.jvm.EngineLog;
import io.fibry.engine.jvm.StackProbe;
import io.fibry.engine.message.Baggage;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.message.RequestFuture;
import io.fibry.engine.message.Wait.WaitingHandler;
import io.fibry.engine.message.Wait;
import io.fibry.engine.queue.PoolBlockers;
import io.fibry.engine.queue.SharedQueue;
import io.fibry.engine.queue.WorkerSlot;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A pool: one mailbox, many workers. A sender gives its message to an idle {@link Worker}, or makes
 * one; a worker takes the next message itself, or becomes idle.
 *
 * <p>A pool ends when all messages before its pill have begun: the rest is disposed of, and each
 * worker gets a pill. The last worker to end gives the pool a thread for its hooks.
 */
final class PoolCell extends GuardedCell {
  private static final int MAX_TRIES = 10;

  private final SharedQueue<Object> queue;
  private final ActorBehavior work;
  private final WorkerSet workers = new WorkerSet();
  private final Queue<Object> undisposed = new ConcurrentLinkedQueue<>(); // disposing of these failed
  private final AtomicInteger numbers = new AtomicInteger();
  private volatile boolean pillsSent; // to all; cleared by a thread that finds that one must go again
  private final WorkerRetirement retirement;
  private volatile int tries; // failed, to make a worker; a race may lose one

  PoolCell(ActorBehavior work, SharedQueue<Object> queue) {
    super(work.withSettings(work.settings.forPool()), queue);
    this.work = work;
    this.queue = queue;
    this.retirement = new WorkerRetirement(this, queue);
  }

  /** Makes the workers that keep a thread. */
  void open() {
    if (!work.settings.strategy().isResident()) return;
    try {
      for (int i = 0; i < queue.poolPolicy().minWorkers(); i++) open(queue.reserve());
    } catch (Throwable noThread) { // it may have been found by name, and have messages
      Dispatch.endNeverStarted(this, new ExitReason.Failed(noThread));
      freeName();
      throw noThread;
    }
  }

  private void open(WorkerSlot<Object> slot) {
    try {
      var worker = hire(slot);
      if (queue.open(slot)) begin();
      if (isEnding()) endLateWorker(worker); // found by name, or its scope closed
    } finally {
      if (slot.worker() == null) leave(slot);
    }
  }

  // ---- messages

  @Override
  protected Reason offer(Object node, Object message, Deadline deadline) {
    try {
      return super.offer(node, message, deadline);
    } catch (RuntimeException | StackOverflowError misfit) { // of the user's key or weight
      if (deadline != Deadline.NO_WAIT) throw misfit;
      EngineLog.LOG.error("a message for {} that no sender waits for was refused", this, misfit);
      return Reason.REJECTED;
    }
  }

  @Override
  protected Reason offerBlock(List<?> messages, Baggage baggage) {
    throw new UnsupportedOperationException(
        "actor '" + name() + "' is a pool, which cannot keep a block together; send the messages one by one");
  }

  @Override
  protected boolean acquire(Object node) {
    return false;
  }

  @Override
  protected boolean onlyQueues() {
    return super.onlyQueues() && work.settings.ownsThreads() && !queue.poolPolicy().isContentAware();
  }

  /** Gives workers what can begin. */
  @Override
  void begin() {
    if (isEnding()) {
      end();
      return;
    }
    StackProbe.probe(); // from here on a message may be in no queue
    boolean hires = true;
    for (var slot = queue.serve(true); slot != null;) {
      boolean ready = slot.isReady(); // first: once given, the slot may be served again
      boolean known = slot.worker() != null;
      boolean given = deliverTo(slot);
      if (!given && known) return;
      hires &= given;
      slot = ready || !given ? queue.serve(hires) : null;
    }
    if (queue.isAtPill()) end();
  }

  /** Covers the calls of a worker's beginning, too. */
  @Override
  void probeStack() {
    StackProbe.probeForSend();
  }

  @Override
  void failIfExecutorShutDown() {
    super.failIfExecutorShutDown();
    for (var worker : workers) Dispatch.failIfExecutorShutDown(worker);
  }

  /** Leaves a failure to the next sender. */
  private void beginSafely() {
    try {
      begin();
    } catch (Throwable edge) { // of the stack
      stranded = Envelope.NOTHING;
    }
  }

  /** Returns false if the message is back in the queue, for another try. */
  private boolean deliverTo(WorkerSlot<Object> slot) {
    Object node = slot.item();
    var worker = (Worker) slot.worker();
    boolean known = worker != null;
    try {
      if (!known) worker = hire(slot);
      worker.take(node);
    } catch (Throwable noWorker) {
      dispose(queue.takeBack(slot, known));
      if (slot.worker() == null) leave(slot); // else the worker leaves at its end
      pillsSent = false; // the worker may have let its pill pass for this message
      stranded = Envelope.NOTHING;
      Dispatch.recover(this, noWorker, tries);
      if (tries < MAX_TRIES) tries++;
      return false;
    }
    if (tries > 0) tries = 0;
    lookAfter(worker);
    if (isEnding()) endLateWorker(worker);
    return true;
  }

  private Worker hire(WorkerSlot<Object> slot) {
    var worker = new Worker(work, this, slot, numbers.incrementAndGet());
    var resident = Dispatch.prepareResident(worker);
    workers.add(worker);
    slot.take(worker);
    // before it leaves
    if (resident != null) Dispatch.startResident(worker, resident, () -> dispose(queue.takeBack(slot, false)));
    return worker;
  }

  /** The pool ended meanwhile, and its pills may have missed this worker. */
  private void endLateWorker(Worker worker) {
    try {
      if (isBeingKilled()) worker.kill();
      else if (phase >= LEAVING) worker.sendPoisonPill();
      lookAfter(worker);
    } catch (Throwable failure) { // of the user's scheduler or the stack
      pillsSent = false;
      stranded = Envelope.NOTHING;
    }
  }

  @Override
  public void onWithdrawn(RequestFuture<?> request, Reason reason) {
    super.onWithdrawn(request, reason);
    if (queue.ready()) beginSafely();
  }

  // ---- workers

  void countHandled(Worker worker) {
    if (queue.poolPolicy().isPerMessage()) FailureHandler.dropState(worker, "after its one message");
  }

  Object next(Worker worker, Object done) {
    var slot = worker.slot;
    Object next = queue.next(slot, done);
    boolean ready = slot.isReady();
    if (next == null) retirement.idle();
    if (ready) beginSafely();
    return next;
  }

  void finish(Worker worker, Object done) {
    StackProbe.probe();
    queue.finish(worker.slot, done);
    if (queue.ready()) beginSafely();
  }

  void workerExited(Worker worker) {
    workers.remove(worker);
    try {
      if (work.settings.strategy().isShutDown()) stopAccepting(worker.extras().reason());
    } finally {
      leave(worker.slot);
    }
  }

  private void leave(WorkerSlot<Object> slot) {
    queue.leave(slot);
    StackProbe.probe(); // so that a thread sees to the end
    if (queue.takeDeserted()) finish();
    else if (queue.ready()) beginSafely();
  }

  // ---- the end

  @Override
  protected void push(Envelope envelope) {
    super.push(envelope);
    if (isEnding()) beginSafely();
  }

  /**
   * Called by each thread that finds the pill next, or comes later: if one fails, the next one
   * completes the end.
   */
  private void end() {
    extras().setReason(new ExitReason.Finished());
    enterLeaving();
    queue.beginEnd();
    Object node;
    do {
      StackProbe.probe(); // a node taken out is in no queue
      node = undisposed.isEmpty() ? queue.poll() : undisposed.poll();
      dispose(node);
    } while (node != null);
    if (!pillsSent) sendPills();
    StackProbe.probe(); // as in leave
    if (queue.takeDeserted()) finish();
  }

  private void dispose(Object node) {
    try {
      if (node != null) Termination.dispose(this, node);
    } catch (Throwable edge) { // of this stack; the end's thread has more
      undisposed.add(node);
      throw edge;
    }
  }

  private void sendPills() {
    pillsSent = true; // first: another thread may clear it
    try {
      for (var worker : workers) {
        worker.sendPoisonPill();
        worker.wake(); // if it is suspended
        lookAfter(worker);
      }
    } catch (Throwable edge) { // of the stack
      pillsSent = false;
      throw edge;
    }
    retirement.stop();
  }

  /** Runs the hooks on a thread of the strategy. */
  private void finish() {
    synchronized (extras()) { // a killer may interrupt the hooks
      pillMet = true;
      hooksPending = true;
    }
    try {
      begin(null, Envelope.NOTHING);
    } catch (Throwable edge) { // of the stack: the method was not entered
      stranded = Envelope.NOTHING;
    }
  }

  /** Another thread may begin messages. */
  @Override
  protected boolean takeHooks() {
    synchronized (extras()) {
      return super.takeHooks();
    }
  }

  @Override
  protected boolean isAtHooks() {
    return pillMet;
  }

  @Override
  protected Object next(Object node, boolean lingers) {
    return null;
  }

  @Override
  protected boolean release(Object node) {
    if (hooksPending || phase == ENDED) return true;
    for (var worker : workers) {
      if (worker.isStranded()) worker.rescue();
      lookAfter(worker);
    }
    begin();
    return true;
  }

  /** Leaves it to the next sender, if stranded. */
  private void lookAfter(Worker worker) {
    if (worker.isStranded()) stranded = Envelope.NOTHING;
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
  public void requestRestart(long pause) {} // its workers are asked

  @Override
  public boolean isPool() {
    return true;
  }

  @Override
  public boolean isCurrent() {
    for (var context = WaitingHandler.current(); context != null; context = context.outer)
      if (((Cell) context.party()).publicCell() == this) return true;
    return false;
  }

  @Override
  public boolean hasOtherWorkers() {
    return queue.poolPolicy().maxWorkers() > 1;
  }

  @Override
  public WaitingHandler blocker() {
    return hooks();
  }

  @Override
  public PoolBlockers<Object> blockers(Wait wait) {
    if (wait.isForEnd()) return new PoolBlockers<>(workers.slots());
    var entry = wait.entry();
    var blockers = entry == null ? null : queue.blockers(entry);
    return blockers == null || blockers.slots() != null ? blockers
        : new PoolBlockers<>(workers.slots(), blockers.permits(), blockers.workers());
  }

  @Override
  public String kind() {
    return queue.poolPolicy() + ", " + work.settings.strategy();
  }

  @Override
  public String activity() {
    return queue.busy() + " of " + workers.size() + " at work";
  }

  @Override
  public long handled() {
    return workers.handled();
  }

  @Override
  public long failed() {
    return workers.failed();
  }

  @Override
  public List<Cell> workersAndSelf() {
    return workers.withPool(this);
  }

  @Override
  protected HandlerContext workerOn(RequestFuture<?> request) {
    return workers.drainOn(request);
  }
}
