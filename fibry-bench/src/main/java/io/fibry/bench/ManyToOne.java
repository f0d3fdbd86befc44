package io.fibry.bench;

import io.fibry.bench.peer.Peer;
import io.fibry.bench.peer.Peers;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;

/**
 * The cost of a message, sent and handled, when several virtual threads send to one actor at once.
 * Together they send 80,000 messages.
 */
public class ManyToOne extends ReceiverQuestion<Peer> {
  private static final int MESSAGES = 80_000;

  @Param({"fiber", "thread", "resident", "forkjoin", "pekko", "pekko-tuned", "pojo-actor", "jox", "kotlin", "jctools",
    "virtual-queue", "platform-queue", "executor"})
  public String who;

  @Param({"2", "4", "8"})
  public int senders;

  @Setup
  public void open() {
    peer = Peers.of(who);
    receiver = peer.actor(countdown::accept);
  }

  @Benchmark
  @OperationsPerInvocation(MESSAGES)
  public void message() throws InterruptedException {
    countdown.expect(MESSAGES);
    for (int i = 0; i < senders; i++) Thread.startVirtualThread(() -> receiver.sendAll(MESSAGE, MESSAGES / senders));
    allHandled.acquire();
  }
}
