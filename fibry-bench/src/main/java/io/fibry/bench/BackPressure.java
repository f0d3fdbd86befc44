package io.fibry.bench;

import io.fibry.bench.peer.Peer;
import io.fibry.bench.peer.Peers;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;

/**
 * The cost of a message, sent and handled, when the mailbox is bounded and the sender waits while
 * the mailbox is full. Pekko is missing, because its bounded mailboxes drop messages.
 */
public class BackPressure extends ReceiverQuestion<Peer.BoundedMailboxes> {
  private static final int MESSAGES = 50_000;

  @Param({"fiber", "thread", "resident", "forkjoin", "jox", "kotlin", "virtual-queue", "platform-queue", "executor"})
  public String who;

  /** The capacity of the mailbox. */
  @Param({"16", "1024"})
  public int capacity;

  @Setup
  public void open() {
    peer = Peers.of(who, Peer.BoundedMailboxes.class);
    receiver = peer.bounded(capacity, countdown::accept);
  }

  @Benchmark
  @OperationsPerInvocation(MESSAGES)
  public void message() throws InterruptedException {
    countdown.expect(MESSAGES);
    receiver.sendAll(MESSAGE, MESSAGES);
    allHandled.acquire();
  }
}
