package io.fibry.bench;

import io.fibry.bench.peer.Peer;
import io.fibry.bench.peer.Peers;
import java.time.Duration;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;

/**
 * The cost of a timer among ten thousand timers, which sends a message later or is canceled. Those
 * that fire do so after five milliseconds, which adds half a microsecond to each figure of every
 * side.
 */
public class Timers extends ReceiverQuestion<Peer.Timers> {
  private static final int TIMERS = 10_000;
  private static final Duration SOON = Duration.ofMillis(5);
  private static final Duration LATE = Duration.ofHours(1);

  @Param({"fiber", "pekko", "kotlin", "virtual-queue", "executor"})
  public String who;

  private final Runnable[] timers = new Runnable[TIMERS];

  @Setup
  public void open() {
    peer = Peers.of(who, Peer.Timers.class);
    receiver = peer.actor(countdown::accept);
  }

  @Benchmark
  @OperationsPerInvocation(TIMERS)
  public void fired() throws InterruptedException {
    countdown.expect(TIMERS);
    for (int i = 0; i < TIMERS; i++) peer.later(receiver, MESSAGE, SOON);
    all.acquire();
  }

  @Benchmark
  @OperationsPerInvocation(TIMERS)
  public void takenBack() {
    for (int i = 0; i < TIMERS; i++) timers[i] = peer.later(receiver, MESSAGE, LATE);
    for (var timer : timers) timer.run();
  }
}
