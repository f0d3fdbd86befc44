package io.fibry.bench.peer;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;

/** Threads that take messages from a source and handle them. */
final class ReceiverThreads {

  static final Function<Runnable, Thread> VIRTUAL = Thread::startVirtualThread;
  static final Function<Runnable, Thread> PLATFORM = Thread.ofPlatform().daemon()::start;

  private ReceiverThreads() {}

  interface Source<M> {
    M take() throws InterruptedException;
  }

  private record Request<M, R>(M message, CompletableFuture<R> answer) {}

  static <M> Runnable receiveLoop(Source<M> source, Consumer<M> handler) {
    return () -> {
      try {
        while (true) handler.accept(source.take());
      } catch (InterruptedException interruption) {
        Thread.currentThread().interrupt();
      }
    };
  }

  static void end(Thread thread) {
    thread.interrupt();
    try {
      thread.join();
    } catch (InterruptedException interruption) {
      throw new AssertionError(interruption);
    }
  }

  /**
   * Returns an answerer that sends a future with each message and waits for it, as a user of a
   * queue would write it.
   */
  static <M, R> Answerer<M, R> answerer(Peer peer, Function<M, R> handler) {
    Receiver<Request<M, R>> actor = peer.actor(request -> request.answer.complete(handler.apply(request.message)));
    return message -> {
      var request = new Request<M, R>(message, new CompletableFuture<>());
      actor.send(request);
      return request.answer.join();
    };
  }
}
