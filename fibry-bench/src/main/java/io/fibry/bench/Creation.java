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
 * What does it cost to make an actor, and to make one that has worked? One operation is one actor;
 * a thousand live at a time. What others do of it on other threads is seen only where each handles
 * a message. {@code IdleActors} says what they weigh.
 */
public class Creation extends JmhQuestion {
  private static final int ACTORS = 1_000;

  /** The peer. */
  @Param({"sink", "fiber", "thread", "resident", "forkjoin", "pekko", "pekko-tuned", "pojo-actor", "jox", "kotlin",
    "virtual-queue", "platform-queue", "executor"})
  public String who;

  private Peer peer;
  private List<Receiver<CountDownLatch>> made;

  /** Makes what they need in common. */
  @Setup
  public void open() {
    peer = Peers.of(who);
  }

  /** Ends that. */
  @TearDown
  public void close() {
    peer.close();
  }

  /** Ends them. */
  @TearDown(Level.Invocation)
  public void end() {
    made.forEach(Receiver::end);
    peer.awaitEnd();
  }

  /**
   * Makes them.
   *
   * @return what JMH must not forget
   */
  @Benchmark
  @OperationsPerInvocation(ACTORS)
  public Object made() {
    return made = peer.actors(ACTORS, CountDownLatch::countDown);
  }

  /**
   * Makes them and waits until each has handled a message.
   *
   * @throws InterruptedException never
   */
  @Benchmark
  @OperationsPerInvocation(ACTORS)
  public void madeAndAtWork() throws InterruptedException {
    made = peer.actors(ACTORS, CountDownLatch::countDown);
    var all = new CountDownLatch(ACTORS);
    for (var actor : made) actor.send(all);
    all.await();
  }
}
