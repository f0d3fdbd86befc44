package io.fibry.bench.peer;

import java.lang.invoke.VarHandle;
import java.util.Queue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jctools.queues.varhandle.MpscUnboundedVarHandleArrayQueue;

/**
 * JCTools' queue for many senders and one receiver, in its edition without Unsafe, in chunks of
 * 1,024: the yardstick of a queue. The receiver is a virtual thread that parks when it finds the
 * queue empty; who sends looks whether it does.
 */
final class JcTools implements Peer.Requests {
  private static final int CHUNK = 1_024;

  private static final class ParkingReceiver<M> implements Receiver<M>, ReceiverThreads.Source<M> {
    private final Queue<M> queue = new MpscUnboundedVarHandleArrayQueue<>(CHUNK);
    private final Thread thread;
    private volatile boolean asleep; // written by both, read by senders

    ParkingReceiver(Consumer<M> handler) {
      thread = ReceiverThreads.VIRTUAL.apply(ReceiverThreads.forEver(this, handler));
    }

    @Override
    public void send(M message) {
      queue.offer(message);
      VarHandle.fullFence(); // offer, then look; the receiver says that it sleeps, then looks
      if (asleep) {
        asleep = false;
        LockSupport.unpark(thread);
      }
    }

    @Override
    public M take() throws InterruptedException {
      for (M message = queue.poll();; message = queue.poll()) {
        if (message != null) return message;
        asleep = true;
        if (queue.isEmpty()) LockSupport.park(this);
        if (Thread.interrupted()) throw new InterruptedException();
        asleep = false;
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
