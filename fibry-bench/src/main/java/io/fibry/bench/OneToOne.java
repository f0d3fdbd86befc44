package io.fibry.bench;

import io.fibry.bench.peer.Peer;
import io.fibry.bench.peer.Peers;
import io.fibry.bench.peer.Receiver;
import java.util.concurrent.Semaphore;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;

/**
 * What does a message cost, from one sender to one actor? One operation is one message, sent and
 * handled; the sender waits for the last of a hundred thousand.
 */
public class OneToOne extends JmhQuestion {
  private static final int MESSAGES = 100_000;

  /** The peer. */
  @Param({"fiber", "thread", "resident", "forkjoin", "caller", "pekko", "pekko-tuned", "pojo-actor", "jox", "kotlin",
    "jctools", "virtual-queue", "platform-queue", "executor", "executor-virtual"})
  public String who;

  private final Semaphore all = new Semaphore(0);
  private final MessageCountdown arrivals = new MessageCountdown(all);
  private Peer peer;
  private Receiver<Integer> receiver;

  /** Makes the actor. */
  @Setup
  public void open() {
    peer = Peers.of(who);
    receiver = peer.actor(arrivals::accept);
  }

  /** Ends it. */
  @TearDown
  public void close() {
    receiver.end();
    peer.close();
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
    receiver.sendAll(MESSAGE, MESSAGES);
    all.acquire();
  }
}
