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
 * What does a message cost where only so many may wait, and who sends one more waits for room? One
 * operation is one message, sent and handled. Pekko is not here: its bounded mailboxes drop.
 */
public class BackPressure extends JmhQuestion {
  private static final int MESSAGES = 50_000;

  /** The peer. */
  @Param({"fiber", "thread", "resident", "forkjoin", "jox", "kotlin", "virtual-queue", "platform-queue", "executor"})
  public String who;

  /** How many may wait. */
  @Param({"16", "1024"})
  public int room;

  private final Semaphore all = new Semaphore(0);
  private final MessageCountdown arrivals = new MessageCountdown(all);
  private Peer.BoundedMailboxes peer;
  private Receiver<Integer> receiver;

  /** Makes the actor. */
  @Setup
  public void open() {
    peer = Peers.of(who, Peer.BoundedMailboxes.class);
    receiver = peer.bounded(room, arrivals::accept);
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
