package io.fibry.bench;

import io.fibry.bench.peer.Peer;
import io.fibry.bench.peer.Peers;
import io.fibry.bench.peer.Receiver;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;

/**
 * What does it cost to send a message later, or to take that back? One operation is one timer of
 * ten thousand. Those that fire do so after five milliseconds, which are in the figure, for all
 * sides alike: half a microsecond each.
 */
public class Timers extends JmhQuestion {
  private static final int TIMERS = 10_000;
  private static final Duration SOON = Duration.ofMillis(5);
  private static final Duration LATE = Duration.ofHours(1);

  /** The peer. */
  @Param({"fiber", "pekko", "kotlin", "virtual-queue", "executor"})
  public String who;

  private final Semaphore all = new Semaphore(0);
  private final MessageCountdown arrivals = new MessageCountdown(all);
  private final Runnable[] timers = new Runnable[TIMERS];
  private Peer.Timers peer;
  private Receiver<Integer> receiver;

  /** Makes the actor. */
  @Setup
  public void open() {
    peer = Peers.of(who, Peer.Timers.class);
    receiver = peer.actor(arrivals::accept);
  }

  /** Ends it. */
  @TearDown
  public void close() {
    receiver.end();
    peer.close();
  }

  /**
   * Sets them and waits until all messages are handled.
   *
   * @throws InterruptedException never
   */
  @Benchmark
  @OperationsPerInvocation(TIMERS)
  public void fired() throws InterruptedException {
    arrivals.expect(TIMERS);
    for (int i = 0; i < TIMERS; i++) peer.later(receiver, MESSAGE, SOON);
    all.acquire();
  }

  /** Sets them and takes them back. */
  @Benchmark
  @OperationsPerInvocation(TIMERS)
  public void takenBack() {
    for (int i = 0; i < TIMERS; i++) timers[i] = peer.later(receiver, MESSAGE, LATE);
    for (var timer : timers) timer.run();
  }
}
