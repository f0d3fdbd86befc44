package io.fibry.bench.peer;

import java.util.List;
import java.util.concurrent.CountDownLatch;

/** An actor of a peer that takes messages. Thread-safe. */
public interface Receiver<M> {

  /** Sends a message; waits only if the mailbox is bounded. */
  void send(M message);

  /** Sends a message many times. Overridden by a peer whose senders are no threads. */
  default void sendAll(M message, int times) {
    for (int i = 0; i < times; i++) send(message);
  }

  /** What a user would hold: without this adapter, or it, if users would write the same. */
  default Object bare() {
    return this;
  }

  /** Ends the actor, which is idle. */
  void end();

  /** Sends a latch to each of these and waits until all have counted it down. */
  static void awaitEach(List<Receiver<CountDownLatch>> receivers) throws InterruptedException {
    var all = new CountDownLatch(receivers.size());
    for (var receiver : receivers) receiver.send(all);
    all.await();
  }
}
