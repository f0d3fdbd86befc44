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
public class PingPong extends JmhQuestion {
  private static final int HITS = 20_000;
  private static final String PARK = "park";

  @Param({"fiber", "thread", "resident", "forkjoin", PARK, "pekko", "pekko-tuned", "pojo-actor", "jox", "kotlin",
    "jctools", "virtual-queue", "platform-queue", "executor"})
  public String who;

  private final Semaphore end = new Semaphore(0);
  private Peer peer;
  private Receiver<Ball> ping;
  private Receiver<Ball> pong;

  private static final class Ball {
    private int left = HITS; // of the actor that has the ball
  }

  @Setup
  public void open() {
    if (who.equals(PARK)) return;
    peer = Peers.of(who);
    ping = peer.actor(ball -> hit(ball, pong));
    pong = peer.actor(ball -> hit(ball, ping));
  }

  @TearDown
  public void close() {
    if (who.equals(PARK)) return;
    ping.end();
    pong.end();
    peer.close();
  }

  private void hit(Ball ball, Receiver<Ball> other) {
    if (--ball.left == 0) end.release();
    else other.send(ball);
  }

  @Benchmark
  @OperationsPerInvocation(HITS)
  public void hit() throws InterruptedException {
    if (who.equals(PARK)) new ThreadPair().play();
    else ping.send(new Ball());
    end.acquire();
  }

  /** Two threads; the parity of the hits left says whose turn it is. */
  private final class ThreadPair {
    private final Thread even = Thread.ofVirtual().unstarted(() -> player(0));
    private final Thread odd = Thread.ofVirtual().unstarted(() -> player(1));
    private volatile int left = HITS; // written by the thread whose turn it is, read by both

    void play() {
      odd.start();
      even.start();
    }

    private void player(int turn) {
      while (left > 0) {
        while ((left & 1) != turn) LockSupport.park(this);
        if (left == 0) return;
        int rest = left - 1;
        left = rest;
        LockSupport.unpark(turn == 0 ? odd : even);
        if (rest == 0) end.release();
      }
    }
  }
}
