package io.fibry.bench;

import io.fibry.bench.peer.Peer;
import io.fibry.bench.peer.Peers;
import io.fibry.bench.peer.Receiver;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;

/**
 * The cost of making an actor among a thousand, and of making an actor that handles a message. Only
 * the latter shows what a peer leaves to other threads. {@code IdleActors} measures their heap.
 */
public class Creation extends JmhQuestion {
  private static final int ACTORS = 1_000;

  @Param({"sink", "fiber", "thread", "resident", "forkjoin", "pekko", "pekko-tuned", "pojo-actor", "jox", "kotlin",
    "virtual-queue", "platform-queue", "executor"})
  public String who;

  private Peer peer;
  private List<Receiver<CountDownLatch>> made;

  @Setup
  public void open() {
    peer = Peers.of(who);
  }

  @TearDown
  public void close() {
    peer.close();
  }

  @TearDown(Level.Invocation)
  public void end() {
    made.forEach(Receiver::end);
    peer.awaitEnd();
  }

  /** Returns the actors, so that no compiler leaves them out. */
  @Benchmark
  @OperationsPerInvocation(ACTORS)
  public Object made() {
    return made = peer.actors(ACTORS, CountDownLatch::countDown);
  }

  @Benchmark
  @OperationsPerInvocation(ACTORS)
  public void madeAndAtWork() throws InterruptedException {
    made = peer.actors(ACTORS, CountDownLatch::countDown);
    Receiver.awaitEach(made);
  }
}
