package io.fibry.engine.actor;

import io.fibry.ActorStats.ActorState;
import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.engine.cell.Activity;
import io.fibry.engine.cell.ActorBehavior;
import io.fibry.engine.cell.ActorInspector;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.cell.HandlerContext;
import io.fibry.engine.jvm.EngineLog;
import io.fibry.engine.jvm.StackProbe;
import io.fibry.engine.message.Baggage;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.message.RequestFuture;
import io.fibry.engine.message.Wait;
import io.fibry.engine.message.Wait.WaitingHandler;
import io.fibry.engine.queue.PoolBlockers;
import io.fibry.engine.queue.QueueEntry;
import io.fibry.engine.queue.SharedQueue;
import io.fibry.engine.queue.WorkerSlot;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A pool: one mailbox, many workers. A sender gives its message to an idle or a new {@link Worker}.
 * If all workers are busy and no worker may be added, the message waits. A worker that has handled
 * its message takes the next message, or becomes idle.
 *
 * <p>A pool ends when all messages before its pill have begun. Messages after the pill are disposed
 * of, and each worker gets a pill. The thread that ends the last worker starts the pool's hooks.
 */
class PoolCell extends GuardedCell {
  private static final int MAX_COUNTED_FAILURES = 10; // more do not lengthen the backoff of recover

  private final SharedQueue<Object> queue;
  final ActorBehavior workerBehavior;
  final WorkerSet workers = new WorkerSet();
  // nodes whose disposal failed; the thread that ends the pool disposes of them
  private final Queue<Object> undisposedNodes = new ConcurrentLinkedQueue<>();
  final AtomicInteger lastWorkerNumber = new AtomicInteger();
  // whether each worker has got its pill; cleared by a thread that finds that a worker needs
  // another pill
  private volatile boolean arePillsSent;
  private final WorkerRetirement retirement;
  private volatile int failuresInRow; // how often deliverTo failed in a row; racing threads may lose a count

  PoolCell(ActorBehavior workerBehavior, SharedQueue<Object> queue) {
    super(workerBehavior.withSettings(workerBehavior.settings.forPool()), queue);
    this.workerBehavior = workerBehavior;
    this.queue = queue;
    this.retirement = new WorkerRetirement(this, queue);
  }

  /** Makes the minimum number of workers, if the strategy gives each worker a thread of its own. */
  void open() {
    if (!workerBehavior.settings.strategy().isResident()) return;
    try {
      for (int i = 0; i < queue.poolSpec().minWorkers(); i++) open(queue.reserveSlot());
    } catch (Throwable noThread) { // the pool may already be known by its name, and have messages
      endNeverStarted(new ExitReason.Failed(noThread));
      freeName();
      throw noThread;
    }
  }

  private void open(WorkerSlot<Object> slot) {
    try {
      var worker = hire(slot);
      if (queue.openSlot(slot)) begin();
      // another thread may have found the pool by its name and ended it, or closed its scope
      if (isEnding()) endLateWorker(worker);
    } finally {
      if (slot.worker() == null) removeSlot(slot);
    }
  }

  // ---- messages

  @Override
  protected Reason offer(Object node, Object message, Deadline deadline) {
    try {
      return super.offer(node, message, deadline);
    } catch (RuntimeException | StackOverflowError failure) { // thrown by the user's key or weight function
      if (deadline != Deadline.NO_WAIT) throw failure;
      EngineLog.log().error("{} refused a message, because its key or weight could not be determined", this, failure);
      return Reason.REJECTED;
    }
  }

  @Override
  protected Reason offerBlock(List<?> messages, Baggage baggage) {
    throw new UnsupportedOperationException(
        "actor '" + name() + "' is a pool, which cannot keep a batch together; send the messages one by one");
  }

  @Override
  protected boolean acquire(Object node) {
    return false;
  }

  @Override
  protected boolean acceptsWithoutUserCode() {
    return super.acceptsWithoutUserCode() && workerBehavior.settings.ownsThreads()
        && !queue.poolSpec().isContentAware();
  }

  @Override
  void begin(QueueEntry<Object> entry) {
    begin();
  }

  /**
   * Delivers to workers all messages that can begin. If that fails, another thread tries again.
   * Throws nothing once entered.
   */
  private void begin() {
    try {
      if (isEnding()) end();
      else assignAll();
    } catch (Throwable error) { // StackOverflowError or OutOfMemoryError, or from the user's listener
      stranded = Envelope.NOTHING;
      rescueLater();
    }
  }

