package io.fibry.bench;

import io.fibry.bench.peer.Peer;
import io.fibry.bench.peer.Peers;
import io.fibry.bench.peer.Receiver;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;

/**
 * What does a message cost when one sender sends to many actors in turn? One operation is one
 * message, sent and handled; sixteen actors get five thousand each.
 */
public class FanOut extends JmhQuestion {
  private static final int ACTORS = 16;
  private static final int EACH = 5_000;

  /** The peer. */
  @Param({"fiber", "thread", "resident", "forkjoin", "pekko", "pekko-tuned", "pojo-actor", "jox", "kotlin", "jctools",
    "virtual-queue", "platform-queue", "executor"})
  public String who;

  private final Semaphore all = new Semaphore(0);
  private final List<MessageCountdown> arrivals = new ArrayList<>();
  private final List<Receiver<Integer>> receivers = new ArrayList<>();
  private Peer peer;

  /** Makes the actors. */
  @Setup
  public void open() {
    peer = Peers.of(who);
    for (int i = 0; i < ACTORS; i++) {
      var one = new MessageCountdown(all);
      arrivals.add(one);
      receivers.add(peer.actor(one::accept));
    }
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
  @OperationsPerInvocation(ACTORS * EACH)
  public void message() throws InterruptedException {
    for (var one : arrivals) one.expect(EACH);
    for (int i = 0; i < EACH; i++) {
      for (int to = 0; to < ACTORS; to++) receivers.get(to).send(MESSAGE);
    }
    all.acquire(ACTORS);
  }
}
