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
 * The cost of a message, sent and handled, when the smallest is handled first. All ten thousand,
 * with random numbers, wait before the first is handled, so that all sides sort the same.
 */
public class Priority extends ReceiverQuestion<Peer.PriorityMailboxes> {
  private static final int MESSAGES = 10_000;

  @Param({"fiber", "thread", "resident", "forkjoin", "pekko", "virtual-queue", "platform-queue"})
  public String who;

  private final Semaphore busy = new Semaphore(0);
  private final Semaphore gate = new Semaphore(0);
  private final Integer[] numbers = new Random(42).ints(MESSAGES, 1, 1_000_000).boxed().toArray(Integer[]::new);

  @Setup
  public void open() {
    peer = Peers.of(who, Peer.PriorityMailboxes.class);
    receiver = peer.prioritised(this::handle);
  }

  private void handle(Integer number) {
    if (number == 0) {
      busy.release();
      gate.acquireUninterruptibly();
    } else countdown.accept(number);
  }

  @Benchmark
  @OperationsPerInvocation(MESSAGES)
  public void message() throws InterruptedException {
    countdown.expect(MESSAGES);
    receiver.send(0);
    busy.acquire();
    for (var number : numbers) receiver.send(number);
    gate.release();
    all.acquire();
  }
}
