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
 * Measures the time of a message when one sender sends to sixteen actors in turn, five thousand
 * messages each. The time ends when all messages are handled.
 */
public class FanOut extends JmhBenchmark {
  private static final int ACTORS = 16;
  private static final int MESSAGES_EACH = 5_000;

  @Param({"fiber", "thread", "resident", "forkjoin", "pekko", "pekko-tuned", "pojo-actor", "jox", "kotlin", "jctools",
    "virtual-queue", "platform-queue", "executor"})
  public String who;

  private final Semaphore allHandled = new Semaphore(0);
  private final List<MessageCountdown> countdowns = new ArrayList<>();
  private final List<Receiver<Integer>> receivers = new ArrayList<>();
  private Peer peer;

  @Setup
  public void open() {
    peer = Peers.of(who);
    for (int i = 0; i < ACTORS; i++) {
      var countdown = new MessageCountdown(allHandled);
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
  @OperationsPerInvocation(ACTORS * MESSAGES_EACH)
  public void message() throws InterruptedException {
    for (var countdown : countdowns) countdown.expect(MESSAGES_EACH);
    for (int i = 0; i < MESSAGES_EACH; i++) {
      for (int index = 0; index < ACTORS; index++) receivers.get(index).send(MESSAGE);
    }
    allHandled.acquire(ACTORS);
  }
}
