package io.fibry.bench;

import io.fibry.bench.peer.Peer;
import io.fibry.bench.peer.Receiver;
import java.util.concurrent.Semaphore;
import org.openjdk.jmh.annotations.TearDown;

/**
 * A question about messages to one actor. A subclass makes the peer and the actor, and sends the
 * messages. After that, it acquires {@code allHandled}, which the countdown releases when the actor
 * has handled all messages.
 */
public abstract class ReceiverQuestion<P extends Peer> extends JmhBenchmark {
  final Semaphore allHandled = new Semaphore(0);
  final MessageCountdown countdown = new MessageCountdown(allHandled);
  P peer;
  Receiver<Integer> receiver;

  ReceiverQuestion() {}

  @TearDown
  public void close() {
    receiver.end();
    peer.close();
  }
}
