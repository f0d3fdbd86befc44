package io.fibry.bench.peer;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A virtual thread for each message, and a lock, so that the messages are handled one at a time.
 * This is less than an actor, because the messages are not handled in order.
 */
final class VirtualThreadExecutor implements Peer.Requests {
  private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();

  private record LockedReceiver<M>(ExecutorService executor, Consumer<M> handler, ReentrantLock lock)
      implements Receiver<M> {
    @Override
    public void send(M message) {
      executor.execute(() -> {
        lock.lock();
        try {
          handler.accept(message);
        } finally {
          lock.unlock();
        }
      });
    }

    @Override
    public void end() {}
  }

  @Override
  public <M> Receiver<M> actor(Consumer<M> handler) {
    return new LockedReceiver<>(executor, handler, new ReentrantLock());
  }

  @Override
  public <M, R> Answerer<M, R> answering(Function<M, R> handler) {
    var lock = new ReentrantLock();
    return message -> SingleThreadExecutor.answer(executor, message, argument -> {
      lock.lock();
      try {
        return handler.apply(argument);
      } finally {
        lock.unlock();
      }
    });
  }

  @Override
  public void close() {
    executor.shutdownNow();
  }
}
