package io.fibry.bench;

import io.fibry.bench.peer.Peer;
import io.fibry.bench.peer.Peers;
import io.fibry.bench.peer.Receiver;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;

/**
 * The cost of a hand-over between two actors that pass a ball to each other. The reference,
 * {@code park}, is two virtual threads that unpark each other.
 */
public class PingPong extends JmhBenchmark {
  private static final int HITS = 20_000;
  private static final String PARK = "park";

  @Param({"fiber", "thread", "resident", "forkjoin", PARK, "pekko", "pekko-tuned", "pojo-actor", "jox", "kotlin",
    "jctools", "virtual-queue", "platform-queue", "executor"})
  public String who;

  private final Semaphore gameOver = new Semaphore(0);
  private Peer peer;
  private Receiver<Ball> ping;
  private Receiver<Ball> pong;

  private static final class Ball {
    private int remainingHits = HITS; // accessed by the actor that has the ball
  }

  @Setup
  public void open() {
    if (who.equals(PARK)) return;
    peer = Peers.of(who);
    ping = peer.actor(ball -> pass(ball, pong));
    pong = peer.actor(ball -> pass(ball, ping));
  }

  @TearDown
  public void close() {
    if (who.equals(PARK)) return;
    ping.end();
    pong.end();
    peer.close();
  }

  private void pass(Ball ball, Receiver<Ball> opponent) {
    if (--ball.remainingHits == 0) gameOver.release();
    else opponent.send(ball);
  }

  @Benchmark
  @OperationsPerInvocation(HITS)
  public void hit() throws InterruptedException {
    if (who.equals(PARK)) new ThreadPair().play();
    else ping.send(new Ball());
    gameOver.acquire();
  }

  /**
   * Two threads that unpark each other. The parity of the remaining hits decides which thread hits
   * next.
   */
  private final class ThreadPair {
    private final Thread even = Thread.ofVirtual().unstarted(() -> player(0));
    private final Thread odd = Thread.ofVirtual().unstarted(() -> player(1));
    private volatile int remainingHits = HITS; // written by the thread that is next, read by both

    void play() {
      odd.start();
      even.start();
    }

    private void player(int parity) {
      while (remainingHits > 0) {
        while ((remainingHits & 1) != parity) LockSupport.park(this);
        if (remainingHits == 0) return;
        int newHits = remainingHits - 1;
        remainingHits = newHits;
        LockSupport.unpark(parity == 0 ? odd : even);
        if (newHits == 0) gameOver.release();
      }
    }
  }
}
