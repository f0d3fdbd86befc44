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
 * The cost of a message, sent and handled, when one sender sends to many actors in turn: sixteen
 * get five thousand each.
 */
public class FanOut extends JmhQuestion {
  private static final int ACTORS = 16;
  private static final int EACH = 5_000;

  @Param({"fiber", "thread", "resident", "forkjoin", "pekko", "pekko-tuned", "pojo-actor", "jox", "kotlin", "jctools",
    "virtual-queue", "platform-queue", "executor"})
  public String who;

  private final Semaphore all = new Semaphore(0);
  private final List<MessageCountdown> countdowns = new ArrayList<>();
  private final List<Receiver<Integer>> receivers = new ArrayList<>();
  private Peer peer;

  @Setup
  public void open() {
    peer = Peers.of(who);
    for (int i = 0; i < ACTORS; i++) {
      var countdown = new MessageCountdown(all);
      countdowns.add(countdown);
      receivers.add(peer.actor(countdown::accept));
    }
  }

  @TearDown
  public void close() {
    receivers.forEach(Receiver::end);
    peer.close();
  }

  @Benchmark
  @OperationsPerInvocation(ACTORS * EACH)
  public void message() throws InterruptedException {
    for (var countdown : countdowns) countdown.expect(EACH);
    for (int i = 0; i < EACH; i++) {
      for (int to = 0; to < ACTORS; to++) receivers.get(to).send(MESSAGE);
    }
    all.acquire(ACTORS);
  }
}
