package io.fibry.bench;

import io.fibry.bench.peer.Peer;
import io.fibry.bench.peer.Peers;
import io.fibry.bench.peer.Receiver;
import java.util.Random;
import java.util.concurrent.Semaphore;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;

/**
 * What does a message cost where the smallest is handled first? One operation is one message, sent
 * and handled. All ten thousand, with random numbers, wait before the first is handled, so that all
 * sides sort the same.
 */
public class Priority extends JmhQuestion {
  private static final int MESSAGES = 10_000;

  /** The peer. */
  @Param({"fiber", "thread", "resident", "forkjoin", "pekko", "virtual-queue", "platform-queue"})
  public String who;

  private final Semaphore all = new Semaphore(0);
  private final Semaphore busy = new Semaphore(0);
  private final Semaphore gate = new Semaphore(0);
  private final MessageCountdown arrivals = new MessageCountdown(all);
  private final Integer[] numbers = new Random(42).ints(MESSAGES, 1, 1_000_000).boxed().toArray(Integer[]::new);
  private Peer.PriorityMailboxes peer;
  private Receiver<Integer> receiver;

  /** Makes the actor. */
  @Setup
  public void open() {
    peer = Peers.of(who, Peer.PriorityMailboxes.class);
    receiver = peer.prioritised(this::handle);
  }

  /** Ends it. */
  @TearDown
  public void close() {
    receiver.end();
    peer.close();
  }

  private void handle(Integer number) {
    if (number == 0) {
      busy.release();
      gate.acquireUninterruptibly();
    } else arrivals.accept(number);
  }

  /**
   * Sends and waits until all are handled.
   *
   * @throws InterruptedException never
   */
  @Benchmark
  @OperationsPerInvocation(MESSAGES)
  public void message() throws InterruptedException {
    arrivals.expect(MESSAGES);
    receiver.send(0);
    busy.acquire();
    for (var number : numbers) receiver.send(number);
    gate.release();
    all.acquire();
  }
}