  private void assignAll() {
    StackProbe.probe(); // first: an error while a message moves from the queue to its worker would lose the message
    boolean mayHire = true;
    for (var slot = queue.assignNext(true); slot != null;) {
      boolean isMoreReady = slot.isMoreReady(); // read first: after the delivery another thread may use the slot
      boolean hasWorker = slot.worker() != null;
      boolean isDelivered = deliverTo(slot);
      if (!isDelivered && hasWorker) return;
      mayHire &= isDelivered;
      slot = isMoreReady || !isDelivered ? queue.assignNext(mayHire) : null;
    }
    if (queue.isAtPill()) end();
  }

  /** Probes the stack also for the calls that start a worker. */
  @Override
  void probeStack() {
    StackProbe.probeForSend();
  }

  @Override
  public void failIfExecutorShutDown() {
    super.failIfExecutorShutDown();
    for (var worker : workers) worker.failIfExecutorShutDown();
  }

  /**
   * Gives the message of the slot to its worker, or to a new worker. Returns false if that failed.
   * The message is then in the queue again or, if the pool is ending, disposed of.
   */
  private boolean deliverTo(WorkerSlot<Object> slot) {
    Object node = slot.item();
    var worker = (Worker) slot.worker();
    boolean hasWorker = worker != null;
    try {
      if (!hasWorker) worker = hire(slot);
      worker.deliver(node);
    } catch (Throwable failure) {
      disposeOrKeep(queue.takeBack(slot, hasWorker));
      if (slot.worker() == null) removeSlot(slot); // if a worker was made, it removes its slot when it ends
      arePillsSent = false; // the worker may have skipped a pill that came before this message
      stranded = Envelope.NOTHING;
      recover(failure, failuresInRow);
      if (failuresInRow < MAX_COUNTED_FAILURES) failuresInRow++;
      return false;
    }
    if (failuresInRow > 0) failuresInRow = 0;
    strandIfStranded(worker);
    if (isEnding()) endLateWorker(worker);
    return true;
  }

  private Worker hire(WorkerSlot<Object> slot) {
    var worker = new Worker(workerBehavior, this, slot, lastWorkerNumber.incrementAndGet());
    var residentDrain = worker.prepareResident();
    workers.add(worker);
    slot.setWorker(worker);
    // if the start fails, the slot must give its message back before the worker's end removes the
    // slot
    if (residentDrain != null)
      worker.startResident(residentDrain, () -> disposeOrKeep(queue.takeBack(slot, false)));
    return worker;
  }

  /** Ends a worker that was made while the pool ended, because sendPills may have missed it. */
  private void endLateWorker(Worker worker) {
    try {
      if (isBeingKilled()) worker.kill();
      else if (phase >= LEAVING) worker.sendPoisonPill();
      strandIfStranded(worker);
    } catch (Throwable failure) { // from the user's scheduler, or a StackOverflowError
      arePillsSent = false;
      stranded = Envelope.NOTHING;
    }
  }

  @Override
  public void onWithdrawn(RequestFuture<?> request, Reason reason) {
    super.onWithdrawn(request, reason);
    if (queue.mayServe()) begin();
  }

  // ---- workers

  void dropStateIfPerMessage(Worker worker) {
    if (queue.poolSpec().isPerMessage()) worker.dropState("after its one message");
  }

  Object next(Worker worker, Object handledNode) {
    var slot = worker.slot;
    Object nextNode = queue.next(slot, handledNode);
    boolean isMoreReady = slot.isMoreReady();
    if (nextNode == null) retirement.onWorkerIdle();
    if (isMoreReady) begin();
    return nextNode;
  }

  void finish(Worker worker, Object handledNode) {
    StackProbe.probe();
    queue.finish(worker.slot, handledNode);
    if (queue.mayServe()) begin();
  }

  /** Removes a worker that has ended, or has left the pool. */
  void removeWorker(PoolWorker worker) {
    workers.remove(worker);
    try {
      endIfExecutorShutDown(worker);
    } finally {
      removeSlot(worker.slot());
    }
  }

  /** Called when a worker has ended, perhaps because its executor was shut down. */
  final void endIfExecutorShutDown(PoolWorker worker) {
    if (workerBehavior.settings.strategy().isShutDown()) stopAccepting(worker.extras().reason());
  }

  private void removeSlot(WorkerSlot<Object> slot) {
    queue.removeSlot(slot);
    if (!startHooksIfDeserted() && queue.mayServe()) begin();
  }

  // ---- the end

  @Override
  protected void push(Envelope envelope) {
    super.push(envelope);
    if (isEnding()) begin();
  }

  /**
   * Ends the pool. Called by the thread that finds the pill at the head of the queue, and by each
   * later call of {@link #begin}. If one thread fails, the next thread completes the end.
   */
  private void end() {
    extras().setReason(new ExitReason.Finished());
    setLeaving();
    queue.beginEnd();
    Object node;
    do {
      StackProbe.probe(); // first: after poll the node is in no queue, and an error would lose it
      node = undisposedNodes.isEmpty() ? queue.poll() : undisposedNodes.poll();
      disposeOrKeep(node);
    } while (node != null);
    if (!arePillsSent) sendPills();
    startHooksIfDeserted();
  }

