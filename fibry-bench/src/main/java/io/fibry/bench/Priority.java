package io.fibry.bench;

import io.fibry.bench.peer.Peer;
import io.fibry.bench.peer.Peers;
import java.util.Random;
import java.util.concurrent.Semaphore;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;

/**
 * The cost of a message, sent and handled, when the mailbox hands out the smallest message first.
 * All 10,000 messages are in the mailbox before the first is handled, so all sides sort the same
 * random numbers.
 */
public class Priority extends ReceiverQuestion<Peer.PriorityMailboxes> {
  private static final int MESSAGES = 10_000;

  @Param({"fiber", "thread", "resident", "forkjoin", "pekko", "virtual-queue", "platform-queue"})
  public String who;

  private final Semaphore gateReached = new Semaphore(0);
  private final Semaphore gate = new Semaphore(0);
  private final Integer[] numbers = new Random(42).ints(MESSAGES, 1, 1_000_000).boxed().toArray(Integer[]::new);

  @Setup
  public void open() {
    peer = Peers.of(who, Peer.PriorityMailboxes.class);
    receiver = peer.prioritized(this::handle);
  }

  private void handle(Integer number) {
    if (number == 0) {
      gateReached.release();
      gate.acquireUninterruptibly();
    } else countdown.accept(number);
  }

  @Benchmark
  @OperationsPerInvocation(MESSAGES)
  public void message() throws InterruptedException {
    countdown.expect(MESSAGES);
    receiver.send(0);
    gateReached.acquire();
    for (var number : numbers) receiver.send(number);
    gate.release();
    allHandled.acquire();
  }
}
