package io.fibry.bench;

import io.fibry.bench.peer.Peer;
import io.fibry.bench.peer.Peers;
import io.fibry.bench.peer.Receiver;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;

/**
 * What does it cost to wake an idle actor? One operation is one message to one of a thousand idle
 * actors, sent and handled; each gets one.
 */
public class Activation extends JmhQuestion {
  private static final int ACTORS = 1_000;

  /** The peer. */
  @Param({"fiber", "thread", "resident", "forkjoin", "pekko", "pekko-tuned", "pojo-actor", "jox", "kotlin", "jctools",
    "virtual-queue", "platform-queue", "executor"})
  public String who;

  private Peer peer;
  private List<Receiver<CountDownLatch>> receivers;

  /** Makes the actors. */
  @Setup
  public void open() {
    peer = Peers.of(who);
    receivers = peer.actors(ACTORS, CountDownLatch::countDown);
  }

  /** Ends them. */
  @TearDown
  public void close() {
    receivers.forEach(Receiver::end);
    peer.close();
  }

  /**
   * Sends and waits until all are handled.
   *
   * @throws InterruptedException never
   */
  @Benchmark
  @OperationsPerInvocation(ACTORS)
  public void message() throws InterruptedException {
    var all = new CountDownLatch(ACTORS);
    for (var receiver : receivers) receiver.send(all);
    all.await();
  }
}
