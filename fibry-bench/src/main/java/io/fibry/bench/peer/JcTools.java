package io.fibry.bench.peer;

import java.lang.invoke.VarHandle;
import java.util.Queue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jctools.queues.varhandle.MpscUnboundedVarHandleArrayQueue;

/**
 * A yardstick for mailboxes: the queue of JCTools for many senders and one receiver, in chunks of
 * 1,024 messages, without {@code Unsafe}. The receiver is a virtual thread that parks when the
 * queue is empty; a sender unparks it.
 */
final class JcTools implements Peer.Requests {
  private static final int CHUNK = 1_024;

  private static final class ParkingReceiver<M> implements Receiver<M>, ReceiverThreads.Source<M> {
    private final Queue<M> queue = new MpscUnboundedVarHandleArrayQueue<>(CHUNK);
    private final Thread thread;
    private volatile boolean mayBeParked; // written by the receiver and by senders, read by senders

    ParkingReceiver(Consumer<M> handler) {
      thread = ReceiverThreads.VIRTUAL.apply(ReceiverThreads.receiveLoop(this, handler));
    }

    @Override
    public void send(M message) {
      queue.offer(message);
      // The sender offers, then reads mayBeParked; the receiver sets mayBeParked, then checks the
      // queue. The fence preserves the sender's order, so one of them sees the write of the other.
      VarHandle.fullFence();
      if (mayBeParked) {
        mayBeParked = false;
        LockSupport.unpark(thread);
      }
    }

    @Override
    public M take() throws InterruptedException {
      for (M message = queue.poll();; message = queue.poll()) {
        if (message != null) return message;
        mayBeParked = true;
        if (queue.isEmpty()) LockSupport.park(this);
        if (Thread.interrupted()) throw new InterruptedException();
        mayBeParked = false;
      }
    }

    @Override
    public void end() {
      ReceiverThreads.end(thread);
    }
  }

  @Override
  public <M> Receiver<M> actor(Consumer<M> handler) {
    return new ParkingReceiver<>(handler);
  }

  @Override
  public <M, R> Answerer<M, R> answering(Function<M, R> handler) {
    return ReceiverThreads.answerer(this, handler);
  }
}