  private void disposeOrKeep(Object node) {
    try {
      if (node != null) dispose(node);
    } catch (Throwable error) { // StackOverflowError: the thread that ends the pool tries again
      undisposedNodes.add(node);
      throw error;
    }
  }

  private void sendPills() {
    arePillsSent = true; // set before the loop, because another thread may clear this field during the loop
    try {
      for (var worker : workers) {
        worker.sendPoisonPill();
        worker.wake(); // ends a suspension, if any
        strandIfStranded(worker);
      }
    } catch (Throwable error) { // the next call of `begin` sends the pills
      arePillsSent = false;
      throw error;
    }
    retirement.stop();
  }

  @Override
  protected boolean isEndAwaitingWorkers(Set<Cell> others) {
    if (!arePillsSent) return false;
    for (var worker : workers) if (!worker.isIdle() && worker.isQuiet(others)) return true;
    return false;
  }

  /** Starts the drain that runs the hooks, on a thread of the strategy, after the last worker. */
  final boolean startHooksIfDeserted() {
    StackProbe.probe(); // takeDeserted returns true only once: this thread must then be able to finish
    if (!workers.isEmpty() || !queue.takeDeserted()) return false;
    synchronized (extras()) { // a killer reads pillTaken under this monitor, before it interrupts the hooks
      pillTaken = true;
      hooksPending = true;
    }
    stranded = Envelope.NOTHING; // a plain assignment cannot fail, so no error loses the hooks
    startStranded();
    return true;
  }

  /**
   * Takes the hooks under the monitor, because two drains of the pool may run at the same time, and
   * only one of the two may run the hooks.
   */
  @Override
  protected boolean takePendingHooks() {
    synchronized (extras()) {
      return super.takePendingHooks();
    }
  }

  @Override
  protected boolean hasOnlyHooksLeft() {
    return pillTaken;
  }

  @Override
  protected Object next(Object node, boolean maySpin) {
    return null;
  }

  @Override
  protected boolean release(Object node) {
    if (hooksPending || phase == ENDED) return true;
    for (var worker : workers) {
      if (worker.isStranded()) worker.tryRescue();
      strandIfStranded(worker);
    }
    begin();
    return true;
  }

  /**
   * Marks the pool as stranded if the worker is stranded, so that the next sender to the pool
   * rescues both.
   */
  private void strandIfStranded(PoolWorker worker) {
    if (worker.isStranded()) stranded = Envelope.NOTHING;
  }

  @Override
  public void kill(ExitReason reason) {
    super.kill(reason);
    for (var worker : workers) {
      worker.kill(reason);
      strandIfStranded(worker);
    }
  }

  @Override
  public void requestRestart(long pauseNanos) {} // the scope requests the restart of each worker instead

  @Override
  public boolean isPool() {
    return true;
  }

  @Override
  public boolean isCurrent() {
    for (var context = WaitingHandler.current(); context != null; context = context.outer)
      if (((Cell) context.actor()).publicCell() == this) return true;
    return false;
  }

  @Override
  public boolean hasOtherWorkers() {
    return queue.poolSpec().maxWorkers() > 1;
  }

  @Override
  public WaitingHandler blocker() {
    return hooksDrain();
  }

  @Override
  public PoolBlockers<Object> blockers(Wait wait) {
    if (wait.isForEnd()) return new PoolBlockers<>(workers.slots());
    var entry = wait.entry();
    var blockers = entry == null ? null : queue.blockers(entry);
    return blockers == null || blockers.slots() != null ? blockers
        : new PoolBlockers<>(workers.slots(), blockers.maxStuckPermits(), blockers.maxStuckWorkers());
  }

  @Override
  public String strategyText() {
    return queue.poolSpec() + ", " + workerBehavior.settings.strategy();
  }

  @Override
  public Activity activity() {
    int busyWorkers = busyWorkers();
    return Activity.ofPool(state(busyWorkers), busyWorkers, workers.size(), queue.poolSpec().maxWorkers());
  }

  int busyWorkers() {
    return queue.busyWorkers();
  }

  private ActorState state(int busyWorkers) {
    if (isCutOff()) return ActorState.CUT_OFF;
    return hasReachedPill() ? ActorState.ENDING : ActorInspector.stateOfPool(workers, busyWorkers);
  }

  final void addToCounts(int handled, int failed) {
    workers.addToCounts(handled, failed);
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
  protected HandlerContext drainFor(RequestFuture<?> request) {
    return workers.drainFor(request);
  }
}
