package io.fibry.bench.peer;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;

/** What peers share that are a thread and something to take from. */
final class ReceiverThreads {

  /** Starts a virtual thread. */
  static final Function<Runnable, Thread> VIRTUAL = Thread::startVirtualThread;

  /** Starts a platform thread. */
  static final Function<Runnable, Thread> PLATFORM = Thread.ofPlatform().daemon()::start;

  private ReceiverThreads() {}

  /** Where messages are taken from. */
  interface Source<M> {
    M take() throws InterruptedException;
  }

  private record Request<M, R>(M message, CompletableFuture<R> answer) {}

  static <M> Runnable forEver(Source<M> source, Consumer<M> handler) {
    return () -> {
      try {
        while (true) handler.accept(source.take());
      } catch (InterruptedException end) {
        Thread.currentThread().interrupt();
      }
    };
  }

  static void end(Thread thread) {
    thread.interrupt();
    try {
      thread.join();
    } catch (InterruptedException never) {
      throw new AssertionError(never);
    }
  }

  /**
   * Sends the message and a future, and waits for the future: what one writes who has a queue and
   * wants an answer.
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
