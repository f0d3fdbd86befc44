package io.fibry.bench.peer;

import java.util.List;
import java.util.concurrent.CountDownLatch;

/** An actor of a peer that takes messages. Thread-safe. */
public interface Receiver<M> {

  /** Sends a message; waits only if the mailbox is bounded. */
  void send(M message);

  /** Sends a message many times. Overridden by peers whose senders are not threads. */
  default void sendAll(M message, int times) {
    for (int i = 0; i < times; i++) send(message);
  }

  /**
   * Returns the object that a user would hold: the actor without this adapter, or the adapter
   * itself if users would write such a class.
   */
  default Object bare() {
    return this;
  }

  /** Ends the actor, which must be idle. */
  void end();

  /** Sends a latch to each receiver, and waits until all have counted it down. */
  static void awaitEach(List<Receiver<CountDownLatch>> receivers) throws InterruptedException {
    var latch = new CountDownLatch(receivers.size());
    for (var receiver : receivers) receiver.send(latch);
    latch.await();
  }
}
