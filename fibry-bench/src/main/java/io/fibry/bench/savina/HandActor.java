package io.fibry.bench.savina;

import io.fibry.Handler;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * An actor written by hand: a virtual thread that parks while no message waits. Its messages are
 * the elements of its queue, and a request is also the place of its answer. There are no limits, no
 * failures and no names, so its time is a lower bound for actors on virtual threads.
 */
final class HandActor<M extends HandActor.Message> {
  /** A message, and an element of the queue. */
  abstract static class Message {
    private Message next;
  }

  /** A message whose sender waits for an answer. */
  abstract static class Request<R> extends Message {
    private final Thread asker = Thread.currentThread();
    private volatile R answer; // written by the actor, read by the asker

    final void reply(R value) {
      answer = value;
      LockSupport.unpark(asker);
    }

    final R await() throws InterruptedException {
      while (answer == null) park();
      return answer;
    }
  }

  private final AtomicReference<Message> newest = new AtomicReference<>(); // a stack; the actor takes all of it
  private final Handler<M> handler;
  private volatile Thread thread; // written by the actor, read by senders

  private HandActor(Handler<M> handler) {
    this.handler = handler;
  }

  /** Starts an actor, whose thread {@link Round#close} interrupts. */
  static <M extends Message> HandActor<M> start(Round round, Handler<M> handler) {
    var actor = new HandActor<>(handler);
    round.start(actor::run);
    return actor;
  }

  void send(M message) {
    Message added = message;
    Message previous;
    do added.next = previous = newest.get(); while (!newest.compareAndSet(previous, added));
    if (previous == null) LockSupport.unpark(thread); // does nothing if the thread has not begun
  }

  private void run() throws Exception {
    thread = Thread.currentThread();
    while (true) {
      var message = newest.get() == null ? null : newest.getAndSet(null);
      if (message == null) park();
      else for (var oldest = reversed(message); oldest != null;) {
        var next = oldest.next; // read first, because the handler may send the message on
        handle(oldest);
        oldest = next;
      }
    }
  }

  private static Message reversed(Message newestMessage) {
    Message oldest = null;
    for (var message = newestMessage; message != null;) {
      var next = message.next;
      message.next = oldest;
      oldest = message;
      message = next;
    }
    return oldest;
  }

  @SuppressWarnings("unchecked") // senders add only messages of this type
  private void handle(Message message) throws Exception {
    handler.handle((M) message);
  }

  private static void park() throws InterruptedException {
    LockSupport.park();
    if (Thread.interrupted()) throw new InterruptedException();
  }
}
