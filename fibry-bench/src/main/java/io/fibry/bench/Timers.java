package io.fibry.bench;

import io.fibry.bench.peer.Peer;
import io.fibry.bench.peer.Peers;
import java.time.Duration;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;

/**
 * Measures the time per timer of ten thousand timers, which either send a message or are cancelled.
 * A timer sends its message after five milliseconds. Divided by the ten thousand timers, this delay
 * adds half a microsecond to the result of every peer.
 */
public class Timers extends ReceiverQuestion<Peer.Timers> {
  private static final int TIMERS = 10_000;
  private static final Duration FIRED_DELAY = Duration.ofMillis(5);
  private static final Duration CANCELLED_DELAY = Duration.ofHours(1);

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
    for (int i = 0; i < TIMERS; i++) peer.later(receiver, MESSAGE, FIRED_DELAY);
    allHandled.acquire();
  }

  @Benchmark
  @OperationsPerInvocation(TIMERS)
  public void cancelled() {
    for (int i = 0; i < TIMERS; i++) timers[i] = peer.later(receiver, MESSAGE, CANCELLED_DELAY);
    for (var timer : timers) timer.run();
  }
}
