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
 * The cost of a message to an idle actor, sent and handled. Each of 1,000 actors gets one message.
 */
public class Activation extends JmhBenchmark {
  private static final int ACTORS = 1_000;

  @Param({"fiber", "thread", "resident", "forkjoin", "pekko", "pekko-tuned", "pojo-actor", "jox", "kotlin", "jctools",
    "virtual-queue", "platform-queue", "executor"})
  public String who;

  private Peer peer;
  private List<Receiver<CountDownLatch>> receivers;

  @Setup
  public void open() {
    peer = Peers.of(who);
    receivers = peer.actors(ACTORS, CountDownLatch::countDown);
  }

  @TearDown
  public void close() {
    receivers.forEach(Receiver::end);
    peer.close();
  }

  @Benchmark
  @OperationsPerInvocation(ACTORS)
  public void message() throws InterruptedException {
    Receiver.awaitEach(receivers);
  }
}
