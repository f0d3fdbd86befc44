package io.fibry.bench;

import io.fibry.bench.peer.Peer;
import io.fibry.bench.peer.Peers;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;

/**
 * Measures the time of a message from one sender to one actor. The sender sends a hundred thousand
 * messages, and the time ends when the last one is handled.
 */
public class OneToOne extends ReceiverQuestion<Peer> {
  private static final int MESSAGES = 100_000;

  @Param({"fiber", "thread", "resident", "forkjoin", "caller", "pekko", "pekko-tuned", "pojo-actor", "jox", "kotlin",
    "jctools", "virtual-queue", "platform-queue", "executor", "executor-virtual"})
  public String who;

  @Setup
  public void open() {
    peer = Peers.of(who);
    receiver = peer.actor(countdown::accept);
  }

  @Benchmark
  @OperationsPerInvocation(MESSAGES)
  public void message() throws InterruptedException {
    countdown.expect(MESSAGES);
    receiver.sendAll(MESSAGE, MESSAGES);
    allHandled.acquire();
  }
}
