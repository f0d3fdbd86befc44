package io.fibry.engine.actor;

import io.fibry.DeadLetter.Reason;
import io.fibry.engine.cell.ActorBehavior;
import io.fibry.engine.jvm.StackProbe;
import io.fibry.engine.message.Baggage;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.message.RequestFuture;
import io.fibry.engine.queue.SharedQueue;

/**
 * A pool that makes a {@link MessageWorker} for each message. The sender makes the
 * worker, without a lock: no message waits, so no message enters the shared queue. The queue has
 * only the pill. An idle worker would have neither a state nor a thread, so no worker is kept for
 * the next message. A new worker costs less than the monitor and the list of idle workers.
 *
 * <p><b>The end.</b> A sender adds its worker to the set, and then reads the phase. The thread that
 * ends or kills the pool writes the phase, and then visits all workers of the set. So the sender
 * sees the end, or the worker gets the pill; perhaps both. In the first case, the sender refuses
 * its message, and lets the worker end.
 *
 * <p>A worker is removed from the set once its message is handled and counted. The thread that
 * removes a worker then reads the phase. The ending thread writes the phase, and then reads whether
 * the set is empty. So at least one of the two sees that the last worker has left an ending pool,
 * and {@link SharedQueue#takeDeserted} lets only one thread start the hooks.
 *
 * <p><b>Refused.</b> A stack of idle workers: its workers save one object of 56 bytes per message,
 * and need a timer that ends them.
 */
final class PerMessagePool extends PoolCell {
  PerMessagePool(ActorBehavior workerBehavior, SharedQueue<Object> queue) {
    super(workerBehavior, queue);
  }

  @Override
  protected Reason offer(Object message, Baggage baggage) {
    return offer(new Envelope(message, baggage), message, Deadline.NONE);
  }

  @Override
  protected Reason addUnbounded(Envelope envelope) {
    return offer(envelope, envelope.message, Deadline.NONE);
  }

  @Override
  protected Reason offer(Object node, Object message, Deadline deadline) {
    if (!settings().ownsThreads()) failIfExecutorShutDown();
    if (isEnding()) return Reason.UNDELIVERED;
    StackProbe.probeForSend(); // first: without stack, a worker that was added could not be removed
    var worker = new MessageWorker(workerBehavior, this, lastWorkerNumber.incrementAndGet(), node);
    if (node instanceof RequestFuture<?> request) request.entry = worker.slot().givenEntry();
    workers.add(worker);
    boolean isRefused = isEnding();
    boolean isWoken = false;
    try {
      if (isRefused) worker.sendPoisonPill();
      else worker.deliver(node);
      isWoken = true;
    } finally {
      if (!isWoken) removeWorker(worker);
    }
    return isRefused ? Reason.UNDELIVERED : null;
  }

  @Override
  void removeWorker(PoolWorker worker) {
    workers.remove(worker);
    try {
      if (worker.isEnding()) endIfExecutorShutDown(worker);
    } finally {
      if (isEnding()) startHooksIfDeserted();
    }
  }

  @Override
  int busyWorkers() {
    int count = 0;
    for (var worker : workers) if (((MessageWorker) worker).isBusy()) count++;
    return count;
  }

  @Override
  public boolean isIdle() {
    for (var worker : workers) if (((MessageWorker) worker).isBusy()) return false;
    return true;
  }
}
