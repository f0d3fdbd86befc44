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
 * Measures the time to make an actor, for a thousand actors in a row: without a message, and with a
 * message to each. Only the second time includes the work that a peer leaves to other threads.
 * {@code IdleActors} measures the heap of the actors.
 */
public class Creation extends JmhBenchmark {
  private static final int ACTORS = 1_000;

  @Param({"sink", "fiber", "thread", "resident", "forkjoin", "pekko", "pekko-tuned", "pojo-actor", "jox", "kotlin",
    "virtual-queue", "platform-queue", "executor"})
  public String who;

  private Peer peer;
  private List<Receiver<CountDownLatch>> actors;

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
    actors.forEach(Receiver::end);
    peer.awaitEnd();
  }

  /** Returns the actors, so that the JIT compiler cannot remove their creation. */
  @Benchmark
  @OperationsPerInvocation(ACTORS)
  public Object made() {
    return actors = peer.actors(ACTORS, CountDownLatch::countDown);
  }

  @Benchmark
  @OperationsPerInvocation(ACTORS)
  public void madeAndAtWork() throws InterruptedException {
    actors = peer.actors(ACTORS, CountDownLatch::countDown);
    Receiver.awaitEach(actors);
  }
}
