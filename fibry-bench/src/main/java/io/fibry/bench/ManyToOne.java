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
 * What does a message cost when several send to one actor at once? One operation is one message,
 * sent and handled; the senders are virtual threads and share eighty thousand.
 */
public class ManyToOne extends JmhQuestion {
  private static final int MESSAGES = 80_000;

  /** The peer. */
  @Param({"fiber", "thread", "resident", "forkjoin", "pekko", "pekko-tuned", "pojo-actor", "jox", "kotlin", "jctools",
    "virtual-queue", "platform-queue", "executor"})
  public String who;

  /** How many send. */
  @Param({"2", "4", "8"})
  public int senders;

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
    for (int i = 0; i < senders; i++) Thread.startVirtualThread(() -> receiver.sendAll(MESSAGE, MESSAGES / senders));
    all.acquire();
  }
}
